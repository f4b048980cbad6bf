"""Hierarchies as ARX keeps them: a line for each value, with its labels level by level, separated by semicolons."""

import csv
import io
from pathlib import Path

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, Row

#: How a file may write a missing value, as ARX does.
_MISSING = ("NULL", "")


def read_hierarchy(path: Path) -> Hierarchy:
    """A hierarchy from a file; the separator is the one that parts all lines alike, a byte-order mark is passed over."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError:
        raise InputError(f"the hierarchy '{path}' cannot be read") from None
    except UnicodeDecodeError:
        text = path.read_text(encoding="cp1252", errors="replace")
    return parse_hierarchy(text, f"file {path.name}")


def parse_hierarchy(text: str, origin: str) -> Hierarchy:
    r"""A hierarchy from the text of a file.

    >>> parse_hierarchy("31;30-39;*\n47;40-49;*", "file age.csv")
    Hierarchy(2 values, 2 levels, file age.csv)
    """
    rows = _rows(text)
    try:
        return Hierarchy(rows, origin)
    except InputError as error:
        raise error.about(f"the hierarchy in {origin}") from None


def _rows(text: str) -> list[Row]:
    by_separator = {
        separator: [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(row)]
        for separator in ";,\t"
    }
    # The separator that finds the most labels in every line is the one meant.
    rows = max(by_separator.values(), key=lambda rows: min(map(len, rows), default=0))
    return [_row(row) for row in rows]


def _row(row: list[str]) -> Row:
    if row[0] in _MISSING:
        return (None, *[None if label in _MISSING else label for label in row[1:]])
    return tuple(row)


def hierarchy_text(hierarchy: Hierarchy) -> str:
    r"""A hierarchy as the text of a file that ARX and ``read_hierarchy`` read.

    >>> hierarchy_text(Hierarchy([("31", "30-39"), ("47", "40-49")]))
    '31;30-39;*\n47;40-49;*\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\n")
    writer.writerows(["NULL" if label is None else label for label in row] for row in hierarchy.rows)
    return out.getvalue()
