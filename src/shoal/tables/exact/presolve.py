"""Solve the smaller problem in place of the original one, and hand back what the caller would have seen."""

from collections.abc import Callable
from dataclasses import replace

from shoal.errors import Infeasible, OutOfTime
from shoal.runtime import Budget, Observer
from shoal.runtime.history import History, Point
from shoal.runtime.observer import mapped
from shoal.tables.model.reduction import Reduction, reduce
from shoal.tables.problem import Problem
from shoal.tables.safety.feasibility import refuse_hopeless
from shoal.tables.safety.sums import add_for_sums
from shoal.tables.solution import Pattern

# Problems with rules on sums keep all their cells up to this size: the small problem does not know the rules, so that
# what it calls optimal may not be.
_SUMS_UP_TO = 3000

Solve = Callable[[Problem, Budget, Observer, Pattern | None], Pattern]


def on_smaller(
    problem: Problem, solve: Solve, *, budget: Budget, observer: Observer, start: Pattern | None = None
) -> Pattern:
    """Call ``solve`` on the smaller problem if there is one, else on the problem itself."""
    small = None
    if problem.sums is None or problem.size > _SUMS_UP_TO:
        small = reduce(problem)
    if small is None:
        return solve(problem, budget, observer, start)
    constant = small.constant
    if budget.target is not None:
        budget = replace(budget, target=budget.target - constant)
    begin = None
    if start is not None:
        cells = small.lower(start.complementary)
        begin = replace(start, complementary=cells, value=small.problem.total_cost(cells), bound=None)
    try:
        found = solve(small.problem, budget, mapped(observer, lambda cost: cost + constant), begin)
    except OutOfTime:
        raise
    except Infeasible:
        # Cells of the smaller table have the name of one among several; the original one names those at fault.
        refuse_hopeless(problem)
        raise
    return _original(small, found)


def _original(small: Reduction, pattern: Pattern) -> Pattern:
    constant = small.constant
    lifted = replace(small.lifted(pattern), history=pattern.history.mapped(lambda cost: cost + constant))
    if small.original.sums is None:
        return lifted
    more = add_for_sums(small.original, lifted.complementary, small.original.cost)
    if more is None:
        raise Infeasible(
            "a sum that one relation gives away stays sensitive even if all that may be hidden is"
        )
    value = small.original.total_cost(more)
    optimal = lifted.optimal and more.size == lifted.complementary.size
    last = History((Point(lifted.work, lifted.seconds, value, lifted.bound),))
    return replace(lifted, complementary=more, value=value, optimal=optimal, history=last)
