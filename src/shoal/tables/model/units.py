"""Tables in any unit: solvers with absolute tolerances see figures of ordinary size.

All factors are powers of two, which change no digit of any figure.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.runtime import Method
from shoal.runtime.observer import mapped
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem

# Where the middle of all values, or of all costs, lies between these, they are left alone.
_ORDINARY = (1.0, 1e6)
# A level this much smaller than the largest value is lost in the rounding of the sums.
_LOST = 1e-16


def ordinary(problem: Problem) -> tuple[Problem, float, float]:
    """The problem in a convenient unit, and what its values and its costs were multiplied by."""
    values, costs = _factor(problem.table.values), _factor(problem.cost)
    if values == 1.0 and costs == 1.0:
        return problem, 1.0, 1.0
    scaled = problem.with_changes(
        table=_times(problem.table, values),
        lower=problem.lower * values,
        upper=problem.upper * values,
        sliding=problem.sliding * values,
        low=problem.low * values,
        high=problem.high * values,
        cost=problem.cost * costs,
        left=tuple(amounts * values for amounts in problem.left),
    )
    return scaled, values, costs


def _factor(figures: np.ndarray) -> float:
    sizes = np.sort(np.abs(figures[figures != 0]))
    if sizes.size == 0:
        return 1.0
    # The median, as NumPy computes it once it has loaded masked arrays.
    middle = float(sizes[(sizes.size - 1) // 2] + sizes[sizes.size // 2]) / 2
    if _ORDINARY[0] <= middle <= _ORDINARY[1]:
        return 1.0
    return float(2.0 ** (7 - np.ceil(np.log2(middle))))


def _times(table: Table, factor: float) -> Table:
    if factor == 1.0:
        return table
    found = replace(
        table, values=table.values * factor, rhs=None if table.rhs is None else table.rhs * factor
    )
    # The relations are the same: what is known of them need not be found again.
    for name in ("matrix", "network", "internal", "index"):
        if name in table.__dict__:
            found.__dict__[name] = table.__dict__[name]
    return found


def refuse_lost_levels(problem: Problem) -> None:
    """Raise ``InputError`` if floating-point numbers cannot hold a level beside the largest value."""
    lost = _LOST * float(np.abs(problem.table.values).max())
    for levels in (problem.lower, problem.upper, problem.sliding):
        small = np.flatnonzero((levels > 0) & (levels < lost))
        if small.size:
            cell = problem.table.name(int(problem.sensitive[small[0]]))
            raise InputError(
                f"the values span too many orders of magnitude: the protection of the cell {cell} is lost in the "
                "rounding of the largest value"
            )


class ScaledMethod(Method):
    """A method that sees every problem in a convenient unit; nobody else does."""

    def solve(self, problem: Any, options: Any = None, **keywords: Any) -> Any:
        """Run the solver; ``options`` is its options model, a mapping for it, or nothing for the defaults."""
        small, _, factor = ordinary(problem)
        if small is problem:
            return super().solve(problem, options, **keywords)
        if factor != 1.0:
            budget = keywords.get("budget")
            if budget is not None and budget.target is not None:
                keywords["budget"] = replace(budget, target=budget.target * factor)
            if keywords.get("observer") is not None:
                keywords["observer"] = mapped(keywords["observer"], lambda cost: cost / factor)
            if keywords.get("start") is not None:
                keywords["start"] = _in_other_units(keywords["start"], factor)
        found = super().solve(small, options, **keywords)
        history = found.history.mapped(lambda cost: cost / factor)
        return replace(_in_other_units(found, 1.0 / factor), history=history)


def _in_other_units(solution: Any, factor: float) -> Any:
    bound = None if solution.bound is None else solution.bound * factor
    return replace(solution, value=solution.value * factor, bound=bound)
