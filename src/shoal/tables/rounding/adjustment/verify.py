"""The independent check of an adjustment: figures in fractions, and true tables it may have come from for what can be computed.

Nothing is shared with the search: what must move, what may, what it costs and what outsiders and insiders could conclude is
worked out anew.
"""

from fractions import Fraction

import numpy as np

from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.solution import Adjustment
from shoal.tables.rounding.adjustment.witnesses import Possible
from shoal.tables.rounding.exact_figures import in_units, last_decimal, sums_of

_TINY = 1e-9


def verify(problem: AdjustmentProblem, adjustment: Adjustment) -> None:
    """Raise ``AssertionError`` unless every relation holds, every cell moved as it must and may, and none is known too well."""
    table, protect = problem.table, problem.protect
    published = published_figures(problem, adjustment.change)
    assert published.size == table.cells, "some cells are missing"
    expect_sums(problem, published)
    change = _moved(problem, published)
    near = _TINY * np.maximum(np.abs(table.values), 1.0)
    assert (published >= protect.low - near).all() and (published <= protect.high + near).all(), (
        "a bound is broken"
    )
    assert (np.abs(change[~problem.movable]) <= near[~problem.movable]).all(), "a cell moved that must not"
    if problem.limit is not None:
        others = ~protect.is_sensitive
        most = problem.limit * np.abs(table.values)
        assert (np.abs(change) <= most + near)[others].all(), "a cell moved further than it may"
    for cell, up, down in zip(protect.sensitive.tolist(), problem.up, problem.down, strict=True):
        share = 1.0 - 1e-7
        assert change[cell] >= share * up or -change[cell] >= share * down, (
            f"the cell {table.name(cell)} is too near to its value"
        )
    cost = float(np.sum(problem.weight * np.abs(change)))
    assert abs(cost - adjustment.value) <= 1e-6 * max(1.0, cost), f"it costs {cost}, not {adjustment.value}"
    assert adjustment.bound is None or adjustment.bound <= cost * (1 + 1e-6) + 1e-9, (
        "the bound is above the cost"
    )
    assert not adjustment.optimal or adjustment.bound is not None, "optimal without a bound"
    _expect_uncertain(problem, change)


def published_figures(problem: AdjustmentProblem, change: np.ndarray) -> np.ndarray:
    """The figures that go out, with as many decimals as the table has."""
    found: np.ndarray = problem.table.values + np.asarray(change, dtype=np.float64)
    if problem.unit is None:
        return found
    # A whole number divided by a power of ten is the figure as it is written.
    per_one = round(1.0 / problem.unit)
    return np.asarray(np.rint(found * per_one) / per_one)


def _moved(problem: AdjustmentProblem, published: np.ndarray) -> np.ndarray:
    """By how much figures changed: beside many digits a difference of two of them is no longer whole units of the last one."""
    found: np.ndarray = published - problem.table.values
    if problem.unit is None:
        return found
    per_one = round(1.0 / problem.unit)
    return np.asarray(np.rint(found * per_one) / per_one)


def expect_sums(problem: AdjustmentProblem, published: np.ndarray) -> None:
    """Raise ``AssertionError`` unless every relation holds as well as it did before."""
    table = problem.table
    scale = last_decimal(published, table.values)
    if scale is not None:
        gaps = sums_of(table.matrix, in_units(published, scale) - in_units(table.values, scale))
        if gaps is not None and not gaps.any():
            return
    figures = [Fraction(repr(float(value))) for value in published]
    before = [Fraction(repr(float(value))) for value in table.values]
    for relation in range(table.relations):
        terms = list(zip(table.relation(relation).tolist(), table.signs_of(relation).tolist(), strict=True))
        gap = sum(Fraction(sign) * (figures[cell] - before[cell]) for cell, sign in terms)
        size = sum(abs(before[cell]) for cell, _ in terms)
        allowed = Fraction(0) if problem.unit is not None else Fraction(1, 10**9) * size
        assert abs(gap) <= allowed, "a relation does not add up"


def _expect_uncertain(problem: AdjustmentProblem, change: np.ndarray) -> None:
    """True tables exist in which each sensitive cell is as low, and as high, as its levels ask, for whoever knows some cells."""
    protect = problem.protect
    possible = Possible(problem, change)
    needs = possible.needs()
    failed = [need.cell for need in possible.failing(needs)] or possible.narrow(protect.sensitive.tolist())
    assert not failed, f"the cell {problem.table.name(failed[0])} can be computed too closely"
    for number, known in enumerate(protect.insiders):
        own = set(known.tolist())
        given = (
            dict(zip(protect.conceded[number].tolist(), protect.left[number].tolist(), strict=True))
            if protect.conceded
            else {}
        )
        mine = [need for need in needs if need.cell not in own and (need.rising or need.cell not in given)]
        wide = [cell for cell in protect.sensitive.tolist() if cell not in own and cell not in given]
        failed = [need.cell for need in possible.failing(mine, known)] or possible.narrow(wide, known)
        failed = failed or [cell for cell, rest in given.items() if possible.closer(cell, rest, known)]
        assert not failed, (
            f"a sole contributor can compute the cell {problem.table.name(failed[0])} too closely"
        )
