"""Tables from records: with insiders and sums that one relation gives away, exact is still the cheapest of all patterns."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import Infeasible
from shoal.search import Budget, Seeds, silent
from shoal.tables import exact
from shoal.tables.pattern import verify
from shoal.tables.problem import Problem
from shoal.tables.tabulation import tabulate

RULES = ("frequency(2)", "frequency(3)", "p-percent(10)", "dominance(1,75)", "pq(20,50)", "p-percent(10,2)")


def problem_of(seed: int, rule: str, zeros: str) -> Problem | None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(8, 40))
    records = pl.DataFrame(
        {
            "a": [f"a{i}" for i in rng.integers(0, 3, count)],
            "b": [f"b{i}" for i in rng.integers(0, 3, count)],
            "v": np.exp(rng.normal(3, 1.5, count)).round().tolist(),
            "f": [f"f{i}" for i in rng.integers(0, 20, count)],
        }
    )
    made = tabulate(records, ["a", "b"], value="v", contributor="f", rules=[rule], zeros=zeros)
    return made.problem() if 0 < made.sensitive.size <= 6 else None


def cheapest(problem: Problem) -> float:
    """The cost of the cheapest safe pattern, all patterns tried in the order of their cost."""
    cells = np.flatnonzero(problem.candidates)
    patterns = [list(some) for size in range(cells.size + 1) for some in combinations(cells, size)]
    costs = [problem.total_cost(np.array(pattern, dtype=np.int64)) for pattern in patterns]
    for place in np.argsort(costs, kind="stable"):
        if exact.is_safe(problem, np.array(patterns[place], dtype=np.int64)):
            return costs[place]
    return np.inf


def check(seed: int, rule: str, zeros: str) -> None:
    problem = problem_of(seed, rule, zeros)
    if problem is None or problem.candidates.sum() > 12:
        return
    best = cheapest(problem)
    if not np.isfinite(best):
        with pytest.raises(Infeasible):
            exact.solve(problem, exact.ExactOptions(), budget=Budget(), seeds=Seeds(0), observer=silent)
        return
    found = exact.solve(problem, exact.ExactOptions(), budget=Budget(), seeds=Seeds(0), observer=silent)
    verify(problem, found)
    assert found.optimal
    assert found.value == pytest.approx(best)
    assert found.bound <= best + 1e-6 * max(1.0, best)


@given(st.integers(0, 10**6), st.sampled_from(RULES), st.sampled_from(("published", "suppressible")))
@settings(max_examples=40, deadline=None)
def test_exact_is_the_cheapest_pattern_against_insiders_too(seed: int, rule: str, zeros: str) -> None:
    check(seed, rule, zeros)


@pytest.mark.long
@given(st.integers(0, 10**6), st.sampled_from(RULES), st.sampled_from(("published", "suppressible")))
@settings(max_examples=1000, deadline=None)
def test_exact_is_the_cheapest_pattern_against_insiders_at_length(seed: int, rule: str, zeros: str) -> None:
    check(seed, rule, zeros)
