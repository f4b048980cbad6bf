"""The optimum with its proof, against all partitions of small problems."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.brute_force import least_error

from shoal.microdata.microaggregation.bounds.column_generation import Relaxation
from shoal.microdata.microaggregation.bounds.gap import cheapest, groups_within, labels_of
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import ils
from shoal.microdata.microaggregation.search.exact import ExactOptions, solve
from shoal.microdata.microaggregation.solution import squared_error
from shoal.microdata.microaggregation.verify import verify
from shoal.runtime import Budget, Control, StopReason


@settings(max_examples=60, deadline=None)
@given(
    st.integers(4, 11),
    st.integers(2, 4),
    st.integers(1, 13),
    st.none() | st.integers(0, 3),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_finds_and_proves_the_optimum(
    n: int, k: int, d: int, cap: int | None, seed: int, twins: bool
) -> None:
    k = min(k, n)
    largest = None if cap is None else k + cap
    if largest is not None and (n // k) * largest < n:
        return
    points = np.exp(np.random.default_rng(seed).normal(size=(n, d)))
    problem = Problem(np.round(points, 0 if twins else 9), k, largest)
    found = solve(problem)
    verify(problem, found)
    assert found.optimal and found.stopped_by is StopReason.OPTIMAL and found.bound == found.value
    assert found.value == pytest.approx(least_error(problem), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("k", "d", "twins"), [(2, 13, False), (3, 2, False), (4, 5, True), (5, 5, False)])
def test_sixty_records_are_proved(k: int, d: int, twins: bool) -> None:
    points = np.random.default_rng(k).normal(size=(60, d))
    problem = Problem(np.round(points) if twins else points, k)
    found = solve(problem, threads=2)
    verify(problem, found)
    assert found.optimal
    assert found.value <= ils.solve(problem, budget=Budget(iterations=300)).value * (1 + 1e-12)
    assert (found.labels == solve(problem).labels).all()


def test_the_proof_does_not_need_a_good_beginning() -> None:
    """From the worst start that sizes allow the same optimum is reached; of its own search it needs nothing."""
    problem = Problem(np.random.default_rng(5).normal(size=(36, 3)), 3)
    poor = np.random.default_rng(6).permutation(np.arange(36) // 3)
    assert solve(problem, start=poor).value == pytest.approx(solve(problem).value, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(6, 10), st.integers(0, 2**32 - 1), st.booleans(), st.floats(0.0, 3.0))
def test_all_groups_within_the_slack_are_listed(n: int, seed: int, twins: bool, slack: float) -> None:
    points = np.random.default_rng(seed).normal(size=(n, 2)) * 2
    problem = Problem(np.round(points) if twins else points, 3)
    if problem.sst == 0.0:
        return
    run = Budget().start()
    relaxation = Relaxation(problem, 1)
    relaxation.begin(ils.solve(problem, budget=Budget(iterations=10)).labels, run)
    while relaxation.improve(run):
        pass
    listed = groups_within(relaxation, slack, run, 10_000)
    assert listed is not None
    found = {tuple(sorted(group)) for group in listed}
    assert len(found) == len(listed)
    for size in range(3, min(5, n) + 1):
        for members in combinations(range(n), size):
            group = tuple(sorted(relaxation.kinds.of[list(members)].tolist()))
            more = float(relaxation.errors([group])[0] - relaxation.prices[list(group)].sum())
            assert more >= -1e-9
            assert abs(more - slack) < 1e-9 or (group in found) == (more < slack)
    assert groups_within(relaxation, slack, run, len(listed)) is not None
    assert not listed or groups_within(relaxation, slack, run, len(listed) - 1) is None
    least, chosen = cheapest(relaxation, listed, relaxation.highest + slack, run)
    optimum = least_error(problem) / relaxation.turned.unit**2
    assert least == pytest.approx(min(optimum, relaxation.highest + slack), rel=1e-6, abs=1e-6)
    if chosen is None:
        assert least == relaxation.highest + slack
    else:
        labels = labels_of(relaxation, chosen)
        assert np.bincount(labels).min() >= 3
        in_units = squared_error(problem.points, labels) / relaxation.turned.unit**2
        assert in_units == pytest.approx(least, rel=1e-6, abs=1e-9)


def test_stopped_early_it_has_a_partition_and_a_bound() -> None:
    problem = Problem(np.exp(np.random.default_rng(0).normal(size=(48, 3))), 4)
    best = solve(problem)
    assert best.optimal
    control = Control()
    control.cancel()
    for budget in (Budget(iterations=1), Budget(iterations=6), Budget(seconds=1e-9), Budget(control=control)):
        found = solve(problem, budget=budget)
        verify(problem, found)
        assert not found.optimal and found.bound <= best.value * (1 + 1e-12) <= found.value * (1 + 2e-12)


def test_with_too_many_groups_left_the_bound_of_the_prices_stands() -> None:
    problem = Problem(np.exp(np.random.default_rng(3).normal(size=(40, 2))), 3)
    whole, cut = solve(problem), solve(problem, ExactOptions(groups=1))
    assert whole.optimal and whole.work > cut.work
    assert not cut.optimal and 0.9 * whole.value < cut.bound <= whole.value <= cut.value
    assert cut.stopped_by is StopReason.ITERATIONS
