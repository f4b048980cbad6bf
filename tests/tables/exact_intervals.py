"""How far hidden cells can move, in fractions: a slow, obvious simplex method (Bland 1977) that has no tolerances."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from shoal.tables.problem import Problem

Row = dict[int, Fraction]


def rise_and_fall(
    problem: Problem, hidden: Iterable[int], cell: int, known: Iterable[int] = ()
) -> tuple[Fraction | None, Fraction | None]:
    """How far a cell can rise and fall while these are hidden and some of them ``known``; ``None`` means without end."""
    cells = [int(other) for other in hidden]
    fixed = set(known)
    low = {
        other: _room(problem, other, problem.low) if other not in fixed else Fraction(0) for other in cells
    }
    high = {
        other: _room(problem, other, problem.high) if other not in fixed else Fraction(0) for other in cells
    }
    table = problem.table
    rows: list[Row] = [
        {
            int(other): Fraction(float(sign))
            for other, sign in zip(table.relation(number), table.signs_of(number), strict=True)
            if int(other) in low
        }
        for number in range(table.relations)
    ]
    turned = [{other: None if end is None else -end for other, end in ends.items()} for ends in (high, low)]
    return _most(rows, low, high, cell), _most(rows, turned[0], turned[1], cell)


def _room(problem: Problem, cell: int, ends: np.ndarray) -> Fraction | None:
    if np.isinf(ends[cell]):
        return None
    return Fraction(float(ends[cell])) - Fraction(float(problem.table.values[cell]))


def _most(
    rows: list[Row], low: dict[int, Fraction | None], high: dict[int, Fraction | None], goal: int
) -> Fraction | None:
    """The most a variable can be where every row adds up to 0; nothing moves at first."""
    basic = _solved(rows)
    at = dict.fromkeys(low, Fraction(0))

    def room(name: int, way: Fraction | int) -> Fraction | None:
        end = high[name] if way > 0 else low[name]
        return None if end is None else abs(end - at[name])

    while True:
        gains = basic.get(goal, {goal: Fraction(1)})
        enters = next((name for name in sorted(gains) if gains[name] and room(name, gains[name]) != 0), None)
        if enters is None:
            return at[goal]
        way = 1 if gains[enters] > 0 else -1
        steps = [(room(enters, way), enters)]
        for name, row in sorted(basic.items()):
            if rate := row.get(enters, Fraction(0)) * way:
                own = room(name, rate)
                steps.append((None if own is None else own / abs(rate), name))
        ends = [(step, name) for step, name in steps if step is not None]
        if not ends:
            return None
        step = min(ends)[0]
        leaves = enters if (step, enters) in ends else min(ends)[1]
        at[enters] += way * step
        for name, row in basic.items():
            at[name] += row.get(enters, Fraction(0)) * way * step
        if leaves != enters:
            row = basic.pop(leaves)
            rate = row.pop(enters)
            swapped = {name: -value / rate for name, value in row.items()} | {leaves: 1 / rate}
            basic = {name: _put_in(other, enters, swapped) for name, other in basic.items()}
            basic[enters] = swapped


def _solved(rows: list[Row]) -> dict[int, Row]:
    """Some variables by the others, as the rows say."""
    basic: dict[int, Row] = {}
    for given in rows:
        row = dict(given)
        for name, terms in basic.items():
            row = _put_in(row, name, terms)
        row = {name: value for name, value in row.items() if value}
        if not row:
            continue
        pivot = min(row)
        rate = row.pop(pivot)
        terms = {name: -value / rate for name, value in row.items()}
        basic = {name: _put_in(other, pivot, terms) for name, other in basic.items()}
        basic[pivot] = terms
    return basic


def _put_in(row: Row, name: int, terms: Row) -> Row:
    rate = row.get(name, Fraction(0))
    found = {other: value for other, value in row.items() if other != name}
    for other, value in terms.items() if rate else ():
        found[other] = found.get(other, Fraction(0)) + rate * value
    return {other: value for other, value in found.items() if value}
