"""How far proofs reach, by counts of work: the sizes a programme really has."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.api import assign_sizes
from shoal.appointments.bounds.limits import base_vector
from shoal.appointments.problem import Problem
from shoal.appointments.solution import settle
from shoal.appointments.solvers import dynamic, filling, lexicographic
from shoal.appointments.verify import verify
from shoal.generate.instances import Ranges, instance
from shoal.runtime import Budget, Seeds
from shoal.studies import screening
from shoal.studies.study import Scope


def drawn(groups, rooms, low, high, slack, seed):
    generator = np.random.default_rng([seed, groups, rooms])
    sizes = generator.integers(low, high, groups, endpoint=True)
    total = int(np.ceil(sizes.sum() * slack))
    weights = generator.uniform(0.5, 1.5, rooms)
    seats = np.floor(weights / weights.sum() * total).astype(int)
    seats[: total - seats.sum()] += 1
    return sizes, seats


def screened(population, ranges, seed, objective="vector"):
    made = instance(population, ranges, seeds=Seeds(seed).child("targets"))
    return Problem([x for x in made.groups if x], [x for x in made.capacities if x], objective)


@pytest.mark.parametrize(("groups", "rooms"), [(50, 30), (100, 50), (200, 100), (1000, 300)])
@pytest.mark.parametrize("slack", [1.0, 1.05, 1.2])
def test_wide_sizes_are_proved_by_a_fill(groups, rooms, slack):
    seeds = 10 if groups < 1000 else 3
    # 40 units are the 2,000 fills at the bound itself: no annealing, no solver.
    plans = [assign_sizes(*drawn(groups, rooms, 5, 200, slack, seed), iterations=40) for seed in range(seeds)]
    assert sum(plan.optimal for plan in plans) >= 0.95 * seeds


@pytest.mark.parametrize(
    ("population", "ranges", "share"),
    [(25, Ranges(3, 7, 3, 7), 1.0), (50, Ranges(5, 8, 5, 8), 1.0), (100, Ranges(0, 30, 10, 20), 0.9)],
)
def test_vectors_are_proved(population, ranges, share):
    proved = []
    for seed in range(12):
        problem = screened(population, ranges, seed)
        plan = assign_sizes(problem.sizes, problem.capacities, objective="vector", iterations=3000)
        proved.append(plan.optimal)
    assert np.mean(proved) >= share


def test_vectors_of_a_thousand_people():
    plans = []
    rule = []
    for seed in range(5):
        problem = screened(1000, Ranges(0, 300, 100, 200), seed)
        plans.append(assign_sizes(problem.sizes, problem.capacities, objective="vector", iterations=5000))
        rule.append(filling.greedy(problem)[filling.greedy(problem) > 0].min())
    assert sum(plan.optimal for plan in plans) >= 4
    assert np.mean([plan.k for plan in plans]) >= 1.5 * np.mean(rule)


def levels(problem, seed):
    run = Budget(iterations=10**6).start(direction=problem.direction)
    matrix, bound = lexicographic.by_levels(
        problem, filling.better_rule(problem), base_vector(problem), run, Seeds(seed)
    )
    return problem.value(matrix), bound


def states(problem):
    run = Budget(iterations=10**6).start(direction=problem.direction)
    matrix, proved = dynamic.improve(problem, filling.greedy(problem), run)
    verify(problem, settle(problem, matrix, bound=base_vector(problem)))
    return problem.value(matrix), proved


def agree(seeds):
    for seed in seeds:
        ranges = [Ranges(3, 7, 3, 7), Ranges(0, 7, 5, 10), Ranges(2, 9, 3, 8)][seed % 3]
        problem = screened(10 + seed % 16, ranges, seed)
        by_level, bound = levels(problem, seed)
        by_state, proved = states(problem)
        assert proved
        assert by_level == bound == by_state


def test_levels_and_states_agree():
    agree(range(40))


@pytest.mark.long
def test_levels_and_states_agree_on_hundreds():
    agree(range(100, 400))


def ordered(seeds):
    for seed in seeds:
        population = 5 + seed % 30
        problem = screened(population, Ranges(1, 8, 3, 9), seed)
        found = {
            method: assign_sizes(
                problem.sizes,
                problem.capacities,
                objective="vector",
                method=method,
                seed=seed,
                iterations=500,
            ).vector
            for method in ("random", "greedy", "annealing", "auto")
        }
        base = base_vector(problem)
        for method, vector in found.items():
            assert base <= found["auto"] <= vector, method
            assert vector.population == population
        assert found["greedy"] <= AnonymityVector.from_sizes(filling.greedy(problem))


def test_before_optimal_and_the_rest_are_in_order():
    ordered(range(60))


@pytest.mark.long
def test_before_optimal_and_the_rest_are_in_order_a_thousand_times():
    ordered(range(100, 1100))


@pytest.mark.parametrize(
    ("population", "optimal", "heuristic"),
    [
        (5, (0.27, 0.42), (0.26, 0.41)),
        (10, (0.56, 0.72), (0.52, 0.70)),
        pytest.param(25, (0.84, 0.90), (0.67, 0.75), marks=pytest.mark.long),
        pytest.param(50, (0.94, 0.97), (0.73, 0.82), marks=pytest.mark.long),
    ],
)
def test_published_gains_are_met(population, optimal, heuristic):
    best, rule, between = (row.measured for row in screening._gain(population, Scope()).rows)
    assert optimal[0] <= best <= optimal[1]
    assert heuristic[0] <= rule <= heuristic[1]
    assert between == pytest.approx(best - rule, abs=2e-4)


def test_published_mean_k_of_the_heuristic():
    for population, ranges, low, high in [
        (25, Ranges(0, 7, 5, 10), 1.1, 1.6),
        (100, Ranges(0, 30, 10, 20), 1.8, 2.8),
    ]:
        ks = []
        for seed in range(100):
            matrix = filling.greedy(screened(population, ranges, seed))
            ks.append(int(matrix[matrix > 0].min()))
        assert low <= np.mean(ks) <= high


def test_large_populations_are_quick_work_for_the_greedy_rules():
    problem = screened(10_000, Ranges(0, 200, 500, 1000), 0)
    plan = assign_sizes(problem.sizes, problem.capacities, objective="vector", method="greedy")
    assert plan.assignment.work == 1
    assert plan.k >= 1


def test_threads_change_nothing():
    sizes, seats = drawn(12, 8, 5, 40, 1.02, 3)
    for objective in ("k", "vector"):
        one, two = (
            assign_sizes(sizes, seats, objective=objective, threads=threads, iterations=600)
            for threads in (1, 2)
        )
        assert one.matrix == two.matrix
        assert one.bound == two.bound


def test_a_time_limit_is_said():
    sizes, seats = drawn(40, 25, 60, 119, 1.0, 1)
    plan = assign_sizes(sizes, seats, time_limit=0.3)
    assert plan.optimal or str(plan.assignment.stopped_by) == "time"
    assert plan.k <= plan.k_bound


def test_the_real_case():
    place = Path(os.environ.get("SHOAL_DATA", "")) / "appointments" / "norway_1992-01-15.json"
    if not os.environ.get("SHOAL_DATA") or not place.exists():
        pytest.skip(
            "needs appointments/norway_1992-01-15.json below SHOAL_DATA (Caballero, Sen and Nygård 2017)"
        )
    data = json.loads(place.read_text())
    plan = assign_sizes(data["group_sizes"], [data["slot_capacity"]] * data["slots"], objective="vector")
    assert plan.problem.people == 4541
    assert sum(size == 1 for size in data["actual_class_sizes"]) == 227
    assert (plan.vector[1], plan.vector[2], plan.vector[3]) == (24, 36, 20)
    assert plan.optimal
    assert plan.vector == plan.vector_before
    assert plan.assignment.work < 100


def test_several_equal_crowds_at_the_last_level_are_not_the_end():
    # Three crowds of 3 are all there is, and still two of 4 and 5 are better.
    problem = Problem(
        [2, 3, 1],
        [5, 5, 3, 5],
        "vector",
        crowds=[0, 0, 0],
        labels=[0, 2, 1, 0],
        eligible=[[True] * 4, [True] * 4, [True, True, True, False]],
        pinned=[[0, 1, 2]],
    )
    begin = np.array([[0, 0, 0, 2], [0, 1, 2, 0], [1, 0, 0, 0]])
    assert problem.value(begin) == AnonymityVector((0, 0, 3))
    run = Budget(iterations=10**5).start(direction=problem.direction)
    matrix, bound = lexicographic.by_levels(problem, begin, base_vector(problem), run, Seeds(0))
    assert problem.value(matrix) == bound == AnonymityVector((0, 0, 0, 1, 1))
