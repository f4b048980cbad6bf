"""Text files with separators (CSV, TSV), read by Polars once their shape is known to be sound."""

import codecs
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from shoal.errors import InputError, parameter
from shoal.exact_names import exactly
from shoal.sources.data import Dialect, TextSigns, chosen
from shoal.sources.dates import in_words
from shoal.sources.dialect import check_header, first_records, guess_separator, known_decimal, known_separator
from shoal.sources.encoding import Bytes, decode, find, guess_encoding, known_encoding
from shoal.sources.header import default_names, first_line
from shoal.sources.inference import Types, infer
from shoal.sources.records import regular, regularise
from shoal.sources.spreadsheet_cells import neutralised

#: What an ending promises; anything else is said in a note.
DEFAULTS = {"csv": Dialect(), "tsv": Dialect(separator="\t")}

#: The most columns of a text file. Beyond it the frame itself, not the data in it, takes the time and the memory.
WIDEST = 200_000

_SAMPLE, _SAMPLE_LINES = 1 << 17, 3
_NEWLINE = 10
_UTF8 = ("utf-8", "utf-8-sig", "ascii")


def read_text(
    path: Path,
    default: Dialect,
    signs: TextSigns,
    *,
    columns: Sequence[str] | None,
    header_row: int | None = None,
    check_names: bool = True,
    dates: Mapping[str, str] | None = None,
) -> tuple[pl.DataFrame, Dialect, tuple[str, ...], tuple[str, ...]]:
    """The frame, how the file is written, notes on what was guessed, and warnings.

    ``header_row`` is the line with the column names; what stands above is passed over, and 0 says that there is none. If
    nobody said it, the first line is looked at (``check_names``) in case it is a record. ``dates`` are the forms to
    prefer where day and month cannot be told apart.
    """
    signs = known_signs(signs)
    name = path.name
    data = np.memmap(path, dtype=np.uint8, mode="r")
    encoding = signs.encoding or guess_encoding(data, name)
    source: Path | bytes = path
    if encoding in _UTF8:
        if signs.encoding is not None:
            _check_utf8(data, name)
        body = data[3:] if data[:3].tobytes() == codecs.BOM_UTF8 else data
    else:
        source = decode(data, encoding, name).encode("utf-8")
        body = np.frombuffer(source, dtype=np.uint8)
    line = 1 if header_row is None else header_row
    start = _start_of_line(body, max(line, 1), name)
    body = body[start:]
    sample = _sample(body)
    separator = signs.separator or guess_separator(sample, default.separator)
    names = _header(sample, separator, name)
    if line == 0:
        names = default_names(len(names))
    else:
        check_header(names, name, "line", line)
    if len(names) > WIDEST:
        raise InputError(f"'{name}' has {len(names):,} columns; Shoal reads at most {WIDEST:,}")
    if not regular(body, separator, len(names)):
        source = regularise(body.tobytes().decode("utf-8"), separator, len(names), name, max(line, 1))
    elif start:
        source = body.tobytes()
    wanted = chosen(columns, names, f"in '{name}'")
    text = _read_as_text(source, separator, names, name, header=line > 0)
    if wanted != names:
        # Not by select, which takes a column named * for all of them.
        text = pl.DataFrame([text.get_column(column) for column in wanted])
        text.columns = wanted
    types = infer(text, separator, signs.decimal, dates or {})
    warnings = first_line(wanted, types.frame, name, "line", 1) if check_names and header_row is None else ()
    newline = "\r\n" if "\r\n" in sample else "\n"
    dialect = Dialect(separator, types.decimal, encoding, newline, types.dates)
    notes = _notes(dialect, default, signs)
    if types.marked:
        notes += (f"NA and the like read as missing in {_listed(types.marked)}",)
    if line == 0:
        notes += (f"no column names, so they are {names[0]} to {names[-1]}",)
    return types.frame, dialect, notes + _notes_on_dates(types), warnings


def known_signs(signs: TextSigns) -> TextSigns:
    """The signs themselves, whatever they were called; an ``InputError`` for what cannot be one."""
    return TextSigns(
        None if signs.separator is None else known_separator(signs.separator),
        None if signs.decimal is None else known_decimal(signs.decimal),
        None if signs.encoding is None else known_encoding(signs.encoding),
    )


def write_text(frame: pl.DataFrame, path: Path, dialect: Dialect, *, safe: bool = False) -> None:
    """Write a frame as text; types that text cannot hold are refused.

    With ``safe`` cells that a spreadsheet would run as formulas are neutralised.
    """
    if dialect.separator == dialect.decimal:
        raise InputError(f"separator and decimal sign cannot both be '{dialect.decimal}'")
    plain = frame.with_columns(_plain(frame, dialect.dates))
    plain = neutralised(plain) if safe else plain
    if dialect.encoding in _UTF8:
        _write_csv(plain, path, dialect, bom=dialect.encoding == "utf-8-sig")
        return
    encoder = codecs.getincrementalencoder(dialect.encoding)()
    try:
        with path.open("wb") as output:
            for position, part in enumerate(_slices(plain)):
                text = _write_csv(part, None, dialect, header=position == 0)
                output.write(encoder.encode(text or ""))
    except UnicodeEncodeError:
        raise InputError(
            f"the data hold characters that {dialect.encoding} lacks; use {parameter('encoding', 'utf-8')}"
        ) from None


def _check_utf8(data: Bytes, name: str) -> None:
    if (guessed := guess_encoding(data, name)) not in _UTF8:
        raise InputError(f"'{name}' is not utf-8; it looks like {guessed}")


def _read_as_text(
    source: Path | bytes, separator: str, names: list[str], name: str, *, header: bool
) -> pl.DataFrame:
    """All fields as they stand."""
    text = pl.scan_csv(
        source, separator=separator, infer_schema=False, glob=False, has_header=header, new_columns=names
    )
    if text.collect_schema().names() != names:
        raise InputError(f"the header of '{name}' cannot be read with separator '{separator}'")
    return text.collect(engine="streaming")


def _start_of_line(body: Bytes, number: int, name: str) -> int:
    """Where a line begins, counted from 1."""
    start = 0
    for _ in range(number - 1):
        end = find(body[start:], _NEWLINE)
        if end is None:
            raise InputError(f"'{name}' has no line {number}")
        start += end + 1
    if start >= len(body):
        raise InputError(f"'{name}' has no line {number}")
    return start


def _sample(body: Bytes) -> str:
    """The first lines, a few at least and all of them whole: a wide file has a long header."""
    size = _SAMPLE
    while True:
        start = body[:size].tobytes()
        if size >= len(body):
            break
        if start.count(b"\n") >= _SAMPLE_LINES:
            start = start[: start.rfind(b"\n") + 1]
            break
        size *= 4
    return start.decode("utf-8", errors="ignore")


def _header(sample: str, separator: str, name: str) -> list[str]:
    records = first_records(sample, separator, count=1)
    if not records:
        raise InputError(f"the first line of '{name}' has a quote out of place or a field without end")
    return records[0] or [""]


def _notes(dialect: Dialect, default: Dialect, signs: TextSigns) -> tuple[str, ...]:
    notes = []
    if signs.separator is None and dialect.separator != default.separator:
        shown = "tab" if dialect.separator == "\t" else f"'{dialect.separator}'"
        notes.append(f"separator {shown} (guessed)")
    if signs.decimal is None and dialect.decimal != default.decimal:
        notes.append("decimal comma (guessed)")
    if signs.encoding is None and dialect.encoding != default.encoding:
        notes.append(f"encoding {dialect.encoding} (guessed)")
    return tuple(notes)


def _notes_on_dates(types: Types) -> tuple[str, ...]:
    columns: dict[str, list[str]] = {}
    for name, form in types.dates.items():
        columns.setdefault(in_words(form), []).append(name)
    notes = [f"dates read as {words} in {_listed(names)}" for words, names in columns.items()]
    if types.unclear:
        notes.append(
            f"dates kept as text in {_listed(types.unclear)}: no value tells whether day or month comes first"
        )
    return tuple(notes)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"column{'s' if len(names) > 1 else ''} {shown}"


def _plain(frame: pl.DataFrame, dates: Mapping[str, str]) -> list[pl.Expr]:
    """Dates and times as the reader knows them again; an ``InputError`` for what text cannot hold.

    ``dates`` are the forms that columns came in; one that cannot hold what they are now (means of dates have a time of
    day) gives way to the usual one.
    """
    changes = []
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise InputError(f"column '{name}' holds {dtype}, which a text file cannot")
        if dtype == pl.String and frame[name].str.contains("\0", literal=True).any():
            raise InputError(f"column '{name}' holds NUL characters, which a text file cannot")
        if name in dates and _holds(frame[name], dates[name]):
            changes.append(exactly(name).dt.to_string(dates[name]))
        elif dtype == pl.Duration:
            changes.append(exactly(name).dt.to_string("iso"))
        elif isinstance(dtype, pl.Datetime):
            fraction = (frame[name].dt.nanosecond() != 0).any()
            form = "%Y-%m-%dT%H:%M:%S" + ("%.6f" if fraction else "") + ("%:z" if dtype.time_zone else "")
            changes.append(exactly(name).dt.to_string(form))
    return changes


def _holds(values: pl.Series, form: str) -> bool:
    """Whether a form gives the dates back as they are."""
    dtype = values.dtype
    if dtype != (pl.Datetime("us") if "%H" in form or "%-H" in form else pl.Date):
        return False
    return values.dt.to_string(form).str.strptime(dtype, form, strict=False).equals(values)  # type: ignore[arg-type]


def _write_csv(
    frame: pl.DataFrame,
    file: Path | IO[bytes] | None,
    dialect: Dialect,
    *,
    header: bool = True,
    bom: bool = False,
) -> str | None:
    return frame.write_csv(
        file,
        include_bom=bom,
        include_header=header,
        separator=dialect.separator,
        decimal_comma=dialect.decimal == ",",
        line_terminator=dialect.newline,
    )


def _slices(frame: pl.DataFrame, rows: int = 50_000) -> "list[pl.DataFrame]":
    return list(frame.iter_slices(rows)) if frame.height else [frame]
