"""The appointment problem: people in rows, seats in slots, and what an attacker sees of both."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from shoal.errors import Infeasible, InputError
from shoal.runtime import Direction

OBJECTIVES = ("k", "vector")


@dataclass(frozen=True, eq=False)
class Problem:
    """Seat every person so that the smallest crowd (``objective="k"``) or the anonymity vector is best.

    A *row* holds people who may be exchanged for each other; a *crowd* is what an attacker cannot tell apart, and may
    consist of several rows (people who can come at different hours, say). A *slot* has free seats; a *label* is what
    is released of a slot, and several slots may share one. What counts is the number of people in each *cell*, a crowd
    at a label. People who have their appointment already are counted in ``pinned`` (crowds by labels) and take no seat
    any more. With ``diversity`` l every cell must hold l different ``kinds`` of people, or all kinds of its crowd
    where it has fewer.

    >>> problem = Problem([4, 4, 5, 2], [4, 2, 4, 3, 2])
    >>> problem.people, problem.slack, problem.plain
    (15, 0, True)
    """

    sizes: Any
    capacities: Any
    objective: str = "k"
    crowds: Any = None
    labels: Any = None
    eligible: Any = None
    pinned: Any = None
    kinds: Any = None
    pinned_kinds: Any = None
    diversity: int = 1

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise InputError(f"the objective must be k or vector, not '{self.objective}'")
        sizes = whole_numbers(self.sizes, "group sizes")
        capacities = whole_numbers(self.capacities, "capacities")
        if sizes.size == 0:
            raise InputError("there are no people to give an appointment")
        if (sizes <= 0).any():
            raise InputError("group sizes must be 1 or more")
        if capacities.size == 0:
            raise InputError("there are no slots")
        if (capacities < 0).any():
            raise InputError("capacities must not be negative")
        rows, slots = sizes.size, capacities.size
        crowds = _places(self.crowds, rows, "crowds")
        labels = _places(self.labels, slots, "labels")
        eligible = np.ones((rows, slots), bool) if self.eligible is None else np.array(self.eligible, bool)
        if eligible.shape != (rows, slots):
            raise InputError(f"eligibility must be a table of {rows} rows by {slots} slots")
        number_of_crowds, number_of_labels = int(crowds.max()) + 1, int(labels.max()) + 1
        if self.pinned is None:
            pinned = np.zeros((number_of_crowds, number_of_labels), np.int64)
        else:
            pinned = np.array(self.pinned, np.int64)
            if pinned.ndim != 2 or pinned.shape[0] < number_of_crowds or pinned.shape[1] < number_of_labels:
                raise InputError("pinned people must be counted for every crowd and label")
            if (pinned < 0).any():
                raise InputError("numbers of pinned people must not be negative")
        kinds = np.zeros(rows, np.int64) if self.kinds is None else _places(self.kinds, rows, "kinds")
        if self.diversity < 1:
            raise InputError(f"diversity must be at least 1, not {self.diversity}")
        number_of_kinds = int(kinds.max()) + 1
        if self.pinned_kinds is None:
            pinned_kinds = np.zeros((*pinned.shape, number_of_kinds), bool)
        else:
            pinned_kinds = np.array(self.pinned_kinds, bool)
            if pinned_kinds.shape[:2] != pinned.shape or pinned_kinds.shape[2] < number_of_kinds:
                raise InputError("the kinds of pinned people must be given for every crowd and label")
        for name, value in {
            "sizes": sizes,
            "capacities": capacities,
            "crowds": crowds,
            "labels": labels,
            "eligible": eligible,
            "pinned": pinned,
            "kinds": kinds,
            "pinned_kinds": pinned_kinds,
        }.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        self._refuse_what_cannot_be_seated()

    def __getstate__(self) -> dict[str, Any]:
        # What was computed from the fields is computed again where it is needed.
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def _refuse_what_cannot_be_seated(self) -> None:
        people, seats = self.people, int(sum(self.capacities.tolist()))
        if seats < people:
            raise Infeasible(
                f"there are {people} people and {seats} seats: {people - seats} seats are missing"
            )
        if self.eligible.all():
            return
        lost = int(self.sizes[~(self.eligible & (self.capacities > 0)).any(axis=1)].sum())
        if lost:
            raise Infeasible(f"{lost} of {people} people have no slot they are eligible for")
        left = people - self._most_seated()
        if left:
            raise Infeasible(
                f"{left} of {people} people cannot be seated: the slots they are eligible for are too small"
            )

    def _most_seated(self) -> int:
        """How many people can be seated at all: the largest flow from rows to slots."""
        from ortools.graph.python.max_flow import SimpleMaxFlow

        source, sink = self.rows + self.slots, self.rows + self.slots + 1
        flow = SimpleMaxFlow()
        rows, slots = np.nonzero(self.eligible)
        every_row, every_slot = np.arange(self.rows), np.arange(self.slots)
        for tails, heads, most in (
            (np.full(self.rows, source), every_row, self.sizes),
            (rows, self.rows + slots, self.sizes[rows]),
            (self.rows + every_slot, np.full(self.slots, sink), self.capacities),
        ):
            flow.add_arcs_with_capacity(tails.astype(np.int32), heads.astype(np.int32), most)
        assert flow.solve(source, sink) == flow.OPTIMAL, "the largest flow was not found"
        return int(flow.optimal_flow())

    @property
    def rows(self) -> int:
        """Number of rows of people."""
        return int(self.sizes.size)

    @property
    def slots(self) -> int:
        """Number of slots."""
        return int(self.capacities.size)

    @property
    def people(self) -> int:
        """Number of people who get a seat."""
        return int(sum(self.sizes.tolist()))

    @property
    def slack(self) -> int:
        """Seats that stay empty."""
        return int(sum(self.capacities.tolist())) - self.people

    @property
    def direction(self) -> Direction:
        """K is to be large, the anonymity vector small."""
        return Direction.MAXIMISE if self.objective == "k" else Direction.MINIMISE

    @cached_property
    def crowd_sizes(self) -> np.ndarray:
        """People of each crowd, pinned ones included."""
        total = self.pinned.sum(axis=1)
        np.add.at(total, self.crowds, self.sizes)
        return total

    @cached_property
    def label_capacities(self) -> np.ndarray:
        """Free seats behind each label."""
        total = np.zeros(self.pinned.shape[1], np.int64)
        np.add.at(total, self.labels, self.capacities)
        return total

    @cached_property
    def plain(self) -> bool:
        """Whether every row is a crowd, every slot a label, everybody may come anywhere, and nobody is pinned."""
        return bool(
            self.eligible.all()
            and not self.pinned.any()
            and self.pinned.shape == (self.rows, self.slots)
            and (self.crowds == np.arange(self.rows)).all()
            and (self.labels == np.arange(self.slots)).all()
            and not self.diverse
        )

    @property
    def diverse(self) -> bool:
        """Whether cells must hold several kinds of people."""
        return self.diversity > 1 and self.pinned_kinds.shape[2] > 1

    @cached_property
    def required_kinds(self) -> np.ndarray:
        """How many kinds a cell of each crowd must hold: the diversity, or all kinds of the crowd if fewer."""
        present = self.pinned_kinds.any(axis=1)
        present[self.crowds, self.kinds] = True
        return np.minimum(present.sum(axis=1), self.diversity)

    def cells(self, matrix: np.ndarray) -> np.ndarray:
        """People of each crowd at each label when the matrix (rows by slots) says who sits where."""
        cells = self.pinned.copy()
        rows, slots = np.nonzero(matrix)
        np.add.at(cells, (self.crowds[rows], self.labels[slots]), matrix[rows, slots])
        return cells

    def value(self, matrix: np.ndarray) -> Any:
        """The objective's value of an assignment: K, or the anonymity vector."""
        cells = self.cells(matrix)
        occupied = cells[cells > 0]
        if self.objective == "k":
            return int(occupied.min())
        return vector(occupied)

    def with_objective(self, objective: str) -> "Problem":
        """The same people and slots with another aim."""
        return self if objective == self.objective else replace(self, objective=objective)


def vector(cells: np.ndarray) -> Any:
    """The anonymity vector of crowds of these sizes."""
    from shoal.anonymity.vector import AnonymityVector

    return AnonymityVector.from_sizes(cells)


def whole_numbers(values: Any, what: str) -> np.ndarray:
    """The values as 64-bit integers; an ``InputError`` if they are anything else."""
    given = np.array(values)
    if given.ndim != 1:
        raise InputError(f"{what} must be a list of whole numbers")
    if given.size and (
        given.dtype.kind not in "iuf" or (given.dtype.kind == "f" and not (given == np.floor(given)).all())
    ):
        raise InputError(f"{what} must be whole numbers")
    if given.size and float(np.abs(given.astype(float)).sum()) > 2**60:
        raise InputError(f"{what} are too large")
    return given.astype(np.int64)


def _places(values: Any, length: int, what: str) -> np.ndarray:
    if values is None:
        return np.arange(length, dtype=np.int64)
    places = np.array(values, np.int64)
    if places.shape != (length,) or (places < 0).any():
        raise InputError(f"{what} must be {length} numbers from 0")
    return places
