"""Data that metadata of τ-ARGUS describe: records and ready-made tables, of fixed width or with a separator."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.tables.files.argus_metadata import Metadata, Variable, text_of

if TYPE_CHECKING:
    import polars as pl


def read_described(path: Path, metadata: Metadata) -> "pl.DataFrame":
    """The file as a frame: codes as texts without the blanks around them, figures as numbers, missing codes as nothing."""
    import polars as pl

    lines = [line for line in text_of(path).splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{path.name} is empty")
    rows = _separated(lines, metadata, path) if metadata.separator else _fixed(lines, metadata, path)
    columns = {}
    for place, item in enumerate(metadata.variables):
        texts = [row[place].strip() for row in rows]
        # In a ready-made table a missing code is a code of its own, and its row is one of the cells.
        gaps = () if metadata.aggregated and item.is_dimension else item.missing
        found = [None if text == "" or text in gaps else text for text in texts]
        columns[item.name] = (
            pl.Series(_numbers(found, item, metadata.separator, path), dtype=pl.Float64)
            if item.is_number
            else pl.Series(found, dtype=pl.String)
        )
    return pl.DataFrame(columns)


def _separated(lines: list[str], metadata: Metadata, path: Path) -> list[list[str]]:
    wanted = len(metadata.variables)
    reader = csv.reader(lines, delimiter=str(metadata.separator), skipinitialspace=True)
    rows = list(reader)
    for number, row in enumerate(rows, 1):
        if len(row) < wanted:
            raise InputError(
                f"{path.name}, line {number}: {len(row)} columns, but {metadata.path.name} describes {wanted}"
            )
    return rows


def _fixed(lines: list[str], metadata: Metadata, path: Path) -> list[list[str]]:
    ends = [(item.start or 1, (item.start or 1) - 1 + (item.width or 0)) for item in metadata.variables]
    first, longest = lines[0], max(end for _, end in ends)
    if len(first) < longest - max(item.width or 0 for item in metadata.variables):
        raise InputError(
            f"{path.name}, line 1: {len(first)} characters, but {metadata.path.name} describes {longest}"
        )
    return [[line[start - 1 : end] for start, end in ends] for line in lines]


def _numbers(
    texts: list[str | None], item: Variable, separator: str | None, path: Path
) -> list[float | None]:
    found: list[float | None] = []
    for number, text in enumerate(texts, 1):
        # SAS, which many of these files come from, writes a number that is missing as a point.
        if text is None or text == ".":
            found.append(None)
            continue
        plain = text.replace(",", ".") if separator != "," and "." not in text else text
        try:
            found.append(float(plain))
        except ValueError:
            raise InputError(f"{path.name}, line {number}: '{item.name}' is no number") from None
    return found
