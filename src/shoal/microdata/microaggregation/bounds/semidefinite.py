"""The semidefinite bound: the matching bound on distances that a positive semidefinite matrix has changed.

Let S be a positive semidefinite matrix over the records, v the indicator of a group C of m ≥ k records, D the squared
distances and u ≥ 0 prices. Then vᵀ S v ≥ 0, so that

    m · SSE(C) = ½ vᵀ D v ≥ ½ vᵀ (D − S) v = Σ pairs M(x, y) − ½ Σ S(x, x),   M = D − S,

and as in the matching bound (``lower_bounds``) SSE(C) ≥ U − (U + P + ½ Σ S(x, x))/m with the prices u, which never
falls as m grows. So

    ((k − 1) Σ u − Σ pairs (u(x) + u(y) − M(x, y))⁺ − ½ Σ S(x, x)) / k

bounds the error of every partition, for every choice of u and S. The best choice is the dual of a relaxation that
knows more than that everybody has k − 1 partners: partners of partners must be partners (Peng and Wei, Approximating
k-means-type clustering via semidefinite programming, SIAM Journal on Optimization 18(1), 2007). It is looked for
region by region among the records that cost most (``alternating_directions``), each time with the rest as it is, and
kept where the bound has risen; S is the sum of what was found.

S is only ever made as F Fᵀ, which is positive semidefinite for any F. What multiplying F by itself in floating point
can have changed is added to the diagonal; what else is rounded makes prices count a little more where they overlap.
"""

from dataclasses import replace

import numpy as np

from shoal.microdata.microaggregation.bounds.alternating_directions import Region, improved
from shoal.microdata.microaggregation.bounds.lower_bounds import (
    Turned,
    is_trivial,
    lower_bound,
    matching_prices,
    turned_points,
)
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.kd_tree import tree_of
from shoal.runtime import Budget, Direction, Observer, Run, silent

_EPSILON = float(np.finfo(np.float64).eps)
# The matrix of changed distances is kept whole: 8 n² bytes.
MOST_RECORDS = 6_000
# Records of a region, the steps taken in each, and rounds over all; a round visits the records that hold so large a
# share of the prices.
_REGION = 500
# Regions so small, visited once, take no longer than a usual search.
QUICK_REGION = 200
_STEPS = 40
_ROUNDS = 3
_SHARE = 0.99
# A round that raises the bound by a smaller share is the last.
_ENOUGH = 0.002
# How often each price near a region is set to the best for the others.
_SWEEPS = 4
# Rows of the matrix looked at together.
_SLICE = 256


def semidefinite_bound(
    problem: Problem,
    *,
    budget: Budget | None = None,
    threads: int = 1,
    observer: Observer = silent,
    region: int = _REGION,
    rounds: int = _ROUNDS,
) -> float:
    """A squared error that no partition undercuts; tighter than ``lower_bound``, in seconds for thousands of records.

    Iterations of the budget are steps in regions, 40 in each; larger regions and more rounds prove more and take
    longer. When the budget is used up, the best bound proved by then is returned.

    >>> problem = Problem(np.random.default_rng(0).normal(size=(40, 3)), k=5)
    >>> semidefinite_bound(problem) > 1.1 * lower_bound(problem)
    True
    """
    run = (budget or Budget()).start(observer, direction=Direction.MAXIMISE)
    best = lower_bound(problem, budget=run.remaining(iterations=60), threads=threads)
    run.report(best, phase="bound")
    if is_trivial(problem) or problem.d == 1 or problem.n > MOST_RECORDS or run.stopped:
        return best
    from threadpoolctl import threadpool_limits

    # One thread: a matrix of some hundred rows is too small for more, and the result must not depend on their number.
    with threadpool_limits(1, user_api="blas"):
        return max(best, _raised(problem, threads, run, region, rounds))


def shared_prices(turned: Turned, problem: Problem, threads: int, run: Run) -> np.ndarray | None:
    """A quick semidefinite bound, shared out to the records; in the unit of the turned points.

    No group costs less than the shares of its members together. Nothing if there was no time.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        proof = first_proof(turned, problem, threads, run)
        if proof is None:
            return None
        _raise(proof, turned, run, QUICK_REGION, 1)
        return proof.shares()


def _raised(problem: Problem, threads: int, run: Run, region: int, rounds: int) -> float:
    """What is proved after some rounds over all regions."""
    turned = turned_points(problem)
    proof = first_proof(turned, problem, threads, run)
    if proof is None:
        return 0.0
    _raise(proof, turned, run, region, rounds)
    return turned.safe(proof.value)


def _raise(proof: "Proof", turned: Turned, run: Run, region: int, rounds: int) -> None:
    """Go over all regions some times, as long as it pays and there is time."""
    random = np.random.default_rng(0)
    for number in range(rounds):
        before = proof.value
        for members in _regions(turned.points, proof.prices, region, random if number else None):
            if run.stopped:
                return
            steps = run.remaining(iterations=_STEPS).iterations
            assert steps is not None
            proof.improve(members, steps, run)
            run.spend(steps)
            run.report(turned.safe(proof.value), phase="bound")
        if proof.value - before <= _ENOUGH * before:
            break


def first_proof(turned: Turned, problem: Problem, threads: int, run: Run) -> "Proof | None":
    """The proof of the matching bound, if there is time for it."""
    tree = tree_of(turned.points)
    left = replace(run.remaining(), iterations=None)
    _, ordered = matching_prices(tree, problem, 60, left.start(), threads)
    if ordered is None or run.out_of_time:
        return None
    prices = np.empty(problem.n)
    prices[tree.order] = ordered
    return Proof(turned.points, prices, problem.k)


class Proof:
    """Prices, changed distances and the diagonal of what changed them; ``value`` is what they prove."""

    def __init__(self, points: np.ndarray, prices: np.ndarray, k: int) -> None:
        self.k = k
        self.prices = prices
        self.diagonal = np.zeros(prices.size)
        self._distances = _squared_distances(points)
        # Roundings of a distance: of its terms, and later one for each change.
        self._roundings = points.shape[1] + 10
        self.value = self._proved(prices, self.diagonal)

    def improve(self, members: np.ndarray, steps: int, run: Run) -> bool:
        """Look for better prices and charges in a region; whether the bound has risen."""
        rest = np.ones(self.prices.size, dtype=np.bool_)
        rest[members] = False
        own = self.prices[members]
        others = np.flatnonzero(rest)
        beyond = self._distances[np.ix_(members, others)] - self.prices[others]
        near = (beyond < 2.0 * own[:, None]).any(axis=0)
        others = others[near]
        square = np.ix_(members, members)
        before = self._distances[square]
        found = improved(
            Region(before, beyond[:, near], own, self.prices[others]), self.k, steps, lambda: run.out_of_time
        )
        if found is None or not np.isfinite(found.factor).all() or not np.isfinite(found.prices).all():
            return False
        charges = found.factor @ found.factor.T
        # Entry by entry a product of m terms is wrong by at most m roundings of the rows' norms: as a matrix by no
        # more than as many roundings of the trace.
        shift = 2.0 * (found.factor.shape[1] + 4) * _EPSILON * float(np.trace(charges))
        diagonal = self.diagonal.copy()
        diagonal[members] = (diagonal[members] + np.diagonal(charges) + shift) * (1.0 + 4 * _EPSILON)
        prices = self.prices.copy()
        prices[members] = np.maximum(found.prices, 0.0)
        self.change(members, charges)
        self._settle(prices, np.concatenate([members, others]))
        value = self._proved(prices, diagonal)
        if value > self.value:
            self.prices, self.diagonal, self.value = prices, diagonal, value
            return True
        self._distances[square] = before
        return False

    def change(self, members: np.ndarray, charges: np.ndarray) -> None:
        """Take the charges off the distances."""
        self._distances[np.ix_(members, members)] -= charges
        self._roundings += 1

    def _settle(self, prices: np.ndarray, places: np.ndarray) -> None:
        """Set each of some prices in turn to the best for the others: so that it overlaps with k − 1 partners."""
        k = self.k
        for _ in range(_SWEEPS):
            for x in places:
                begins = self._distances[x] - prices
                begins[x] = np.inf
                begins.partition((k - 2, k - 1))
                prices[x] = max(0.0, min(max(prices[x], begins[k - 2]), begins[k - 1]))

    def _proved(self, prices: np.ndarray, diagonal: np.ndarray) -> float:
        """The bound, rounded down: where prices overlap they count more, by all that distances may be too large."""
        overlap = float(self._overlaps(prices, diagonal).sum())
        income, charged = (self.k - 1) * float(prices.sum()), 0.5 * float(diagonal.sum())
        return (income - overlap - charged - 1e-12 * (income + overlap + charged)) / self.k

    def _overlaps(self, prices: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """Half of what each price overlaps with others: of a pair each has its half."""
        n = prices.size
        raised = prices + 4 * self._roundings * _EPSILON * (prices + diagonal)
        overlaps = np.empty(n)
        for first in range(0, n, _SLICE):
            rows = (
                raised[first : first + _SLICE, None] + raised[None] - self._distances[first : first + _SLICE]
            )
            np.maximum(rows, 0.0, out=rows)
            places = np.arange(rows.shape[0])
            rows[places, first + places] = 0.0
            overlaps[first : first + _SLICE] = 0.5 * rows.sum(axis=1)
        return overlaps

    def shares(self) -> np.ndarray:
        """What is proved, shared out to the records: no group costs less than its members have together."""
        kept: np.ndarray = (self.k - 1) * self.prices - 0.5 * self.diagonal
        kept -= self._overlaps(self.prices, self.diagonal)
        return kept / self.k - 1e-12 * np.abs(kept)


def _squared_distances(points: np.ndarray) -> np.ndarray:
    n = points.shape[0]
    distances = np.zeros((n, n))
    for first in range(0, n, _SLICE):
        rows = distances[first : first + _SLICE]
        for column in points.T:
            rows += np.square(column[first : first + _SLICE, None] - column[None])
    return distances


def _regions(
    points: np.ndarray, prices: np.ndarray, most: int, random: np.random.Generator | None
) -> list[np.ndarray]:
    """The dearest records, parted into regions of near ones, the dearest region first."""
    dearest = np.argsort(-prices, kind="stable")
    sums = np.cumsum(prices[dearest])
    core = dearest[: int(np.searchsorted(sums, _SHARE * sums[-1])) + 1]
    regions = _parted(points, np.sort(core), most, random)
    return sorted(regions, key=lambda members: -float(prices[members].sum()))


def _parted(
    points: np.ndarray, members: np.ndarray, most: int, random: np.random.Generator | None
) -> list[np.ndarray]:
    """Halves of halves, across the widest column, or across one turned at random so that borders differ."""
    if members.size <= most:
        return [members]
    mine = points[members]
    spread = mine.max(axis=0) - mine.min(axis=0)
    widest = (spread == spread.max()).astype(np.float64)
    along = mine @ (widest if random is None else spread * random.normal(size=spread.size))
    order = np.argsort(along, kind="stable")
    half = members.size // 2
    parts = (np.sort(members[order[:half]]), np.sort(members[order[half:]]))
    return [region for part in parts for region in _parted(points, part, most, random)]
