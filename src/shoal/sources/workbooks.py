"""Sheets of Excel workbooks: which one, where its header stands and how far it reaches, before its cells are read."""

import datetime
import logging
import posixpath
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

import numpy as np
import polars as pl

from shoal.errors import InputError, unknown
from shoal.sources.compressed import check_parts
from shoal.sources.data import chosen
from shoal.sources.dialect import check_header, looks_like_names
from shoal.sources.header import default_names, first_line
from shoal.sources.isolated import OutOfMemory, read_isolated

#: The most cells that a sheet may span, from its first used row and column to its last, empty ones between included.
LARGEST_SHEET = 50_000_000

_ROWS, _COLUMNS = 1_048_576, 16_384
_EXACT = 2**53
#: The rows at the top in which a header is looked for below titles.
_HEAD = 30
_BLOCK, _REFERENCE = 1 << 22, 16
# A cell with something in it; one that has a format only ends at once.
_FILLED_CELL = re.compile(rb"<(?:\w+:)?c\s[^>]*?\br=[\"']([A-Z]{1,3})([0-9]{1,7})[\"'][^>]*(?<!/)>")


def read_excel(
    path: Path,
    columns: Sequence[str] | None,
    sheet: str | None = None,
    header_row: int | None = None,
    *,
    check_names: bool = True,
) -> tuple[pl.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """A sheet (the first unless one is named), notes on what was chosen, and warnings.

    ``header_row`` is the row of the sheet, counted from 1, that holds the column names, or 0 if none does; without it
    titles above the header are recognised, and the row is looked at (``check_names``) in case it is a record. The
    workbook is parsed in a limited process, after its parts were found to be of a sensible size.
    """
    check_parts(path)
    request = {"columns": columns, "sheet": sheet, "header_row": header_row, "check_names": check_names}
    try:
        frame, said = read_isolated("shoal.sources.workbooks:parse", path, request)
    except OutOfMemory:
        raise InputError(
            f"'{path.name}' asks for more memory than a workbook of its size may need; "
            "delete cells that stand far from the table, or save it as .csv"
        ) from None
    return frame, tuple(said["notes"]), tuple(said["warnings"])


def parse(
    path: Path,
    columns: Sequence[str] | None,
    sheet: str | None,
    header_row: int | None,
    check_names: bool = True,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The sheet as a frame, and the notes; called in a process of its own."""
    import fastexcel

    # It reports columns whose type it cannot tell; empty columns are text here, without further words.
    logging.getLogger("fastexcel").setLevel(logging.ERROR)
    book = fastexcel.read_excel(path)
    names = book.sheet_names
    if not names:
        raise InputError(f"'{path.name}' has no sheet")
    number = _numbered(names, sheet, path.name)
    what = f"sheet '{names[number]}' of '{path.name}'" if len(names) > 1 else f"the sheet of '{path.name}'"
    check_extent(path, names[number], what)
    # Without a header, and with nothing skipped on its own account, rows are counted as the sheet counts them.
    top = max(_HEAD, header_row or 0)
    head = book.load_sheet(number, header_row=None, skip_rows=0, n_rows=top, dtypes="string").to_polars()
    rows = [["" if field is None else str(field) for field in row] for row in head.iter_rows()]
    if not any(any(row) for row in rows):
        raise InputError(f"{what} is empty")
    above = _titles(rows) if header_row is None else header_row - 1
    if above >= len(rows):
        raise InputError(f"{what} has no row {header_row}")
    if above < 0:
        fields = default_names(head.width)
    else:
        fields = rows[above]
        check_header(fields, path.name, "row", above + 1)
    body = book.load_sheet(number, header_row=None, skip_rows=above + 1, schema_sample_rows=None).to_polars()
    frame = body if body.width else pl.DataFrame({field: pl.Series([], dtype=pl.String) for field in fields})
    frame.columns = fields
    wanted = chosen(columns, fields, f"in '{path.name}'")
    notes = []
    if sheet is None and len(names) > 1:
        notes.append(f"first of {len(names)} sheets read, '{names[0]}'; another is read as FILE::SHEET")
    if above and header_row is None:
        notes.append(f"column names taken from row {above + 1} of the sheet, below titles (guessed)")
    if above < 0:
        notes.append(f"no column names, so they are {fields[0]} to {fields[-1]}")
    found = frame.select(_whole(frame[name].alias("")).alias(name) for name in wanted)
    warned = check_names and header_row is None
    warnings = first_line(wanted, found, path.name, "row", above + 1) if warned else ()
    return found, {"notes": notes, "warnings": list(warnings)}


def _numbered(names: list[str], sheet: str | None, name: str) -> int:
    if sheet is None:
        return 0
    folded = [other.casefold() for other in names]
    # Excel itself does not tell capitals from small letters in the names of sheets.
    if sheet.casefold() not in folded:
        raise unknown("sheet", sheet, names, where=f"in '{name}', which has {len(names)}")
    return folded.index(sheet.casefold())


def _titles(rows: list[list[str]]) -> int:
    """How many rows stand above the header: a title in the first column alone, empty rows, more titles.

    Only a full row of names is taken for the header then; in doubt nothing is skipped, and the header check speaks.
    """
    first = next(number for number, row in enumerate(rows) if any(row))
    if any(rows[first][1:]) or len(rows[first]) < 2:
        return first
    below = next((number for number, row in enumerate(rows) if any(row[1:])), None)
    return below if below is not None and looks_like_names(rows[below]) else first


def _whole(values: pl.Series) -> pl.Series:
    """Excel has one kind of number and one of time: whole numbers are taken for integers, midnights for dates."""
    if values.dtype == pl.Null:
        return values.cast(pl.String)
    there = values.drop_nulls()
    if isinstance(values.dtype, pl.Datetime):
        return values.cast(pl.Date) if (there.dt.time() == datetime.time()).all() else values
    if values.dtype != pl.Float64:
        return values
    whole = bool((there == there.floor()).all()) and bool((there.abs() <= _EXACT).all())
    return values.cast(pl.Int64) if whole and len(there) else values


def check_extent(path: Path, sheet: str, what: str) -> None:
    """Refuse a sheet that spans more cells than memory should be asked for, however few of them are filled."""
    with zipfile.ZipFile(path) as archive:
        part = _part(archive, sheet)
        if part is None:
            return  # then the limits of the process are what protects
        with archive.open(part) as file:
            rows, columns = extent(file)
        if rows * columns > LARGEST_SHEET:
            with archive.open(part) as file:
                rows, columns = filled_extent(file)
    if rows * columns > LARGEST_SHEET:
        raise InputError(
            f"{what} spans {rows:,} rows × {columns:,} columns, more than {LARGEST_SHEET:,} cells; "
            "delete cells that stand far from the table, or save it as .csv or .parquet"
        )


def _part(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The part of the archive that holds a sheet."""
    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return None
    targets = {item.get("Id"): item.get("Target", "") for item in relations}
    for item in book.iter():
        if item.tag.rpartition("}")[2] == "sheet" and item.get("name") == sheet:
            link = next((value for key, value in item.attrib.items() if key.endswith("}id")), None)
            part = posixpath.normpath(posixpath.join("/xl", targets.get(link, ""))).lstrip("/")
            return part if part in archive.namelist() else None
    return None


def extent(file: IO[bytes]) -> tuple[int, int]:
    """How many rows and columns the references of a sheet's cells span, from the first used to the last.

    Quick, since it works on whole blocks of bytes: a reference follows ``r="``.
    """
    low = np.array([_ROWS + 1, _COLUMNS + 1])
    high = np.array([0, 0])
    before = b""
    while block := file.read(_BLOCK):
        # A reference cut by the end of the block is seen whole in the next one.
        data = np.frombuffer(before + block + b"\0" * _REFERENCE, dtype=np.uint8)
        before = (before + block)[-_REFERENCE:]
        quotes = np.flatnonzero((data[:-_REFERENCE] == ord('"')) | (data[:-_REFERENCE] == ord("'")))
        quotes = quotes[quotes >= 2]
        quotes = quotes[(data[quotes - 1] == ord("=")) & (data[quotes - 2] == ord("r"))]
        found = _references(data, quotes + 1)
        if len(found):
            low, high = np.minimum(low, found.min(axis=0)), np.maximum(high, found.max(axis=0))
    rows, columns = np.maximum(high - low + 1, 0).tolist()
    return rows, columns


def _references(data: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The row and column of each reference like ``AB12`` that begins at one of the places."""
    column = np.zeros(starts.size, dtype=np.int64)
    place = starts.copy()
    for _ in range(3):
        sign = data[place].astype(np.int64)
        letter = (sign >= ord("A")) & (sign <= ord("Z"))
        column = np.where(letter, 26 * column + sign - ord("A") + 1, column)
        place += letter
    row = np.zeros(starts.size, dtype=np.int64)
    for _ in range(7):
        sign = data[place].astype(np.int64)
        digit = (sign >= ord("0")) & (sign <= ord("9"))
        row = np.where(digit, 10 * row + sign - ord("0"), row)
        place += digit
    ended = (data[place] == ord('"')) | (data[place] == ord("'"))
    valid = ended & (column >= 1) & (column <= _COLUMNS) & (row >= 1) & (row <= _ROWS)
    return np.column_stack([row, column])[valid]


def filled_extent(file: IO[bytes]) -> tuple[int, int]:
    """The same for the cells that hold something: a format alone takes no memory."""
    rows: set[int] = set()
    columns: set[int] = set()
    before = b""
    while block := file.read(_BLOCK):
        text = before + block
        # What follows the last < may be half a tag.
        end = max(text.rfind(b"<"), 0)
        text, before = text[:end], text[end:]
        for letters, digits in _FILLED_CELL.findall(text):
            columns.add(_column(letters))
            rows.add(int(digits))
    if not rows:
        return 0, 0
    return max(rows) - min(rows) + 1, max(columns) - min(columns) + 1


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
