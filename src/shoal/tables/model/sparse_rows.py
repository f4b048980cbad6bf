"""Sparse matrices of relations, row by row: the little of them that small tables need, without loading SciPy for it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Row ``i`` has the values ``data[indptr[i]:indptr[i + 1]]`` in the columns ``indices`` at the same places.

    The names of the parts are those of SciPy, and so is the order in which a row is added up.

    >>> rows = SparseRows(np.array([0, 2, 3]), np.array([0, 2, 1]), np.array([1.0, -1.0, 2.0]), 3)
    >>> (rows @ np.array([5.0, 6.0, 7.0])).tolist(), rows.of_columns(np.array([1, 2])).shape
    ([-2.0, 12.0], (2, 2))
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    columns: int

    @classmethod
    def of_entries(
        cls, at: np.ndarray, column: np.ndarray, value: np.ndarray, shape: tuple[int, int]
    ) -> "SparseRows":
        """From entries in any order; what stands at the same place is added up, and what comes to zero is left out."""
        order = np.lexsort((column, at))
        at, column, value = at[order], column[order], value[order]
        first = np.ones(at.size, dtype=bool)
        first[1:] = (np.diff(at) != 0) | (np.diff(column) != 0)
        value = np.bincount(np.cumsum(first) - 1, value) if at.size else value
        at, column = at[first], column[first]
        there = value != 0.0
        return cls(_starts(at[there], shape[0]), column[there], value[there], shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.indptr.size - 1, self.columns

    @cached_property
    def at(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        terms = self.data * vector[self.indices]
        return np.bincount(self.at, terms, self.shape[0]) if terms.size else np.zeros(self.shape[0])

    def __abs__(self) -> "SparseRows":
        return SparseRows(self.indptr, self.indices, np.abs(self.data), self.columns)

    def of_rows(self, places: np.ndarray) -> "SparseRows":
        """These rows, in the order they are named."""
        lengths = np.diff(self.indptr)[places]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(starts[-1]) + np.repeat(self.indptr[places] - starts[:-1], lengths)
        return SparseRows(starts, self.indices[entries], self.data[entries], self.columns)

    def of_columns(self, places: np.ndarray) -> "SparseRows":
        """These columns, each named once, in the order they are named."""
        new = np.full(self.columns, -1, dtype=np.int64)
        new[places] = np.arange(places.size)
        column = new[self.indices]
        kept = column >= 0
        return SparseRows(
            _starts(self.at[kept], self.shape[0]), column[kept], self.data[kept], int(places.size)
        )

    def without_empty(self) -> "SparseRows":
        """The rows that have any entry."""
        return self.of_rows(np.flatnonzero(np.diff(self.indptr)))

    def above(self, other: "SparseRows") -> "SparseRows":
        """These rows, and below them those of another matrix with the same columns."""
        return SparseRows(
            np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]]),
            np.concatenate([self.indices, other.indices]),
            np.concatenate([self.data, other.data]),
            self.columns,
        )

    def transposed(self) -> "SparseRows":
        """Columns as rows."""
        order = np.argsort(self.indices, kind="stable")
        starts = _starts(self.indices[order], self.columns)
        return SparseRows(starts, self.at[order], self.data[order], self.shape[0])


def _starts(at: np.ndarray, rows: int) -> np.ndarray:
    """Where each row begins, from the rows of entries in order."""
    return np.concatenate([[0], np.cumsum(np.bincount(at, minlength=rows))]).astype(np.int64)


def components(tails: np.ndarray, heads: np.ndarray, count: int) -> np.ndarray:
    """The smallest node that each of ``count`` nodes is connected with.

    >>> components(np.array([3, 1]), np.array([1, 4]), 5).tolist()
    [0, 1, 2, 1, 1]
    """
    root = np.arange(count)
    while True:
        one, other = root[tails], root[heads]
        if (one == other).all():
            return root
        # Every root that has a smaller neighbour goes to the smallest of them, then all to where their root went.
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        while (further := root[root]).tobytes() != root.tobytes():
            root = further
