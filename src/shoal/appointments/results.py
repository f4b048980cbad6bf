"""What comes out of an assignment: a plan of sizes or appointments of people, and how well it hides them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.problem import Problem
from shoal.appointments.solution import Assignment
from shoal.appointments.vector_rank import Places, figures, places
from shoal.errors import InputError
from shoal.report.glance import Glance
from shoal.runtime.budget import StopReason

if TYPE_CHECKING:
    from shoal.appointments.people.rows import Population
    from shoal.appointments.people.slots import Slots
    from shoal.appointments.reductions import Answer
    from shoal.report.page import Page


class _Anonymous(Glance):
    """What a plan of sizes and one of people both say of the crowds that are left."""

    vector: AnonymityVector
    vector_before: AnonymityVector
    random: AnonymityVector
    warnings: tuple[str, ...] = ()

    @property
    def k(self) -> int:
        """The size of the smallest crowd when the slots are known."""
        return self.vector.k

    @property
    def k_before(self) -> int:
        """The size of the smallest crowd before any slot is known."""
        return self.vector_before.k

    @property
    def k_bound(self) -> int:
        """The largest K that is possible at all, as far as is proved."""
        raise NotImplementedError

    def _crowds(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "k_before": self.k_before,
            "k_bound": self.k_bound,
            "k_random": self.random.k,
            "vector": crowds(self.vector),
            "vector_before": crowds(self.vector_before),
            "mean_crowd": self.vector.weighted_mean_size,
            "mean_crowd_before": self.vector_before.weighted_mean_size,
            "mean_crowd_random": self.random.weighted_mean_size,
            **figures(self.places),
        }

    @property
    def places(self) -> Places | None:
        """Where the plan stands among all vectors of its people; ``None`` for very many."""
        return places(self.vector, self.vector_before, self.random)


@dataclass(frozen=True, repr=False)
class Plan(_Anonymous):
    """Group sizes seated in slots of given capacities.

    ``vector_before`` is the anonymity before any slot is known; ``random`` that of a random seating of the same people.
    """

    problem: Problem
    assignment: Assignment
    method: str
    vector: AnonymityVector
    vector_before: AnonymityVector
    random: AnonymityVector
    answer: "Answer | None" = None

    def glance(self) -> dict[str, Any]:
        """How many people sit where, K and what is proved of it."""
        return {
            "people": self.problem.people,
            "groups": self.problem.rows,
            "slots": self.problem.slots,
            "k": self.k,
            "k_bound": self.k_bound,
            "k_before": self.k_before,
            "optimal": self.optimal,
            "objective": self.problem.objective,
            "method": self.method,
        }

    def to_dict(self) -> dict[str, Any]:
        """The figures of the plan as plain numbers and lists."""
        return {
            "method": self.method,
            "objective": self.problem.objective,
            "people": self.problem.people,
            **self._crowds(),
            "optimal": self.optimal,
            "matrix": self.matrix,
            "loads": self.assignment.loads.tolist(),
            "work": self.assignment.work,
            "stopped_by": str(self.assignment.stopped_by),
            "seconds": self.assignment.seconds,
            **self._counted(),
        }

    def _counted(self) -> dict[str, Any]:
        """What the search counted, and the answer to the question the sizes stand for, where there is one."""
        found: dict[str, Any] = {}
        if self.assignment.nodes is not None:
            found["nodes"] = self.assignment.nodes
        if self.assignment.course:
            names = ("generation", "k", "violations")
            found["course"] = [dict(zip(names, point, strict=True)) for point in self.assignment.course]
        if self.answer is not None:
            halves = self.answer.halves
            found |= {
                "k_asked": self.answer.k_required,
                "answer": {True: "yes", False: "no", None: "unknown"}[self.answer.yes],
                "certificate": None if halves is None else [list(half) for half in halves],
            }
        return found

    @property
    def k_bound(self) -> int:
        """The largest K that is possible at all, as far as is proved."""
        return _k_bound(self.problem, self.assignment)

    @property
    def bound(self) -> Any:
        """The best that is possible at all, as far as is proved: a K or a vector, as the objective asks."""
        return self.assignment.bound

    @property
    def optimal(self) -> bool:
        """Whether nothing better exists."""
        return self.assignment.optimal

    @property
    def matrix(self) -> list[list[int]]:
        """People by group (rows) and slot (columns)."""
        matrix: list[list[int]] = self.assignment.matrix.tolist()
        return matrix


@dataclass(frozen=True, repr=False)
class Appointments(_Anonymous):
    """Everybody's appointment and how anonymous it leaves them.

    ``people`` is the frame that came in with the columns of the slot added; ``slot_of`` the place of everybody's slot in the
    table of slots. Vectors count crowds of the quasi-identifier together with what is known of the slot. ``random_slot_of``
    is everybody's slot in a random plan, where there is one beside this. ``warnings`` are what nobody should miss.
    """

    people: Any
    slot_of: np.ndarray
    vector: AnonymityVector
    vector_before: AnonymityVector
    random: AnonymityVector
    bound: Any
    optimal: bool
    method: str
    objective: str
    k_required: int
    slots: "Slots"
    population: "Population"
    assignment: Assignment | None
    quasi: tuple[str, ...]
    known: tuple[str, ...] | None
    settings: dict[str, Any] = field(default_factory=dict)
    random_slot_of: np.ndarray | None = None
    warnings: tuple[str, ...] = ()

    def glance(self) -> dict[str, Any]:
        """How many people there are, K and what is proved of it."""
        return {
            "people": self.population.people,
            "k": self.k,
            "k_bound": self.k_bound,
            "k_before": self.k_before,
            "exposed": self.exposed,
            "optimal": self.optimal,
            "objective": self.objective,
            "method": self.method,
        }

    @property
    def k_bound(self) -> int:
        """The largest K that is possible at all, as far as is proved."""
        if self.assignment is None or self.population.problem is None:
            return self.k
        return _k_bound(self.population.problem, self.assignment)

    @property
    def exposed_before(self) -> int:
        """People in crowds below the required k before any appointment; no plan can help them."""
        return self.vector_before.below(self.k_required)

    @property
    def exposed(self) -> int:
        """People in crowds below the required k now."""
        return self.vector.below(self.k_required)

    @property
    def loads(self) -> np.ndarray:
        """People at each slot, those who kept their appointment and booked seats included."""
        return np.bincount(self.slot_of, minlength=self.slots.ids.len()) + self.slots.booked

    def loads_by_slot(self) -> Iterator[tuple[Any, int, int]]:
        """The name of each slot, its seats, and how many of them are taken."""
        return zip(self.slots.ids.to_list(), self.slots.capacities, self.loads, strict=True)

    @property
    def stopped_by(self) -> StopReason:
        """What ended the search."""
        return StopReason.OPTIMAL if self.assignment is None else self.assignment.stopped_by

    @property
    def homogeneous(self) -> int:
        """Slots in which everybody of this plan belongs to one crowd: whoever is seen there gives the crowd away.

        Slots that look the same to an attacker, as far as ``known`` goes, are one place and share their crowds.
        """
        label_of_slot, crowd = self.population.label_of_slot, self.population.crowd
        label = label_of_slot[self.slot_of]
        alone = [seen for seen in np.unique(label) if np.unique(crowd[label == seen]).size == 1]
        return int(np.isin(label_of_slot[np.unique(self.slot_of)], alone).sum())

    def to_dict(self) -> dict[str, Any]:
        """The figures of the plan as plain numbers and lists."""
        return {
            "method": self.method,
            "objective": self.objective,
            "people": self.population.people,
            "crowds": int(self.population.crowd_sizes.size),
            **self._crowds(),
            "vector_random": crowds(self.random),
            "optimal": self.optimal,
            "k_required": self.k_required,
            "exposed": self.exposed,
            "exposed_before": self.exposed_before,
            "homogeneous_slots": self.homogeneous,
            "slots": [
                {"slot": str(name), "capacity": int(seats), "load": int(load)}
                for name, seats, load in self.loads_by_slot()
            ],
            "stopped_by": str(self.stopped_by),
        }

    def attended(self, came: Any) -> AnonymityVector:
        """The anonymity of those who came (a mask or places of people): no-shows make crowds smaller."""
        mask = np.asarray(came)
        if mask.dtype == bool and mask.shape != (self.population.people,):
            raise InputError("who came must be said for everybody")
        if not mask.size or (mask.dtype == bool and not mask.any()):
            return AnonymityVector(())
        return AnonymityVector.from_sizes(self.population.cells(self.slot_of, mask))

    def report(self) -> "Page":
        """A page for the person who signs."""
        from shoal.appointments.assurances import of_plan
        from shoal.appointments.definitions import DEFINITIONS
        from shoal.appointments.report import plan_page
        from shoal.report.python_call import completed

        return completed(plan_page(self), self, of_plan(self), DEFINITIONS)


def _k_bound(problem: Problem, assignment: Assignment) -> int:
    from shoal.appointments.bounds.limits import largest_k

    return largest_k(problem) if assignment.k_bound is None else min(assignment.k_bound, largest_k(problem))


def crowds(vector: AnonymityVector) -> dict[str, int]:
    """How many crowds there are of each size, as JSON can hold it."""
    return {str(size): count for size, count in vector.items()}
