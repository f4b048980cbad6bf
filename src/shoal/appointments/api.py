"""``shoal.assign``: appointments for people in slots, so that being seen somewhere singles out as few as possible."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.methods import METHODS
from shoal.appointments.problem import Problem
from shoal.appointments.results import Appointments, Plan
from shoal.appointments.solution import Assignment
from shoal.appointments.verify import verify, verify_people
from shoal.arguments import checked
from shoal.errors import InputError
from shoal.numbers import whole
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.observer import Witness

if TYPE_CHECKING:
    pass


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
    slot_of = population.seat(None if assignment is None else assignment.matrix, Seeds(seed))
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
    witness = Witness(how.pop("observer"))
    assignment: Assignment = chosen.solve(problem, options, budget=budget, observer=witness, **how)
    witness.verification()
    verify(problem, assignment)
    return assignment


def _random(problem: Problem, seed: int) -> AnonymityVector:
    """What a random seating of the same people would have been, for comparison."""
    from shoal.appointments.solvers.random import draw

    cells = problem.cells(draw(problem, Seeds(seed).child("baseline")))
    return AnonymityVector.from_sizes(cells[cells > 0])
