"""Whether the first line of a file is a record instead of the column names, which its values would then become."""

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

import polars as pl

from shoal.errors import InputError, parameter
from shoal.sources.dates import has_date_shape
from shoal.sources.dialect import is_number
from shoal.sources.inference import MISSING_MARKS


class FirstLine(Enum):
    """What the line where names are expected looks like."""

    NAMES = "column names"
    DOUBTFUL = "perhaps a record"
    RECORD = "a record"


def default_names(width: int) -> list[str]:
    """The names of columns that have none.

    >>> default_names(3)
    ['column1', 'column2', 'column3']
    """
    return [f"column{number}" for number in range(1, width + 1)]


def look_of(names: list[str], frame: pl.DataFrame) -> FirstLine:
    """What the names look like beside the values below them.

    A word above numbers or dates is a name, and then all of the line are names. Without one, a date above dates is a
    value, and so are numbers above numbers, unless they may be labels of a wide table: years, codes, limits.

    >>> ages = pl.DataFrame({"a": ["Ann", "Bea"], "b": [34, 51], "c": [980.5, 1200.0]})
    >>> look_of(["name", "age", "income"], ages), look_of(["Cid", "40", "12.5"], ages)
    (<FirstLine.NAMES: 'column names'>, <FirstLine.RECORD: 'a record'>)
    """
    dates = repeats = 0
    labels: list[float] = []
    below: list[pl.Series] = []
    for name, values in zip(names, frame.iter_columns(), strict=True):
        field = name.strip()
        there = values.alias("").drop_nulls()
        if not field or field in MISSING_MARKS or not len(there):
            continue
        if values.dtype.is_numeric():
            if not is_number(field):
                return FirstLine.NAMES
            labels.append(float(field.replace(",", ".")))
            below.append(there)
        elif values.dtype.is_temporal():
            if not has_date_shape(field):
                return FirstLine.NAMES
            dates += 1
        elif values.dtype == pl.Boolean:
            if field.lower() not in ("true", "false"):
                return FirstLine.NAMES
            repeats += 1
        elif values.dtype == pl.String:
            repeats += bool((there.str.strip_chars() == field).any())
    alike = bool(labels) and not _years(labels) and _as_below(labels, below)
    # Classes and limits rise from column to column; years also fall.
    ordered = _years(labels) or _rising(labels)
    if dates or (alike and (repeats or not ordered)) or (not ordered and any(label % 1 for label in labels)):
        return FirstLine.RECORD
    if alike or not ordered or (labels and repeats) or repeats > 1 or repeats == len(names):
        return FirstLine.DOUBTFUL
    return FirstLine.NAMES


def codes_and_labels(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The rows of codes and what they belong to, with the names of their columns before them where these are a row as well.

    They are if a column holds its own name: then the first line of a file was no header.

    >>> codes_and_labels(["bonn", "west"], [("kiel", "west")])
    [('bonn', 'west'), ('kiel', 'west')]
    >>> codes_and_labels(["city", "part"], [("bonn", "west")])
    [('bonn', 'west')]
    """
    header = any(str(code) == name for row in rows for name, code in zip(names, row, strict=True))
    return [tuple(names), *rows] if header else list(rows)


def first_line(names: list[str], frame: pl.DataFrame, name: str, unit: str, number: int) -> tuple[str, ...]:
    """A warning if the line of the names may be a record; an ``InputError`` if it clearly is. No field is repeated."""
    look = look_of(names, frame)
    if look is FirstLine.NAMES:
        return ()
    where = f"{'the first ' + unit if number == 1 else f'{unit} {number}'} of '{name}'"
    rest = f"say {parameter('header_row')} 0 if there are no names, or {parameter('header_row')} {number} if these are the names"
    if look is FirstLine.RECORD:
        raise InputError(f"{where} looks like a record, not like column names; {rest}")
    return (
        f"{where} may be a record instead of the column names, whose values would then be shown as names; {rest}",
    )


def _rising(labels: list[float]) -> bool:
    return all(later > earlier for earlier, later in pairwise(labels))


def _years(labels: list[float]) -> bool:
    return all(label.is_integer() and 1850 <= label <= 2100 for label in labels)


def _as_below(labels: list[float], below: list[pl.Series]) -> bool:
    """Whether every number lies among those of its own column and, of several, fits no other column as well."""
    ranges = [(float(values.min()), float(values.max())) for values in below]  # type: ignore[arg-type]
    for place, label in enumerate(labels):
        fits = [low <= label <= high for low, high in ranges]
        if not fits[place] or (len(labels) > 1 and all(fits)):
            return False
    return True
