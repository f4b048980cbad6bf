"""The independent check of a suppression pattern by linear programmes.

What must hold, what the attacker sees and what he can compute are worked out here from the problem as it is given;
nothing is shared with what makes patterns or audits them.
"""

from collections.abc import Sequence
from math import fsum

import numpy as np

from shoal.tables.problem import ROUNDING, UP, WIDTH, Problem
from shoal.tables.solution import Pattern
from shoal.tables.verify_attack import Attack, ShortestChange
from shoal.tables.verify_groups import groups_disclosed
from shoal.tables.verify_needs import Needs, needs_of
from shoal.tables.verify_sums import sensitive_sums
from shoal.tables.verify_unknowns import hidden_cells

# What is short of its need by this share is short by rounding errors only.
_ENOUGH = 1.0 - 1e-6


def verify(problem: Problem, pattern: Pattern) -> None:
    """Raise ``AssertionError`` unless the pattern hides what it may, costs what it says, and protects every cell.

    Protection is checked with one linear programme per requirement, skipping those an earlier solution already meets.
    """
    cells = np.asarray(pattern.complementary)
    assert cells.size == 0 or (cells.min() >= 0 and cells.max() < problem.table.cells), (
        "a cell is hidden that is not in the table"
    )
    assert len(set(cells.tolist())) == cells.size, "a complementary cell is listed twice"
    assert problem.candidates[cells].all(), "a cell is hidden that may not be"
    assert not np.isin(cells, problem.sensitive).any(), "a sensitive cell is called complementary"
    _expect_cost(problem, pattern, cells)
    failures = unprotected(problem, cells)
    if failures:
        raise AssertionError(
            f"{len(failures)} requirements are not met; the first is that of the cell "
            f"{problem.table.name(failures[0][0])}"
        )
    assert not groups_disclosed(problem, cells), "a whole group is known to be in one cell"
    assert not sensitive_sums(problem, cells), "a relation gives away a sum that is sensitive itself"


def _expect_cost(problem: Problem, pattern: Pattern, cells: np.ndarray) -> None:
    cost = fsum(problem.cost[cells].tolist())
    priced = problem.cost[problem.cost > 0]
    scale = max(cost, float(priced.min()) if priced.size else 1.0)
    tolerance = 1e-7 * scale
    assert abs(cost - pattern.value) <= tolerance, f"the pattern costs {cost}, not {pattern.value} as claimed"
    assert pattern.bound is None or pattern.bound <= cost + tolerance, "the bound is above the cost"
    assert not pattern.optimal or pattern.bound is not None, "optimal without a bound to show it"
    assert not pattern.optimal or cost - pattern.bound <= 1e-5 * scale, "optimal, but the bound is lower"


def _unit(values: np.ndarray) -> float:
    """A power of two that brings the largest value near ten million: the linear programmes have absolute tolerances."""
    largest = float(np.abs(values).max(initial=0.0))
    return float(2.0 ** round(23 - np.log2(largest))) if largest else 1.0


def unprotected(problem: Problem, complementary: np.ndarray) -> list[tuple[int, int, int]]:
    """The requirements a pattern fails: (cell, kind, insider or −1)."""
    up, down = problem.high - problem.table.values, problem.table.values - problem.low
    wanted = needs_of(problem, up, down)
    unit = _unit(problem.table.values)
    needs = _ENOUGH * unit * wanted.need
    attack = Attack(
        problem.table,
        hidden_cells(problem, complementary),
        unit * up,
        unit * down,
        float(needs.max(initial=0.0)),
    )
    columns, kinds = attack.unknowns(wanted)
    attack.try_together(columns, kinds, attack.firm(needs))
    failures = [
        (int(wanted.cell[place]), int(wanted.kind[place]), -1)
        for place in range(wanted.cell.size)
        if not attack.meets(int(columns[place]), int(kinds[place]), float(needs[place]))
    ]
    if problem.insiders:
        failures += _insiders(problem, attack, wanted, columns, kinds, needs)
    return failures


def _insiders(
    problem: Problem,
    attack: Attack,
    wanted: Needs,
    columns: np.ndarray,
    kinds: np.ndarray,
    needs: np.ndarray,
) -> list[tuple[int, int, int]]:
    """What insiders break: only those who know a cell that a short way of meeting a requirement moves are asked."""
    known = [np.unique(attack.column[cells]) for cells in problem.insiders]
    known = [columns[columns >= 0] for columns in known]
    knowers, own = _who_has(known), _who_has(problem.insiders)
    unit = _unit(problem.table.values)
    upper = dict(zip(problem.sensitive.tolist(), problem.upper.tolist(), strict=True))
    failures: list[tuple[int, int, int]] = []
    short = ShortestChange(attack)
    for place in range(wanted.cell.size):
        column, kind, need = int(columns[place]), int(kinds[place]), float(needs[place])
        cell, firm = int(wanted.cell[place]), float(attack.firm(needs[place]))
        moved = short.moved(column, kind, firm, np.empty(0, dtype=np.int64))
        touched = np.flatnonzero(moved) if moved is not None else np.arange(attack.size)
        doubtful = {number for other in touched.tolist() for number in knowers.get(other, ())}
        doubtful -= own.get(cell, set())
        if not doubtful:
            continue
        every = np.unique(np.concatenate([known[number] for number in doubtful]))
        if short.moved(column, kind, firm, every) is not None:
            continue
        for number in sorted(doubtful):
            mine, less = known[number], need
            if wanted.kind[place] != UP:
                # It knows that the cell is no less than its own part: no more than the rest can be uncertain below.
                rest = unit * _rest_beside(problem, number, cell)
                rest += unit * upper[cell] if wanted.kind[place] == WIDTH else 0.0
                if rest <= unit * max(wanted.point, ROUNDING * abs(float(problem.table.values[cell]))):
                    continue
                less = min(need, _ENOUGH * rest)
            if short.moved(column, kind, float(attack.firm(less)), mine) is None and not attack.meets_against(
                column, kind, less, mine
            ):
                failures.append((cell, int(wanted.kind[place]), number))
    return failures


def _rest_beside(problem: Problem, number: int, cell: int) -> float:
    """What others than this insider give to a cell, where that is less than the cell should be able to fall."""
    if not problem.conceded or cell not in problem.conceded[number]:
        return np.inf
    return float(problem.left[number][np.flatnonzero(problem.conceded[number] == cell)[0]])


def _who_has(lists: Sequence[np.ndarray]) -> dict[int, set[int]]:
    """For each entry, the numbers of the lists that have it."""
    found: dict[int, set[int]] = {}
    for number, entries in enumerate(lists):
        for entry in entries.tolist():
            found.setdefault(entry, set()).add(number)
    return found
