"""A partition under local search: what the search methods share around the kernels."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.microdata.microaggregation.construct.mdav import mdav_labels
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.kernels.groups import Groups, empty_groups, load, unload
from shoal.microdata.microaggregation.search.kernels.pairs import COUNTED, Search, descend, new_search
from shoal.microdata.microaggregation.search.kernels.perturbation import random_labels
from shoal.microdata.microaggregation.search.kernels.space import Space
from shoal.microdata.microaggregation.solution import Partition, numbered_by_appearance, squared_error
from shoal.runtime import Run
from shoal.runtime.randomness import below

# How many pairs of groups one uninterrupted stretch of a local search may look at.
_STRETCH = 3_000_000


@dataclass(frozen=True)
class Statistics:
    """What a search did, for those who study it.

    ``lists`` are mean numbers of pairs by pass, over all local searches (one that ended earlier counts 0);
    ``course`` is the best squared error after each iteration, ``clock`` the CPU seconds spent on iterations by then (noted
    at the end of every stretch of them, as iterations and seconds). ``first_pairs`` and ``first_cpu`` are what the way to the
    first local optimum took, before any iteration; ``cpu`` is what all of it took, both of this thread alone.
    """

    searches: int = 0
    passes: int = 0
    pairs: int = 0
    opened: int = 0
    tested: int = 0
    swaps: int = 0
    shifts: int = 0
    lists: np.ndarray = field(default_factory=lambda: np.zeros(0))
    initial_lists: np.ndarray = field(default_factory=lambda: np.zeros(0))
    improved: int = 0
    accepted: int = 0
    returned: int = 0
    dissolved: int = 0
    distilled: int = 0
    course: np.ndarray = field(default_factory=lambda: np.zeros(0))
    first_pairs: int = 0
    first_cpu: float = 0.0
    cpu: float = 0.0
    clock: tuple[tuple[int, float], ...] = ()

    @property
    def later_pairs(self) -> int:
        """Pairs looked at by the iterations, without the way to the first local optimum."""
        return self.pairs - self.first_pairs

    @property
    def later_cpu(self) -> float:
        """CPU seconds of the iterations, without the way to the first local optimum."""
        return self.cpu - self.first_cpu

    @property
    def rejected(self) -> int:
        """Pairs that the quick tests ruled out."""
        return self.pairs - self.opened


@dataclass(frozen=True, kw_only=True)
class SearchedPartition(Partition):
    """A partition found by a search, with what the search counted."""

    statistics: Statistics = field(default_factory=Statistics)


def group_limits(problem: Problem, share: float) -> tuple[int, int]:
    """The fewest and most groups a search visits: the top ``share`` of what could be sensible.

    >>> group_limits(Problem(np.random.default_rng(0).normal(size=(834, 2)), k=3), 0.2)
    (256, 278)
    """
    most, lowest = problem.most_groups, problem.fewest_groups
    return max(lowest, min(most - 1, most - int(share * (most - lowest)))), most


class Descent:
    """Groups with all the arrays a local search needs; nothing in it depends on how work was cut."""

    def __init__(self, problem: Problem, space: Space, random: np.ndarray) -> None:
        self.problem = problem
        self.space = space
        # Groups of 8k are never worth keeping; the bound only matters for data with very many equal records.
        self.capacity = min(problem.n, 8 * problem.k if problem.largest is None else problem.largest)
        self.groups = self.room()
        self.search: Search = new_search(problem.most_groups + 1, problem.n, random)

    def room(self) -> Groups:
        """Space for another partition of the same problem."""
        return empty_groups(self.problem.most_groups + 1, self.capacity, self.space.points.shape[1])

    def begin_at_random(self, fewest: int, most: int) -> None:
        """A random partition whose number of groups is random too."""
        problem, random = self.problem, self.search.random
        count = fewest + int(below(random, most - fewest + 1))
        labels = np.empty(problem.n, dtype=np.int64)
        random_labels(problem.n, problem.k, count, min(2 * problem.k - 1, self.capacity), random, labels)
        self._load(labels, count)

    def begin_at(self, labels: np.ndarray) -> None:
        """A given partition; groups too large to be held are split first, which never raises the loss."""
        labels = split_above(self.problem, labels, self.capacity)
        self._load(labels.astype(np.int64), int(labels.max()) + 1)

    def _load(self, labels: np.ndarray, count: int) -> None:
        load(self.space, self.groups, labels, count)
        self.search.changed[:count] = True
        self.search.dirty[:] = True

    def descend(self, run: Run, *, everything: bool = False) -> bool:
        """Search until no move gains, or until time is up; whether a local optimum was reached."""
        limit = max(1, _STRETCH // max(1, int(self.groups.number[0])))
        while not descend(self.space, self.groups, self.search, everything, limit):
            if run.out_of_time:
                return False
        return True

    def labels(self, groups: Groups | None = None) -> np.ndarray:
        """The group of each record, numbered by first appearance."""
        labels = np.empty(self.problem.n, dtype=np.int32)
        unload(self.groups if groups is None else groups, labels)
        return numbered_by_appearance(labels)


class Incumbent:
    """The best partition of a run, with its loss in the problem's own space."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem = problem
        self.run = run
        self.value = np.inf
        self.labels = np.zeros(problem.n, dtype=np.int32)

    def offer(self, labels: np.ndarray, phase: str = "") -> bool:
        """Keep the partition if it is better; whether it was."""
        value = squared_error(self.problem.points, labels)
        better = value < self.value
        if better:
            self.value, self.labels = value, labels
        self.run.report(value if better else None, phase=phase)
        return better

    def partition(self, statistics: Statistics | None = None) -> SearchedPartition:
        """What the run returns."""
        return SearchedPartition(
            value=self.value,
            labels=self.labels,
            sst=self.problem.sst,
            statistics=statistics or Statistics(),
            **self.run.closing(),
        )


def only_group(problem: Problem, run: Run) -> SearchedPartition:
    """The answer when there are fewer than 2k records: one group, which is the optimum."""
    labels = np.zeros(problem.n, dtype=np.int32)
    return SearchedPartition.constructed(problem, labels, run, optimal=True)


def split_above(problem: Problem, labels: np.ndarray, capacity: int) -> np.ndarray:
    """The groups, with those of more than ``capacity`` records split by MDAV."""
    labels = numbered_by_appearance(labels)
    count = int(labels.max()) + 1
    for group in np.flatnonzero(np.bincount(labels) > capacity):
        members = np.flatnonzero(labels == group)
        parts = mdav_labels(problem.points[members], problem.k)
        labels[members] = np.where(parts == 0, group, count + parts - 1)
        count += int(parts.max())
    return labels


def counted(searches: Iterable[Search]) -> dict[str, Any]:
    """The counts of some searches together, by the names of ``Statistics``."""
    counts = np.sum([search.counts for search in searches], axis=0)
    return dict(zip(COUNTED, counts.tolist(), strict=True))


def mean_lists(lists: np.ndarray, searches: int) -> np.ndarray:
    """The mean number of pairs of each pass, without the passes nobody made."""
    made = np.flatnonzero(lists)
    return lists[: made[-1] + 1] / max(1, searches) if made.size else np.zeros(0)
