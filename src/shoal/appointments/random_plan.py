"""A random plan beside the one that was found: what is written as REC_RAND, and what its figures say."""

from dataclasses import replace

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.results import Appointments
from shoal.appointments.solvers.random import MOST_PROBED, draw
from shoal.runtime import Seeds


def with_random_plan(plan: Appointments, seed: int | None = None) -> Appointments:
    """The plan with a random one for the same people, drawn as in the published experiments.

    Its figures are those of ``random_slot_of``. People who are to keep their appointment do so; nothing else is obeyed but
    capacities and eligibility.

    >>> import polars as pl, shoal
    >>> people = pl.DataFrame({"zip": [1, 1, 1, 2, 2, 2]})
    >>> slots = pl.DataFrame({"slot": ["a", "b"], "capacity": [3, 3]})
    >>> plan = with_random_plan(shoal.assign(people, slots, quasi="zip"), seed=1)
    >>> plan.k, plan.random.k, plan.random_slot_of.tolist()
    (3, 1, [1, 0, 0, 0, 1, 1])
    """
    seeds = Seeds(seed).child("random")
    problem, matrix = plan.population.problem, None
    if problem is not None:
        # One by one only as far as that can be done.
        matrix = draw(problem, seeds, "probe" if problem.people <= MOST_PROBED else "seat")
    slot_of = plan.population.seat(matrix, seeds)
    vector = AnonymityVector.from_sizes(plan.population.cells(slot_of))
    return replace(plan, random=vector, random_slot_of=slot_of)
