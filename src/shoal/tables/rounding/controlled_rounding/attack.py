"""What can be computed from a rounded table, and why: an inequality that no safe rounding breaks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.runtime.linear_programmes import PRIMAL, programme, quiet_highs
from shoal.tables.problem import DOWN, UP, WIDTH, Problem
from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem
from shoal.tables.safety.audit import Audit, audit, failing, failing_insiders
from shoal.tables.safety.watching import Watch, unwatched
from shoal.tables.safety.whole_numbers import integer_failures

# What the solver may be off by.
_SHARE = 1.0 - 1e-7


@dataclass(frozen=True, eq=False)
class Inequality:
    """``above``·(most it can be − value) + ``below``·(value − least it can be), summed over all cells, is at least ``need``.

    What a cell can be depends on the multiple it becomes. ``known`` are cells that whoever looks knows anyway. ``differ`` is
    another kind: a rounding that is not this one.
    """

    problem: RoundingProblem
    above: np.ndarray
    below: np.ndarray
    need: float
    differ: np.ndarray | None = None

    def row(self, owner: np.ndarray, start: np.ndarray, least: np.ndarray) -> tuple[np.ndarray, float]:
        """The inequality on the steps of a programme."""
        at = least[owner] + np.arange(owner.size) - start[owner]
        if self.differ is not None:
            taken = at < self.differ[owner]
            return np.where(taken, -1.0, 1.0), 1.0 - float(taken.sum())
        values, base = self.problem.table.values, self.problem.base
        low, high = self.problem.possible(least)
        constant = float((self.above * (high - values)).sum() + (self.below * (values - low)).sum())
        ends = [self._ends(owner, at + more) for more in (0, 1)]
        gained = self.above[owner] * (ends[1][1] - ends[0][1]) - self.below[owner] * (ends[1][0] - ends[0][0])
        return gained / base, (self.need * _SHARE - constant) / base

    def _ends(self, owner: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        problem = self.problem
        low, high = problem.around(at)
        return np.maximum(problem.protect.low[owner], low), np.minimum(problem.protect.high[owner], high)


def seen(problem: RoundingProblem, multiples: np.ndarray, *, all_cells: bool = False) -> Audit:
    """The intervals of the sensitive cells, or of all, for somebody who sees these multiples."""
    return audit(problem.attack(multiples), problem.others, all_cells=all_cells)


def broken(problem: RoundingProblem, multiples: np.ndarray, watch: Watch = unwatched) -> list[Inequality]:
    """Why sensitive cells could be computed too closely from this rounding; nothing if none can."""
    if problem.protect.sensitive.size == 0:
        return []
    attack = problem.attack(multiples)
    everything = np.ones(problem.table.cells, dtype=bool)
    wanted = attack.requirements
    short = wanted.at(failing(attack, everything, wanted, watch=watch))
    if not short.size:
        short = failing_insiders(attack, everything, watch=watch)
    if not short.size:
        return []
    duals = _Duals(attack)
    found = []
    for cell, kind, need, scenario in zip(*(part.tolist() for part in short), strict=True):
        watch.look()
        above, below = np.zeros(problem.table.cells), np.zeros(problem.table.cells)
        for direction in (UP, DOWN) if kind == WIDTH else (kind,):
            price = duals.prices(cell, direction, attack.insiders[scenario] if scenario >= 0 else None)
            above += np.maximum(price, 0.0)
            below += np.maximum(-price, 0.0)
        if scenario >= 0:
            above[attack.insiders[scenario]] = below[attack.insiders[scenario]] = 0.0
        found.append(Inequality(problem, above, below, float(need)))
    return found


def separated_by_whole_numbers(
    problem: RoundingProblem, multiples: np.ndarray, watch: Watch = unwatched
) -> list[Inequality]:
    """Another rounding is asked for where whole numbers alone give a cell away."""
    if not problem.whole or not problem.protect.sensitive.size:
        return []
    if not integer_failures(problem.attack(multiples), problem.others, watch):
        return []
    nothing = np.zeros(problem.table.cells)
    return [Inequality(problem, nothing, nothing, 0.0, differ=multiples)]


class _Duals:
    """The attacker's linear programme, resident: how far a cell can move, and what each cell's room is worth for that."""

    def __init__(self, attack: Problem) -> None:
        self._attack = attack
        table = attack.table
        self._matrix = table.matrix
        size = table.cells
        rows = np.zeros(table.relations)
        model = programme(
            np.zeros(size),
            -attack.down,
            attack.up,
            (self._matrix.indptr, self._matrix.indices, self._matrix.data),
            rows,
            rows,
        )
        self._solver: Any = quiet_highs(model, presolve="off", simplex_strategy=PRIMAL)

    def prices(self, cell: int, direction: int, known: np.ndarray | None) -> np.ndarray:
        """What a little more room of each cell adds to how far ``cell`` can move; those ``known`` have no room."""
        sign = 1.0 if direction == UP else -1.0
        if known is not None:
            self._bounds(known, np.zeros(known.size), np.zeros(known.size))
        self._solver.changeColCost(cell, -sign)
        self._solver.run()
        duals = np.array(self._solver.getSolution().row_dual)
        self._solver.changeColCost(cell, 0.0)
        if known is not None:
            self._bounds(known, -self._attack.down[known], self._attack.up[known])
        # Minimising −sign·change: the reduced costs follow from the prices of the relations, whichever they are.
        goal = np.zeros(self._attack.table.cells)
        goal[cell] = -sign
        found: np.ndarray = -(goal - self._matrix.T @ duals)
        return np.where(np.abs(found) < 1e-12, 0.0, found)

    def _bounds(self, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        self._solver.changeColsBounds(cells.size, cells.astype(np.int32), low, high)
