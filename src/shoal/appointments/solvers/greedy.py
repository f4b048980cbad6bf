"""Greedy rules: quick, and often good enough."""

from typing import Any, Literal

import numpy as np
from pydantic import Field

from shoal.appointments.bounds.limits import best_vector, largest_k
from shoal.appointments.problem import Problem
from shoal.appointments.solution import Assignment, settle
from shoal.appointments.solvers import fill_kernels
from shoal.appointments.solvers.annealing import best_of
from shoal.errors import InputError
from shoal.search import Budget, Observer, Seeds, silent
from shoal.search.budget import StopReason
from shoal.search.options import Options


class GreedyOptions(Options):
    """``rule``: the published one, best fit, or the better of the two."""

    rule: Literal["better", "published", "best-fit"] = Field(
        default="better", description="the published rule, best fit, or the better of the two"
    )


def solve(
    problem: Problem,
    options: GreedyOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer = silent,
    start: Any = None,
) -> Assignment:
    """Seat the largest crowd first.

    ``published`` takes as few of the largest slots as hold a group (Cabana Ramírez 2016, with its loose ends tied up);
    ``best-fit`` takes the tightest slot that holds it whole, or fills the largest and goes on.
    """
    if problem.diverse:
        raise InputError("method 'greedy' knows no diversity; use constraint, lexicographic or auto")
    run = budget.start(observer, direction=problem.direction)
    candidates: list[np.ndarray] = []
    if options.rule in ("better", "best-fit"):
        candidates.append(fill_kernels.fit(problem))
    if options.rule in ("better", "published"):
        candidates.append(fill_kernels.greedy(problem))
    matrix = best_of(problem, candidates)
    bound = largest_k(problem) if problem.objective == "k" else best_vector(problem)
    run.spend(1)
    run.report(problem.value(matrix), bound=bound)
    run.finish(StopReason.OPTIMAL if problem.value(matrix) == bound else StopReason.ITERATIONS)
    return settle(problem, matrix, bound=bound, **run.closing())
