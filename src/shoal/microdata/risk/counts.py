"""How many records of the sample, and how many people of the population, share the keys of each record.

A missing value is a value of its own, or matches anything: then the classes overlap, and a record with no value at all counts
for everybody.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.anonymity.wildcard import compatible_records
from shoal.microdata.risk import counts_kernels
from shoal.microdata.risk.keys import Groups, group

# A join of the classes of two patterns of gaps takes as long as so many comparisons of two classes.
_COMPARISONS_OF_A_JOIN = 100_000


@dataclass(frozen=True, eq=False)
class Hiding:
    """For each class its ``records``, and what each of them is hidden in: ``counts`` records, ``populations`` people.

    A class of people of whom nobody is in the sample has no records.
    """

    records: np.ndarray
    counts: np.ndarray
    populations: np.ndarray

    def tally(self) -> tuple[int, int, int]:
        """K, how many records are alone, and how many are in pairs."""
        k, alone, pairs = counts_kernels.tally(self.records, self.counts)
        return int(k), int(alone), int(pairs)


@dataclass(frozen=True, eq=False)
class Classes(Hiding):
    """The combinations of keys that occur.

    ``codes`` holds a row for each key, ``missing`` the number that stands for a missing value of it (−1: none). ``records``
    and ``weights`` are of the records with exactly these values; with ``wildcard`` they are hidden among others, too.
    """

    weights: np.ndarray
    codes: np.ndarray
    sizes: tuple[int, ...]
    missing: tuple[int, ...]
    wildcard: bool

    @property
    def number(self) -> int:
        """How many combinations occur."""
        return int(self.records.size)

    def without(self, position: int) -> Hiding:
        """What is left when nobody knows one of the keys."""
        others = [key for key in range(len(self.sizes)) if key != position]
        if not others:
            records, weights = self.records.sum(keepdims=True), self.weights.sum(keepdims=True)
            return Hiding(records, records, weights)
        groups = group([self.codes[key] for key in others], [self.sizes[key] for key in others])
        records, weights = groups.sums(self.records), groups.sums(self.weights)
        if not self.wildcard:
            return Hiding(records, records, weights)
        return classes_of(
            self.codes[others][:, groups.first],
            [self.sizes[key] for key in others],
            [self.missing[key] for key in others],
            records,
            weights,
            wildcard=True,
        )


def classes_of(
    codes: np.ndarray,
    sizes: Sequence[int],
    missing: Sequence[int],
    records: np.ndarray,
    weights: np.ndarray,
    *,
    wildcard: bool,
) -> Classes:
    """Different combinations with what each is hidden in.

    >>> own = classes_of(np.array([[0, 1, 2]]), [3], [2], np.array([4, 1, 1]), np.array([40.0, 9.0, 2.0]), wildcard=True)
    >>> own.counts.tolist(), own.populations.tolist()
    ([5, 2, 6], [42.0, 11.0, 51.0])
    """
    plain = Classes(
        records, records, weights, weights, codes, tuple(sizes), tuple(missing), wildcard=wildcard
    )
    lacking = [
        position for position, gone in enumerate(missing) if gone >= 0 and (codes[position] == gone).any()
    ]
    if not wildcard or not lacking:
        return plain
    rows = np.column_stack(
        [np.where(own == gone, -1, own) for own, gone in zip(codes, missing, strict=True)]
    ).astype(np.int32)
    index = _index(rows, max(sizes))
    best, comparisons = _comparisons(rows, index)
    patterns = np.unique((rows < 0) @ (1 << np.arange(rows.shape[1], dtype=np.int64))).size
    if comparisons <= _COMPARISONS_OF_A_JOIN * patterns**2:
        counts, populations = _by_pairs(rows, index, best, records, weights)
    else:
        counts, populations = _by_patterns(rows, records, weights)
    return replace(plain, counts=counts, populations=populations)


def _index(rows: np.ndarray, values: int) -> counts_kernels.Index:
    starts = np.stack(
        [np.concatenate([[0], np.cumsum(np.bincount(own + 1, minlength=values + 1))]) for own in rows.T]
    )
    return counts_kernels.Index(np.argsort(rows.T, axis=1, kind="stable"), starts.astype(np.int64))


def _comparisons(rows: np.ndarray, index: counts_kernels.Index) -> tuple[np.ndarray, int]:
    """By which key each class that lacks a value is compared with fewest others, and how many comparisons that makes."""
    sizes = np.diff(index.starts, axis=1)
    fewest = np.full(rows.shape[0], rows.shape[0])
    best = np.full(rows.shape[0], -1, dtype=np.int64)
    for key, own in enumerate(rows.T):
        others = np.where(own < 0, rows.shape[0] + 1, sizes[key][own + 1] + sizes[key][0])
        best[others <= fewest] = key
        fewest = np.minimum(fewest, others)
    complete = (rows >= 0).all(axis=1)
    best[complete] = -2
    return best, int(fewest[~complete].sum())


def _by_pairs(
    rows: np.ndarray, index: counts_kernels.Index, best: np.ndarray, records: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each class that lacks a value, compared with all that may be compatible."""
    amounts = counts_kernels.Amounts(records, weights, records.astype(np.int64), weights.astype(np.float64))
    counts_kernels.add_compatible(rows, best, index, amounts)
    return amounts.counts, amounts.populations


def _by_patterns(rows: np.ndarray, records: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A join for every two patterns of gaps."""
    keys = [f"key {position}" for position in range(rows.shape[1])]
    table = pl.DataFrame(rows, schema=keys, orient="row").select(
        pl.when(pl.col(key) >= 0).then(pl.col(key)) for key in keys
    )
    table = table.with_columns(records=pl.Series(records), weights=pl.Series(weights))
    sums = compatible_records(table.with_row_index("class"), keys, ("records", "weights"))
    return sums["records"].to_numpy(), sums["weights"].to_numpy()


def count_classes(
    columns: Sequence[np.ndarray],
    sizes: Sequence[int],
    missing: Sequence[int],
    records: np.ndarray,
    weights: np.ndarray,
    *,
    wildcard: bool,
) -> tuple[Groups, Classes]:
    """The classes of all records; ``records`` is 1 for each that counts, ``weights`` what it stands for.

    People of a population who are not in the sample come with 0 records.
    """
    groups = group(columns, sizes)
    codes = np.stack([column[groups.first] for column in columns])
    return groups, classes_of(
        codes, sizes, missing, groups.sums(records), groups.sums(weights), wildcard=wildcard
    )


def warm_up() -> None:
    """Compile the kernels."""
    ones = np.ones(2, dtype=np.int64)
    codes = np.array([[0, 1]], dtype=np.int32)
    classes_of(codes, [2], [1], ones, np.ones(2), wildcard=True).tally()
