"""``shoal.assign``: appointments for people in slots, so that being seen somewhere singles out as few as possible."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.methods import METHODS
from shoal.appointments.problem import Problem
from shoal.appointments.solution import Assignment
from shoal.appointments.verify import verify, verify_people
from shoal.arguments import checked
from shoal.errors import InputError
from shoal.numbers import whole
from shoal.report.glance import Glance
from shoal.search import Budget, Observer, Seeds, silent
from shoal.search.budget import StopReason

if TYPE_CHECKING:
    from shoal.appointments.people.rows import Population
    from shoal.appointments.people.slots import Slots
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
        }


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
        }

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
        from shoal.appointments.report import plan_page

        return plan_page(self)


@checked
def assign_sizes(
    group_sizes: Sequence[int],
    capacities: Sequence[int],
    *,
    objective: str = "k",
    method: str = "auto",
    options: Any = None,
    seed: int = 0,
    threads: int = 1,
    time_limit: float | None = None,
    iterations: int | None = None,
    budget: Budget | None = None,
    observer: Observer = silent,
) -> Plan:
    """Seat groups of people who cannot be told apart in slots of given capacities.

    Parameters
    ----------
    group_sizes : sequence of int
        How many people each group has.
    capacities : sequence of int
        How many seats each slot has, 1 or more.
    objective : {"k", "vector"}, default "k"
        What is best: the largest smallest crowd, or the whole anonymity vector.
    method : str, default "auto"
        How to find the plan; ``shoal assign --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    seed : int, default 0
        Where randomness begins.
    threads : int, default 1
        How many cores to use. They do not change the result.
    time_limit : float, optional
        Stop after this many seconds with the best found.
    iterations : int, optional
        Stop after this much work with the best found.
    budget : Budget, optional
        How long to search, in place of ``time_limit`` and ``iterations``.
    observer : callable, optional
        Called with a ``Progress`` now and then while the search goes on.

    Returns
    -------
    Plan
        ``matrix`` (people by group and slot), ``k`` and ``k_bound``, ``vector`` and ``bound``, ``optimal``, and the
        anonymity of a ``random`` seating beside it.

    Raises
    ------
    InputError
        A size or a capacity is below 1, or the method cannot optimise this objective.
    Infeasible
        There are too few seats.

    See Also
    --------
    assign : the same from tables of people and slots.

    References
    ----------
    - R. J. Cabana Ramírez, master's thesis, Complutense University of Madrid, 2016; R. Caballero, S. Sen and J. F. Nygård,
      Anticipating anonymity in screening program databases, 2017.
    - T. Moro Lías, Complexity and resolution of the K-anonymity problem, Universidad Complutense de Madrid, 2024.

    Examples
    --------
    >>> plan = assign_sizes([4, 4, 5, 2], [4, 2, 4, 3, 2], objective="vector")
    >>> str(plan.vector), plan.k, plan.optimal
    ('(0, 2, 1, 2)', 2, True)
    """
    problem = Problem(group_sizes, capacities, objective)
    if (problem.capacities <= 0).any():
        raise InputError("capacities must be 1 or more")
    budget = budget or Budget(iterations=iterations, seconds=time_limit)
    how = {"seeds": Seeds(seed), "threads": threads, "observer": observer}
    assignment = _solve(problem, method, options, budget, **how)
    before = AnonymityVector.from_sizes(problem.crowd_sizes)
    return Plan(problem, assignment, method, assignment.vector, before, _random(problem, seed))


@checked
def assign(
    people: Any,
    slots: Any,
    *,
    quasi: Iterable[str] | str,
    objective: str = "k",
    method: str = "auto",
    options: Any = None,
    known: Iterable[str] | None = None,
    eligible: Any = None,
    eligibility_known: bool = False,
    pinned: str | None = None,
    diverse: str | None = None,
    diversity: int = 2,
    k: int = 5,
    seed: int | None = None,
    threads: int = 1,
    time_limit: float | None = None,
    iterations: int | None = None,
    budget: Budget | None = None,
    observer: Observer = silent,
) -> Appointments:
    """Give everybody an appointment so that the slot, added to the quasi-identifier, singles out as few as possible.

    Parameters
    ----------
    people : DataFrame
        One row for each person: a frame of pandas, Polars or Arrow.
    slots : DataFrame
        Columns ``slot`` and ``capacity``, ``booked`` if seats are taken already; every other column is an attribute.
    quasi : str or iterable of str
        The columns somebody may know of a person.
    objective : {"k", "vector"}, default "k"
        What is best: the largest smallest crowd, or the whole anonymity vector.
    method : str, default "auto"
        How to find the plan; ``shoal assign --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    known : iterable of str, optional
        The attributes an attacker learns of a slot; by default the slot itself.
    eligible : str or DataFrame, optional
        Where people may go: a column of the people (``"A;B;hour=9"``), or a frame that joins people to slots.
    eligibility_known : bool, default False
        An attacker knows where people may go.
    pinned : str, optional
        The column of the people with appointments that stand.
    diverse : str, optional
        The column of which every crowd at a slot must hold several values.
    diversity : int, default 2
        How many values of ``diverse`` that are.
    k : int, default 5
        Crowds below it count as exposed; it changes nothing in the plan.
    seed : int or None, default None
        Where randomness begins. Without one the search begins at 0, and who of a crowd gets which seat is drawn from the
        system's entropy.
    threads : int, default 1
        How many cores to use. They do not change the result.
    time_limit : float, optional
        Stop after this many seconds with the best found.
    iterations : int, optional
        Stop after this much work with the best found.
    budget : Budget, optional
        How long to search, in place of ``time_limit`` and ``iterations``.
    observer : callable, optional
        Called with a ``Progress`` now and then while the search goes on.

    Returns
    -------
    Appointments
        ``people`` (of the kind that came in, with the columns of the slot), ``k``, ``k_before`` and ``k_bound``,
        ``vector`` and ``bound``, ``optimal``, ``exposed``, ``loads``; ``report()`` is a page to sign.

    Raises
    ------
    InputError
        A column is missing or would be overwritten, a slot is listed twice, or the method cannot optimise this objective.
    Infeasible
        There are too few seats, or people with no slot they may go to.

    See Also
    --------
    assign_sizes : the same from numbers alone.
    anonymity : K of the people before and after.

    References
    ----------
    - R. J. Cabana Ramírez, master's thesis, Complutense University of Madrid, 2016; R. Caballero, S. Sen and J. F. Nygård,
      Anticipating anonymity in screening program databases, 2017.
    - T. Moro Lías, Complexity and resolution of the K-anonymity problem, Universidad Complutense de Madrid, 2024.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"zip": [1, 1, 1, 2, 2], "sex": ["f", "f", "f", "m", "m"]})
    >>> slots = pl.DataFrame({"slot": ["a", "b"], "capacity": [3, 3], "hour": [9, 13]})
    >>> plan = assign(people, slots, quasi=["zip", "sex"])
    >>> plan.k, plan.k_before, plan.optimal, plan.people.columns
    (2, 2, True, ['zip', 'sex', 'slot', 'hour'])
    """
    from shoal.appointments.people.frames import as_polars, with_columns
    from shoal.appointments.people.rows import sort_into_rows
    from shoal.appointments.people.slots import Slots

    whole(k, "k", least=1)
    whole(diversity, "diversity", least=1)
    names = [quasi] if isinstance(quasi, str) else list(quasi)
    attributes = None if known is None else list(known)
    frame = as_polars(people, "people")
    table = Slots.read(as_polars(slots, "slots"))
    for name in (str(table.ids.name), *table.attributes.columns):
        # People who have an appointment bring its columns along; those are filled in again.
        if name in frame.columns and pinned is None:
            raise InputError(
                f"the people already have a column '{name}', which the appointments would overwrite; rename it"
            )
    by_column = eligible is None or isinstance(eligible, str)
    population = sort_into_rows(
        frame,
        table,
        quasi=names,
        objective=objective,
        known=attributes,
        eligible=eligible if by_column else as_polars(eligible, "eligibility"),
        eligibility_known=eligibility_known,
        pinned=pinned,
        diverse=diverse,
        diversity=diversity if diverse else 1,
    )
    problem, assignment = population.problem, None
    if problem is not None:
        budget = budget or Budget(iterations=iterations, seconds=time_limit)
        how = {"seeds": Seeds(seed or 0), "threads": threads, "observer": observer}
        assignment = _solve(problem, method, options, budget, **how)
    slot_of = population.place(None if assignment is None else assignment.matrix, Seeds(seed))
    vector = AnonymityVector.from_sizes(population.cells(slot_of))
    if assignment is None or problem is None:
        # Everybody keeps their appointment.
        random, optimal = vector, True
        bound = vector.k if objective == "k" else vector
    else:
        verify_people(population, table, slot_of, assignment, vector)
        random = _random(problem, seed or 0)
        bound, optimal = assignment.bound, assignment.optimal
    return Appointments(
        people=with_columns(people, frame, table, slot_of),
        slot_of=slot_of,
        vector=vector,
        vector_before=AnonymityVector.from_sizes(population.crowd_sizes),
        random=random,
        bound=bound,
        optimal=optimal,
        method=method,
        objective=objective,
        k_required=k,
        slots=table,
        population=population,
        assignment=assignment,
        quasi=tuple(names),
        known=None if attributes is None else tuple(attributes),
        settings={
            "seed": "system entropy" if seed is None else seed,
            "eligibility": eligible if by_column else "a table",
            "pinned": pinned,
            "diversity": f"{diversity} of {diverse}" if diverse else None,
        },
    )


def _solve(problem: Problem, method: str, options: Any, budget: Budget, **how: Any) -> Assignment:
    chosen = METHODS[method]
    if problem.objective not in chosen.objectives:
        fitting = [name for name, other in METHODS.items() if problem.objective in other.objectives]
        raise InputError(
            f"method '{method}' cannot optimise objective {problem.objective}; these can: {', '.join(fitting)}"
        )
    assignment: Assignment = chosen.solve(problem, options, budget=budget, **how)
    verify(problem, assignment)
    return assignment


def _k_bound(problem: Problem, assignment: Assignment) -> int:
    from shoal.appointments.bounds.limits import largest_k

    return largest_k(problem) if assignment.k_bound is None else min(assignment.k_bound, largest_k(problem))


def _random(problem: Problem, seed: int) -> AnonymityVector:
    """What a random seating of the same people would have been, for comparison."""
    from shoal.appointments.solvers.random import draw

    cells = problem.cells(draw(problem, Seeds(seed).child("baseline")))
    return AnonymityVector.from_sizes(cells[cells > 0])


def crowds(vector: AnonymityVector) -> dict[str, int]:
    """How many crowds there are of each size, as JSON can hold it."""
    return {str(size): count for size, count in vector.items()}
