"""The microaggregation problem: points, and how many must stay together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.errors import Infeasible, InputError

#: The squared distance between two different categories, or between having a value and having none, where numbers and ranks
#: have a deviation of 1.
CATEGORY_DISTANCE = 2.5


@dataclass(frozen=True, eq=False)
class Problem:
    """Part n points into groups of at least k (and at most ``largest``) with the least squared error.

    The points are already scaled: squared error in this space is the loss. Build one from raw columns with
    ``Problem.standardised``.

    >>> problem = Problem.standardised([[1.0, 5.0], [2.0, 5.0], [9.0, 5.0], [8.0, 5.0]], k=2)
    >>> problem.points.shape, round(problem.sst, 6)
    ((4, 2), 3.0)
    """

    points: np.ndarray
    k: int
    largest: int | None = None

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64, order="C")
        if points.ndim != 2:
            raise InputError("points must be a table of records by attributes")
        n = points.shape[0]
        if n == 0:
            raise InputError("there are no records")
        if points.shape[1] == 0:
            raise InputError("there is no numeric column to microaggregate")
        if not np.isfinite(points).all():
            raise InputError("the columns to microaggregate hold missing or infinite values")
        if self.k < 2:
            raise InputError(f"k must be at least 2, not {self.k}")
        if self.k > n:
            raise InputError(f"k is {self.k}, but there are only {n} records")
        if self.largest is not None:
            if self.largest < self.k:
                raise InputError(f"the largest group size, {self.largest}, is below k = {self.k}")
            if (n // self.k) * self.largest < n:
                raise Infeasible(
                    f"{n} records cannot be parted into groups of {self.k} to {self.largest}; "
                    f"allow groups of {-(-n // (n // self.k))}"
                )
        points.setflags(write=False)
        object.__setattr__(self, "points", points)

    @classmethod
    def standardised(
        cls, values: object, k: int, *, largest: int | None = None, weights: object = None
    ) -> "Problem":
        """Scale each column to mean 0 and sample deviation 1 (times the root of its weight); constants become 0."""
        table = np.asarray(values, dtype=np.float64)
        if table.ndim != 2:
            raise InputError("points must be a table of records by attributes")
        if not np.isfinite(table).all():
            raise InputError("the columns to microaggregate hold missing or infinite values")
        points = standardise(table)
        if weights is not None:
            factors = np.asarray(weights, dtype=np.float64)
            if factors.shape != (table.shape[1],) or not (factors >= 0).all() or not factors.any():
                raise InputError("attribute weights must be one number per column, 0 or more, not all 0")
            points *= np.sqrt(factors)
        return cls(points, k, largest)

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.points.shape[0])

    @property
    def d(self) -> int:
        """Number of attributes."""
        return int(self.points.shape[1])

    @cached_property
    def sst(self) -> float:
        """The squared error of a single group: what 100 % loss means."""
        centred = self.points - self.points.mean(axis=0)
        return float(np.square(centred, out=centred).sum())

    def percent(self, sse: float) -> float:
        """A squared error as information loss in percent; 0 when all points are equal."""
        return 100.0 * sse / self.sst if self.sst > 0 else 0.0

    @property
    def most_groups(self) -> int:
        """The largest possible number of groups, ⌊n/k⌋."""
        return self.n // self.k

    @property
    def fewest_groups(self) -> int:
        """The number of groups below which some group could be split: ⌈n/(2k−1)⌉, or ⌈n/largest⌉ if that is more."""
        size = 2 * self.k - 1 if self.largest is None else min(self.largest, 2 * self.k - 1)
        return -(-self.n // size)


def standardise(table: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and sample standard deviation 1; a constant column becomes 0."""
    # Dividing by the largest magnitude first keeps the sum of squares finite for any finite column.
    scale = np.abs(table).max(axis=0, initial=0.0)
    scale[scale == 0] = 1.0
    reduced = table / scale
    centred = reduced - reduced.mean(axis=0)
    if table.shape[0] < 2:
        return np.zeros_like(centred)
    deviation = np.sqrt(np.square(centred).sum(axis=0) / (table.shape[0] - 1))
    constant = (table == table[0]).all(axis=0) | (deviation == 0)
    deviation[constant] = 1.0
    centred[:, constant] = 0.0
    result: np.ndarray = centred / deviation
    return result
