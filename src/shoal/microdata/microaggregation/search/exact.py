"""The optimum of few records, proved: column generation from below, a search from above, and a choice among what is between.

The linear programme over all groups (``bounds.column_generation``) ends with prices at which no group is worth more
than it costs; what they add up to is a lower bound. A partition costs as much more as its groups together cost more
than their prices. So one that is better than the best known has only groups whose cost exceeds their prices by less than the
gap. All of those are listed by the same exact search that priced them, and an integer programme chooses among them
(Aloise, Hansen, Rocha and Santi, Column generation bounds for numerical microaggregation, Journal of Global Optimization 60,
2014, price groups like this; Baldacci, Christofides and Mingozzi, Mathematical Programming 115, 2008, list what is left in
the gap).

They are listed for a part of the gap first, since a better partition found there makes the gap smaller. Whatever is not
listed costs more than that part, so even an unfinished proof raises the bound.
"""

from dataclasses import replace

import numpy as np
from pydantic import Field

from shoal.errors import InputError
from shoal.microdata.microaggregation.bounds.column_generation import Relaxation
from shoal.microdata.microaggregation.bounds.gap import cheapest, groups_within, labels_of
from shoal.microdata.microaggregation.bounds.semidefinite import MOST_RECORDS
from shoal.microdata.microaggregation.construct import univariate
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import ils
from shoal.microdata.microaggregation.search.descent import Incumbent, only_group
from shoal.microdata.microaggregation.sizes import checked_start
from shoal.microdata.microaggregation.solution import Partition, numbered_by_appearance
from shoal.runtime import Run
from shoal.runtime.solver import Options, SearchContext, solver

# Linear programmes that are solved if there is no other limit; few problems need a tenth of them.
_PROGRAMMES = 1000
# Iterations of the search for the first partition.
_FIRST = 1000
# The parts of the gap whose groups are listed, one after the other.
_PARTS = (0.05, 0.2, 0.5, 1.0)
# Solvers compute to so many digits: what differs by less is the same.
_ROUNDING = 1e-9


class ExactOptions(Options):
    """Options of ``exact``."""

    groups: int = Field(
        default=300_000, ge=1, le=10**7, description="most groups among which the last step chooses"
    )


@solver(ExactOptions)
def solve(problem: Problem, options: ExactOptions, context: SearchContext) -> Partition:
    """The partition with the least loss there is, or the best found with a bound if that cannot be proved.

    An iteration is a linear or integer programme.

    >>> points = np.random.default_rng(1).normal(size=(30, 2))
    >>> found = solve(Problem(points, k=3))
    >>> found.optimal, bool(found.value == found.bound)
    (True, True)
    """
    start = checked_start(problem, context.start)
    run = context.run(_PROGRAMMES)
    if problem.most_groups < 2:
        return only_group(problem, run)
    if (problem.points != problem.points[0]).any(axis=0).sum() <= 1:
        return univariate.solve(problem, **vars(context))
    if problem.n > MOST_RECORDS:
        raise InputError(
            f"method 'exact' takes up to {MOST_RECORDS:,} records and there are {problem.n:,}; use method 'auto'"
        )
    first = ils.solve(
        problem,
        budget=replace(run.remaining(), iterations=0 if run.stopped else _FIRST),
        seeds=context.seeds,
        threads=context.threads,
        observer=run.nested("search"),
        start=start,
    )
    proof = _Proof(problem, options, first.labels, run, context.threads)
    proof.relax()
    proof.choose()
    return proof.partition()


class _Proof:
    """The best partition known, and what is proved; ``upper`` and ``lower`` are in the unit of the relaxation."""

    def __init__(
        self, problem: Problem, options: ExactOptions, labels: np.ndarray, run: Run, threads: int
    ) -> None:
        self.problem = problem
        self.options = options
        self.run = run
        self.best = Incumbent(problem, run)
        self.best.offer(labels)
        self.relaxation = Relaxation(problem, threads)
        self.upper = self.relaxation.error_of(labels)
        self.lower = 0.0

    @property
    def closed(self) -> bool:
        """Whether nothing better is left."""
        return self.upper - self.lower <= _ROUNDING * self.upper

    def partition(self) -> Partition:
        """What the run returns."""
        bound = self.best.value if self.closed else self._bound()
        if self.closed:
            self.run.report(bound=bound)
            self.run.finish()
        found = self.best.partition()
        return replace(found, bound=bound, optimal=self.closed)

    def _bound(self) -> float:
        return min(self.best.value, self.relaxation.safe(self.lower))

    def relax(self) -> None:
        """Solve the linear programme over all groups, as far as the run goes."""
        run, relaxation = self.run, self.relaxation
        if run.stopped or not relaxation.begin(self.best.labels, run):
            return
        more = True
        while more and not self.closed and run.chunk(1):
            more = relaxation.improve(run)
            run.spend(1)
            self.lower = max(self.lower, relaxation.highest)
            if relaxation.whole is not None:
                self._offer(relaxation.whole)
            run.report(bound=self._bound(), phase="groups")

    def choose(self) -> None:
        """List all groups that a better partition could have, for larger and larger parts of the gap, and choose."""
        for part in _PARTS:
            if self.closed or not self.run.chunk(1):
                return
            highest = self.relaxation.highest
            slack = part * (self.upper - highest) + _ROUNDING * self.upper
            groups = groups_within(self.relaxation, slack, self.run, self.options.groups)
            if groups is None:
                return
            # Partitions with a group that is not listed cost more than the prices and the slack.
            limit = min(highest + slack, self.upper)
            least, chosen = cheapest(self.relaxation, groups, limit, self.run)
            self.run.spend(1)
            if chosen is not None:
                self._offer(chosen)
            self.lower = max(self.lower, min(least, self.upper))
            self.run.report(bound=self._bound(), phase="choice")

    def _offer(self, groups: list[tuple[int, ...]]) -> None:
        labels = numbered_by_appearance(labels_of(self.relaxation, groups))
        if self.best.offer(labels):
            self.upper = self.relaxation.error_of(labels)


def warm_up() -> None:
    """Compile the kernels."""
    solve(Problem(np.random.default_rng(0).normal(size=(12, 2)), 2))
