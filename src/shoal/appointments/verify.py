"""The independent check of an assignment, and of the seats single people got. Counts for itself, and imports no solver."""

from typing import TYPE_CHECKING

import numpy as np

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.problem import Problem
from shoal.appointments.solution import Assignment

if TYPE_CHECKING:
    from shoal.appointments.people.rows import Population
    from shoal.appointments.people.slots import Slots


def verify(problem: Problem, assignment: Assignment) -> None:
    """Raise ``AssertionError`` unless everybody has one allowed seat and K, vector and bound are as claimed."""
    matrix = np.asarray(assignment.matrix)
    _expect_seats(problem, matrix)
    cells = _people_by_cell(problem, matrix)
    claimed = np.asarray(assignment.cells)
    assert np.array_equal(cells, claimed), "the cells are not those of the matrix"
    sizes, counts = (found.tolist() for found in np.unique(cells[cells > 0], return_counts=True))
    if problem.objective == "k":
        assert assignment.value == sizes[0], f"K is {sizes[0]}, not {assignment.value} as claimed"
    else:
        found = dict(zip(sizes, counts, strict=True))
        assert dict(assignment.value.items()) == found, "the anonymity vector is not that of the cells"
    if problem.diversity > 1:
        _expect_diversity(problem, matrix, cells)
    _expect_bound(problem, assignment)


def _expect_seats(problem: Problem, matrix: np.ndarray) -> None:
    rows, slots = len(problem.sizes), len(problem.capacities)
    assert matrix.shape == (rows, slots), f"a matrix of {matrix.shape} for {rows} rows"
    assert np.issubdtype(matrix.dtype, np.integer), "numbers of people must be whole"
    assert (matrix >= 0).all(), "a negative number of people"
    seated, loads = matrix.sum(axis=1), matrix.sum(axis=0)
    for row in np.flatnonzero(seated != problem.sizes):
        raise AssertionError(f"row {row} has {seated[row]} seats, not {problem.sizes[row]}")
    for slot in np.flatnonzero(loads > problem.capacities):
        raise AssertionError(f"slot {slot} holds {loads[slot]}, more than its capacity")
    assert not (matrix[~problem.eligible] > 0).any(), "somebody sits in a slot they are not eligible for"


def _people_by_cell(problem: Problem, matrix: np.ndarray) -> np.ndarray:
    """People of each crowd at each label: rows are added up to crowds, then slots to labels, then the pinned."""
    crowds, labels = problem.pinned.shape
    by_crowd = np.zeros((crowds, matrix.shape[1]), dtype=np.int64)
    for row, crowd in enumerate(problem.crowds.tolist()):
        by_crowd[crowd] += matrix[row]
    cells = np.zeros((crowds, labels), dtype=np.int64)
    for slot, label in enumerate(problem.labels.tolist()):
        cells[:, label] += by_crowd[:, slot]
    return cells + problem.pinned


def _expect_diversity(problem: Problem, matrix: np.ndarray, cells: np.ndarray) -> None:
    """Where somebody was added, a cell holds as many kinds as asked for, or all that its crowd has."""
    kinds_of_crowd = np.zeros((cells.shape[0], problem.pinned_kinds.shape[2]), dtype=bool)
    here = problem.pinned_kinds.copy()
    for row, (crowd, kind) in enumerate(zip(problem.crowds.tolist(), problem.kinds.tolist(), strict=True)):
        kinds_of_crowd[crowd, kind] = True
        here[crowd, problem.labels[matrix[row] > 0], kind] = True
    kinds_of_crowd |= problem.pinned_kinds.any(axis=1)
    asked = np.minimum(kinds_of_crowd.sum(axis=1), problem.diversity)[:, None]
    # Where nobody was added, the pinned people are as they are.
    poor = (cells > problem.pinned) & (here.sum(axis=2) < asked)
    assert not poor.any(), "a cell is not diverse enough"


def _expect_bound(problem: Problem, assignment: Assignment) -> None:
    value, bound = assignment.value, assignment.bound
    if bound is not None:
        above = value > bound if problem.objective == "k" else _fewer_in_small_crowds(value, bound)
        assert not above, "the value is better than its own bound"
    assert not assignment.optimal or value == bound, "optimal without a bound to show it"


def _fewer_in_small_crowds(one: AnonymityVector, other: AnonymityVector) -> bool:
    """Whether, at the smallest size at which two vectors differ, the first has fewer crowds."""
    mine, theirs = dict(one.items()), dict(other.items())
    for size in sorted({*mine, *theirs}):
        if mine.get(size, 0) != theirs.get(size, 0):
            return mine.get(size, 0) < theirs.get(size, 0)
    return False


def verify_people(
    population: "Population",
    slots: "Slots",
    slot_of: np.ndarray,
    assignment: Assignment,
    vector: AnonymityVector,
) -> None:
    """Raise ``AssertionError`` unless single people, recounted, sit as the matrix promised."""
    problem = population.problem
    assert problem is not None
    assert slot_of.shape == population.crowd.shape and (slot_of >= 0).all(), "somebody has no appointment"
    taken = np.zeros(slots.ids.len(), dtype=np.int64)
    np.add.at(taken, slot_of, 1)
    assert (taken + slots.booked <= slots.capacities).all(), "a slot is too full"
    seated = population.row >= 0
    assert problem.eligible[population.row[seated], slot_of[seated]].all(), "somebody sits where they may not"
    assert (slot_of[~seated] == population.pinned[~seated]).all(), "a pinned appointment was moved"
    sent = np.zeros(assignment.matrix.shape, dtype=np.int64)
    np.add.at(sent, (population.row[seated], slot_of[seated]), 1)
    assert np.array_equal(sent, assignment.matrix), "the people do not sit as the plan says"
    crowds = np.zeros(assignment.cells.shape, dtype=np.int64)
    np.add.at(crowds, (population.crowd, population.label_of_slot[slot_of]), 1)
    sizes, counts = np.unique(crowds[crowds > 0], return_counts=True)
    found = list(zip(sizes.tolist(), counts.tolist(), strict=True))
    assert list(vector.items()) == found == list(assignment.vector.items()), (
        "the anonymity of the people is not that of the plan"
    )
