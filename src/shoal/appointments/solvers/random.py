"""Appointments drawn at random: what happens when nobody thinks of anonymity. The baseline to compare with."""

from typing import Literal

import numpy as np
from pydantic import Field

from shoal.appointments.bounds.limits import best_value
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import fill_kernels, filling
from shoal.appointments.solvers.method import SearchResult, method, refuse_diversity
from shoal.errors import InputError
from shoal.runtime import Run, Seeds
from shoal.runtime.options import Options

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
        return filling.seats(problem, seeds.generator())
    if problem.people > MOST_PROBED:
        raise InputError(f"'probe' serves people one by one, at most {MOST_PROBED:,}; use 'seat'")
    return fill_kernels.probe(problem.sizes, problem.capacities, problem.eligible, seeds.state())


@method()
def solve(problem: Problem, options: RandomOptions, run: Run, seeds: Seeds) -> SearchResult:
    """One random assignment, with no attempt to improve it."""
    refuse_diversity(problem, "random")
    matrix = draw(problem, seeds.child("random"), options.draw)
    run.spend(1)
    return SearchResult(matrix, best_value(problem), complete=True)
