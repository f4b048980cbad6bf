"""The bound by column generation against all partitions of tiny problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata import casc
from tests.microdata.brute_force import least_error

from shoal.microdata.microaggregation.bounds.column_generation import Relaxation, column_generation_bound
from shoal.microdata.microaggregation.bounds.lower_bounds import lower_bound
from shoal.microdata.microaggregation.from_papers.iterated import ilsmc
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import squared_error
from shoal.runtime import Budget, Control


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 9),
    st.integers(2, 4),
    st.integers(1, 3),
    st.none() | st.integers(0, 2),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_never_above_the_optimum(n: int, k: int, d: int, cap: int | None, seed: int, twins: bool) -> None:
    k = min(k, n)
    largest = None if cap is None else k + cap
    if largest is not None and (n // k) * largest < n:
        return
    points = np.exp(np.random.default_rng(seed).normal(size=(n, d)))
    problem = Problem(np.round(points, 0 if twins else 9), k, largest)
    bound = column_generation_bound(problem)
    assert lower_bound(problem) * (1 - 1e-9) <= bound <= least_error(problem)


def test_stopped_early_it_is_still_a_bound() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(120, 3)), 3)
    full = column_generation_bound(problem)
    control = Control()
    control.cancel()
    for budget in (Budget(iterations=1), Budget(iterations=8), Budget(seconds=1e-9), Budget(control=control)):
        assert 0.0 <= column_generation_bound(problem, budget=budget) <= full * (1 + 1e-9)
    assert column_generation_bound(problem, threads=2) == pytest.approx(full, rel=1e-9)


def test_nearly_closes_the_gap_on_census() -> None:
    """4.6713 is the lowest loss seen for k = 3; the plain bound proves 4.15."""
    problem = Problem.standardised(casc.census(), 3)
    assert 4.64 <= problem.percent(column_generation_bound(problem)) <= 4.6713


def test_a_good_start_spares_the_search_and_proves_the_same() -> None:
    problem = Problem(np.random.default_rng(1).normal(size=(90, 3)), 4)
    start = ilsmc(problem, budget=Budget(iterations=300)).labels
    whole = column_generation_bound(problem)
    assert column_generation_bound(problem, start=start) == pytest.approx(whole, rel=1e-5)
    assert lower_bound(problem) < whole <= squared_error(problem.points, start)


def test_the_programme_is_solved_from_both_sides_with_twins_in_it() -> None:
    points = np.random.default_rng(2).integers(0, 4, size=(60, 2)).astype(np.float64)
    problem = Problem(points, 4)
    run = Budget().start()
    relaxation = Relaxation(problem, 1)
    assert relaxation.kinds.counts.sum() == 60 and relaxation.kinds.counts.size <= 16
    assert relaxation.begin(ilsmc(problem, budget=Budget(iterations=100)).labels, run)
    while relaxation.improve(run):
        assert relaxation.highest <= relaxation.cost * (1 + 1e-9)
    assert relaxation.highest == pytest.approx(relaxation.cost, rel=2e-6)
    known = relaxation.prices[[kind for group in relaxation.groups for kind in group]]
    ends = np.cumsum([len(group) for group in relaxation.groups])
    worth = np.array([part.sum() for part in np.split(known, ends[:-1])])
    assert (worth <= relaxation.errors(relaxation.groups) + 1e-9).all()
