"""When the groups of a search's rounds are put together anew, and how much of its work that may take.

Iterations of the search earn simplex iterations. Once enough are saved, they are spent on a recombination; what it took
more than was saved is owed, so that programmes that turn out dear come less often.
"""

import numpy as np

from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.kernels.space import Space
from shoal.microdata.microaggregation.search.recombination import GroupPool
from shoal.runtime import Run, Seeds

# Simplex iterations that an iteration earns: at first, and at least and most: twice as many after a recombination that
# gained, half as many after one that did not.
_EARNED, _LEAST, _MOST = 2.0, 0.5, 4.0
# Of more records simplex iterations take longer, so that fewer are earned.
_FEW = 1000
# So many must be saved for each record.
_ENOUGH = 4
# Iterations for each record before which partitions are too poor to be of use.
_RIPE = 1.5


class Recombining:
    """The groups that rounds ended with, and what may be spent on putting them together anew."""

    def __init__(self, problem: Problem, space: Space, run: Run, seeds: Seeds) -> None:
        self.pool = GroupPool(problem, space)
        self.records = problem.n
        self.run = run
        self.seeds = seeds
        self.earned = _EARNED
        self.saved = 0.0
        self.seen = 0

    def add(self, labels: np.ndarray) -> None:
        """Add the groups that a round ended with."""
        if self.run.work >= _RIPE * self.records:
            self.pool.add_partition(labels)

    def due(self) -> bool:
        """Whether enough was saved since the last time."""
        self.saved += self.earned * (self.run.work - self.seen) * min(1.0, _FEW / self.records)
        self.seen = self.run.work
        return len(self.pool) > 0 and self.saved >= _ENOUGH * self.records

    def better(self, labels: np.ndarray) -> np.ndarray | None:
        """A better partition than the one given; ``None`` if none was found, or time ran out."""
        effort = int(self.saved)
        random = self.seeds.child("regions", self.run.work).generator()
        limits = {"effort": effort, "arranging": effort // 2}
        found = self.pool.recombine(labels, lambda: self.run.out_of_time, random, **limits)
        if self.run.out_of_time:
            return None
        self.saved -= self.pool.cost
        self.earned = max(_LEAST, self.earned / 2) if found is None else min(_MOST, 2 * self.earned)
        return found
