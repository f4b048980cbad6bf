"""The default: the best heuristic at once, then the exact search as long as the budget lasts."""

from shoal.search import Budget, Observer, Seeds
from shoal.tables import exact, general
from shoal.tables.exact import ExactOptions
from shoal.tables.pattern import Pattern
from shoal.tables.problem import Problem

# General tables (no networks) beyond this are protected by the general heuristic alone.
_LARGEST_GENERAL = 7000


def solve(
    problem: Problem,
    options: ExactOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """The best pattern with its bound when the budget ends."""
    if problem.table.network is None and problem.size > _LARGEST_GENERAL:
        return general.solve(
            problem,
            general.GeneralOptions(),
            budget=budget,
            seeds=seeds,
            threads=threads,
            observer=observer,
            start=start,
        )
    return exact.solve(
        problem, options, budget=budget, seeds=seeds, threads=threads, observer=observer, start=start
    )
