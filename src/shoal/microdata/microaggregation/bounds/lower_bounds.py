"""Lower bounds on the loss: how good a partition could be at best.

**The matching bound.** Give every record x a price u(x) ≥ 0. In a group C of m ≥ k records, with D the
squared distance of a pair,

    m · SSE(C) = Σ pairs D ≥ Σ pairs [u(x) + u(y) − (u(x) + u(y) − D)⁺] = (m − 1) U − P,

where U sums the prices of the group and P the positive parts over its pairs. So SSE(C) ≥ U − (U + P)/m, which
never falls as m grows: SSE(C) ≥ ((k − 1) U − P)/k. Summed over the groups, and with P taken over *all*
pairs of records, which only lowers it, ((k − 1) Σ u − Σ (u(x) + u(y) − D)⁺)/k is a bound for every choice
of prices. The best prices are the dual of a cheapest fractional matching in which every record has k − 1
partners; they are found by raising or lowering one price at a time. Only near pairs matter for that, and a
wrong choice of them costs quality, never validity: the value that is returned counts every pair that
matters, found in a tree.

**The neighbour bound** is the price-free special case: half of the k − 1 smallest squared distances of each
record, divided by k. A record that was not looked at counts 0; so records in sparse regions, which add most, are
looked at first, and the bound can end at any time with what it has.

**The column bound**: the error in one column, in any orthogonal system of axes, is at least the optimum for
that column alone.

All arithmetic is in double precision with every rounding error on the safe side.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from shoal.microdata.microaggregation.construct.projection import principal_axes
from shoal.microdata.microaggregation.construct.univariate import optimal_error
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.kd_tree import Tree, box_distance, nearest, tree_of
from shoal.microdata.microaggregation.search.kernels.space import project
from shoal.runtime import Budget, Direction, Observer, Run, silent
from shoal.runtime.kernels import kernel

_EPSILON = float(np.finfo(np.float64).eps)
# Up to here the bound takes at most a few seconds with long lists of neighbours.
_DENSE_UP_TO = 20_000
# Above this many records, or entries in the lists of neighbours, the prices are left out: they take longer than the
# search. With a time limit, which ends them, the second number counts.
_PRICES_UP_TO = 60_000
_PRICES_IN_TIME_UP_TO = 200_000
_MOST_ENTRIES = 40_000_000
# Without a time limit the neighbours of so many records are looked for, or of this share of all: of those that lie
# farthest from others, which is where most is lost.
_LOOKED_AT = 30_000
_SHARE_LOOKED_AT = 0.03
# In many columns a slice of so many records takes a tenth of a second at most.
_SLICE = 250


def lower_bound(
    problem: Problem, *, budget: Budget | None = None, threads: int = 1, observer: Observer = silent
) -> float:
    """A squared error that no partition of the problem undercuts.

    The best of the bounds of this module that are affordable at the problem's size. ``budget`` counts
    rounds of price changes; when it is used up, or time is, what is known by then is returned, and it is
    valid.

    >>> problem = Problem(np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [22.0]]), k=2)
    >>> round(lower_bound(problem), 6)
    3.0
    """
    run = (budget or Budget()).start(observer, direction=Direction.MAXIMISE)
    if is_trivial(problem) or problem.d == 1:
        return column_bound(problem)
    # The rounds a budget allows are for the prices; the rest of the work looks at time and interruption only.
    if run.out_of_time:
        return 0.0
    turned = turned_points(problem)
    best = 0.0
    if problem.n <= _DENSE_UP_TO or problem.d <= 3:
        best = turned.safe(_column_error(turned.points, problem, run))
        run.report(best, phase="bound")
        if run.out_of_time:
            return best
    tree = tree_of(turned.points)
    timed = run.budget.seconds is not None
    most = _PRICES_IN_TIME_UP_TO if timed else _PRICES_UP_TO
    if problem.n <= most and problem.n * _list_length(problem) <= _MOST_ENTRIES:
        rounds = 60 if problem.n <= _DENSE_UP_TO else 25
        error = _matching_error(tree, problem, rounds, run, threads)
    else:
        looked_at = problem.n if timed else max(_LOOKED_AT, int(_SHARE_LOOKED_AT * problem.n))
        error = _neighbour_error(tree, problem.k, run, threads, looked_at)
    best = max(best, turned.safe(error))
    run.report(best, phase="bound")
    return best


def column_bound(problem: Problem) -> float:
    """The sum of the optima of single columns, after turning the points to their principal axes."""
    return _safely(problem, lambda points: _column_error(points, problem))


def neighbour_bound(problem: Problem, *, threads: int = 1) -> float:
    """Half of the squared distances to the k − 1 nearest of each record, divided by k."""
    return _safely(
        problem, lambda points: _neighbour_error(tree_of(points), problem.k, Budget().start(), threads)
    )


def matching_bound(problem: Problem, *, rounds: int = 60, threads: int = 1) -> float:
    """The bound by prices, after so many rounds of changes."""
    return _safely(
        problem, lambda points: _matching_error(tree_of(points), problem, rounds, Budget().start(), threads)
    )


def _safely(problem: Problem, bound: Callable[[np.ndarray], float]) -> float:
    """A bound for the turned points as one for the problem; of a trivial one the error itself."""
    if is_trivial(problem):
        return problem.sst * (1.0 - 1e-12)
    turned = turned_points(problem)
    return turned.safe(bound(turned.points))


def is_trivial(problem: Problem) -> bool:
    """Whether all records must form one group, or all are the same."""
    return problem.n < 2 * problem.k or problem.sst == 0.0


class Turned(NamedTuple):
    """The points on their principal axes, in a unit that is a power of two."""

    points: np.ndarray
    unit: float
    slack: float
    skew: float

    def safe(self, error: float) -> float:
        """A bound for the turned points as one for the points themselves, with room for all rounding.

        Turning is a rotation up to the errors of the axes and of the matrix product; the root of the squared
        error is a norm, so the latter lower it by at most their own norm.
        """
        root = np.sqrt(max(0.0, error) * (1.0 - 1e-13) / (1.0 + self.skew)) * self.unit - self.slack
        return float(max(0.0, root) ** 2)


def turned_points(problem: Problem) -> Turned:
    """The points as the bounds see them."""
    d = problem.d
    axes = principal_axes(problem.points) if d > 1 else np.eye(1)
    unit = 2.0 ** np.round(np.log2(np.sqrt(problem.sst / problem.n)))
    # The unit is a power of two, so it does not matter where it is divided by.
    centred = problem.points - problem.points.mean(axis=0)
    turned = np.empty_like(centred)
    # Of many records with few columns a library's product takes several times as long, on all cores.
    project(centred, np.ascontiguousarray(axes / unit), turned)
    return Turned(
        points=turned,
        unit=float(unit),
        slack=float(4 * (d + 2) * _EPSILON * np.sqrt(problem.sst)),
        skew=float(np.abs(axes.T @ axes - np.eye(d)).sum()) + 8 * d * _EPSILON,
    )


def _column_error(turned: np.ndarray, problem: Problem, run: Run | None = None) -> float:
    total = 0.0
    for column in turned.T:
        # A column that was not looked at counts 0.
        if run is not None and run.out_of_time:
            break
        total += optimal_error(column, problem.k, problem.largest)
    # Along a path of n/k groups every addition may round up.
    return total * (1.0 - 8 * (problem.n / problem.k + 4 * problem.k) * _EPSILON)


def _list_length(problem: Problem) -> int:
    wanted = 40 + 3 * problem.k if problem.n <= _DENSE_UP_TO else problem.k + 8
    return min(problem.n - 1, wanted)


def in_slices(
    n: int,
    run: Run,
    work: Callable[[int, int], None],
    threads: int,
    phase: str,
    order: np.ndarray | None = None,
) -> bool:
    """Do the work on slices of 0 … n, several at once, as long as there is time; whether all were done.

    ``order`` gives the numbers of those to be done, the first first; by default all as they come.
    """
    slices = [(first, min(first + _SLICE, n)) for first in range(0, n, _SLICE)]
    if order is not None:
        slices = [slices[number] for number in order]
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for at in range(0, len(slices), max(1, threads)):
            if run.out_of_time:
                return False
            list(pool.map(lambda piece: work(*piece), slices[at : at + max(1, threads)]))
            run.report(phase=phase)
    return True


def sparse_first(tree: Tree) -> np.ndarray:
    """The slices of a tree's points, those first whose points lie farthest apart: they add most to a bound.

    How far is judged by the boxes around the leaves.
    """
    leaves = tree.child < 0
    spread = np.square(tree.high[leaves] - tree.low[leaves]).sum(axis=1)
    number = tree.start[leaves] // _SLICE
    count = -(-tree.points.shape[0] // _SLICE)
    total = np.bincount(number, weights=spread, minlength=count)
    return np.argsort(-total / np.maximum(1, np.bincount(number, minlength=count)), kind="stable")


def _neighbour_error(tree: Tree, k: int, run: Run, threads: int, looked_at: int | None = None) -> float:
    n = tree.points.shape[0]
    order = sparse_first(tree)
    if looked_at is not None:
        order = order[: -(-looked_at // _SLICE)]
    sums = np.zeros(n)

    def work(first: int, last: int) -> None:
        distances = np.empty((last - first, k - 1))
        places = np.empty((last - first, k - 1), dtype=np.int32)
        nearest(tree, first, last, k - 1, distances, places)
        sums[first:last] = distances.sum(axis=1)

    in_slices(n, run, work, threads, "neighbours", order)
    return float(sums.sum()) / (2 * k) * (1.0 - (2 * k + 50) * _EPSILON)


def _matching_error(tree: Tree, problem: Problem, rounds: int, run: Run, threads: int) -> float:
    plain, prices = matching_prices(tree, problem, rounds, run, threads)
    if prices is None:
        return plain
    return max(plain, _value_of(tree, prices, problem.k, run, threads))


def matching_prices(
    tree: Tree, problem: Problem, rounds: int, run: Run, threads: int
) -> tuple[float, np.ndarray | None]:
    """The neighbour bound and good prices for the matching bound; none if there was no time for them."""
    n, k = problem.n, problem.k
    length = _list_length(problem)
    distances = np.empty((n, length), dtype=np.float32)
    places = np.empty((n, length), dtype=np.int32)
    # Distances in single precision may round up; they serve the prices, and the plain bound in double.
    halves = np.zeros(n)

    def find(first: int, last: int) -> None:
        exact = np.empty((last - first, length))
        nearest(tree, first, last, length, exact, places[first:last])
        distances[first:last] = exact
        halves[first:last] = exact[:, : k - 1].sum(axis=1)

    complete = in_slices(n, run, find, threads, "neighbours", sparse_first(tree))
    plain = float(halves.sum()) / (2 * k) * (1.0 - (2 * k + 50) * _EPSILON)
    if not complete:
        return plain, None
    starts, partners, gaps = _pairs(places, distances)
    prices = distances[:, k - 2].astype(np.float64) / 2
    if run.budget.iterations is not None:
        rounds = min(rounds, run.budget.iterations)
    for turn in range(rounds):
        if run.stopped:
            break
        # The blur of the positive parts falls from 0.3 to 0.003 of the distance; without it one price at a
        # time gets stuck where only several together could rise.
        blur = 0.3 * 0.01 ** (turn / max(1, rounds - 1))
        adjust_prices(prices, starts, partners, gaps, k, blur, turn % 2 == 1)
        run.spend(1)
        run.report(phase="prices")
    return plain, prices


def _value_of(tree: Tree, prices: np.ndarray, k: int, run: Run, threads: int) -> float:
    """The bound that the prices give, from all pairs; 0 if there was no time to see them all."""
    n = prices.size
    excess = np.zeros(n)

    def work(first: int, last: int) -> None:
        overlaps(tree, prices, first, last, excess)

    if not in_slices(n, run, work, threads, "check"):
        return 0.0
    income = (k - 1) * float(prices.sum())
    overlap = float(excess.sum())
    return (income - overlap - 100 * _EPSILON * (income + overlap)) / k


@kernel
def _count_pairs(places: np.ndarray, counts: np.ndarray) -> None:
    n, length = places.shape
    for x in range(n):
        for s in range(length):
            y = places[x, s]
            counts[x] += 1
            if not _listed(places, y, x):
                counts[y] += 1


@kernel
def _listed(places: np.ndarray, x: int, y: int) -> bool:
    for s in range(places.shape[1]):  # noqa: SIM110 (compiled: a loop is what it becomes)
        if places[x, s] == y:
            return True
    return False


@kernel
def _fill_pairs(places, distances, starts, partners, gaps):  # type: ignore[no-untyped-def]
    n, length = places.shape
    filled = starts[:-1].copy()
    for x in range(n):
        for s in range(length):
            y = places[x, s]
            partners[filled[x]] = y
            gaps[filled[x]] = distances[x, s]
            filled[x] += 1
            if not _listed(places, y, x):
                partners[filled[y]] = x
                gaps[filled[y]] = distances[x, s]
                filled[y] += 1


def _pairs(places: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists of neighbours made mutual: where each record's partners start, the partners, their distances."""
    n = places.shape[0]
    counts = np.zeros(n, dtype=np.int64)
    _count_pairs(places, counts)
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    partners = np.empty(starts[-1], dtype=np.int32)
    gaps = np.empty(starts[-1], dtype=np.float32)
    _fill_pairs(places, distances, starts, partners, gaps)
    return starts, partners, gaps


@kernel
def adjust_prices(
    prices: np.ndarray,
    starts: np.ndarray,
    partners: np.ndarray,
    gaps: np.ndarray,
    k: int,
    blur: float,
    backwards: bool,
) -> None:
    """Set each price in turn to the best for the others: so that it overlaps with k − 1 partners.

    A pair counts from 0 to 1 as the overlap of its prices grows from 0 to ``blur`` times its distance. The
    right price is a root of a piecewise linear function that never falls: Newton steps, kept in an interval.
    """
    n = prices.shape[0]
    for turn in range(n):
        x = n - 1 - turn if backwards else turn
        price = prices[x]
        low = 0.0
        high = np.inf
        for _ in range(40):
            overlapping = 0.0
            slope = 0.0
            following = np.inf
            for e in range(starts[x], starts[x + 1]):
                gap = gaps[e]
                begins = gap - prices[partners[e]]
                width = blur * gap
                if price >= begins + width:
                    overlapping += 1.0
                elif price > begins:
                    overlapping += (price - begins) / width
                    slope += 1.0 / width
                elif begins < following:
                    following = begins
            wanted = (k - 1) - overlapping
            if wanted < -1e-9:
                high = price
            elif wanted > 1e-9:
                low = price
            else:
                break
            better = price + wanted / slope if slope > 0.0 else np.nan
            if not low < better < high:
                if high < np.inf:
                    better = 0.5 * (low + high)
                elif following < np.inf:
                    better = max(2.0 * price, following * (1.0 + blur))
                else:
                    break
            if abs(better - price) <= 1e-12 * price:
                break
            price = better
        prices[x] = price if price > 0.0 else 0.0


@kernel
def overlaps(tree: Tree, prices: np.ndarray, first: int, last: int, excess: np.ndarray) -> None:
    """For the points at places ``first`` … ``last``: the sum of (u(x) + u(y) − D)⁺ over partners no dearer.

    Such a partner lies within the root of 2 u(x), so every pair that counts is found from its dearer side.
    Distances are taken a little too small, by more than they can be rounded up.
    """
    points = tree.points
    d = points.shape[1]
    shrink = 1.0 - (2 * d + 8) * 2.3e-16
    stack = np.empty(128, dtype=np.int32)
    for x in range(first, last):
        price = prices[x]
        total = 0.0
        if price > 0.0:
            stack[0] = 0
            depth = 1
            while depth > 0:
                depth -= 1
                node = stack[depth]
                if box_distance(points[x], tree.low[node], tree.high[node]) * shrink > 2.0 * price:
                    continue
                if tree.child[node] >= 0:
                    stack[depth] = tree.child[node]
                    stack[depth + 1] = tree.child[node] + 1
                    depth += 2
                    continue
                for y in range(tree.start[node], tree.end[node]):
                    if prices[y] < price or (prices[y] == price and y < x):
                        away = 0.0
                        for a in range(d):
                            away += (points[y, a] - points[x, a]) * (points[y, a] - points[x, a])
                        total += max(0.0, price + prices[y] - away * shrink)
        excess[x] = total


def warm_up() -> None:
    """Compile the kernels."""
    from shoal.microdata.microaggregation.construct import row_cuts

    row_cuts.warm_up()
    lower_bound(Problem(np.arange(24.0).reshape(12, 2), 2), budget=Budget(iterations=2))
