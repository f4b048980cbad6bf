"""Values as the distances see them, from sums that come out the same whatever order the records were added in."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np

#: Between its least and its largest value a column is told in so many steps when sums are taken.
STEPS = 2**28


@dataclass(frozen=True, eq=False)
class Scaling:
    """What takes each column to sample deviation 1, times the root of its weight; constants become 0.

    Values are first told in ``units``, powers of two, so that no factor is too large or too small for a double.
    """

    centres: np.ndarray
    factors: np.ndarray
    units: np.ndarray | float = 1.0

    def points(self, values: np.ndarray) -> np.ndarray:
        """Records by columns, on the scale of the distances."""
        scaled: np.ndarray = (values - self.centres) / self.units * self.factors
        return scaled


def units_of(least: Sequence[float], largest: Sequence[float]) -> np.ndarray:
    """A power of two for each column that is about as large as its range; 1 for constants.

    >>> units_of([0.0, 3.0], [1000.0, 3.0]).tolist()
    [1024.0, 1.0]
    """
    widths = np.asarray(largest, dtype=np.float64) - np.asarray(least, dtype=np.float64)
    return np.where(widths > 0, np.ldexp(1.0, np.frexp(widths)[1]), 1.0)


@dataclass(frozen=True)
class ColumnSums:
    """Of one column: records, least and largest value, and the sums of its steps and of their squares, exactly."""

    count: int
    least: float
    largest: float
    steps: int
    squares: int

    @property
    def centre(self) -> float:
        """A value that others are told from such that no two of them become one: nothing, if that is near the range."""
        width = self.largest - self.least
        return 0.0 if self.least <= width and self.largest >= -width else self.least

    @property
    def spread(self) -> float:
        """The sample deviation as a share of the range, to within a step; 0 of a constant column."""
        if self.count < 2:
            return 0.0
        # Whole numbers until the end: no order of summation can show.
        spread = self.count * self.squares - self.steps * self.steps
        root = isqrt(max(0, spread) << 40) / 2.0**20
        return root / float((self.count * (self.count - 1)) ** 0.5) / STEPS


def step_of(values: np.ndarray, least: float, largest: float) -> np.ndarray:
    """The step each value is on: whole numbers from 0 to ``STEPS``.

    >>> step_of(np.array([1.0, 2.0, 3.0]), 1.0, 3.0).tolist() == [0, STEPS // 2, STEPS]
    True
    """
    if largest <= least:
        return np.zeros(values.shape, dtype=np.int64)
    return np.floor((values - least) / (largest - least) * STEPS + 0.5).astype(np.int64)


def scaling(columns: Sequence[ColumnSums], weights: Sequence[float]) -> Scaling:
    """The scale of the distances.

    >>> sums = ColumnSums(3, 1.0, 3.0, 3 * STEPS // 2, STEPS**2 // 4 + STEPS**2)
    >>> scaling([sums], [1.0]).points(np.array([[1.0], [3.0]])).round(6).tolist()
    [[1.0], [3.0]]
    """
    units = units_of([column.least for column in columns], [column.largest for column in columns])
    widths = np.array([column.largest - column.least for column in columns]) / units
    deviations = widths * np.array([column.spread for column in columns])
    factors = np.divide(
        np.sqrt(np.asarray(weights, dtype=np.float64)),
        deviations,
        out=np.zeros(len(columns)),
        where=deviations > 0,
    )
    return Scaling(np.array([column.centre for column in columns]), factors, units)
