"""A perturbation table."""

from dataclasses import dataclass

import numpy as np

from shoal.runtime import Solution


@dataclass(frozen=True, kw_only=True)
class PerturbationTable(Solution):
    """``chances[i, d + D]`` is the chance that a count of i changes by d; counts beyond the last row have its chances.

    ``value`` is the entropy of all rows, in bits; ``variances`` are those reached, which for small counts may differ from what
    was asked where nothing else is possible. Of a table that somebody gave, ``intervals`` are for each row its changes and up to
    which key a cell changes so, in the order of the keys; otherwise the changes come in their own order.
    """

    chances: np.ndarray
    variances: np.ndarray
    intervals: tuple[tuple[np.ndarray, np.ndarray], ...] | None = None

    @property
    def deviation(self) -> int:
        """The largest change."""
        return (self.chances.shape[1] - 1) // 2

    @property
    def is_external(self) -> bool:
        """Whether it was not designed here."""
        return self.intervals is not None

    def row_intervals(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The changes that the count of a row may get, and up to which key it does, between 0 and 1."""
        if self.intervals is not None:
            return self.intervals[count]
        there = np.flatnonzero(self.chances[count] > 0)
        # By rounding errors those before the last may exceed 1, and the last fall short of it.
        ends = np.minimum(np.cumsum(self.chances[count, there]), 1.0)
        ends[-1] = 1.0
        return there - self.deviation, ends

    def row(self, counts: np.ndarray) -> np.ndarray:
        """Which row a count has."""
        found: np.ndarray = np.minimum(counts, self.chances.shape[0] - 1)
        return found
