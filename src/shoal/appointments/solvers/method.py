"""How every method begins and ends: what the registry passes becomes a run, and what was found an assignment."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from shoal.appointments.problem import Problem
from shoal.appointments.solution import Assignment, settle
from shoal.errors import InputError
from shoal.runtime.budget import StopReason
from shoal.runtime.solver import NoOptions, SearchContext, Solver


class SearchResult(NamedTuple):
    """The plan a search ends with and the best that is possible; ``complete`` if no budget cut it short.

    With a bound that is not ``proved`` nothing is called optimal. ``course`` and ``nodes`` are what a search counted.
    """

    matrix: np.ndarray
    bound: Any
    proved: bool = True
    complete: bool = False
    course: Any = ()
    nodes: int | None = None


def method(units: int | None = None) -> Callable[[Callable[..., SearchResult]], Callable[..., Assignment]]:
    """Make a method of a search ``(problem, options, run, seeds)``; ``units`` of work are its default budget."""

    def as_method(search: Callable[..., SearchResult]) -> Callable[..., Assignment]:
        @wraps(search)
        def solve(problem: Problem, options: Any, context: SearchContext) -> Assignment:
            run = context.run(units, problem.direction)
            found = search(problem, options, run, context.seeds)
            value = problem.value(found.matrix)
            run.report(value, bound=found.bound)
            if found.proved and value == found.bound:
                run.finish(StopReason.OPTIMAL)
            elif found.complete:
                run.finish(StopReason.ITERATIONS)
            return settle(
                problem,
                found.matrix,
                bound=found.bound,
                proved=found.proved,
                course=tuple(found.course),
                nodes=found.nodes,
                **run.closing(),
            )

        return Solver(solve, NoOptions)

    return as_method


def refuse_diversity(problem: Problem, name: str) -> None:
    """For methods that do not look at kinds of people."""
    if problem.diverse:
        raise InputError(f"method '{name}' knows no diversity; use constraint, lexicographic or auto")


def demand_plain(problem: Problem, name: str) -> None:
    """For methods that know sizes and capacities alone."""
    if not problem.plain or problem.objective != "k":
        raise InputError(f"method '{name}' takes plain group sizes and capacities with objective k only")
