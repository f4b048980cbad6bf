"""Local suppression against brute force, and on the files for which the fewest blanks are known."""

import numpy as np
import pytest
from tests.microdata.recoding.local_suppression.brute_force import check, least_loss, random_problem

from shoal.errors import Infeasible, InputError
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.recoding.local_suppression.solve import solve
from shoal.microdata.recoding.problem import Problem
from shoal.search import Budget, Seeds


@pytest.mark.parametrize("part", range(8))
def test_no_bound_is_crossed_and_what_is_called_optimal_is(part):
    proved = 0
    for seed in range(25 * part, 25 * part + 25):
        problem = random_problem(seed)
        best = least_loss(problem)
        if not np.isfinite(best):
            with pytest.raises(Infeasible):
                solve(problem, budget=Budget(iterations=300))
            continue
        found = solve(problem, budget=Budget(iterations=300))
        check(problem, found)
        assert found.value >= best - 1e-9
        assert found.bound is None or found.bound <= best + 1e-9
        if found.optimal:
            proved += 1
            assert found.value == pytest.approx(best, abs=1e-9)
    assert proved >= 12


def test_the_order_of_records_does_not_matter():
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, 4, 200) for _ in range(4)]
    hierarchies = [Hierarchy([(f"{value}",) for value in range(4)])] * 4
    order = rng.permutation(200)
    first = solve(Problem.of(columns, hierarchies, k=3), budget=Budget(iterations=500), seeds=Seeds(1))
    again = solve(
        Problem.of([c[order] for c in columns], hierarchies, k=3),
        budget=Budget(iterations=500),
        seeds=Seeds(1),
    )
    assert first.value == again.value
    assert np.array_equal(first.levels, again.levels)
    assert np.array_equal(first.records, again.records)


def test_other_measures_are_refused_by_name():
    sexes = Hierarchy([("f",), ("m",)])
    problem = Problem.of([np.array([0, 0, 1])], [sexes], k=2, measure="discernibility")
    with pytest.raises(InputError, match=r"measure='discernibility'.*choose measure="):
        solve(problem)


def test_infeasible_says_how_near_one_can_get():
    sexes = Hierarchy([("f",), ("m",)])
    problem = Problem.of([np.array([0, 0, 1])], [sexes], k=2, highest=(0,))
    with pytest.raises(Infeasible, match=r"1 of 3 people \(33.3 %\).*0 may be left out; raise suppress="):
        solve(problem)
