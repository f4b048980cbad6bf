"""The problem, the independent check, and the oracle that judges the rest."""

import dataclasses

import numpy as np
import pytest
from tests.appointments.oracle import best_of_all, cell_sizes, every_matrix, random_general, random_plain

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.bounds.limits import base_vector, best_vector, largest_k, published_bound, safe_bound
from shoal.appointments.problem import Problem
from shoal.appointments.solution import settle
from shoal.appointments.solvers.fill_kernels import complete
from shoal.appointments.verify import verify
from shoal.errors import Infeasible, InputError

OPTIMAL = np.array([[0, 0, 4, 0, 0], [4, 0, 0, 0, 0], [0, 0, 0, 3, 2], [0, 2, 0, 0, 0]])


def fifteen(objective="k"):
    return Problem([4, 4, 5, 2], [4, 2, 4, 3, 2], objective)


def test_the_published_example_counted_out():
    problem = fifteen()
    matrices = list(every_matrix(problem))
    sizes = [cell_sizes(problem, rows) for rows in matrices]
    assert len(matrices) == 14504
    assert sum(cells[0] == 2 for cells in sizes) == 58
    assert max(cells[0] for cells in sizes) == 2
    best = max(sizes)
    assert best == [2, 2, 3, 4, 4]
    assert sum(cells == best for cells in sizes) == 4
    vectors = sorted({AnonymityVector.from_sizes(cells) for cells in sizes})
    assert [str(vector) for vector in vectors[:4]] == [
        "(0, 2, 1, 2)",
        "(0, 4, 1, 1)",
        "(0, 6, 1)",
        "(1, 2, 2, 1)",
    ]
    assert [
        sum(AnonymityVector.from_sizes(cells) == vector for cells in sizes) for vector in vectors[:4]
    ] == [4, 20, 34, 8]


def test_share_of_random_seatings_that_single_somebody_out():
    # The number of seatings behind a matrix: people are distinguishable, seats are not.
    from math import factorial, prod

    problem = fifteen()
    alone = total = 0
    for rows in every_matrix(problem):
        ways = prod(factorial(sum(row)) // prod(factorial(x) for x in row) for row in rows)
        total += ways
        alone += ways * (cell_sizes(problem, rows)[0] == 1)
    # Seatings of 15 people on 15 seats, seats of a slot alike: 15! / (4! 2! 4! 3! 2!).
    assert (alone, total) == (94_581_020, 94_594_500)
    assert round(100 * alone / total, 5) == 99.98575


def test_the_optimal_matrix_of_the_example_is_verified():
    problem = fifteen("vector")
    assignment = settle(problem, OPTIMAL, bound=base_vector(problem))
    verify(problem, assignment)
    assert assignment.k == 2
    assert list(assignment.vector) == [0, 2, 1, 2]
    assert list(base_vector(problem)) == [0, 1, 0, 2, 1]
    assert not assignment.optimal
    assert assignment.loads.tolist() == [4, 2, 4, 3, 2]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m: m.__setitem__((0, 2), 3), "row 0"),
        (lambda m: (m.__setitem__((0, 2), 0), m.__setitem__((0, 0), 4)), "slot 0"),
        (lambda m: (m.__setitem__((0, 2), 5), m.__setitem__((0, 1), -1)), "negative"),
    ],
)
def test_verify_rejects_a_wrong_matrix(change, text):
    problem = fifteen()
    good = settle(problem, OPTIMAL, bound=2)
    wrong = OPTIMAL.copy()
    change(wrong)
    with pytest.raises(AssertionError, match=text):
        verify(problem, dataclasses.replace(good, matrix=wrong))


def test_verify_rejects_wrong_claims():
    problem = fifteen()
    good = settle(problem, OPTIMAL, bound=2)
    verify(problem, good)
    with pytest.raises(AssertionError, match="K is 2"):
        verify(problem, dataclasses.replace(good, value=1, optimal=False))
    with pytest.raises(AssertionError, match="optimal without"):
        verify(problem, dataclasses.replace(good, bound=3))
    with pytest.raises(AssertionError, match="cells are not"):
        verify(problem, dataclasses.replace(good, cells=good.cells * 2))
    restricted = Problem(
        [4, 4, 5, 2], [4, 2, 4, 3, 2], eligible=[[True] * 5, [False] + [True] * 4, [True] * 5, [True] * 5]
    )
    with pytest.raises(AssertionError, match="not eligible for"):
        verify(restricted, good)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([5, 5], [4, 4]), Infeasible, "10 people and 8 seats: 2 seats are missing"),
        (([5, 0], [9]), InputError, "group sizes must be 1 or more"),
        (([5, -1], [9]), InputError, "group sizes must be 1 or more"),
        (([5], [-9]), InputError, "capacities must not be negative"),
        (([], [9]), InputError, "no people"),
        (([5], []), InputError, "no slots"),
        (([5.5], [9]), InputError, "whole numbers"),
        ((["a"], [9]), InputError, "whole numbers"),
        (([2**62], [2**62]), InputError, "too large"),
        (([5], [9], "best"), InputError, "objective"),
    ],
)
def test_bad_problems_are_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        Problem(*arguments)


def test_people_without_a_slot_are_counted_not_named():
    with pytest.raises(Infeasible, match="3 of 5 people have no slot"):
        Problem([3, 2], [5, 5], eligible=[[False, False], [True, True]])
    with pytest.raises(Infeasible, match="1 of 5 people cannot be seated"):
        Problem([3, 2], [4, 9], eligible=[[True, False], [True, False]])


def test_as_many_stay_without_a_seat_as_no_chain_of_moves_can_seat():
    """The largest flow of the problem against the augmenting paths of the solvers."""
    generator = np.random.default_rng(4)
    outcomes = set()
    for _ in range(300):
        sizes = generator.integers(1, 6, 5)
        capacities = generator.integers(1, 9, 4)
        eligible = generator.random((5, 4)) < 0.5
        if capacities.sum() < sizes.sum() or not eligible.any(axis=1).all():
            continue
        left = complete(np.zeros((5, 4), np.int64), sizes, capacities, eligible)
        try:
            Problem(sizes, capacities, eligible=eligible)
            told = 0
        except Infeasible as error:
            told = int(str(error).split()[0])
        assert told == left
        outcomes.add(told)
    assert len(outcomes) > 3


def test_published_bound_is_not_a_bound():
    for sizes, capacities, published, best in [
        ([10], [4, 4, 4], 2, 3),
        ([9], [3, 3, 3], 2, 3),
        ([10, 12], [4] * 6, 2, 3),
        ([20], [7, 7, 7], 5, 6),
    ]:
        problem = Problem(sizes, capacities)
        assert published_bound(problem) == published
        assert safe_bound(problem) >= best
        assert largest_k(problem) >= best


def bounds_hold(seed, make):
    problem = make(np.random.default_rng(seed))
    best = best_of_all(problem)
    if best is None:
        return
    k, cells = best
    assert largest_k(problem) >= k
    assert base_vector(problem) <= best_vector(problem) <= AnonymityVector.from_sizes(cells)
    if problem.plain:
        assert safe_bound(problem) >= k


@pytest.mark.parametrize("make", [random_plain, random_general])
def test_bounds_are_never_below_the_optimum(make):
    for seed in range(150):
        bounds_hold(seed, make)


@pytest.mark.long
@pytest.mark.parametrize("make", [random_plain, random_general])
def test_bounds_are_never_below_the_optimum_thousands(make):
    for seed in range(1000, 4000):
        bounds_hold(seed, make)
