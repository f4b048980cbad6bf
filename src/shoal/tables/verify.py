"""The independent check of a suppression pattern by linear programmes.

What must hold, what the attacker sees and what he can compute are worked out here from the problem as it is given;
nothing is shared with what makes patterns or audits them.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from math import fsum
from typing import Any, TypeAlias

import numpy as np

from shoal.tables.model.table import Table
from shoal.tables.problem import DOWN, RESOLUTION, ROUNDING, UP, WIDTH, Problem
from shoal.tables.solution import Pattern

# What is short of its need by this share is short by rounding errors only.
_ENOUGH = 1.0 - 1e-6
# A solution is believed of what is so many times as large as what it breaks relations and bounds by.
_BELIEVED = 1e4
# Where a cell has no bound, the check has one so many times as far out as the most that is asked for.
_FAR = 16.0


def verify(problem: Problem, pattern: Pattern) -> None:
    """Raise ``AssertionError`` unless the pattern hides what it may, costs what it says, and protects every cell.

    Protection is checked with one linear programme per requirement, skipping those an earlier solution already meets.
    """
    cells = np.asarray(pattern.complementary)
    assert cells.size == 0 or (cells.min() >= 0 and cells.max() < problem.table.cells), (
        "a cell is hidden that is not in the table"
    )
    assert np.unique(cells).size == cells.size, "a complementary cell is listed twice"
    assert problem.candidates[cells].all(), "a cell is hidden that may not be"
    assert not np.isin(cells, problem.sensitive).any(), "a sensitive cell is called complementary"
    _expect_cost(problem, pattern, cells)
    failures = unprotected(problem, cells)
    if failures:
        raise AssertionError(
            f"{len(failures)} requirements are not met; the first is that of the cell "
            f"{problem.table.name(failures[0][0])}"
        )
    assert not sensitive_sums(problem, cells), "a relation gives away a sum that is sensitive itself"


def sensitive_sums(problem: Problem, complementary: np.ndarray) -> int:
    """How many relations give away a sum of hidden cells that is sensitive itself."""
    if problem.sums is None:
        return 0
    hidden = _hidden(problem, complementary)
    known = _known_sums(problem.table, hidden, _any_change(problem.table, hidden))
    return len({relation for relation, cells in known if not problem.sums(cells)})


def _expect_cost(problem: Problem, pattern: Pattern, cells: np.ndarray) -> None:
    cost = fsum(problem.cost[cells].tolist())
    priced = problem.cost[problem.cost > 0]
    scale = max(cost, float(priced.min()) if priced.size else 1.0)
    tolerance = 1e-7 * scale
    assert abs(cost - pattern.value) <= tolerance, f"the pattern costs {cost}, not {pattern.value} as claimed"
    assert pattern.bound is None or pattern.bound <= cost + tolerance, "the bound is above the cost"
    assert not pattern.optimal or pattern.bound is not None, "optimal without a bound to show it"
    assert not pattern.optimal or cost - pattern.bound <= 1e-5 * scale, "optimal, but the bound is lower"


def _hidden(problem: Problem, complementary: np.ndarray) -> np.ndarray:
    return np.union1d(problem.sensitive, complementary).astype(np.int64)


# Changes of the unknowns are drawn from the numbers below this prime, so that nothing is lost by rounding.
_PRIME = 2**61 - 1


def _any_change(table: Table, hidden: np.ndarray) -> dict[int, int]:
    """How each hidden cell changes in a table drawn from all that keep the relations: 0 if it cannot change at all.

    The unknowns are eliminated one by one; those that are left over are drawn.
    """
    column, turn, rows = _unknowns(table, hidden)
    solved: dict[int, dict[int, int]] = {}
    for row in sorted(rows, key=len):
        left = {unknown: _whole(value) for unknown, value in row.items()}
        while (pivot := next((unknown for unknown in left if unknown in solved), None)) is not None:
            factor = left[pivot]
            for unknown, value in solved[pivot].items():
                changed = (left.get(unknown, 0) - factor * value) % _PRIME
                if changed:
                    left[unknown] = changed
                else:
                    left.pop(unknown, None)
        if left:
            pivot = next(iter(left))
            scale = pow(left[pivot], -1, _PRIME)
            solved[pivot] = {unknown: value * scale % _PRIME for unknown, value in left.items()}
    drawn = np.random.default_rng(4_930_861).integers(1, _PRIME, int(column.max(initial=-1)) + 1)
    change = dict(enumerate(drawn.tolist()))
    for pivot, terms in reversed(solved.items()):
        change[pivot] = (
            -sum(value * change[other] for other, value in terms.items() if other != pivot) % _PRIME
        )
    return {
        cell: int(turn[cell]) * change[int(column[cell])] % _PRIME if column[cell] >= 0 else 0
        for cell in hidden.tolist()
    }


def _whole(value: float) -> int:
    above, below = float(value).as_integer_ratio()
    return above * pow(below, -1, _PRIME) % _PRIME


def _known_sums(
    table: Table, hidden: np.ndarray, change: Mapping[int, int]
) -> Iterator[tuple[int, np.ndarray]]:
    """Relations with hidden cells whose sum they give away: all of one sign, once what is known or cancels out is left out.

    Another cell that changes by the same amount, whatever happens, may stand for any one of them.
    """
    unknown = set(hidden.tolist())
    alike: dict[int, list[int]] = {}
    for cell in sorted(unknown):
        alike.setdefault(change[cell], []).append(cell)
    for relation in range(table.relations):
        pairs = zip(table.relation(relation).tolist(), table.signs_of(relation).tolist(), strict=True)
        terms = [(cell, sign) for cell, sign in pairs if cell in unknown and sign and change[cell]]
        together: dict[int, float] = {}
        for cell, sign in terms:
            amount = min(change[cell], _PRIME - change[cell])
            together[amount] = together.get(amount, 0.0) + (sign if amount == change[cell] else -sign)
        if {sign > 0 for _, sign in terms} == {True, False}:
            amounts = {amount for amount, total in together.items() if abs(total) > 1e-12}
            terms = [term for term in terms if {change[term[0]], _PRIME - change[term[0]]} & amounts]
        if len({sign > 0 for _, sign in terms}) != 1:
            continue
        cells = [cell for cell, _ in terms]
        yield relation, np.array(cells, dtype=np.int64)
        for place, cell in enumerate(cells):
            for other in alike[change[cell]]:
                if other not in cells:
                    yield relation, np.array([*cells[:place], other, *cells[place + 1 :]], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Needs:
    """What must be possible: ``cell[i]`` rises (``UP``), falls (``DOWN``) or both together (``WIDTH``) by ``need[i]``."""

    cell: np.ndarray
    kind: np.ndarray
    need: np.ndarray
    point: float


def _needs(problem: Problem, up: np.ndarray, down: np.ndarray) -> _Needs:
    """The levels as they are given; every interval is wider than a point, whatever they say."""
    cells = problem.sensitive
    usable = problem.candidates.copy()
    usable[cells] = True
    room = np.concatenate([up[usable], down[usable]])
    room = room[(room > 0) & np.isfinite(room)]
    least = RESOLUTION * float(room.min(initial=np.inf) if room.size else 1.0)
    point = np.maximum(least, ROUNDING * np.abs(problem.table.values[cells]))
    width = np.maximum(problem.sliding, point)
    asked = [
        (int(cell), kind, float(need))
        for cell, *levels in zip(cells, problem.upper, problem.lower, width, strict=True)
        for kind, need in zip((UP, DOWN, WIDTH), levels, strict=True)
        # A width is had where what is asked above and below comes to as much.
        if (need > levels[0] + levels[1] if kind == WIDTH else need > 0)
    ]
    asked.sort()
    cell, kind, need = np.array(asked, dtype=np.float64).reshape(-1, 3).T
    return _Needs(cell.astype(np.int64), kind.astype(np.int64), need, least)


def _unit(values: np.ndarray) -> float:
    """A power of two that brings the largest value near ten million: the linear programmes have absolute tolerances."""
    largest = float(np.abs(values).max(initial=0.0))
    return float(2.0 ** round(23 - np.log2(largest))) if largest else 1.0


def unprotected(problem: Problem, complementary: np.ndarray) -> list[tuple[int, int, int]]:
    """The requirements a pattern fails: (cell, kind, insider or −1)."""
    up, down = problem.high - problem.table.values, problem.table.values - problem.low
    wanted = _needs(problem, up, down)
    unit = _unit(problem.table.values)
    needs = _ENOUGH * unit * wanted.need
    attack = _Attack(
        problem.table, _hidden(problem, complementary), unit * up, unit * down, float(needs.max(initial=0.0))
    )
    columns, kinds = attack.asked(wanted)
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
    attack: "_Attack",
    wanted: _Needs,
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
    short = _ShortestChange(attack)
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


class _Attack:
    """What the attacker can still hold possible, as one resident linear programme over the hidden cells.

    A relation with one unknown gives it away, and one with two makes a single unknown of them: ``column`` says
    which unknown a cell is (−1: known), ``turn`` whether it moves the same way or the opposite way.
    """

    def __init__(
        self, table: Table, hidden: np.ndarray, up: np.ndarray, down: np.ndarray, most: float
    ) -> None:
        self.column, self.turn, rows = _unknowns(table, hidden)
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

    def asked(self, wanted: _Needs) -> tuple[np.ndarray, np.ndarray]:
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

    def _close_up(self, need: float) -> "_Attack":
        """The same with the need as the unit; what lies far beyond it does not matter."""
        low, high = self.bounds
        return self._narrowed(np.clip(low / need, -1e4, 0.0), np.clip(high / need, 0.0, 1e4))

    def _narrowed(self, low: np.ndarray, high: np.ndarray) -> "_Attack":
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


class _ShortestChange:
    """Ways of meeting a requirement that move little, from one resident linear programme of rises and falls."""

    def __init__(self, attack: _Attack) -> None:
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


def _unknowns(table: Table, hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[dict[int, float]]]:
    """Which unknown each hidden cell is, whether it is turned round, and the relations between the unknowns."""
    is_hidden = np.zeros(table.cells, dtype=bool)
    is_hidden[hidden] = True
    # What a cell equals: itself, or plus or minus another; cells that are known have no root.
    root: dict[int, tuple[int, float]] = {int(cell): (int(cell), 1.0) for cell in hidden}
    known: set[int] = set()

    def resolve(cell: int) -> tuple[int, float]:
        sign, path = 1.0, []
        while root[cell][0] != cell:
            path.append((cell, sign))
            sign *= root[cell][1]
            cell = root[cell][0]
        for earlier, before in path:
            root[earlier] = (cell, sign * before)
        return cell, sign

    pending = [
        [(int(cell), float(value)) for cell, value in zip(cells, signs, strict=True) if is_hidden[cell]]
        for cells, signs in (
            (table.relation(place), table.signs_of(place))
            for place in range(table.relations)
            if is_hidden[table.relation(place)].any()
        )
    ]
    found: list[dict[int, float]] = []
    changed = True
    while changed:
        changed = False
        found = []
        for entries in pending:
            row: dict[int, float] = {}
            for cell, value in entries:
                top, sign = resolve(cell)
                if top not in known:
                    row[top] = row.get(top, 0.0) + sign * value
            row = {cell: value for cell, value in row.items() if value != 0.0}
            if len(row) == 1:
                known.update(row)
                changed = True
            elif len(row) == 2 and len({abs(value) for value in row.values()}) == 1:
                (one, a), (two, b) = row.items()
                root[two] = (one, -a / b)
                changed = True
            elif row:
                found.append(row)
    column = np.full(table.cells, -1, dtype=np.int64)
    turn = np.ones(table.cells)
    number: dict[int, int] = {}
    for cell in hidden.tolist():
        top, sign = resolve(cell)
        if top not in known:
            column[cell] = number.setdefault(top, len(number))
            turn[cell] = sign
    distinct = {tuple(sorted((number[cell], value) for cell, value in row.items())): None for row in found}
    return column, turn, [dict(row) for row in distinct]
