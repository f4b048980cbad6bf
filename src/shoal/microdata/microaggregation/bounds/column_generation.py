"""A tight lower bound for small k: the linear programme over all groups, solved by column generation.

Choose groups that together cover every record once, as cheaply as possible, where fractions are allowed. The
programme is solved over some groups; its prices say what a missing group would be worth, and the groups worth
most are added (Aloise, Hansen, Rocha and Santi, Column generation bounds for numerical microaggregation, Journal of Global
Optimization 60, 2014). The search for them is exact (``pricing``), so that the prices give a bound at any time, converged
or not (Farley, A note on bounding a class of linear programming problems, Operations Research 38(5), 1990): let v(x) be
the most that a group is worth whose dearest record is x, or a worth above which none was found before it was given
up. Lowering each price by its v(x) leaves no group worth more than it costs, so Σ π(x) − v(x) bounds the error of every
partition.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.microdata.microaggregation.bounds.lower_bounds import is_trivial, lower_bound, turned_points
from shoal.microdata.microaggregation.bounds.pricing import Wanted, dearest_groups, kinds_of
from shoal.microdata.microaggregation.bounds.semidefinite import MOST_RECORDS, shared_prices
from shoal.microdata.microaggregation.construct.row_cuts import sizes_worth_trying
from shoal.microdata.microaggregation.from_papers.iterated import ilsmc
from shoal.microdata.microaggregation.problem import Problem
from shoal.runtime import Budget, Direction, Observer, Run, silent
from shoal.runtime.linear_programmes import PRIMAL, add_choices, add_covered, quiet_highs

if TYPE_CHECKING:
    import highspy

# What is worth less than this more than it costs, in the unit of the mean squared distance, is not looked
# for.
_TOLERANCE = 1e-12
_SLICE = 16
# Branches looked at for one record before its groups must be worth more, at first and at most, and how much of its price.
_PATIENCE, _MOST_PATIENCE = 500, 2_000_000
_STEP = 0.005


def column_generation_bound(
    problem: Problem,
    *,
    budget: Budget | None = None,
    threads: int = 1,
    observer: Observer = silent,
    start: np.ndarray | None = None,
) -> float:
    """A squared error that no partition undercuts; tighter than ``lower_bound`` and slower.

    Seconds for k = 3 and a thousand records, some more for k = 4, half a minute for k = 5; the search for groups grows
    steeply with k. ``start`` are the labels of a good partition, if one is known. Iterations of the budget are linear
    programmes solved. When time runs out, the best bound proved by then is returned.

    >>> problem = Problem(np.array([[0.0, 1], [1, 0], [1, 1], [5, 5], [6, 5], [5, 6]]), k=3)
    >>> round(column_generation_bound(problem), 6)
    2.666667
    """
    run = (budget or Budget()).or_iterations(60).start(observer, direction=Direction.MAXIMISE)
    best = lower_bound(problem, budget=run.remaining(iterations=60), threads=threads)
    run.report(best, phase="prices")
    if is_trivial(problem) or problem.d == 1 or problem.n > MOST_RECORDS or run.stopped:
        return best
    relaxation = Relaxation(problem, threads)
    if start is None:
        # Some partition makes the programme feasible; a good one makes its first prices sensible.
        start = ilsmc(problem, budget=replace(run.remaining(), iterations=500)).labels
    if not relaxation.begin(start, run):
        return max(best, relaxation.proved)
    while run.chunk(1):
        more = relaxation.improve(run)
        run.spend(1)
        best = max(best, relaxation.proved)
        run.report(best, phase="groups")
        if not more:
            break
    return best


class Relaxation:
    """The linear programme over all groups, solved from below and above.

    ``prices`` of the kinds of records are such that no group is worth more than it costs; ``highest`` is what they add
    up to, and ``cost`` that of the programme over the groups known. Both are in the units of ``turned``.
    """

    def __init__(self, problem: Problem, threads: int) -> None:
        self.problem = problem
        self.turned = turned_points(problem)
        self.sizes = sizes_worth_trying(problem.k, min(problem.largest or problem.n, problem.n))
        self.kinds = kinds_of(problem, self.turned.points, self.sizes[1])
        self.prices = np.zeros(self.kinds.counts.size)
        self.highest = 0.0
        self.cost = np.inf
        self.groups: list[tuple[int, ...]] = []
        # A partition, if the programme has chosen no fractions.
        self.whole: list[tuple[int, ...]] | None = None
        self._known: set[tuple[int, ...]] = set()
        self._threads = threads
        self._trust = 0.8
        self._patience = _PATIENCE
        self._solver = quiet_highs(simplex_strategy=PRIMAL)
        add_covered(self._solver, self.kinds.counts.size, self.kinds.counts)

    @property
    def proved(self) -> float:
        """A squared error that no partition undercuts."""
        return self.safe(self.highest)

    def safe(self, error: float) -> float:
        """A bound in the unit of the turned points as one for the problem, with room for all rounding."""
        total = self.kinds.counts * np.abs(self.prices)
        rounding = 1e-11 * float(total.sum()) + _TOLERANCE * self.problem.most_groups
        return self.turned.safe((error - rounding) * (1.0 - 1e-12))

    def begin(self, labels: np.ndarray, run: Run) -> bool:
        """Find first prices and groups, among them those of a partition; whether there was time for it."""
        self.add_partition(labels)
        prices = self._first_prices(run)
        if prices is None:
            return False
        self._take(prices)
        # Groups that are nearly worth their cost at prices known to be too low.
        looked = self.worth(1.1 * prices, run, keep=6, patience=self._patience)
        if looked is None:
            return False
        self.add(looked[1])
        return True

    def improve(self, run: Run) -> bool:
        """Solve the programme, look for groups, raise the bound; whether there is more to gain."""
        # The programme's own prices jump about until it knows most groups that matter; looking near the best
        # prices proved so far finds those sooner.
        wanted = self._solve()
        prices = self._trust * self.prices + (1.0 - self._trust) * wanted
        looked = self.worth(prices, run, keep=4, patience=self._patience)
        if looked is None:
            return False
        self._take(prices - looked[0])
        new = self.add(looked[1])
        if self.cost - self.highest <= 1e-6 * self.cost:
            return False
        if new:
            self._trust = min(0.8, 8.0 * new / prices.size)
        elif self._trust > 0.0:
            self._trust = 0.0
        elif self._patience < _MOST_PATIENCE:
            self._patience *= 8
        else:
            return False
        return True

    def _take(self, prices: np.ndarray) -> None:
        total = float((self.kinds.counts * prices).sum())
        if total > self.highest:
            self.prices, self.highest = prices, total

    def _first_prices(self, run: Run) -> np.ndarray | None:
        """A quick bound, shared out to the records: prices at which no group is worth more than it costs.

        Nothing if the run is over before.
        """
        left = replace(run.remaining(), iterations=None)
        prices = shared_prices(self.turned, self.problem, self._threads, left.start())
        if prices is None:
            return None
        # A kind has one price: the mean is as good as what it is the mean of.
        sums: np.ndarray = np.bincount(self.kinds.of, weights=prices) / self.kinds.counts
        return sums

    def add_partition(self, labels: np.ndarray) -> None:
        """Add the groups of a partition."""
        self.add(self._groups_of(labels))

    def error_of(self, labels: np.ndarray) -> float:
        """The squared error of a partition, as the programme sees it."""
        return float(self.errors(self._groups_of(labels)).sum())

    def _groups_of(self, labels: np.ndarray) -> list[tuple[int, ...]]:
        order = np.argsort(labels, kind="stable")
        parts = np.split(self.kinds.of[order], np.cumsum(np.bincount(labels))[:-1])
        return [tuple(part.tolist()) for part in parts]

    def add(self, groups: list[tuple[int, ...]]) -> int:
        """Add the groups that are new; how many that were."""
        distinct = dict.fromkeys(tuple(sorted(group)) for group in groups)
        new = [group for group in distinct if group not in self._known]
        if not new:
            return 0
        self._known.update(new)
        self.groups += new
        add_groups(self._solver, new, self.errors(new), np.inf)
        return len(new)

    def errors(self, groups: list[tuple[int, ...]]) -> np.ndarray:
        """The squared errors of groups."""
        sizes = np.array([len(group) for group in groups])
        errors = np.empty(sizes.size)
        for size in np.unique(sizes):
            which = np.flatnonzero(sizes == size)
            members = self.kinds.points[np.array([groups[g] for g in which])]
            errors[which] = np.square(members - members.mean(axis=1, keepdims=True)).sum(axis=(1, 2))
        return errors

    def _solve(self) -> np.ndarray:
        """The prices of the kinds at the optimum over the known groups."""
        self._solver.run()
        self.cost = self._solver.getObjectiveValue()
        solution = self._solver.getSolution()
        values = np.array(solution.col_value)
        times = np.round(values)
        self.whole = None
        if (np.abs(values - times) < 1e-6).all():
            self.whole = [self.groups[g] for g in np.repeat(np.arange(times.size), times.astype(np.int64))]
        return np.array(solution.row_dual)

    def worth(
        self, prices: np.ndarray, run: Run, *, keep: int, patience: int
    ) -> tuple[np.ndarray, list[tuple[int, ...]]] | None:
        """What the groups are worth at most whose dearest record is of each kind, and up to ``keep`` of them.

        ``None`` if there was no time for all records.
        """
        count = prices.size
        order = np.argsort(-prices, kind="stable")
        wanted = Wanted(*self.sizes, _TOLERANCE, patience, _STEP, every=False)
        excess = np.zeros(count)
        found = np.zeros(count, dtype=np.int64)
        groups = np.empty((count, keep, self.sizes[1]), dtype=np.int32)
        sizes = np.zeros((count, keep), dtype=np.int32)
        # Those that nobody pays for are the dearest of nothing that is worth anything.
        paid = int((prices > 0.0).sum())

        def work(first: int) -> bool:
            if run.out_of_time:
                return False
            part = slice(first, min(first + _SLICE, paid))
            dearest_groups(
                self.kinds,
                prices,
                order,
                part.start,
                part.stop,
                wanted,
                excess[part],
                found[part],
                groups[part],
                sizes[part],
            )
            return True

        with ThreadPoolExecutor(max(1, self._threads)) as pool:
            if not all(list(pool.map(work, range(0, paid, _SLICE)))):
                return None
        places = np.argwhere(sizes > 0)
        new = [tuple(groups[place, spot, : sizes[place, spot]].tolist()) for place, spot in places]
        by_kind = np.zeros(count)
        by_kind[order] = excess
        return by_kind, new


def add_groups(
    solver: "highspy.Highs", groups: list[tuple[int, ...]], costs: np.ndarray, most: float
) -> None:
    """Add groups of kinds to a programme whose rows are the kinds."""
    counts = [Counter(group) for group in groups]
    kinds = [np.fromiter(count, dtype=np.int32) for count in counts]
    often = [np.fromiter(count.values(), dtype=np.float64) for count in counts]
    add_choices(solver, kinds, costs, most, often)


def warm_up() -> None:
    """Compile the kernel."""
    column_generation_bound(Problem(np.random.default_rng(0).random((12, 2)), 2))
