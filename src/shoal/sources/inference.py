"""The types of the columns of a text file, decided from every value of it.

A column becomes a number or a date only when nothing is lost by it: codes with leading zeros (``02139``), with a plus
sign, or too long for an integer stay text, and so do dates that would be written back differently.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

#: What stands for a missing number in files of other programs; in a column of text they are ordinary words.
MISSING_MARKS = ("NA", "N/A", "NULL", "null", ".")

_SAMPLE = 1000
_NUMBERS = ("integer", "point", "comma")
# A plus sign, a leading zero or a minus before zero would be lost in a number, digits beyond the sixteenth in a float.
_SPOILT = {
    "integer": r"^(?:\+|-?0[0-9]|-0$)",
    "point": r"^(?:\+|-?0[0-9]|-?[0-9]{16,}$)",
    "comma": r"^(?:\+|-?0[0-9]|-?[0-9]{16,}$)|\.",
}
_DATES: dict[str, tuple[Any, str]] = {
    "date": (pl.Date, "%Y-%m-%d"),
    "moment": (pl.Datetime("us"), "%Y-%m-%dT%H:%M:%S"),
    "exact moment": (pl.Datetime("us"), "%Y-%m-%dT%H:%M:%S%.6f"),
}
_KINDS = (*_NUMBERS, "boolean", *_DATES)


@dataclass(frozen=True)
class Types:
    """The kind of each column that is not text, the decimal sign that follows, and where marks stand for nulls."""

    kinds: dict[str, str]
    decimal: str
    marked: tuple[str, ...]

    def expressions(self) -> list[pl.Expr]:
        """How to turn the columns of text into what they hold."""
        return [_value(name, kind) for name, kind in self.kinds.items()]


def infer(text: pl.LazyFrame, names: Sequence[str], separator: str, decimal: str | None) -> Types:
    """Decide the type of every column; ``decimal`` is the sign the user gave, or nothing to guess it."""
    sample = text.head(_SAMPLE).collect()
    kinds = [kind for kind in _KINDS if decimal is None or kind != _other(decimal)]
    counts = _count(sample.lazy(), [(name, kind) for name in names for kind in kinds])
    # What the first records rule out need not be looked for in all the others.
    likely = {name: [kind for kind in kinds if not counts[name, kind]["failing"]] for name in names}
    whole = text if sample.height == _SAMPLE else sample.lazy()
    found = _first_fitting(whole, likely)
    if decimal is None:
        commas = separator != "," and any(kind == "comma" for kind, _ in found.values())
        decimal = "," if commas else "."
        if commas:
            # Numbers that need neither sign (1e5, NaN) fit both; the rest of the columns with points stay text.
            points = {name: ["comma"] for name, (kind, _) in found.items() if kind == "point"}
            found = {name: pair for name, pair in found.items() if name not in points}
            found |= _first_fitting(whole, points)
        else:
            found = {name: pair for name, pair in found.items() if pair[0] != "comma"}
    return Types(
        kinds={name: found[name][0] for name in names if name in found},
        decimal=decimal,
        marked=tuple(name for name in names if name in found and found[name][1]),
    )


def _other(decimal: str) -> str:
    return "point" if decimal == "," else "comma"


def _first_fitting(text: pl.LazyFrame, likely: dict[str, list[str]]) -> dict[str, tuple[str, int]]:
    """For each column the first kind that all its values fit, with the number of marks for missing among them."""
    found: dict[str, tuple[str, int]] = {}
    left = {name: list(kinds) for name, kinds in likely.items() if kinds}
    while left:
        for (name, kind), count in _count(
            text, [(name, kinds.pop(0)) for name, kinds in left.items()]
        ).items():
            if not count["values"]:
                left[name] = []  # an empty column stays text
            elif not count["failing"]:
                left[name] = []
                found[name] = (kind, count["marks"])
        left = {name: kinds for name, kinds in left.items() if kinds}
    return found


def _count(text: pl.LazyFrame, keys: list[tuple[str, str]]) -> dict[tuple[str, str], dict[str, int]]:
    """For each column and kind: the values, those of them that do not fit, and the marks for missing."""
    if not keys:
        return {}
    wanted = [_counts(name, kind).alias(str(position)) for position, (name, kind) in enumerate(keys)]
    return dict(zip(keys, text.select(wanted).collect(engine="streaming").row(0)))


def _counts(name: str, kind: str) -> pl.Expr:
    column = pl.col(name)
    value = _value(name, kind)
    empty = (column == "").sum()
    marks: pl.Expr = pl.lit(0)
    if kind in _NUMBERS:
        bare = column.str.strip_chars()
        empty = (bare == "").sum()
        marks = bare.is_in(MISSING_MARKS).sum()
        # What could not be converted is null now; of what could, some would be spoilt by it.
        failing = value.null_count() - column.null_count() - empty - marks
        failing += bare.str.contains(_SPOILT[kind]).sum()
    elif kind == "boolean":
        failing = column.count() - empty - column.is_in(["true", "false"]).sum()
    else:
        failing = column.count() - empty - (value.dt.to_string(_DATES[kind][1]) == column).sum()
    values = column.count() - empty - marks
    return pl.struct(failing=failing.cast(pl.Int64), values=values.cast(pl.Int64), marks=marks.cast(pl.Int64))


def _value(name: str, kind: str) -> pl.Expr:
    column = pl.col(name)
    bare = column.str.strip_chars()
    if kind == "integer":
        return bare.cast(pl.Int64, strict=False).alias(name)
    if kind == "point":
        return bare.cast(pl.Float64, strict=False).alias(name)
    if kind == "comma":
        return bare.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).alias(name)
    if kind == "boolean":
        return pl.when(column != "").then(column == "true").alias(name)
    dtype, form = _DATES[kind]
    return column.str.strptime(dtype, form, strict=False).alias(name)
