"""Households: their members, where they live, and how rare their members are there."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.errors import InputError, first_record, parameter
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.ranking_kernels import hashes
from shoal.microdata.perturbation.record_swapping.exchange_kernels import smallest_in_groups

# A table of so many entries for each code is quicker than sorting them.
_LONG = 8


@dataclass(frozen=True, eq=False)
class Households:
    """The households of a file, numbered from 0 on.

    ``of_record`` is the household of each record, ``first`` the first record and ``size`` the members of each. ``paths`` hold for
    each level the region, told by all levels from the coarsest on; −1 where a part of it is missing. ``rarest`` is for each
    level the smallest number of people in the region who share a member's keys.
    """

    of_record: np.ndarray = field(repr=False)
    first: np.ndarray = field(repr=False)
    size: np.ndarray = field(repr=False)
    paths: tuple[np.ndarray, ...] = field(repr=False)
    rarest: tuple[np.ndarray, ...] = field(repr=False)

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.first.size)

    @property
    def placed(self) -> np.ndarray:
        """Which have a complete place."""
        found: np.ndarray = self.paths[-1] >= 0
        return found

    def level_at_risk(self, k: int) -> np.ndarray:
        """The coarsest level at which somebody of the household shares the keys with fewer than k; else the number of levels."""
        found = np.full(self.count, len(self.paths))
        for level in reversed(range(len(self.paths))):
            found[(self.rarest[level] < k) & self.placed] = level
        return found


def read_households(problem: Problem) -> Households:
    """The households of a problem; an ``InputError`` if one lives in several regions."""
    of_record, first = _members(problem)
    codes = [_codes(problem, name) for name in problem.regions]
    for name, own in zip(problem.regions, codes, strict=True):
        if np.unique(own[own >= 0]).size < 2:
            raise InputError(f"column '{name}' names no two regions, so nobody can change between them")
    paths = [_path(codes[: level + 1]) for level in range(len(codes))]
    split = np.zeros(of_record.size, dtype=bool)
    for own in codes:
        split |= own != own[first[of_record]]
    if split.any():
        raise InputError(
            f"households must live in one place; other {parameter('regions')} than the first of the household: "
            f"{first_record(np.flatnonzero(split))}; correct that, or leave the column out"
        )
    keys = numbered([problem.values(name).codes for name in problem.quasi])
    rarest = []
    for own in paths:
        cells = numbered([own, keys])
        rarest.append(smallest_in_groups(of_record, np.bincount(cells)[cells], first.size))
    return Households(
        of_record,
        first,
        np.bincount(of_record),
        tuple(np.where(paths[-1] < 0, -1, own)[first] for own in paths),
        tuple(rarest),
    )


def alike(problem: Problem, households: Households, name: str) -> np.ndarray:
    """A number for each household: the same where the members have the same values of a column, in any order."""
    key = np.zeros(2, dtype=np.uint64)
    words = hashes(key, problem.values(name).codes.astype(np.uint64))
    sums = np.zeros(households.count, dtype=np.uint64)
    np.add.at(sums, households.of_record, words)
    return numbered([sums])


def numbered(codes: Sequence[np.ndarray]) -> np.ndarray:
    """Numbers from 0 on for combinations of codes.

    >>> numbered([np.array([1, 1, 0]), np.array([5, 5, 5])]).tolist()
    [1, 1, 0]
    """
    found = _small(codes[0])
    for own in codes[1:]:
        second = _small(own)
        found = _small(found * (int(second.max(initial=0)) + 1) + second)
    return found


def _small(codes: np.ndarray) -> np.ndarray:
    """Numbers from 0 on in the order of the codes: by a table of all that there could be, or by sorting where that is long."""
    least = codes.min(initial=0)
    span = int(codes.max(initial=0)) - int(least) + 1
    if codes.dtype.kind == "i" and span <= _LONG * codes.size + 1024:
        there = np.zeros(span, dtype=bool)
        there[codes - least] = True
        numbers: np.ndarray = np.cumsum(there)[codes - least] - 1
        return numbers
    _, numbers = np.unique(codes, return_inverse=True)
    return numbers.astype(np.int64)


def _members(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The household of each record, and the first record of each; one that is not known is a household of its own."""
    if problem.household is None:
        return np.arange(problem.records), np.arange(problem.records)
    column = problem.data[problem.household].to_polars()
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    # Only who belongs together counts, so nobody has to spell the names of households.
    known = column.is_not_null().to_numpy()
    codes = np.arange(problem.records) + problem.records + 1
    codes[known] = column.rank("dense").drop_nulls().to_numpy()
    _, first, numbers = np.unique(codes, return_index=True, return_inverse=True)
    return numbers.astype(np.int64), first


def _codes(problem: Problem, name: str) -> np.ndarray:
    values = problem.values(name)
    codes = values.codes.astype(np.int64)
    if values.has_missing:
        codes[codes == values.texts.index(None)] = -1
    return codes


def _path(codes: Sequence[np.ndarray]) -> np.ndarray:
    found = numbered(codes)
    return np.where(np.min(codes, axis=0) < 0, -1, found)
