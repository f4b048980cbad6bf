"""No bound is above what some partition reaches, and on the reference files the bound says something."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata import casc
from tests.microdata.brute_force import least_error

from shoal.microdata.microaggregation.bounds import lower_bounds
from shoal.microdata.microaggregation.bounds.lower_bounds import (
    column_bound,
    lower_bound,
    matching_bound,
    neighbour_bound,
)
from shoal.microdata.microaggregation.construct import mdav, univariate
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.kd_tree import tree_of
from shoal.runtime import Budget, Control

ALL = (lower_bound, column_bound, neighbour_bound, matching_bound)


def tiny(n: int, d: int, k: int, seed: int, kind: str) -> Problem:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    if kind == "skewed":
        points = np.exp(2 * points)
    elif kind == "twins":
        points = np.round(points)
    elif kind == "collinear":
        points = points[:, :1] * np.ones(d)
    elif kind == "far":
        points = points + 1e6
    elif kind == "huge":
        points = points * 1e60
    return Problem(points, min(k, n))


KINDS = ["normal", "skewed", "twins", "collinear", "far", "huge"]


@settings(max_examples=300, deadline=None)
@given(
    st.integers(2, 9), st.integers(1, 4), st.integers(2, 5), st.integers(0, 2**32 - 1), st.sampled_from(KINDS)
)
def test_never_above_the_optimum(n: int, d: int, k: int, seed: int, kind: str) -> None:
    problem = tiny(n, d, k, seed, kind)
    best = least_error(problem)
    for bound in ALL:
        value = bound(problem)
        assert 0.0 <= value <= best, bound.__name__
    if problem.n < 2 * problem.k:
        assert lower_bound(problem) == pytest.approx(best, rel=1e-9)


@pytest.mark.long
@settings(max_examples=5000, deadline=None)
@given(
    st.integers(2, 10),
    st.integers(1, 4),
    st.integers(2, 5),
    st.integers(0, 2**32 - 1),
    st.sampled_from(KINDS),
)
def test_never_above_the_optimum_of_thousands(n: int, d: int, k: int, seed: int, kind: str) -> None:
    problem = tiny(n, d, k, seed, kind)
    assert 0.0 <= lower_bound(problem) <= least_error(problem)


@settings(max_examples=100, deadline=None)
@given(st.integers(4, 14), st.integers(2, 4), st.integers(0, 2**32 - 1), st.booleans())
def test_any_prices_give_a_bound(n: int, k: int, seed: int, twins: bool) -> None:
    """The kernel sums over all pairs, as the proof asks, whatever the prices are."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    tree = tree_of(np.round(points) if twins else points, leaf=3)
    prices = rng.exponential(size=n) * rng.integers(0, 2, size=n)
    excess = np.zeros(n)
    lower_bounds.overlaps(tree, prices, 0, n, excess)
    distance = np.square(tree.points[:, None] - tree.points[None]).sum(axis=2)
    overlap = np.triu(np.maximum(0.0, prices[:, None] + prices[None] - distance), 1).sum()
    assert excess.sum() == pytest.approx(overlap, rel=1e-12, abs=1e-12)
    problem = Problem(tree.points, min(k, n))
    income = (problem.k - 1) * prices.sum()
    if n < 10:
        assert (income - overlap) / problem.k <= least_error(problem) + 1e-12


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 30), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_a_price_is_best_for_the_others(n: int, k: int, seed: int) -> None:
    """After the kernel has set the last price, no other value of it gives a better (blurred) sum."""
    points = np.random.default_rng(seed).normal(size=(n, 2))
    distance = np.square(points[:, None] - points[None]).sum(axis=2)
    places = np.argsort(distance + np.diag(np.full(n, np.inf)), axis=1)[:, : n - 1].astype(np.int32)
    gaps = np.take_along_axis(distance, places, axis=1)
    prices = np.sort(gaps, axis=1)[:, min(k, n - 1) - 1] / 2
    starts = np.arange(0, n * (n - 1) + 1, n - 1)
    blur = 0.1

    def blurred(price: float, x: int) -> float:
        others = np.arange(n) != x
        width = blur * distance[x, others]
        over = price + prices[others] - distance[x, others]
        part = np.where(over > width, over - width / 2, np.maximum(0, over) ** 2 / (2 * width))
        return float((k - 1) * price - part.sum())

    forwards = np.False_
    lower_bounds.adjust_prices(prices, starts, places.reshape(-1), gaps.reshape(-1), k, blur, forwards)
    last = n - 1
    found = blurred(prices[last], last)
    for other in np.linspace(0.0, 2.0 * distance.max(), 200):
        assert blurred(float(other), last) <= found + 1e-6 * max(1.0, abs(found))


def test_a_single_column_is_bounded_by_its_optimum() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(500, 1)), 4)
    assert lower_bound(problem) == pytest.approx(univariate.solve(problem).value, rel=1e-9)


def test_collinear_points_are_bounded_by_their_optimum() -> None:
    line = np.random.default_rng(0).normal(size=(300, 1))
    problem = Problem(line @ np.array([[1.0, -2.0, 0.5]]), 4)
    best = univariate.solve(Problem(line * np.sqrt(5.25), 4)).value
    assert lower_bound(problem) == pytest.approx(best, rel=1e-6)
    assert lower_bound(problem) <= best


def test_equal_points_and_caps() -> None:
    assert lower_bound(Problem(np.zeros((20, 3)), 4)) == 0.0
    points = np.random.default_rng(0).normal(size=(9, 2))
    assert lower_bound(Problem(points, 3, largest=3)) <= least_error(Problem(points, 3, largest=3))


def test_threads_change_nothing() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(5000, 3)), 5)
    assert lower_bound(problem, threads=2) == lower_bound(problem, threads=1)


def test_stopped_early_the_bound_is_lower_but_valid() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(5000, 3)), 5)
    full = lower_bound(problem)
    control = Control()
    control.cancel()
    for budget in (Budget(iterations=0), Budget(iterations=3), Budget(seconds=1e-9), Budget(control=control)):
        assert 0.0 <= lower_bound(problem, budget=budget) <= full


def test_large_problems_get_the_neighbour_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(3000, 3)), 5)
    monkeypatch.setattr(lower_bounds, "_PRICES_UP_TO", 1000)
    monkeypatch.setattr(lower_bounds, "_DENSE_UP_TO", 500)
    assert lower_bound(problem) == pytest.approx(neighbour_bound(problem), rel=1e-12)
    assert 0.3 * mdav.solve(problem).value < lower_bound(problem) < mdav.solve(problem).value


def test_the_more_records_are_looked_at_the_higher_is_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(np.random.default_rng(0).standard_t(2, size=(5000, 3)), 5)
    monkeypatch.setattr(lower_bounds, "_PRICES_UP_TO", 1000)
    monkeypatch.setattr(lower_bounds, "_DENSE_UP_TO", 500)
    monkeypatch.setattr(lower_bounds, "column_bound", lambda problem: 0.0)
    monkeypatch.setattr(lower_bounds, "_column_error", lambda *_: 0.0)
    found = []
    for looked_at in (250, 1000, 2500, 5000):
        monkeypatch.setattr(lower_bounds, "_LOOKED_AT", looked_at)
        found.append(lower_bound(problem))
        assert lower_bound(problem, threads=2) == found[-1]
    assert found == sorted(found)
    full = neighbour_bound(problem)
    assert found[-1] == pytest.approx(full, rel=1e-12)
    # A fifth of the records, those in sparse regions, makes far more than a fifth of the bound.
    assert found[1] > 0.4 * full


def test_sparse_slices_come_first() -> None:
    near, far = np.random.default_rng(0).normal(size=(2, 1000, 2))
    tree = tree_of(np.concatenate([near * 0.01, 100.0 + far]))
    order = lower_bounds.sparse_first(tree)
    assert sorted(order.tolist()) == list(range(8))
    middle = [tree.points[250 * number : 250 * number + 250].mean() for number in order]
    assert min(middle[:4]) > 50.0 > max(middle[4:])


# The lowest losses seen for these files, published or not (Bierman 2020 and our own search).
BEST = {
    "tarragona": {3: 14.46, 4: 17.10, 5: 20.17, 6: 23.50, 10: 30.14},
    "census": {3: 4.66, 4: 6.09, 5: 7.35, 6: 8.33, 10: 11.46},
    "eia": {3: 0.3614, 4: 0.511, 5: 0.750, 6: 0.9398, 10: 1.847},
}


@pytest.mark.parametrize("name", BEST)
def test_informative_on_the_reference_files(name: str) -> None:
    table = getattr(casc, name)()
    for k, best in BEST[name].items():
        problem = Problem.standardised(table, k)
        bound = problem.percent(lower_bound(problem))
        assert 0.76 * best <= bound <= best, f"k = {k}"
