"""The default: the best heuristic at once, then the exact search as long as the budget lasts."""

from shoal.search import Budget, Observer, Seeds
from shoal.tables.exact import search
from shoal.tables.exact.search import ExactOptions
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern


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
    return search.solve(
        problem, options, budget=budget, seeds=seeds, threads=threads, observer=observer, start=start
    )
