"""The check accepts what a count of everything accepts, and refuses every planted lie."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.appointments.oracle import cell_sizes, every_matrix, random_general, random_plain
from tests.mutants import complaint, forged

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.api import assign, assign_sizes
from shoal.appointments.problem import Problem
from shoal.appointments.solution import settle
from shoal.appointments.verify import verify, verify_people


def made(seed, objective, diverse=False):
    """A small problem, and one of its seatings drawn at random."""
    generator = np.random.default_rng(seed)
    plain = not diverse and bool(generator.integers(2))
    problem = (
        random_plain(generator, objective=objective)
        if plain
        else random_general(generator, objective=objective, diverse=diverse)
    )
    matrices = [rows for _, rows in zip(range(500), every_matrix(problem))]
    return problem, generator, np.array(matrices[generator.integers(len(matrices))])


def moved(problem, generator, matrix, fits):
    """One person sent to another slot, so that ``fits`` holds of row, old and new slot."""
    ways = [
        (row, old, new)
        for row, old in zip(*np.nonzero(matrix))
        for new in range(problem.slots)
        if new != old and fits(row, old, new)
    ]
    assume(ways)
    row, old, new = ways[generator.integers(len(ways))]
    other = matrix.copy()
    other[row, old] -= 1
    other[row, new] += 1
    return other


def person_lost(problem, generator, good):
    row, slot = (found[0] for found in np.nonzero(good.matrix))
    other = good.matrix.copy()
    other[row, slot] -= 1
    return forged(good, matrix=other, cells=problem.cells(other))


def person_invented(problem, generator, good):
    free = np.flatnonzero(good.matrix.sum(axis=0) < problem.capacities)
    assume(free.size)
    other = good.matrix.copy()
    other[0, free[0]] += 1
    return forged(good, matrix=other, cells=problem.cells(other))


def half_a_person(problem, generator, good):
    return forged(good, matrix=good.matrix.astype(float))


def less_than_nobody(problem, generator, good):
    assume(problem.slots > 1)
    other = good.matrix.copy()
    other[0, 0] += other[0, 1] + 1
    other[0, 1] = -1
    return forged(good, matrix=other)


def slot_forgotten(problem, generator, good):
    return forged(good, matrix=good.matrix[:, :-1])


def capacity_exceeded(problem, generator, good):
    full = good.matrix.sum(axis=0) == problem.capacities
    other = moved(problem, generator, good.matrix, lambda row, old, new: full[new])
    return settle(problem, other, bound=None)


def not_eligible(problem, generator, good):
    room = good.matrix.sum(axis=0) < problem.capacities
    other = moved(
        problem, generator, good.matrix, lambda row, old, new: room[new] and not problem.eligible[row, new]
    )
    return settle(problem, other, bound=None)


def cells_of_another(problem, generator, good):
    room = good.matrix.sum(axis=0) < problem.capacities
    other = moved(problem, generator, good.matrix, lambda row, old, new: room[new])
    cells = problem.cells(other)
    assume((cells != good.cells).any())
    return forged(good, cells=cells)


def cells_swapped(problem, generator, good):
    cells = good.cells[:, ::-1]
    assume((cells != good.cells).any())
    return forged(good, cells=cells)


def value_better(problem, generator, good):
    if problem.objective == "k":
        return forged(good, value=good.value + 1, bound=None, optimal=False)
    (size, count), *rest = good.value.items()
    return forged(
        good, value=AnonymityVector({**dict(rest), size + 1: good.value[size + 1] + count}), bound=None
    )


def value_worse(problem, generator, good):
    if problem.objective == "k":
        return forged(good, value=good.value - 1, bound=None, optimal=False)
    counts = dict(good.value.items())
    return forged(good, value=AnonymityVector({**counts, 1: counts.get(1, 0) + 1}), bound=None)


def bound_crossed(problem, generator, good):
    if problem.objective == "k":
        return forged(good, bound=good.value - 1, optimal=False)
    counts = dict(good.value.items())
    return forged(good, bound=AnonymityVector({**counts, 1: counts.get(1, 0) + 1}), optimal=False)


def optimal_without_bound(problem, generator, good):
    return forged(good, bound=None, optimal=True)


def optimal_below_bound(problem, generator, good):
    better = int(problem.crowd_sizes.sum()) + 1
    bound = better if problem.objective == "k" else AnonymityVector({better: 1})
    return forged(good, bound=bound, optimal=True)


LIES = [
    (person_lost, "seats, not"),
    (person_invented, "seats, not"),
    (half_a_person, "must be whole"),
    (less_than_nobody, "negative"),
    (slot_forgotten, "a matrix of"),
    (capacity_exceeded, "more than its capacity"),
    (not_eligible, "not eligible"),
    (cells_of_another, "cells are not"),
    (cells_swapped, "cells are not"),
    (value_better, "K is|vector is not"),
    (value_worse, "K is|vector is not"),
    (bound_crossed, "better than its own bound"),
    (optimal_without_bound, "optimal without"),
    (optimal_below_bound, "optimal without"),
]


@pytest.mark.parametrize(("lie", "text"), LIES, ids=[lie.__name__ for lie, _ in LIES])
@pytest.mark.parametrize("objective", ["k", "vector"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_lies_are_refused(lie, text, objective, seed):
    problem, generator, matrix = made(seed, objective)
    good = settle(problem, matrix, bound=None)
    assert complaint(verify, problem, good) is None
    with pytest.raises(AssertionError, match=text):
        verify(problem, lie(problem, generator, good))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), objective=st.sampled_from(["k", "vector"]))
def test_a_seating_is_accepted_exactly_when_it_is_diverse_enough(seed, objective):
    problem, _, matrix = made(seed, objective, diverse=True)
    said = complaint(verify, problem, settle(problem, matrix, bound=None))
    assert said == (None if cell_sizes(problem, matrix.tolist()) else "a cell is not diverse enough")


def test_the_order_of_vectors_is_that_of_the_domain():
    problem = Problem([4, 4, 5, 2], [4, 2, 4, 3, 2], "vector")
    vectors = sorted(
        {AnonymityVector.from_sizes(cell_sizes(problem, rows)) for rows in every_matrix(problem)}
    )
    good = settle(
        problem, np.array([[0, 0, 4, 0, 0], [4, 0, 0, 0, 0], [0, 0, 0, 3, 2], [0, 2, 0, 0, 0]]), bound=None
    )
    assert good.value == vectors[0]
    for worse in vectors[1:]:
        assert (
            complaint(verify, problem, forged(good, bound=worse)) == "the value is better than its own bound"
        )
    verify(problem, forged(good, bound=vectors[0], optimal=True))


@pytest.mark.parametrize("objective", ["k", "vector"])
def test_what_the_methods_make_is_accepted(objective):
    plan = assign_sizes([7, 5, 3, 9], [6, 6, 6, 8], objective=objective)
    verify(plan.problem, plan.assignment)


def people_planned():
    import polars as pl

    people = pl.DataFrame(
        {
            "zip": [1, 1, 1, 1, 2, 2, 2, 2, 2],
            "where": [None, None, None, "a", None, None, None, None, "b"],
            "can": ["a;b", "a;b", "a;b", "a;b", "a;c", "a;c", "a;c", "a;c", "b"],
        }
    )
    slots = pl.DataFrame({"slot": ["a", "b", "c"], "capacity": [5, 5, 3], "booked": [0, 1, 0]})
    plan = assign(people, slots, quasi=["zip"], eligible="can", pinned="where", seed=1)
    return plan.population, plan.slots, plan.slot_of, plan.assignment, plan.vector


def test_people_who_do_not_sit_as_planned_are_refused():
    waiting, slots, slot_of, assignment, vector = people_planned()
    verify_people(waiting, slots, slot_of, assignment, vector)

    def sent(person, slot):
        other = slot_of.copy()
        other[person] = slot
        return other

    first = np.flatnonzero(waiting.row == 0)[0]
    elsewhere = 1 - slot_of[first] if slot_of[first] < 2 else 0
    full = np.where(waiting.pinned >= 0, waiting.pinned, 2)
    lies = [
        (sent(first, -1), vector, "has no appointment"),
        (slot_of[:-1], vector, "has no appointment"),
        (full, vector, "too full"),
        (sent(first, 2), vector, "where they may not|too full"),
        (sent(3, 1), vector, "pinned appointment was moved"),
        (sent(first, elsewhere), vector, "do not sit as the plan says"),
        (slot_of, AnonymityVector((1,)), "anonymity of the people"),
    ]
    for seats, said, text in lies:
        with pytest.raises(AssertionError, match=text):
            verify_people(waiting, slots, seats, assignment, said)
    other = forged(assignment, cells=assignment.cells * 2)
    with pytest.raises(AssertionError, match="anonymity of the people"):
        verify_people(waiting, slots, slot_of, other, vector)
