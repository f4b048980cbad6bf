"""The types of the columns of a text file, decided from every value of it.

A column becomes a number or a date only when nothing is lost by it: codes with leading zeros (``02139``), with a plus
sign, or too long for an integer stay text, and so do dates that would be written back differently.

Columns are taken one by one, and the first value of each says what is worth trying, so that a file of ten thousand
columns costs a hundred times one of a hundred.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from shoal.sources.dates import ISO_DAY, ISO_EXACT, ISO_MOMENT, has_date_shape, possible_dates

#: What stands for a missing number in files of other programs; in a column of text they are ordinary words.
MISSING_MARKS = ("NA", "N/A", "NULL", "null", ".")

_SAMPLE = 1000
_GLANCE = 20
# A plus sign, a leading zero or a minus before zero would be lost in a number, digits beyond the sixteenth in a float.
_SPOILT = {
    "integer": r"^(?:\+|-?0[0-9]|-0$)",
    "point": r"^(?:\+|-?0[0-9]|-?[0-9]{16,}$)",
    "comma": r"^(?:\+|-?0[0-9]|-?[0-9]{16,}$)",
}
# All that a spoilt number can begin with sorts before this.
_FIRST_DIGIT, _LONG = "1", 16
# How numbers begin, and the signs that numbers of a kind never hold.
_BEGINS = frozenset("0123456789.,")
_FOREIGN = {"integer": ".,e", "point": ",", "comma": "."}
_NO_DIGITS = ("inf", "infinity", "nan")


@dataclass(frozen=True)
class Types:
    """The columns with their types, the decimal sign that follows, and what was taken for what.

    ``marked`` are the columns where marks stand for nulls, ``dates`` the forms of those written in another way than
    ISO, ``unclear`` the columns of dates in which day and month cannot be told apart.
    """

    frame: pl.DataFrame = field(repr=False)
    decimal: str
    marked: tuple[str, ...]
    dates: Mapping[str, str]
    unclear: tuple[str, ...]


@dataclass(frozen=True)
class _Typed:
    """What was made of one column."""

    values: pl.Series
    kind: str = "text"
    marks: int = 0
    form: str | None = None


def infer(text: pl.DataFrame, separator: str, decimal: str | None, dates: Mapping[str, str]) -> Types:
    """Decide the type of every column of a frame of text.

    ``decimal`` is the sign the user gave, or nothing to guess it; ``dates`` are forms to prefer where the order of
    day and month is open.
    """
    signs = {",": ("comma",), ".": ("point",), None: ("point",) if separator == "," else ("point", "comma")}
    numbers = ("integer", *signs[decimal])
    # Under no name at all: there are some by which Polars does not find the values again.
    columns = [values.alias("") for values in text.get_columns()]
    typed = [
        _typed(values, numbers, dates.get(name)) for name, values in zip(text.columns, columns, strict=True)
    ]
    if decimal is None:
        decimal = "," if any(column.kind == "comma" for column in typed) else "."
        if decimal == ",":
            # Numbers that need neither sign (1e5, NaN) fit both; the rest of the columns with points stay text.
            typed = [
                (_number(values, "comma") or _Typed(values)) if column.kind == "point" else column
                for column, values in zip(typed, columns, strict=True)
            ]
    named = dict(zip(text.columns, typed, strict=True))
    return Types(
        frame=pl.DataFrame({name: column.values for name, column in named.items()}),
        decimal=decimal,
        marked=tuple(name for name, column in named.items() if column.marks),
        dates={
            name: column.form
            for name, column in named.items()
            if column.form is not None and column.form not in (ISO_DAY, ISO_MOMENT, ISO_EXACT)
        },
        unclear=tuple(name for name, column in named.items() if column.kind == "unclear"),
    )


def _typed(values: pl.Series, numbers: Sequence[str], form: str | None) -> _Typed:
    """The first kind that all values fit; what the first value and then the first thousand rule out is not tried."""
    example = _example(values)
    if example is None:
        return _Typed(values)
    if has_date_shape(example):
        return _dates(values, example, form)
    if example in ("true", "false"):
        return _boolean(values) or _Typed(values)
    for kind in _kinds(example, numbers):
        if len(values) > _SAMPLE and _number(values.head(_SAMPLE), kind, may_be_empty=True) is None:
            continue
        if (found := _number(values, kind)) is not None:
            return found
    return _Typed(values)


def _example(values: pl.Series) -> str | None:
    """The first value that is neither empty nor a mark for missing."""
    for value in values.head(_GLANCE).to_list():
        if value is not None and value.strip() and value.strip() not in MISSING_MARKS:
            return str(value)
    if len(values) <= _GLANCE:
        return None
    bare = values.str.strip_chars()
    left = values.filter((bare != "") & ~bare.is_in(MISSING_MARKS))
    return str(left[0]) if len(left) else None


def _kinds(example: str, numbers: Sequence[str]) -> list[str]:
    """The kinds of numbers that one value leaves possible."""
    bare = example.strip().lower()
    if bare.lstrip("+-") in _NO_DIGITS:
        return [kind for kind in numbers if kind != "integer"]
    if not bare or bare.lstrip("+-")[:1] not in _BEGINS:
        return []
    return [kind for kind in numbers if not any(sign in bare for sign in _FOREIGN[kind])]


def _number(values: pl.Series, kind: str, *, may_be_empty: bool = False) -> _Typed | None:
    found = _cast(values, kind)
    marks = 0
    if lost := found.null_count() - values.null_count():
        bare = values.str.strip_chars()
        found = _cast(bare, kind)
        marks = int(bare.is_in(MISSING_MARKS).sum())
        lost = found.null_count() - values.null_count() - marks - int((bare == "").sum())
        values = bare
    if lost or _spoilt(values, kind):
        return None
    if found.null_count() == len(found) and not may_be_empty:
        return None
    return _Typed(found, kind, marks)


def _spoilt(values: pl.Series, kind: str) -> bool:
    """Whether anything of the texts would be lost in numbers; only those that may be so are looked at closely."""
    if kind == "comma" and values.str.contains(".", literal=True).any():
        return True
    suspect = values < _FIRST_DIGIT
    if kind != "integer":
        suspect |= values.str.len_bytes() >= _LONG
    return bool(values.filter(suspect).str.contains(_SPOILT[kind]).any())


def _cast(values: pl.Series, kind: str) -> pl.Series:
    if kind == "comma":
        values = values.str.replace(",", ".", literal=True)
    return values.cast(pl.Int64 if kind == "integer" else pl.Float64, strict=False)


def _boolean(values: pl.Series) -> _Typed | None:
    yes, no, empty = values == "true", values == "false", values == ""
    if not (yes | no | empty).all():
        return None
    return _Typed(yes.set(empty.fill_null(value=False), None).alias(values.name), "boolean")


def _dates(values: pl.Series, example: str, known: str | None) -> _Typed:
    if len(values) > _SAMPLE and not possible_dates(values.head(_SAMPLE), example):
        return _Typed(values)
    found = possible_dates(values, example)
    if len(found) > 1:
        found = [dates for dates in found if dates.form == known]
        if not found:
            return _Typed(values, "unclear")
    return _Typed(found[0].values, "date", form=found[0].form) if found else _Typed(values)
