"""Local suppression against brute force, and on the files for which the fewest blanks are known."""

import csv

import numpy as np
import pytest
from tests.benchmark_data import benchmark_file
from tests.microdata.recoding.local_suppression.brute_force import (
    check,
    labels,
    least_distinct,
    least_loss,
    random_problem,
    values_by_record,
)

from shoal.errors import Infeasible, InputError
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.models.model import AverageRisk, KMap
from shoal.microdata.recoding.local_suppression.solve import solve
from shoal.microdata.recoding.problem import Problem
from shoal.runtime import Budget, Seeds


@pytest.mark.parametrize("part", range(8))
def test_small_problems_are_solved_and_proved_as_brute_force_says(part):
    for seed in range(25 * part, 25 * part + 25):
        problem = random_problem(seed)
        best = least_loss(problem)
        if not np.isfinite(best):
            with pytest.raises(Infeasible):
                solve(problem)
            continue
        found = solve(problem, budget=Budget(iterations=3000))
        check(problem, found)
        assert found.optimal
        assert found.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("iterations", [0, 1, 40])
def test_no_bound_is_crossed_however_early_the_search_ends(iterations):
    for seed in range(60):
        problem = random_problem(seed)
        best = least_loss(problem)
        if not np.isfinite(best):
            continue
        found = solve(problem, budget=Budget(iterations=iterations))
        check(problem, found)
        assert found.work <= iterations
        assert found.bound <= best + 1e-9
        assert found.value >= best - 1e-9
        assert not found.optimal or found.value == pytest.approx(best, abs=1e-9)


def test_every_class_meets_the_models_and_the_bound_holds():
    solved = 0
    for seed in range(120):
        problem = random_problem(seed, model=True)
        values, l = values_by_record(problem), problem.models[0].l
        best = least_loss(problem, values, l)
        if problem.limit == 0 and not np.isfinite(best):
            with pytest.raises(Infeasible):
                solve(problem, budget=Budget(iterations=100))
            continue
        if not np.isfinite(best):
            continue
        found = solve(problem, budget=Budget(iterations=100))
        check(problem, found)
        assert least_distinct(problem, found, values) >= l
        assert found.bound <= best + 1e-9
        assert found.value >= best - 1e-9
        assert not found.optimal or found.value == pytest.approx(best, abs=1e-9)
        solved += 1
    assert solved > 60


def test_average_risk_is_kept():
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 3, 60) for _ in range(3)]
    hierarchies = [Hierarchy([(f"{value}",) for value in range(3)])] * 3
    problem = Problem.of(columns, hierarchies, k=2, models=(AverageRisk(0.1),))
    found = solve(problem, budget=Budget(iterations=100))
    assert len({label for label, _ in labels(problem, found)}) <= 6


def test_models_of_the_population_are_refused_by_name():
    sexes = Hierarchy([("f",), ("m",)])
    keys = [np.array([0, 0, 1])]
    problem = Problem.of(keys, [sexes], k=2, population=keys, models=(KMap(2),))
    with pytest.raises(InputError, match="use method='lattice'"):
        solve(problem)


@pytest.mark.parametrize("seed", range(30))
def test_people_with_several_records_are_counted_once(seed):
    rng = np.random.default_rng(seed)
    n = 24
    units = rng.integers(0, 14, n)
    columns = [rng.integers(0, 2, n) for _ in range(3)]
    hierarchies = [Hierarchy([("a",), ("b",)])] * 3
    problem = Problem.of(
        columns, hierarchies, k=3, units=units, measure="cells", limit=int(rng.integers(0, 3))
    )
    found = solve(problem, budget=Budget(iterations=200))
    # Whoever hands out the pieces cannot do harm: no tuple of such people is parted.
    persons: dict[object, set[int]] = {}
    out: set[int] = set()
    level_of = {}
    for t, records, levels, kept in zip(
        found.tuples, found.records, found.levels, found.released, strict=True
    ):
        if records == problem.records[t]:
            level_of[int(t)] = tuple(levels) if kept else None
    for i, t in enumerate(problem.tuple_of):
        if int(t) not in level_of:
            continue
        levels = level_of[int(t)]
        if levels is None:
            out.add(int(units[i]))
        else:
            label = tuple(
                -1 if level else int(key) for level, key in zip(levels, problem.keys[t], strict=True)
            )
            persons.setdefault(label, set()).add(int(units[i]))
    parted = {int(t) for t in found.tuples} - set(level_of)
    assert all(problem.people[t] == problem.records[t] for t in parted)
    if not parted:
        assert min(len(who) for who in persons.values()) >= 3
        assert len(out) <= problem.limit


def test_a_combination_of_columns_that_must_stay_is_never_blanked():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3, 80) for _ in range(4)]
    hierarchies = [Hierarchy([(f"{value}",) for value in range(3)])] * 4
    found = solve(Problem.of(columns, hierarchies, k=3, highest=(0, 1, 1, 1)), budget=Budget(iterations=500))
    assert (found.levels[:, 0] == 0).all()
    assert (found.levels[:, 1:] == 1).any()


def test_many_keys_are_blanked_a_few_at_a_time():
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, 3, 60) for _ in range(13)]
    hierarchies = [Hierarchy([(f"{value}",) for value in range(3)])] * 13
    problem = Problem.of(columns, hierarchies, k=2, measure="cells")
    found = solve(problem, budget=Budget(iterations=300))
    check(problem, found)
    assert 0 < found.bound <= found.value


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
    with pytest.raises(Infeasible, match=r"1 of 3 records \(33.3 %\).*0 may be left out; raise suppress="):
        solve(problem)


def small_file(path, separator, chosen, k):
    with benchmark_file(path).open() as file:
        head, *rows = csv.reader(file, delimiter=separator)
    columns, hierarchies = [], []
    for name in chosen or head:
        texts = [row[head.index(name)] for row in rows]
        hierarchies.append(Hierarchy([(text,) for text in sorted(set(texts))]))
        columns.append(np.array([hierarchies[-1].positions[text] for text in texts]))
    return Problem.of(columns, hierarchies, k=k, measure="cells")


HOUSEHOLDS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def test_the_fewest_blanks_of_the_survey_are_proved():
    found = solve(small_file("casc/testdata.csv", ",", HOUSEHOLDS, 2))
    assert (found.value, found.optimal) == (187.0, True)


def test_the_fewest_blanks_of_four_keys_of_adult_are_proved():
    keys = ["sex", "age", "race", "marital-status"]
    found = solve(small_file("adult/adult.csv", ";", keys, 5))
    assert (found.value, found.optimal) == (1842.0, True)
