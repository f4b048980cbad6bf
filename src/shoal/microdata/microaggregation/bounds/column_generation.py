"""A tight lower bound for small k: the linear programme over all groups, solved by column generation.

Choose groups that together cover every record once, as cheaply as possible, where fractions are allowed. The
programme is solved over some groups; its prices say what a missing group would be worth, and the groups worth
most are added. Here the search for them is exact, so that the prices give a bound at any time, converged
or not (Farley, A note on bounding a class of linear programming problems, Operations Research 38(5), 1990).

A group C of m records is worth more than it costs if Σ π(x) > SSE(C), that is if the sum over its members of
π(x) − Σ D(x, y)/2m is positive. Then it is so for one of them, the *anchor* x: Σ D(x, y) < 2m π(x), and
only records near x need be combined. Let v(x) be the largest excess of a group that x anchors. Lowering
each price by its v(x) leaves no group worth more than it costs, so Σ π(x) − v(x) bounds the error of every
partition.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from shoal.microdata.microaggregation.bounds.lower_bounds import (
    Turned,
    is_trivial,
    lower_bound,
    matching_prices,
    overlaps,
    turned_points,
)
from shoal.microdata.microaggregation.construct.row_cuts import sizes_worth_trying
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.published.iterated import ilsmc
from shoal.microdata.microaggregation.search.kd_tree import Tree, nearest, tree_of
from shoal.microdata.microaggregation.solution import squared_error
from shoal.search import Budget, Direction, Observer, Run, silent
from shoal.search.kernels import kernel
from shoal.search.linear_programmes import add_choices, add_covered, quiet_highs

# What is worth less than this more than it costs, in the unit of the mean squared distance, is not looked
# for.
_TOLERANCE = 1e-12
_SLICE = 16
# Groups looked at for one record before its price is given up (set to 0, which is always safe).
_PATIENCE = 30_000_000
_LARGEST = 10_000


def column_generation_bound(
    problem: Problem, *, budget: Budget | None = None, threads: int = 1, observer: Observer = silent
) -> float:
    """A squared error that no partition undercuts; tighter than ``lower_bound`` and slower.

    Seconds for k = 3 and some thousand records, a minute for k = 4; the search for groups grows steeply
    with k. Iterations of the budget are linear programmes solved. When time runs out, the best bound proved
    by then is returned.

    >>> problem = Problem(np.array([[0.0, 1], [1, 0], [1, 1], [5, 5], [6, 5], [5, 6]]), k=3)
    >>> round(column_generation_bound(problem), 6)
    2.666667
    """
    run = (budget or Budget()).or_iterations(60).start(observer, direction=Direction.MAXIMISE)
    best = lower_bound(problem, budget=run.remaining(iterations=60), threads=threads)
    run.report(best, phase="prices")
    if is_trivial(problem) or problem.d == 1 or problem.n > _LARGEST or run.stopped:
        return best
    turned = turned_points(problem)
    programme = _Programme(turned.points, problem, run)
    tree = tree_of(turned.points)
    near = nearest_sums(tree, min(problem.n, 2 * problem.k - 1))
    centre = _first_prices(tree, problem, threads, run)
    if centre is None:
        return best
    # Groups that are nearly worth their cost at prices known to be too low.
    worth = _worth(turned.points, near, 1.1 * centre, problem, run, threads, keep=6)
    if worth is None:
        return best
    programme.add(worth[1])
    highest = float(centre.sum())
    trust = 0.8
    while run.chunk(1):
        # The programme's own prices jump about until it knows most groups that matter; looking near the best
        # prices proved so far finds those sooner.
        wanted, cost = programme.solve()
        prices = trust * centre + (1.0 - trust) * wanted
        worth = _worth(turned.points, near, prices, problem, run, threads, keep=4)
        if worth is None:
            break
        run.spend(1)
        lowered = prices - worth[0]
        if float(lowered.sum()) > highest:
            centre, highest = lowered, float(lowered.sum())
            best = max(best, _proved(turned, centre, problem))
        run.report(best, phase="groups")
        new = programme.add(worth[1])
        if cost - highest <= 1e-6 * cost or (new == 0 and trust == 0.0):
            break
        trust = 0.8 if new else (trust - 0.4 if trust > 0.4 else 0.0)
    return best


def _proved(turned: Turned, prices: np.ndarray, problem: Problem) -> float:
    rounding = 1e-12 * float(np.abs(prices).sum()) + _TOLERANCE * problem.most_groups
    return turned.safe((float(prices.sum()) - rounding) * (1.0 - 1e-12))


def nearest_sums(tree: Tree, length: int) -> np.ndarray:
    """The sums of the squared distances of each record to its 0, 1, … nearest others."""
    n = tree.points.shape[0]
    distances = np.empty((n, length - 1))
    nearest(tree, 0, n, length - 1, distances, np.empty((n, length - 1), dtype=np.int32))
    sums = np.zeros((n, length))
    # A little less than the sums, so that rounding never ends a branch too early.
    sums[tree.order, 1:] = np.cumsum(distances, axis=1) * (1.0 - 1e-13)
    return sums


def _first_prices(tree: Tree, problem: Problem, threads: int, run: Run) -> np.ndarray | None:
    """The matching bound, shared out to the records: prices at which no group is worth more than it costs.

    Nothing if the run is over before.
    """
    left = replace(run.remaining(), iterations=None)
    _, doubles = matching_prices(tree, problem, 60, left.start(), threads)
    if doubles is None:
        return None
    excess = np.zeros(problem.n)
    overlaps(tree, doubles, 0, problem.n, excess)
    prices = np.empty(problem.n)
    prices[tree.order] = ((problem.k - 1) * doubles - excess) / problem.k
    return prices


class _Programme:
    """The linear programme over the groups known so far."""

    def __init__(self, points: np.ndarray, problem: Problem, run: Run) -> None:
        self._points = points
        self._known: set[tuple[int, ...]] = set()
        self._solver = quiet_highs()
        add_covered(self._solver, problem.n)
        # Some partition makes the programme feasible; a good one makes its first prices sensible.
        labels = ilsmc(problem, budget=replace(run.remaining(), iterations=500)).labels
        self.add([tuple(np.flatnonzero(labels == group)) for group in range(int(labels.max()) + 1)])

    def add(self, groups: list[tuple[int, ...]]) -> int:
        """Add the groups that are new; how many that were."""
        new = [group for group in dict.fromkeys(groups) if group not in self._known]
        if not new:
            return 0
        self._known.update(new)
        costs = np.array([self._error(group) for group in new])
        add_choices(self._solver, [np.array(group) for group in new], costs, np.inf)
        return len(new)

    def _error(self, group: tuple[int, ...]) -> float:
        return squared_error(self._points[list(group)], np.zeros(len(group), dtype=np.int64))

    def solve(self) -> tuple[np.ndarray, float]:
        """The prices of the records at the optimum over the known groups, and its cost."""
        self._solver.run()
        return np.array(self._solver.getSolution().row_dual), self._solver.getObjectiveValue()


def _worth(
    points: np.ndarray,
    near: np.ndarray,
    prices: np.ndarray,
    problem: Problem,
    run: Run,
    threads: int,
    keep: int,
) -> tuple[np.ndarray, list[tuple[int, ...]]] | None:
    """What each record anchors at most, and up to ``keep`` groups of each that are worth more than they cost.

    ``None`` if there was no time for all records.
    """
    n = problem.n
    smallest, largest = sizes_worth_trying(problem.k, problem.largest)
    excess = np.zeros(n)
    groups = np.empty((n, keep, largest), dtype=np.int32)
    sizes = np.zeros((n, keep), dtype=np.int32)

    def work(first: int) -> bool:
        if run.out_of_time:
            return False
        last = min(first + _SLICE, n)
        groups_worth_adding(
            points, prices, near, smallest, largest, first, last, _PATIENCE, excess, groups, sizes
        )
        return True

    with ThreadPoolExecutor(max(1, threads)) as pool:
        if not all(list(pool.map(work, range(0, n, _SLICE)))):
            return None
    found = [
        tuple(sorted(groups[x, place, : sizes[x, place]].tolist())) for x, place in np.argwhere(sizes > 0)
    ]
    return excess, found


@kernel(error_model="numpy")
def groups_worth_adding(  # type: ignore[no-untyped-def]
    points, prices, nearest_sums, smallest, largest, first, last, patience, excess, groups, sizes
):
    """For each record of a slice, the groups it anchors whose prices exceed their error most.

    Members are chosen one after the other. A record still to be chosen adds at most its price less its
    distances to those chosen, and half of those to its nearest others (``nearest_sums``: of the nearest 0,
    1, … records) for those that are not, all divided by m. A branch ends when that cannot lift it above
    what is known already. If there are more than ``patience`` branches, the record's whole price is its
    excess: at price 0 it anchors nothing.
    """
    n, d = points.shape
    keep = sizes.shape[1]
    chosen = np.empty(largest, dtype=np.int64)
    at = np.empty(largest + 1, dtype=np.int64)
    count = np.empty(largest + 1, dtype=np.int64)
    value = np.empty(largest + 1)
    # By number of records chosen: who can follow, their distances to the chosen ones, and what they can add.
    who = np.empty((largest + 1, n), dtype=np.int64)
    gaps = np.empty((largest + 1, n))
    gain = np.empty((largest + 1, n))
    # The most that any from this place on can add.
    most = np.empty((largest + 1, n + 1))
    all_gaps = np.empty(n)
    worth = np.empty(keep)
    for x in range(first, last):
        excess[x] = 0.0
        sizes[x, :] = 0
        if prices[x] <= 0.0:
            continue
        found = 0
        branches = 0
        chosen[0] = x
        for y in range(n):
            gap = 0.0
            for a in range(d):
                gap += (points[y, a] - points[x, a]) * (points[y, a] - points[x, a])
            all_gaps[y] = gap
        for m in range(smallest, largest + 1):
            beat = worth[keep - 1] if found == keep else _TOLERANCE
            top = -np.inf
            for y in range(n):
                if y != x:
                    top = max(top, prices[y] - (all_gaps[y] + 0.5 * nearest_sums[y, m - 2]) / m)
            near = 0
            for y in range(n):
                if y == x or all_gaps[y] >= 2 * m * prices[x]:
                    continue
                own = prices[y] - (all_gaps[y] + 0.5 * nearest_sums[y, m - 2]) / m
                if prices[x] + own + (m - 2) * top > beat:
                    who[0, near] = y
                    gain[0, near] = -own
                    near += 1
            best_first = np.argsort(gain[0, :near], kind="mergesort")
            for c in range(near):
                who[1, c] = who[0, best_first[c]]
                gaps[1, c] = all_gaps[who[1, c]]
                gain[1, c] = -gain[0, best_first[c]]
            count[1] = near
            most[1, near] = -np.inf
            for c in range(near - 1, -1, -1):
                most[1, c] = max(most[1, c + 1], gain[1, c])
            value[1] = prices[x]
            at[1] = 0
            size = 1
            while size >= 1 and branches <= patience:
                c = at[size]
                missing = m - size
                beat = worth[keep - 1] if found == keep else _TOLERANCE
                if c > count[size] - missing or value[size] + missing * most[size, c] <= beat:
                    size -= 1
                    at[size] += 1
                    continue
                if value[size] + gain[size, c] + (missing - 1) * most[size, c] <= beat:
                    at[size] += 1
                    continue
                branches += 1
                y = who[size, c]
                chosen[size] = y
                reached = value[size] + prices[y] - gaps[size, c] / m
                if missing == 1:
                    if reached > beat:
                        place = found if found < keep else keep - 1
                        while place > 0 and worth[place - 1] < reached:
                            worth[place] = worth[place - 1]
                            sizes[x, place] = sizes[x, place - 1]
                            groups[x, place] = groups[x, place - 1]
                            place -= 1
                        worth[place] = reached
                        sizes[x, place] = m
                        for t in range(m):
                            groups[x, place, t] = chosen[t]
                        found = min(found + 1, keep)
                    at[size] += 1
                    continue
                near = 0
                for later in range(c + 1, count[size]):
                    z = who[size, later]
                    gap = gaps[size, later]
                    for a in range(d):
                        gap += (points[z, a] - points[y, a]) * (points[z, a] - points[y, a])
                    own = prices[z] - (gap + 0.5 * nearest_sums[z, missing - 2]) / m
                    if reached + own + (missing - 2) * most[size, c] > beat:
                        who[size + 1, near] = z
                        gaps[size + 1, near] = gap
                        gain[size + 1, near] = own
                        near += 1
                size += 1
                value[size] = reached
                count[size] = near
                at[size] = 0
                most[size, near] = -np.inf
                for later in range(near - 1, -1, -1):
                    most[size, later] = max(most[size, later + 1], gain[size, later])
        if branches > patience:
            excess[x] = prices[x]
        elif found > 0:
            excess[x] = worth[0]


def warm_up() -> None:
    """Compile the kernel."""
    column_generation_bound(Problem(np.random.default_rng(0).random((12, 2)), 2))
