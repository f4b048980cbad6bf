"""A perturbation table."""

from dataclasses import dataclass

import numpy as np

from shoal.search import Solution


@dataclass(frozen=True, kw_only=True)
class PerturbationTable(Solution):
    """``chances[i, d + D]`` is the chance that a count of i changes by d; counts beyond the last row have its chances.

    ``value`` is the entropy of all rows, in bits; ``variances`` are those reached, which for small counts may differ from what
    was asked where nothing else is possible.
    """

    chances: np.ndarray
    variances: np.ndarray

    @property
    def deviation(self) -> int:
        """The largest change."""
        return (self.chances.shape[1] - 1) // 2

    def row(self, counts: np.ndarray) -> np.ndarray:
        """Which row a count has."""
        found: np.ndarray = np.minimum(counts, self.chances.shape[0] - 1)
        return found
