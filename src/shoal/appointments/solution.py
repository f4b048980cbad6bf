"""An assignment of people to slots, and the independent check of one. Imports no solver."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.appointments.problem import Problem, vector
from shoal.search import Solution


@dataclass(frozen=True, kw_only=True)
class Assignment(Solution):
    """Who sits where: ``matrix`` counts people by row and slot, ``cells`` by crowd and label (pinned ones included).

    ``value`` and ``bound`` are K or anonymity vectors, as the problem's objective asks; ``bound`` is the best that could
    exist at all.
    """

    matrix: np.ndarray
    cells: np.ndarray

    @cached_property
    def k(self) -> int:
        """The size of the smallest crowd."""
        return int(self.cells[self.cells > 0].min())

    @cached_property
    def vector(self) -> Any:
        """The anonymity vector: how many crowds there are of each size."""
        return vector(self.cells[self.cells > 0])

    @property
    def k_bound(self) -> int | None:
        """The largest K that could exist at all, as far as is proved."""
        if self.bound is None:
            return None
        return int(self.bound) if isinstance(self.bound, int) else int(self.bound.k)

    @property
    def loads(self) -> np.ndarray:
        """People newly sent to each slot."""
        return self.matrix.sum(axis=0)


def settle(
    problem: Problem, matrix: np.ndarray, *, bound: Any, proved: bool = True, **closing: Any
) -> Assignment:
    """The assignment a matrix stands for; it is optimal when its value meets a bound that is proved."""
    matrix = np.ascontiguousarray(matrix, dtype=np.int64)
    value = problem.value(matrix)
    closing.setdefault("direction", problem.direction)
    return Assignment(
        value=value,
        bound=bound,
        optimal=bool(proved and bound is not None and value == bound),
        matrix=matrix,
        cells=problem.cells(matrix),
        **closing,
    )


def violations(problem: Problem, matrix: np.ndarray) -> dict[str, int]:
    """How many rows are not seated exactly, slots are too full, and people sit where they may not.

    >>> violations(Problem([3, 2], [4, 1]), np.array([[3, 0], [2, 1]]))
    {'rows': 1, 'slots': 1, 'ineligible': 0}
    """
    matrix = np.asarray(matrix)
    return {
        "rows": int((matrix.sum(axis=1) != problem.sizes).sum()),
        "slots": int((matrix.sum(axis=0) > problem.capacities).sum()),
        "ineligible": int(matrix[~problem.eligible].sum()),
    }


def verify(problem: Problem, assignment: Assignment) -> None:
    """Raise ``AssertionError`` unless everybody has one allowed seat and K, vector and bound are as claimed."""
    matrix = np.asarray(assignment.matrix)
    assert matrix.shape == (problem.rows, problem.slots), (
        f"a matrix of {matrix.shape} for {problem.rows} rows"
    )
    assert np.issubdtype(matrix.dtype, np.integer), "numbers of people must be whole"
    assert (matrix >= 0).all(), "a negative number of people"
    seated, loads = matrix.sum(axis=1), matrix.sum(axis=0)
    for row in np.flatnonzero(seated != problem.sizes):
        raise AssertionError(f"row {row} has {seated[row]} seats, not {problem.sizes[row]}")
    for slot in np.flatnonzero(loads > problem.capacities):
        raise AssertionError(f"slot {slot} holds {loads[slot]}, more than its capacity")
    assert not matrix[~problem.eligible].any(), "somebody sits in a slot they are not eligible for"
    cells: dict[tuple[int, int], int] = {}
    kinds: dict[tuple[int, int], set[int]] = {}
    for crowd, label in zip(*np.nonzero(problem.pinned), strict=True):
        cells[int(crowd), int(label)] = int(problem.pinned[crowd, label])
        kinds[int(crowd), int(label)] = set(np.flatnonzero(problem.pinned_kinds[crowd, label]).tolist())
    for row, slot in zip(*np.nonzero(matrix), strict=True):
        place = int(problem.crowds[row]), int(problem.labels[slot])
        cells[place] = cells.get(place, 0) + int(matrix[row, slot])
        kinds.setdefault(place, set()).add(int(problem.kinds[row]))
    claimed = {
        (int(crowd), int(label)): int(assignment.cells[crowd, label])
        for crowd, label in zip(*np.nonzero(assignment.cells), strict=True)
    }
    assert cells == claimed, "the cells are not those of the matrix"
    sizes = sorted(cells.values())
    if problem.objective == "k":
        assert assignment.value == sizes[0], f"K is {sizes[0]}, not {assignment.value} as claimed"
    else:
        expected = sorted(Counter(sizes).items())
        assert list(assignment.value.items()) == expected, "the anonymity vector is not that of the cells"
    if problem.diverse:
        for (crowd, label), found in kinds.items():
            # Where nobody was added, the pinned people are as they are.
            touched = cells[crowd, label] > int(problem.pinned[crowd, label])
            assert not touched or len(found) >= problem.required_kinds[crowd], "a cell is not diverse enough"
    if assignment.bound is not None:
        worse = (
            assignment.value > assignment.bound
            if problem.objective == "k"
            else assignment.value < assignment.bound
        )
        assert not worse, "the value is better than its own bound"
    assert not assignment.optimal or assignment.value == assignment.bound, (
        "optimal without a bound to show it"
    )
