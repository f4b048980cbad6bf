"""Appointments drawn at random: what happens when nobody thinks of anonymity. The baseline to compare with."""

from typing import Any, Literal

import numpy as np
from pydantic import Field

from shoal.appointments.bounds.limits import best_vector, largest_k
from shoal.appointments.problem import Problem
from shoal.appointments.solution import Assignment, settle
from shoal.appointments.solvers import fill_kernels
from shoal.errors import InputError
from shoal.search import Budget, Observer, Seeds, silent
from shoal.search.budget import StopReason
from shoal.search.options import Options

MOST_PROBED = 50_000_000


class RandomOptions(Options):
    """``draw``: everybody draws a free seat (``seat``), or a slot and the next with room if it is full (``probe``).

    ``probe`` is the baseline of the published experiments (Cabana Ramírez 2016); with it the order of people matters.
    """

    draw: Literal["seat", "probe"] = Field(
        default="seat",
        description="everybody draws a free seat, or a slot and the next with room if it is full",
    )


def draw(problem: Problem, seeds: Seeds, how: str = "seat") -> np.ndarray:
    """A random assignment."""
    if how == "seat":
        return fill_kernels.seats(problem, seeds.generator())
    if problem.people > MOST_PROBED:
        raise InputError(f"'probe' serves people one by one, at most {MOST_PROBED:,}; use 'seat'")
    return fill_kernels.probe(problem.sizes, problem.capacities, problem.eligible, seeds.state())


def solve(
    problem: Problem,
    options: RandomOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer = silent,
    start: Any = None,
) -> Assignment:
    """One random assignment, with no attempt to improve it."""
    if problem.diverse:
        raise InputError("method 'random' knows no diversity; use constraint, lexicographic or auto")
    run = budget.start(observer, direction=problem.direction)
    matrix = draw(problem, seeds.child("random"), options.draw)
    bound = largest_k(problem) if problem.objective == "k" else best_vector(problem)
    run.spend(1)
    run.report(problem.value(matrix), bound=bound)
    run.finish(StopReason.OPTIMAL if problem.value(matrix) == bound else StopReason.ITERATIONS)
    return settle(problem, matrix, bound=bound, **run.closing())
