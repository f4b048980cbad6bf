"""The independent check of a rounding: in fractions as people write the figures, and by linear programmes of the other kind.

Nothing is shared with the search: what may be published, what it costs and what somebody could conclude are worked out anew.
"""

from dataclasses import replace
from fractions import Fraction
from math import fsum

import numpy as np

from shoal.runtime.linear_programmes import best_values, whole_numbers
from shoal.tables.problem import DOWN, UP, Problem
from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem
from shoal.tables.rounding.controlled_rounding.solution import Rounding
from shoal.tables.rounding.exact_figures import in_units, last_decimal, sums_of
from shoal.tables.verify import unprotected


def verify(problem: RoundingProblem, rounding: Rounding) -> None:
    """Raise ``AssertionError`` unless the rounding is one, costs what it says, and no sensitive cell is known too well."""
    assert len(rounding.multiples) == problem.table.cells, "some cells are missing"
    if not _is_rounding(problem, np.asarray(rounding.multiples).astype(np.int64)):
        _expect_rounding(problem, [int(item) for item in rounding.multiples])
    _expect_cost(problem, rounding)
    attack = seen_by_others(problem, np.asarray(rounding.multiples, dtype=np.float64) * problem.base)
    others = np.setdiff1d(np.arange(problem.table.cells), problem.protect.sensitive)
    failures = unprotected(attack, others) if problem.protect.sensitive.size else []
    if failures:
        raise AssertionError(f"the cell {problem.table.name(failures[0][0])} can be computed too closely")
    if problem.whole and problem.table.network is None:
        _expect_whole_numbers(attack)


def _is_rounding(problem: RoundingProblem, multiples: np.ndarray) -> bool:
    """Whether it surely is one, in whole numbers of the last decimal; where it is not sure, fractions tell what is wrong."""
    table = problem.table
    scale = last_decimal(table.values, np.array([problem.base]))
    if scale is None or (table.rhs is not None and np.any(table.rhs)):
        return False
    values, base = in_units(table.values, scale), round(problem.base * scale)
    figures = multiples * base
    away = np.abs(figures - values)
    sums = sums_of(table.matrix, figures)
    kept = values % base != 0 if problem.steps == 1 else np.ones(values.size, dtype=bool)
    return bool(
        sums is not None
        and not sums.any()
        and (away < problem.steps * base).all()
        and (away[~kept] == 0).all()
        and (multiples[problem.protect.low >= 0] >= 0).all()
    )


def _expect_rounding(problem: RoundingProblem, multiples: list[int]) -> None:
    """Raise ``AssertionError`` unless every cell is a multiple near enough, and every relation adds up; in fractions."""
    base = Fraction(repr(float(problem.base)))
    values = [Fraction(repr(float(value))) for value in problem.table.values]
    nonnegative = [bound >= 0 for bound in problem.protect.low.tolist()]
    for cell, (multiple, value, least) in enumerate(zip(multiples, values, nonnegative, strict=True)):
        away = abs(multiple * base - value)
        # Sums of many decimals may be off by a rounding error.
        near = max(Fraction(1, 10**14) * abs(value), Fraction(1, 10**9) * base)
        assert away < problem.steps * base + near, (
            f"the cell {problem.table.name(cell)} is too far from its value"
        )
        if problem.steps == 1 and _is_multiple(value, base, near):
            assert away <= near, (
                f"the cell {problem.table.name(cell)} was a multiple of the base and is another"
            )
        assert multiple >= 0 or not least, f"the cell {problem.table.name(cell)} became negative"
    _expect_sums(problem, multiples, base)


def _is_multiple(value: Fraction, base: Fraction, near: Fraction) -> bool:
    return abs(value - round(value / base) * base) <= near


def _expect_sums(problem: RoundingProblem, multiples: list[int], base: Fraction) -> None:
    table = problem.table
    for relation in range(table.relations):
        cells, signs = table.relation(relation).tolist(), table.signs_of(relation).tolist()
        total = sum(Fraction(sign) * multiples[cell] for cell, sign in zip(cells, signs, strict=True)) * base
        right = Fraction(0) if table.rhs is None else Fraction(repr(float(table.rhs[relation])))
        assert abs(total - right) <= Fraction(1, 10**9) * max(Fraction(1), abs(right)), (
            "a relation does not add up"
        )


def _expect_cost(problem: RoundingProblem, rounding: Rounding) -> None:
    cost = fsum(
        abs(float(multiple) - wish)
        for multiple, wish in zip(rounding.multiples.tolist(), problem.target.tolist(), strict=True)
    )
    assert abs(cost - rounding.value) <= 1e-7 * max(1.0, cost), (
        f"the rounding costs {cost}, not {rounding.value}"
    )
    assert rounding.bound is None or rounding.bound <= cost + 1e-6 * max(1.0, cost), (
        "the bound is above the cost"
    )
    assert not rounding.optimal or cost - rounding.bound <= 1e-5 * max(1.0, cost), (
        "optimal, but the bound is lower"
    )


def seen_by_others(problem: RoundingProblem, published: np.ndarray) -> Problem:
    """What somebody holds possible who sees these figures: each less than so many bases away, and within known bounds."""
    reach = problem.steps * problem.base
    low, high = published - reach, published + reach
    for scale in (10.0**decimals for decimals in range(7)):
        figures = problem.table.values * scale
        if (np.abs(figures - np.rint(figures)) <= 1e-15 * np.abs(figures)).all():
            # The next figures inside with as many decimals as all have; the ends themselves are too far away.
            low = np.floor(np.round(low * scale + 1.0, 6)) / scale
            high = np.ceil(np.round(high * scale - 1.0, 6)) / scale
            break
    low, high = np.fmax(low, problem.protect.low), np.fmin(high, problem.protect.high)
    values = problem.table.values
    slack = 1e-9 * np.maximum(np.abs(values), problem.base)
    assert (values >= low - slack).all() and (values <= high + slack).all(), "a true figure is excluded"
    return replace(
        problem.protect,
        low=np.fmin(low, values),
        high=np.fmax(high, values),
        candidates=np.ones(values.size, dtype=bool),
        sums=None,
    )


def _expect_whole_numbers(attack: Problem) -> None:
    """For whole numbers the needs are met by whole numbers, each shown by a table that an integer programme finds."""
    low = np.ceil(attack.low - attack.table.values)
    high = np.floor(attack.high - attack.table.values)
    wanted, rows = attack.requirements, (attack.table.matrix, 0.0, 0.0)
    fall, rise = np.zeros(attack.table.cells), np.zeros(attack.table.cells)
    for cell, kind, need in zip(
        wanted.cell.tolist(), wanted.kind.tolist(), wanted.need.tolist(), strict=True
    ):
        least = max(1.0, np.ceil(need - 1e-6))
        for sign in (1.0, -1.0) if kind != UP else (-1.0,):
            seen = rise[cell] if kind == UP else fall[cell] if kind == DOWN else rise[cell] + fall[cell]
            if seen >= least or (kind == DOWN and sign < 0):
                continue
            # Of one direction any table that goes far enough is enough, of both the one that goes farthest.
            goal, ends = np.zeros(low.size), (low.copy(), high.copy())
            goal[cell] = sign if kind not in (UP, DOWN) else 0.0
            if kind == UP:
                ends[0][cell] = least
            elif kind == DOWN:
                ends[1][cell] = -least
            if ends[0][cell] > ends[1][cell]:
                continue
            found = best_values(whole_numbers(goal, *ends, rows))
            if found is not None:
                change = np.rint(found)
                assert not (attack.table.matrix @ change).any(), (
                    "an integer programme did not hold the totals"
                )
                fall, rise = np.maximum(fall, -change), np.maximum(rise, change)
        reached = rise[cell] if kind == UP else fall[cell] if kind == DOWN else rise[cell] + fall[cell]
        assert reached >= least, f"whole numbers give the cell {attack.table.name(cell)} away"
