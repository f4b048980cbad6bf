"""From points to groups, stratum by stratum: each part gets its share of the budget, is checked, and is bounded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import Partition, numbered_by_appearance
from shoal.microdata.microaggregation.verify import verify
from shoal.runtime import Budget, Method, Observer, Seeds
from shoal.runtime.observer import VERIFICATION, Progress, mapped

# Of a time limit, how much of each record's share is for the search and how much for the bound, if one is wanted; what
# one leaves goes to the work that follows.
_FOR_SEARCH, _FOR_BOUND = 4, 1
# By k, up to here the tighter bound by column generation takes seconds; when work is limited, no longer than the
# semidefinite one; and under a time limit, minutes at most: it ends at any time with what it has.
_TIGHTLY_BOUNDED = {2: 2_000, 3: 2_000}
_TIGHTLY_BOUNDED_IN_STEPS = {2: 5_000, 3: 5_000, 4: 5_000}
_TIGHTLY_BOUNDED_IN_TIME = {2: 5_000, 3: 5_000, 4: 5_000, 5: 5_000, 6: 2_000}
# Up to here the usual search takes no longer than starting does, and the bound must not either.
_QUICKLY_BOUNDED = 1_000
# Up to here the semidefinite bound is one of a single small region, and quick.
_ONE_REGION = 200
_PROGRAMMES = 60
# Up to here the semidefinite bound takes seconds, and its matrix some hundred megabytes.
_WELL_BOUNDED = 6_000
# Unless more work is asked for, the proof costs about as much as the usual search: small regions, visited once.
_USUAL_ROUNDS = 1


class Solved(NamedTuple):
    """The partition of one stratum; ``name`` says which, where there are several."""

    name: str
    problem: Problem
    partition: Partition


class Bounded(NamedTuple):
    """A lower bound on the squared error of any such grouping (``None`` after Ctrl-C or if none was wanted), whether it
    is reached, and whether time ran out on it.
    """

    error: float | None
    reached: bool
    hurried: bool


class Shares:
    """Gives each sub-problem its share of the seconds, for the search and then for the bound.

    Iterations count for each search and each bound: what is one step of a search is one step of a bound.
    """

    def __init__(self, budget: Budget, total: int, *, bounded: bool = True) -> None:
        self.budget = budget
        self._left = total * (_FOR_SEARCH + (_FOR_BOUND if bounded else 0))
        self._run = budget.start()

    def for_search(self, size: int) -> Budget:
        """What the search on so many records may spend."""
        seconds = self._seconds(size * _FOR_SEARCH)
        return self.budget if seconds is None else replace(self.budget, seconds=seconds)

    def for_bound(self, size: int) -> Budget:
        """What the bound for so many records may spend; a target is one of the search alone."""
        return replace(self.budget, seconds=self._seconds(size * _FOR_BOUND), target=None)

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
    """Finds the groups for one set of columns after the other; ``start`` are labels to begin from.

    Unless it is ``bounded``, nothing is proved that a method does not prove by itself.
    """

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
    bounded: bool = True

    def search(self, points: np.ndarray, number: int, phase: str) -> tuple[np.ndarray, list[Solved]]:
        """The group of each record, and what was found in each stratum; ``number`` is that of the set of columns."""
        labels = np.empty(points.shape[0], dtype=np.int32)
        solved: list[Solved] = []
        first = 0
        for stratum, rows in enumerate(self.strata):
            # A single stratum is all of them, in their order: that needs no copy.
            mine = points if len(self.strata) == 1 else points[rows]
            problem = Problem(mine, self.k, self.largest)
            which = f"stratum {stratum + 1} of {len(self.strata)}" if len(self.strata) > 1 else ""
            name = ", ".join(part for part in (phase, which) if part)
            budget = self.shares.for_search(len(rows))
            if budget.target is not None:
                # Asked for in percent of the whole; each stratum has to bring in the share of its records.
                sst = float(np.square(points - points.mean(axis=0)).sum())
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
            self.observer(_glimpse(problem, partition, VERIFICATION))
            verify(problem, partition)
            labels[rows] = partition.labels + first
            first += partition.groups
            solved.append(Solved(name, problem, partition))
        return numbered_by_appearance(labels), solved

    def bound(self, solved: Sequence[Solved]) -> Bounded:
        """How little any grouping could lose."""
        total, optimal, hurried = 0.0, True, False
        for name, problem, partition in solved:
            bound, late = partition.bound, False
            if not partition.optimal and self.bounded:
                if self.shares.budget.control.cancelled:
                    return Bounded(None, reached=False, hurried=hurried)
                run = self.shares.for_bound(problem.n).start()
                watch = _Proof(self.observer, _glimpse(problem, partition, f"bound {name}".strip()), problem)
                computed = _best_bound(problem, partition.labels, self.threads, run.budget, watch)
                late = run.budget.seconds is not None and run.seconds >= run.budget.seconds
                bound = computed if bound is None else max(bound, computed)
            self.shares.bounded(problem.n)
            if bound is None:
                return Bounded(None, reached=False, hurried=hurried)
            total += bound
            reached = partition.optimal or partition.value <= bound + 1e-12 * problem.sst
            hurried = hurried or (late and not reached)
            optimal = optimal and reached
        return Bounded(total, optimal, hurried)


def _glimpse(problem: Problem, partition: Partition, phase: str) -> Progress:
    """A search that is over, and what is done with its result."""
    return Progress(partition.work, partition.seconds, value=problem.percent(partition.value), phase=phase)


class _Proof:
    """An observer of a bound: to the outside what was found stays, and what is proved rises."""

    def __init__(self, observer: Observer, before: Progress, problem: Problem) -> None:
        self._observer = observer
        self._before = before
        self._problem = problem
        observer(before)

    def __call__(self, progress: Progress) -> None:
        """Pass on what is proved by now."""
        proved = None if progress.value is None else self._problem.percent(progress.value)
        seconds = self._before.seconds + progress.seconds
        self._observer(replace(self._before, seconds=seconds, share=progress.share, bound=proved))


def _best_bound(
    problem: Problem, labels: np.ndarray, threads: int, budget: Budget, observer: Observer
) -> float:
    quickly = problem.n <= _QUICKLY_BOUNDED and budget.usual
    if quickly and problem.n > _ONE_REGION:
        return _bound_by_prices(problem, threads, budget, observer)
    if problem.n <= _by_columns(budget).get(problem.k, 0) and not quickly:
        from shoal.microdata.microaggregation.bounds.column_generation import column_generation_bound

        # A generous time limit is no reason to go on for longer than without one.
        most = _PROGRAMMES if budget.iterations is None else min(budget.iterations, _PROGRAMMES)
        budget = replace(budget, iterations=most)
        return column_generation_bound(
            problem, budget=budget, threads=threads, observer=observer, start=labels
        )
    if problem.n <= _WELL_BOUNDED:
        from shoal.microdata.microaggregation.bounds.semidefinite import QUICK_REGION, semidefinite_bound

        effort = {"region": QUICK_REGION, "rounds": _USUAL_ROUNDS} if budget.usual else {}
        return semidefinite_bound(problem, budget=budget, threads=threads, observer=observer, **effort)
    return _bound_by_prices(problem, threads, budget, observer)


def _bound_by_prices(problem: Problem, threads: int, budget: Budget, observer: Observer) -> float:
    from shoal.microdata.microaggregation.bounds.lower_bounds import lower_bound

    return lower_bound(problem, budget=budget, threads=threads, observer=observer)


def _by_columns(budget: Budget) -> dict[int, int]:
    """By k, up to how many records column generation is worth its time."""
    if budget.seconds is not None:
        return _TIGHTLY_BOUNDED_IN_TIME
    return _TIGHTLY_BOUNDED if budget.iterations is None else _TIGHTLY_BOUNDED_IN_STEPS
