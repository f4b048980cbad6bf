"""What somebody can still hold possible of a table with hidden cells, as the check of a pattern computes it.

The linear programmes are the check's own. What their solver says is believed only as far as its solutions show it.
"""

from copy import copy
from typing import Any, TypeAlias

import numpy as np

from shoal.tables.model.table import Table
from shoal.tables.problem import DOWN, UP, WIDTH
from shoal.tables.verify_needs import Needs
from shoal.tables.verify_unknowns import unknowns

# A solution is believed of what is so many times as large as what it breaks relations and bounds by.
_BELIEVED = 1e4
# Where a cell has no bound, the check has one so many times as far out as the most that is asked for.
_FAR = 16.0

_Rows: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


def _resident(cost: np.ndarray, low: np.ndarray, high: np.ndarray, rows: _Rows, **options: object) -> Any:
    """A solver for changes within these bounds under which every relation still holds."""
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = cost.size, rows[0].size - 1
    model.col_cost_, model.col_lower_, model.col_upper_ = cost, low, high
    model.row_lower_ = model.row_upper_ = np.zeros(model.num_row_)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = rows
    solver = highspy.Highs()
    for option, value in {"output_flag": False, "presolve": "off", "threads": 1, **options}.items():
        solver.setOptionValue(option, value)
    solver.passModel(model)
    return solver


class Attack:
    """What the attacker can still hold possible, as one resident linear programme over the hidden cells.

    A relation with one unknown gives it away, and one with two makes a single unknown of them: ``column`` says
    which unknown a cell is (−1: known), ``turn`` whether it moves the same way or the opposite way.
    """

    def __init__(
        self, table: Table, hidden: np.ndarray, up: np.ndarray, down: np.ndarray, most: float
    ) -> None:
        self.column, self.turn, rows = unknowns(table, hidden)
        self.size = int(self.column.max(initial=-1)) + 1
        self.low, self.high = np.full(self.size, -np.inf), np.full(self.size, np.inf)
        for cell in hidden.tolist():
            column = self.column[cell]
            if column >= 0:
                falls, rises = (down, up) if self.turn[cell] > 0 else (up, down)
                self.low[column] = max(self.low[column], -falls[cell])
                self.high[column] = min(self.high[column], rises[cell])
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        starts[1:] = np.cumsum([len(row) for row in rows])
        self.rows = (
            starts,
            np.array([column for row in rows for column in row], dtype=np.int64),
            np.array([value for row in rows for value in row.values()], dtype=np.float64),
        )
        # No bound is infinite: what a solver calls unbounded proves nothing. ``most`` is the most that is asked for.
        self.bounds = self.low, self.high
        rooms = np.concatenate([-self.low, self.high])
        far = max(float(rooms[np.isfinite(rooms)].max(initial=0.0)), _FAR * most)
        self.low, self.high = np.maximum(self.low, -far), np.minimum(self.high, far)
        # What the solver may be off by: its own tolerance, and the rounding of the largest figures it handles.
        self.error = 1e-7 + 1e-14 * far
        self.solver = self._model()
        self.lowest = np.zeros(self.size)
        self.highest = np.zeros(self.size)
        self.solved: set[tuple[int, int]] = set()

    def _model(self) -> Any:
        # Only the objective changes, so the last basis stays feasible: the primal method (4) goes on from it.
        return _resident(np.zeros(self.size), self.low, self.high, self.rows, simplex_strategy=4)

    def unknowns(self, wanted: Needs) -> tuple[np.ndarray, np.ndarray]:
        """Which unknown each requirement is on, and its kind there."""
        opposite = np.where(wanted.kind == UP, DOWN, np.where(wanted.kind == DOWN, UP, WIDTH))
        kinds = np.where(self.turn[wanted.cell] < 0, opposite, wanted.kind)
        return self.column[wanted.cell], kinds

    def firm(self, need: Any) -> Any:
        """What must be reached so that the need is met whatever the solver is off by; all changes can be made smaller."""
        return np.maximum(need, _BELIEVED * self.error)

    def try_together(self, columns: np.ndarray, kinds: np.ndarray, needs: np.ndarray) -> None:
        """Move many unknowns at once, none further than it must, until that shows nothing new."""
        plain = (columns >= 0) & (kinds != WIDTH)
        if plain.sum() < 50:
            return
        low, high = self.low.copy(), self.high.copy()
        np.minimum.at(high, columns[plain & (kinds == UP)], needs[plain & (kinds == UP)])
        np.maximum.at(low, columns[plain & (kinds == DOWN)], -needs[plain & (kinds == DOWN)])
        every = np.arange(self.size, dtype=np.int32)
        self.solver.changeColsBounds(self.size, every, low, high)
        for turn in range(60):
            open_ = plain & ~self._enough(columns, kinds, needs)
            pull = np.zeros(self.size)
            for kind in (UP, DOWN) if turn % 2 else (DOWN, UP):
                some = np.flatnonzero(open_ & (kinds == kind))
                pull[columns[some]] = (1.0 if kind == UP else -1.0) / np.maximum(needs[some], 1e-9)
            if not pull.any():
                break
            self.solver.changeColsCost(self.size, every, -pull)
            if self._ended() != "Optimal":
                break
            self._learn(np.array(self.solver.getSolution().col_value))
            if (open_ & self._enough(columns, kinds, needs)).sum() < max(2, 0.01 * open_.sum()):
                break
        self.solver.changeColsCost(self.size, every, np.zeros(self.size))
        self.solver.changeColsBounds(self.size, every, self.low, self.high)

    def off(self, change: np.ndarray) -> float:
        """The most by which a change breaks a relation or a bound."""
        starts, index, values = self.rows
        gaps = np.add.reduceat(values * change[index], starts[:-1]) if starts.size > 1 else np.zeros(1)
        return max(
            float(np.abs(gaps).max(initial=0.0)),
            float((self.low - change).max(initial=0.0)),
            float((change - self.high).max(initial=0.0)),
        )

    def _learn(self, change: np.ndarray) -> None:
        # What the solver returns is believed of an unknown only if the relations and bounds it breaks are nothing beside it.
        firm = np.where(np.abs(change) >= _BELIEVED * self.off(change), change, 0.0)
        self.highest = np.maximum(self.highest, firm)
        self.lowest = np.minimum(self.lowest, firm)

    def _enough(self, columns: np.ndarray, kinds: np.ndarray, needs: np.ndarray) -> np.ndarray:
        rise, fall = self.highest[columns], -self.lowest[columns]
        reached = np.where(kinds == UP, rise, np.where(kinds == DOWN, fall, rise + fall))
        return (columns >= 0) & (reached >= needs)

    def meets(self, column: int, kind: int, need: float) -> bool:
        """Whether a requirement holds."""
        if column < 0:
            return False
        firm = float(self.firm(need))
        for direction in (UP, DOWN):
            if kind in (direction, WIDTH) and self._reached(column, kind) < firm:
                self._solve(column, direction)
        return self._reached(column, kind) >= firm or self._close_up(need).shows(column, kind)

    def shows(self, column: int, kind: int) -> bool:
        """Whether an unknown reaches 1."""
        for direction in (UP, DOWN):
            if kind in (direction, WIDTH):
                self._solve(column, direction)
        return self._reached(column, kind) >= 1.0

    def _close_up(self, need: float) -> "Attack":
        """The same with the need as the unit; what lies far beyond it does not matter."""
        low, high = self.bounds
        return self._narrowed(np.clip(low / need, -1e4, 0.0), np.clip(high / need, 0.0, 1e4))

    def _narrowed(self, low: np.ndarray, high: np.ndarray) -> "Attack":
        narrow = copy(self)
        narrow.low, narrow.high = low, high
        narrow.lowest, narrow.highest = np.zeros(self.size), np.zeros(self.size)
        narrow.solved = set()
        narrow.solver = narrow._model()
        return narrow

    def _reached(self, column: int, kind: int) -> float:
        rise, fall = self.highest[column], -self.lowest[column]
        return float(rise if kind == UP else fall if kind == DOWN else rise + fall)

    def _solve(self, column: int, kind: int) -> None:
        if (column, kind) in self.solved:
            return
        self.solved.add((column, kind))
        self.solver.changeColCost(column, -1.0 if kind == UP else 1.0)
        # What the solver does not solve it does not show; the unknown is looked at closely then.
        if self._ended() == "Optimal":
            self._learn(np.array(self.solver.getSolution().col_value))
        self.solver.changeColCost(column, 0.0)

    def _ended(self) -> str:
        """Solve, from scratch and by other methods if the basis at hand misleads the solver; how it ended."""
        status = ""
        for strategy in (4, 4, 1):
            self.solver.setOptionValue("simplex_strategy", strategy)
            self.solver.run()
            status = str(self.solver.modelStatusToString(self.solver.getModelStatus()))
            if status == "Optimal":
                break
            self.solver.clearSolver()
        self.solver.setOptionValue("simplex_strategy", 4)
        return status

    def meets_against(self, column: int, kind: int, need: float, known: np.ndarray) -> bool:
        """Whether a requirement holds for somebody who knows some unknowns."""
        fixed = [bounds.copy() for bounds in (self.low, self.high, *self.bounds)]
        for bounds in fixed:
            bounds[known] = 0.0
        narrow = self._narrowed(fixed[0], fixed[1])
        narrow.bounds = fixed[2], fixed[3]
        return narrow.meets(column, kind, need)


class ShortestChange:
    """Ways of meeting a requirement that move little, from one resident linear programme of rises and falls."""

    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        starts, index, values = attack.rows
        size = attack.size
        self.room = np.minimum(np.concatenate([attack.high, -attack.low]), 1e15)
        # Each entry once for the rise and, turned round, once for the fall.
        rows = (
            2 * starts,
            np.stack([index, index + size], axis=1).ravel(),
            np.stack([values, -values], axis=1).ravel(),
        )
        self.solver = _resident(np.ones(2 * size), np.zeros(2 * size), self.room.copy(), rows)

    def moved(self, column: int, kind: int, need: float, known: np.ndarray) -> np.ndarray | None:
        """Which unknowns move when a requirement is met without those known; ``None`` if one way does not suffice."""
        size = self.attack.size
        if column < 0 or column in known:
            return None
        halves = np.concatenate([known, known + size]).tolist()
        for half in halves:
            self.solver.changeColBounds(half, 0.0, 0.0)
        found = None
        for direction in (UP, DOWN) if kind == WIDTH else (kind,):
            own = column if direction == UP else column + size
            other = column + size if direction == UP else column
            if self.room[own] < need:
                continue
            self.solver.changeColBounds(own, need, need)
            self.solver.changeColBounds(other, 0.0, 0.0)
            self.solver.run()
            if self.solver.modelStatusToString(self.solver.getModelStatus()) == "Optimal":
                value = np.array(self.solver.getSolution().col_value)
                change = value[:size] - value[size:]
                if self.attack.off(change) * _BELIEVED <= need:
                    found = np.abs(change) > 1e-9 * need
            for half in (own, other):
                self.solver.changeColBounds(half, 0.0, float(self.room[half]))
            if found is not None:
                break
        for half in halves:
            self.solver.changeColBounds(half, 0.0, float(self.room[half]))
        return found
