"""Figures of the published works: node counts, optima, counts of optima, reductions, and what was wrong in print."""

from functools import cache
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.api import assign_sizes
from shoal.appointments.from_papers import genetic_kernels
from shoal.appointments.from_papers.branch_and_bound import nodes, rows_of
from shoal.appointments.from_papers.genetic import GeneticOptions, evolve
from shoal.appointments.methods import METHODS
from shoal.appointments.problem import Problem
from shoal.appointments.reductions import (
    NO,
    equipartition_of,
    equipartition_to_seating,
    pad,
    partition_to_equipartition,
    partition_to_seating,
    seating_of,
    unpad,
)
from shoal.errors import InputError
from shoal.generate.families import FAMILIES, FIXED, family
from shoal.runtime import Budget, Seeds


def made(name, size):
    one = family(name, size)
    return Problem(one.groups, one.capacities)


def solve(name, problem, options=None, iterations=3_000_000):
    return METHODS[name].solve(problem, options, budget=Budget(iterations=iterations), seeds=Seeds(0))


@pytest.mark.parametrize(
    ("name", "size", "bound", "k", "count"),
    [
        ("f1", 10, 10, 10, 5),
        ("f1", 100_000, 100_000, 100_000, 5),
        ("f2", 100, 50, 50, 5),
        ("f2", 200_000, 100_000, 100_000, 5),
        ("f3", 100, 50, 50, 10),
        ("f3", 200_000, 100_000, 100_000, 10),
        *[("f5", x, 2 * x, x, 8) for x in (10, 100, 10_000)],
        *[("f5n", x, 2 * x, x, 8) for x in (10, 100, 10_000)],
        *[
            ("f4n", x, x + 2, x - 1, count)
            for x, count in [(10, 29), (100, 164), (1000, 1514), (2000, 3014), (5000, 7514), (10_000, 15_014)]
        ],
        ("f4", 1, 1, 1, 3),
        ("f4", 2, 4, 2, 5),
        ("f4", 3, 5, 2, 37),
        ("f4", 4, 6, 2, 93),
        *[
            ("f4", x, x + 2, x - 2, count)
            for x, count in [
                (5, 344),
                (6, 480),
                (7, 1123),
                (8, 1493),
                (9, 2828),
                (10, 3880),
                (12, 8480),
                (15, 22_567),
                (20, 72_119),
                (25, 181_792),
            ]
        ],
    ],
)
def test_nodes_of_the_published_program(name, size, bound, k, count):
    assert nodes(made(name, size)) == (bound, k, count)


@pytest.mark.parametrize(
    ("groups", "rooms", "count"),
    [
        ((17, 43, 30), (15, 15, 15, 15, 30), 33_895),
        ((30, 17, 43), (15, 15, 15, 15, 30), 46),
        ((30, 43, 17), (15, 15, 15, 15, 30), 156),
        ((43, 17, 30), (15, 15, 15, 15, 30), 97),
        ((43, 30, 17), (15, 15, 15, 15, 30), 220),
        ((17, 30, 43), (30, 15, 15, 15, 15), 349),
        ((17, 43, 30), (30, 15, 15, 15, 15), 16),
    ],
)
def test_order_changes_nodes_but_not_k(groups, rooms, count):
    assert nodes(Problem(groups, rooms))[1:] == (13, count)


def test_rows_come_in_falling_order():
    assert rows_of(4, np.array([6, 4])) == [[4, 0], [3, 1], [2, 2], [1, 3], [0, 4]]
    assert rows_of(5, np.array([3, 3, 3]), beat=1) == [
        [3, 2, 0],
        [3, 0, 2],
        [2, 3, 0],
        [2, 0, 3],
        [0, 3, 2],
        [0, 2, 3],
    ]


def test_first_solutions_of_the_published_program():
    found = solve("branch-and-bound", made("f5", 10))
    assert found.value == 10
    assert found.optimal


@pytest.mark.parametrize(
    ("sizes", "rooms", "best"),
    [([10], [4, 4, 4], 3), ([20], [7, 7, 7], 6), ([9], [3, 3, 3], 3), ([10, 12], [4] * 6, 3)],
)
def test_where_the_published_bound_is_wrong(sizes, rooms, best):
    problem = Problem(sizes, rooms)
    for method in METHODS.values():
        if method.exact and "k" in method.objectives:
            found = solve(method.name, problem)
            assert (found.value, found.optimal) == (best, True), method.name
    published = solve("branch-and-bound", problem, {"bound": "published"})
    assert not published.optimal
    assert published.bound >= best
    assert nodes(Problem([10], [4, 4, 4])) == (2, 2, 1)


def test_the_published_bound_never_claims_optimality():
    for name in ("f1", "f4", "f5"):
        found = solve("branch-and-bound", made(name, 10), {"bound": "published"})
        assert not found.optimal
        assert found.value == family(name, 10).best


@pytest.mark.parametrize("order", ["groups-falling", "slots-falling", "both-falling"])
def test_orders_give_the_same_k(order):
    assert solve("branch-and-bound", made("f4", 15), {"order": order}).value == 13


@pytest.mark.parametrize("name", [*FIXED])
def test_best_k_of_fixed_instances(name):
    one = FIXED[name]
    found = assign_sizes(one.groups, one.capacities)
    assert (found.k, found.optimal) == (one.best, True)
    assert solve("constraint", Problem(one.groups, one.capacities)).value == one.best


@pytest.mark.parametrize("name", [*FAMILIES])
@pytest.mark.parametrize("size", [4, 10, 100, 10_000, 10**6, 10**9])
def test_families_are_proved_for_every_size_with_the_same_effort(name, size):
    one = family(name, size)
    found = assign_sizes(one.groups, one.capacities)
    assert found.optimal
    assert found.assignment.work < 2000
    if one.best is not None:
        assert found.k == one.best


def test_f4_and_f4n_for_small_sizes():
    for x in range(3, 21):
        assert assign_sizes(family("f4", x).groups, family("f4", x).capacities).k == (x - 2 if x >= 4 else 2)
        assert assign_sizes(family("f4n", x).groups, family("f4n", x).capacities).k == x - 1


def count_with(problem, k):
    """How many matrices have no piece below k, counted row by row."""
    sizes = tuple(problem.sizes.tolist())

    @cache
    def ways(row, caps):
        if row == len(sizes):
            return 1
        return sum(
            ways(row + 1, tuple(cap - used for cap, used in zip(caps, split)))
            for split in rows_of(sizes[row], np.array(caps), beat=k - 1)
        )

    return ways(0, tuple(problem.capacities.tolist()))


@pytest.mark.parametrize(
    ("name", "size", "count"),
    [
        *[("f4", x, 6) for x in (5, 6, 8, 10)],
        ("f4", 3, 12),
        ("f4", 4, 739),
        *[("f4n", x, 30) for x in (5, 6, 8, 10)],
        ("f4n", 3, 1070),
        ("f4n", 4, 480),
        *[("f5", x, 33) for x in (1, 2, 3, 5, 10)],
        *[("f5n", x, 207) for x in (1, 2, 3, 5, 10)],
    ],
)
def test_number_of_optimal_matrices(name, size, count):
    problem = made(name, size)
    best = assign_sizes(problem.sizes, problem.capacities).k
    assert count_with(problem, best) == count
    assert count_with(problem, best + 1) == 0


def test_appointment_example_stays_whole():
    plan = assign_sizes([2, 4, 3, 3, 2, 2], [5, 3, 3, 2, 5, 5], objective="vector")
    assert plan.k == 2
    assert list(plan.vector) == [0, 3, 2, 1] == list(plan.vector_before)
    assert assign_sizes([3, 4, 3], [6, 4, 2]).k == 3


@pytest.mark.parametrize(
    ("name", "vector"),
    [("m15", (0, 2, 1, 2)), ("m21", (0, 0, 1, 1, 2, 1, 1)), ("m50", (0, 0, 0, 2, 4, 1, 1, 0, 1))],
)
def test_best_vectors_of_the_literature(name, vector):
    one = FIXED[name]
    for method in ("auto", "lexicographic"):
        plan = assign_sizes(one.groups, one.capacities, objective="vector", method=method)
        assert plan.vector == AnonymityVector(vector)
        assert plan.optimal


def test_base_reached_by_the_published_instance_of_thirty():
    groups, rooms = (1, 2, 3, 2, 2, 4, 4, 4, 1, 3, 4), (4, 4, 3, 4, 3, 3, 3, 4, 4, 3)
    for method in ("auto", "greedy", "lexicographic"):
        plan = assign_sizes(groups, rooms, objective="vector", method=method)
        assert list(plan.vector) == [2, 3, 2, 4]


def test_level_of_search():
    plan = assign_sizes(
        [4, 4, 5, 2], [4, 2, 4, 3, 2], objective="vector", method="lexicographic", options={"level": 1}
    )
    assert plan.vector[1] == 0
    assert plan.k_bound >= plan.k


# ---- the hardness reductions


def has_equipartition(numbers):
    half = sum(numbers) / 2
    return len(numbers) % 2 == 0 and any(
        sum(numbers[i] for i in side) == half for side in combinations(range(len(numbers)), len(numbers) // 2)
    )


def has_partition(numbers):
    half = sum(numbers) / 2
    return any(
        sum(numbers[i] for i in side) == half
        for size in range(len(numbers) + 1)
        for side in combinations(range(len(numbers)), size)
    )


def answer(question):
    return assign_sizes(question.groups, question.capacities).k >= question.k


@pytest.mark.parametrize(
    ("question", "groups", "rooms", "k", "yes"),
    [
        (partition_to_seating([1, 2, 3, 3, 3]), (12, 13, 14, 14, 14, 11, 11, 11, 11, 11), (61, 61), 11, True),
        (partition_to_seating([1, 1, 4]), (7, 7, 10, 6, 6, 6), (21, 21), 6, False),
        (equipartition_to_seating([1, 2, 3, 4]), (5, 6, 7, 8), (13, 13), 5, True),
        (equipartition_to_seating([1, 1, 2, 2]), (3, 3, 4, 4), (7, 7), 3, True),
        (equipartition_to_seating([1, 5, 5, 1]), (6, 10, 10, 6), (16, 16), 6, True),
        (equipartition_to_seating([3, 1, 1, 2, 2, 1]), (7, 5, 5, 6, 6, 5), (17, 17), 5, True),
        (equipartition_to_seating([1, 1, 1, 101]), (52, 52, 52, 152), (154, 154), 52, False),
        (equipartition_to_seating([1, 1, 4]), (3, 3), (4, 2), 3, False),
    ],
)
def test_reductions_of_the_published_examples(question, groups, rooms, k, yes):
    assert (question.groups, question.capacities, question.k) == (groups, rooms, k)
    assert answer(question) is yes


def test_without_the_guard_the_answer_would_be_wrong():
    assert assign_sizes([3, 3, 6], [6, 6]).k >= 3
    assert not has_equipartition([1, 1, 4])


def test_every_small_multiset_agrees_with_its_seating():
    cases = [
        m for size in (2, 4) for m in combinations_with_replacement(range(1, 9), size) if sum(m) % 2 == 0
    ]
    cases += [m for m in combinations_with_replacement(range(1, 5), 6) if sum(m) % 2 == 0]
    assert len(cases) == 234
    for numbers in cases[::3]:
        question = equipartition_to_seating(numbers)
        found = assign_sizes(question.groups, question.capacities)
        assert (found.k >= question.k) == has_equipartition(numbers)
        if found.k >= question.k:
            one, other = equipartition_of(question, found.matrix)
            assert sum(one) == sum(other)
            assert len(one) == len(other)
            assert sorted([*one, *other]) == sorted(numbers)
            back = seating_of(question, one, other)
            assert equipartition_of(question, back) == (one, other)


def test_partitions_agree_with_equipartitions():
    checked = 0
    for size in range(1, 5):
        for numbers in combinations_with_replacement(range(1, 7), size):
            for padding in (1, 2, 5):
                padded = partition_to_equipartition(numbers, padding)
                assert has_partition(list(numbers)) == has_equipartition(padded)
                checked += 1
    assert checked == 627
    one, other = pad([1, 2, 3, 3, 3], [1, 2, 3], [3, 3], 2)
    assert sum(one) == sum(other) and len(one) == len(other) == 5
    assert unpad(one, other, 2) == ([1, 2, 3], [3, 3])


def test_partition_to_seating_end_to_end():
    for size in range(1, 4):
        for numbers in combinations_with_replacement(range(1, 6), size):
            assert answer(partition_to_seating(numbers)) == has_partition(list(numbers))


def test_reductions_refuse_nonsense():
    for numbers in ([], [0, 1], [-1]):
        with pytest.raises(InputError):
            partition_to_seating(numbers)
    with pytest.raises(InputError):
        seating_of(NO, [1], [2])
    with pytest.raises(InputError, match="split"):
        equipartition_of(equipartition_to_seating([1, 2, 3, 4]), [[4, 1], [0, 6], [0, 7], [8, 0]])


# ---- the genetic algorithm


def test_fitness_order():
    from shoal.runtime.evolution.keys import fitter

    good, wrong, worse = np.array([0, 0, -1]), np.array([0, 1, -100]), np.array([1, 0, -1000])
    assert fitter(good, wrong) and fitter(wrong, worse) and not fitter(worse, wrong)


def test_judgement_counts_violations_and_k():
    key = np.zeros(3, np.int64)
    genetic_kernels.judge(np.array([[4, 0], [3, 0]]), np.array([4, 4]), np.array([6, 5]), key)
    assert key.tolist() == [1, 1, -3]
    genetic_kernels.judge(np.zeros((2, 2), np.int64), np.array([4, 4]), np.array([6, 5]), key)
    assert key.tolist() == [0, 2, 0]


def test_guided_mutation_draws_as_published():
    state = Seeds(0).state()
    sizes = capacities = np.array([1000])
    zero = full = 0
    matrix = np.array([[500]])
    for _ in range(20_000):
        genetic_kernels.mutate(matrix, sizes, capacities, guided=True, state=state)
        zero += matrix[0, 0] == 0
        full += matrix[0, 0] == 1000
    assert abs(zero / 20_000 - 0.25) < 0.01
    assert abs(full / 20_000 - 0.50) < 0.012


def test_repair_puts_one_row_right_without_filling_a_room_too_much():
    sizes, capacities = np.array([10]), np.array([4, 4, 4])
    short, long = set(), set()
    for seed in range(30):
        state = Seeds(seed).state()
        matrix = np.array([[4, 0, 0]])
        genetic_kernels.repair(matrix, sizes, capacities, state)
        short.add(tuple(matrix[0].tolist()))
        matrix = np.array([[4, 4, 4]])
        genetic_kernels.repair(matrix, sizes, capacities, state)
        long.add(tuple(matrix[0].tolist()))
    assert short == {(4, 4, 2), (4, 2, 4)}
    assert long == {(2, 4, 4), (4, 2, 4), (4, 4, 2)}


def test_crossover_by_rows_and_columns():
    one, other = np.zeros((3, 2), np.int64), np.ones((3, 2), np.int64)
    child = np.empty_like(one)
    rows, last = set(), set()
    for seed in range(60):
        state = Seeds(seed).state()
        genetic_kernels.cross(one, other, child, by_rows=True, state=state)
        assert (child[:, 0] == child[:, 1]).all()
        rows.add(tuple(child[:, 0].tolist()))
        genetic_kernels.cross(one, other, child, by_rows=False, state=state)
        last.add(int(child[:, -1].sum()))
    assert (0, 1, 0) in rows and (1, 1, 1) in rows
    assert last == {0}, "by columns the last room is never exchanged"


def test_versions_without_repair_break_rules_where_it_is_tight():
    problem = Problem([6100, 3900, 5400, 4600, 7200, 2800, 6600, 3400], [10_000] * 4)
    runs = {
        version: [
            evolve(
                problem,
                GeneticOptions(version=version, crossover="columns", population=100),
                Seeds(seed),
                20_000,
            ).violations
            for seed in range(3)
        ]
        for version in ("random", "guided", "repairing")
    }
    assert np.mean(runs["random"]) > 0
    assert np.mean(runs["guided"]) > 0
    assert runs["repairing"] == [0, 0, 0]


def test_genetic_traces_repeat():
    problem = made("f4", 20)
    options = GeneticOptions(population=50)
    one, two = (evolve(problem, options, Seeds(3), 3000) for _ in range(2))
    assert (one.matrix == two.matrix).all()
    other = evolve(problem, options, Seeds(4), 3000)
    assert (one.matrix != other.matrix).any()
