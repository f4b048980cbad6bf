"""How checks read columns and strata."""

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np

# A workbook keeps sixteen digits of a number, one less than there may be.
_WRITTEN = 1e-15


def floats(column: "nw.Series[Any]") -> np.ndarray:
    """A column of numbers, gaps as NaN."""
    values = np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values[column.is_null().to_numpy()] = np.nan
    return values


def same_numbers(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two arrays hold the same numbers, as far as every kind of file can keep them; two gaps are the same.

    >>> same_numbers(np.array([1.0, np.nan, 2.0]), np.array([1.0 + 2e-16, np.nan, 2.1])).tolist()
    [True, True, False]
    """
    near: np.ndarray = np.abs(one - other) <= _WRITTEN * np.abs(one)
    return near | (np.isnan(one) & np.isnan(other))


def parts(strata: np.ndarray) -> Iterator[np.ndarray]:
    """The records of each stratum."""
    if not np.any(strata != strata[:1]):
        yield np.arange(strata.size)
        return
    order = np.argsort(strata, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(strata[order])) + 1)


def in_strata(strata: np.ndarray) -> str:
    """Where a promise holds, in words: nothing is to be said of one stratum."""
    return " in every stratum" if np.any(strata != strata[:1]) else ""


def together(columns: Sequence[np.ndarray]) -> np.ndarray:
    """A number for each row of codes, the same where all of them are.

    >>> together([np.array([4, 4, 0]), np.array([1, 1, 1])]).tolist()
    [1, 1, 0]
    """
    found = np.zeros(columns[0].size, dtype=np.int64)
    for codes in columns:
        _, small = np.unique(codes, return_inverse=True)
        _, found = np.unique(found * (small.max(initial=0) + 1) + small, return_inverse=True)
    return found
