"""What a perturbation leaves alone: other columns, and gaps."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.microdata.perturbation.promises.promise import Outcome
from shoal.microdata.perturbation.promises.reading import floats, same_numbers
from shoal.numbers import counted


def same_values(first: "nw.Series[Any]", second: "nw.Series[Any]") -> np.ndarray:
    """Which records have the same value in both; two gaps are the same.

    >>> import polars as pl
    >>> one, other = (nw.from_native(pl.Series(v), series_only=True) for v in (["1", None, "b"], ["1", None, "c"]))
    >>> same_values(one, other).tolist()
    [True, True, False]
    """
    if first.dtype.is_numeric() and second.dtype.is_numeric():
        return same_numbers(floats(first), floats(second))
    left, right = common_codes(first, second)
    return left == right


def common_codes(first: "nw.Series[Any]", second: "nw.Series[Any]") -> tuple[np.ndarray, np.ndarray]:
    """A number for every value of two columns: what is written alike has the same one."""
    one, other = read_values(first), read_values(second)
    numbers: dict[str | None, int] = {}
    found = [
        np.array([numbers.setdefault(text, len(numbers)) for text in values.texts], dtype=np.int64)[
            values.codes
        ]
        for values in (one, other)
    ]
    return found[0], found[1]


def gaps(column: "nw.Series[Any]") -> np.ndarray:
    """Which records have no value."""
    if column.dtype.is_numeric():
        return np.isnan(floats(column))
    values = read_values(column)
    return np.array([text is None for text in values.texts], dtype=bool)[values.codes]


@dataclass(frozen=True)
class OthersUntouched:
    """Columns that were not to be changed are as they were."""

    changed: tuple[str, ...]
    dropped: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is promised."""
        return "columns that are not perturbed are as they were"

    def check(self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]") -> Outcome:
        """Compare them value by value."""
        others = [name for name in before.columns if name not in (*self.changed, *self.dropped)]
        there = [name for name in others if name in after.columns]
        differ = [name for name in there if not same_values(before[name], after[name]).all()]
        lost = len(others) - len(there)
        if lost or any(name in after.columns for name in self.dropped):
            return Outcome(kept=False, measured="the columns are not those stated")
        return Outcome(not differ, f"{counted(len(differ), 'column')} of {len(others)} differ")


@dataclass(frozen=True)
class GapsStay:
    """A missing value stays missing, and no other becomes so."""

    columns: tuple[str, ...]

    @property
    def text(self) -> str:
        """What is promised."""
        return "missing values stay where they were"

    def check(self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]") -> Outcome:
        """Compare where values are missing."""
        moved = sum(int((gaps(before[name]) != gaps(after[name])).sum()) for name in self.columns)
        return Outcome(moved == 0, f"{counted(moved, 'gap')} moved")
