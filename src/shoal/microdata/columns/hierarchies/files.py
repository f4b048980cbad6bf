"""Hierarchies in files.

As ARX keeps them (a line for each value, with its labels level by level, separated by semicolons), as a list with the columns
``code`` and ``parent``, or as a ``.hrc`` file of τ-ARGUS.
"""

import csv
import io
from pathlib import Path

import numpy as np

from shoal.errors import InputError, unreadable
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, Row
from shoal.microdata.columns.hierarchies.parent_lists import rows_from_hrc, rows_from_pairs
from shoal.sources.encoding import decode, guess_encoding

#: How a file may write a missing value, as ARX does.
MISSING = ("NULL", "")
_PARENTS = ["code", "parent"]


def read_hierarchy(path: Path) -> Hierarchy:
    """A hierarchy from a file; how it is written, and with which separator, is told by the file itself."""
    try:
        content = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    except OSError as error:
        raise unreadable("hierarchy", path, error) from None
    try:
        text = decode(content, guess_encoding(content, path.name), path.name)
    except InputError as error:
        # How files of data may be written can be said; hierarchies have no such option.
        line = str(error).partition(" of ")[0]
        raise InputError(f"the hierarchy '{path.name}' is no text at {line}; save it in UTF-8") from None
    return parse_hierarchy(text, f"file {path.name}", hrc=path.suffix.lower() == ".hrc")


def parse_hierarchy(text: str, origin: str, *, hrc: bool = False) -> Hierarchy:
    r"""A hierarchy from the text of a file.

    >>> parse_hierarchy("31;30-39;*\n47;40-49;*", "file age.csv")
    Hierarchy(2 values, 2 levels, file age.csv)
    >>> parse_hierarchy("code,parent\nbonn,west\nwest,", "file city.csv").rows
    (('bonn', 'west', '*'),)
    """
    try:
        return Hierarchy(rows_from_hrc(text) if hrc else _rows(text), origin)
    except InputError as error:
        raise error.about(f"the hierarchy in {origin}") from None


def _rows(text: str) -> list[Row]:
    rows = _separated(text)
    if rows and [cell.strip().lower() for cell in rows[0]] == _PARENTS:
        for number, row in enumerate(rows[1:], start=2):
            if len(row) > len(_PARENTS):
                raise InputError(f"line {number} has {len(row)} fields, not a code and its parent")
        return rows_from_pairs([(row[0], row[1] if len(row) > 1 else None) for row in rows[1:]], line=2)
    return [_row(row) for row in rows]


def _separated(text: str) -> list[list[str]]:
    """The lines, parted by the first separator that parts all of them alike, else by the one that finds most."""
    found = []
    for separator in ";\t,":
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(row)]
        lengths = {len(row) for row in rows}
        if len(lengths) == 1 and lengths != {1}:
            return rows
        found.append(rows)
    return max(found, key=lambda rows: sum(map(len, rows)))


def _row(row: list[str]) -> Row:
    if row[0] in MISSING:
        return (None, *[None if label in MISSING else label for label in row[1:]])
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
