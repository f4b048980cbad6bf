"""How a method is written: as a function of a problem, its options, and what it is given to work with.

>>> @solver(NoOptions)
... def least(problem: list[int], options: NoOptions, context: SearchContext) -> int:
...     return min(problem)
>>> least([3, 1, 2], budget=Budget(iterations=5))
1
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, Generic, TypeVar

from shoal.runtime.budget import Budget, Run
from shoal.runtime.direction import Direction
from shoal.runtime.observer import Observer, silent
from shoal.runtime.options import NoOptions, Options
from shoal.runtime.seeds import Seeds

__all__ = ["NoOptions", "Options", "SearchContext", "Solver", "solver"]

Problem = TypeVar("Problem")
Chosen = TypeVar("Chosen", bound=Options)
Found = TypeVar("Found")


@dataclass(frozen=True)
class SearchContext:
    """How long a method may search, where its randomness begins, on how many threads, who looks on, where to begin."""

    budget: Budget
    seeds: Seeds
    threads: int
    observer: Observer
    start: Any

    def run(self, usual: int | None = None, direction: Direction = Direction.MINIMISE) -> Run:
        """Begin to spend the budget; ``usual`` is how many iterations it has if it has no limit."""
        budget = self.budget if usual is None else self.budget.or_iterations(usual)
        return budget.start(self.observer, direction=direction)


class Solver(Generic[Problem, Chosen, Found]):
    """A method as others call it: all but the problem has a default."""

    def __init__(
        self, function: Callable[[Problem, Chosen, SearchContext], Found], options: type[Chosen]
    ) -> None:
        update_wrapper(self, function)
        self._function = function
        self._options = options

    def __call__(
        self,
        problem: Problem,
        options: Chosen | None = None,
        *,
        budget: Budget | None = None,
        seeds: Seeds | None = None,
        threads: int = 1,
        observer: Observer = silent,
        start: Any = None,
    ) -> Found:
        """Solve the problem."""
        context = SearchContext(budget or Budget(), seeds or Seeds(), threads, observer, start)
        return self._function(problem, self._options() if options is None else options, context)


def solver(
    options: type[Chosen],
) -> Callable[[Callable[[Problem, Chosen, SearchContext], Found]], Solver[Problem, Chosen, Found]]:
    """Make a method of a function; ``options`` is the model of its options."""
    return lambda function: Solver(function, options)
