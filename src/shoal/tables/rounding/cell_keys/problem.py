"""The design of a perturbation table: how likely each change of each count is."""

from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError, parameter
from shoal.numbers import number, whole

MOST_DEVIATION = 100


@dataclass(frozen=True)
class DesignProblem:
    """For every count the chances of its changes: no bias, a given variance, a largest change, no negative and no small counts.

    Counts of 0 stay 0. Counts from 1 to ``small`` are never published.

    >>> DesignProblem(2, 1.0).changes(1).tolist(), DesignProblem(2, 1.0, small=1).changes(1).tolist()
    ([-1, 0, 1, 2], [-1, 1, 2])
    """

    deviation: int = 5
    variance: float = 2.0
    small: int = 0

    def __post_init__(self) -> None:
        whole(self.deviation, "the largest deviation", least=1, most=MOST_DEVIATION)
        number(self.variance, "the variance", above=0.0)
        whole(self.small, "the largest count that is not published", least=0)
        if self.variance > self.deviation**2:
            raise InputError(
                f"{parameter('variance')} must be at most {self.deviation**2}, the square of {parameter('deviation')}, "
                f"not {self.variance:g}"
            )
        if self.small >= self.deviation:
            raise InputError(
                f"{parameter('small')} must be at most {self.deviation - 1}, one less than {parameter('deviation')}, "
                f"not {self.small}"
            )

    @property
    def rows(self) -> int:
        """Number of counts with chances of their own; those above are perturbed like the last."""
        return self.deviation + self.small + 2

    def changes(self, count: int) -> np.ndarray:
        """The changes that a count may get."""
        if count == 0:
            return np.zeros(1, dtype=np.int64)
        found = np.arange(-self.deviation, self.deviation + 1)
        published = count + found
        return found[(published >= 0) & ((published == 0) | (published > self.small))]
