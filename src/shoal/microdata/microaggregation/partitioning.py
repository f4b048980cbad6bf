"""From points to groups, stratum by stratum: each part gets its share of the budget, is checked, and is bounded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import Partition, numbered_by_appearance
from shoal.microdata.microaggregation.verify import verify
from shoal.search import Budget, Method, Observer, Seeds
from shoal.search.observer import mapped

# Of a time limit, how much of each record's share is for the search and how much for the bound; what one leaves goes to
# the work that follows.
_FOR_SEARCH, _FOR_BOUND = 4, 1
# Up to here the tighter bound by column generation takes seconds.
_TIGHTLY_BOUNDED = {3: 2_000}
_PROGRAMMES = 60


class Solved(NamedTuple):
    """The partition of one stratum; ``name`` says which, where there are several."""

    name: str
    problem: Problem
    partition: Partition


class Bounded(NamedTuple):
    """A lower bound on the squared error of any such grouping (``None`` after Ctrl-C), whether it is reached, and
    whether time ran out on it.
    """

    error: float | None
    reached: bool
    hurried: bool


class Shares:
    """Gives each sub-problem its share of the seconds, for the search and then for the bound.

    Iterations count for each sub-problem.
    """

    def __init__(self, budget: Budget, total: int) -> None:
        self.budget = budget
        self._left = total * (_FOR_SEARCH + _FOR_BOUND)
        self._run = budget.start()

    def for_search(self, size: int) -> Budget:
        """What the search on so many records may spend."""
        seconds = self._seconds(size * _FOR_SEARCH)
        return self.budget if seconds is None else replace(self.budget, seconds=seconds)

    def for_bound(self, size: int) -> Budget:
        """What the bound for so many records may spend; the limits of the search's work are not its own."""
        seconds = self._seconds(size * _FOR_BOUND)
        return Budget(seconds=seconds, control=self.budget.control, clock=self.budget.clock)

    def _seconds(self, work: int) -> float | None:
        if self.budget.seconds is None:
            return None
        left = max(1e-9, self.budget.seconds - self._run.seconds)
        return left * work / max(work, self._left)

    def searched(self, size: int) -> None:
        """The search on so many records is over."""
        self._left -= size * _FOR_SEARCH

    def bounded(self, size: int) -> None:
        """The bound for so many records is over."""
        self._left -= size * _FOR_BOUND


@dataclass(frozen=True)
class Partitioning:
    """Finds the groups for one set of columns after the other; ``start`` are labels to begin from."""

    method: Method
    options: Mapping[str, Any] | None
    k: int
    largest: int | None
    strata: Sequence[np.ndarray]
    start: np.ndarray | None
    shares: Shares
    seeds: Seeds
    threads: int
    observer: Observer

    def search(self, points: np.ndarray, number: int, phase: str) -> tuple[np.ndarray, list[Solved]]:
        """The group of each record, and what was found in each stratum; ``number`` is that of the set of columns."""
        labels = np.empty(points.shape[0], dtype=np.int32)
        solved: list[Solved] = []
        first = 0
        sst = float(np.square(points - points.mean(axis=0)).sum())
        for stratum, rows in enumerate(self.strata):
            problem = Problem(points[rows], self.k, self.largest)
            which = f"stratum {stratum + 1} of {len(self.strata)}" if len(self.strata) > 1 else ""
            name = ", ".join(part for part in (phase, which) if part)
            budget = self.shares.for_search(len(rows))
            if budget.target is not None:
                # Asked for in percent of the whole; each stratum has to bring in the share of its records.
                share = len(rows) / points.shape[0]
                budget = replace(budget, target=budget.target / 100.0 * sst * share)
            partition = self.method.solve(
                problem,
                self.options,
                budget=budget,
                seeds=self.seeds.child("group", number, "stratum", stratum),
                threads=self.threads,
                observer=mapped(self.observer, problem.percent, name),
                start=None if self.start is None else numbered_by_appearance(self.start[rows]),
            )
            self.shares.searched(len(rows))
            verify(problem, partition)
            labels[rows] = partition.labels + first
            first += partition.groups
            solved.append(Solved(name, problem, partition))
        return numbered_by_appearance(labels), solved

    def bound(self, solved: Sequence[Solved]) -> Bounded:
        """How little any grouping could lose."""
        total, optimal, hurried = 0.0, True, False
        for _, problem, partition in solved:
            bound, late = partition.bound, False
            if not partition.optimal:
                if self.shares.budget.control.cancelled:
                    return Bounded(None, reached=False, hurried=hurried)
                run = self.shares.for_bound(problem.n).start()
                computed = _best_bound(problem, self.threads, run.budget)
                late = run.budget.seconds is not None and run.seconds >= run.budget.seconds
                bound = computed if bound is None else max(bound, computed)
            self.shares.bounded(problem.n)
            assert bound is not None
            total += bound
            reached = partition.optimal or partition.value <= bound + 1e-12 * problem.sst
            hurried = hurried or (late and not reached)
            optimal = optimal and reached
        return Bounded(total, optimal, hurried)


def _best_bound(problem: Problem, threads: int, budget: Budget) -> float:
    if problem.n <= _TIGHTLY_BOUNDED.get(problem.k, 0):
        from shoal.microdata.microaggregation.bounds.column_generation import column_generation_bound

        # A generous time limit is no reason to go on for longer than without one.
        budget = replace(budget, iterations=_PROGRAMMES)
        return column_generation_bound(problem, budget=budget, threads=threads)
    from shoal.microdata.microaggregation.bounds.lower_bounds import lower_bound

    return lower_bound(problem, budget=budget, threads=threads)
