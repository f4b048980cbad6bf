"""The attacker of a general table: one resident linear programme whose objective changes from cell to cell."""

from collections.abc import Iterator
from copy import copy

import numpy as np

from shoal.runtime.linear_programmes import PRIMAL, programme, quiet_highs, run_until
from shoal.tables.model.reduction import small_table, ties
from shoal.tables.problem import DOWN, TOLERANCE, UP, WIDTH, Problem, Requirements
from shoal.tables.safety.watching import TimeIsOver, Watch, unwatched

# The largest figure that the solver is given.
_LARGEST = 1e7
# A change says something of a cell only if it moves the cell by so many times what the solver may be off by …
_FIRM = 1e4
# … and what is smaller is looked at closely, where nothing moves further than by so many times that.
_NEAR = 1e6


def _endless(values: np.ndarray) -> np.ndarray:
    return np.where(values >= 1e20, np.inf, np.where(values <= -1e20, -np.inf, values))


def allowed(wanted: Requirements) -> np.ndarray:
    """What counts as meeting each requirement, rounding errors forgiven."""
    found: np.ndarray = (1.0 - TOLERANCE) * wanted.need
    return found


class Attacker:
    """Maximises and minimises hidden cells over all tables that agree with what is published.

    Only the objective changes, so the last basis stays feasible and the primal simplex method goes on from it; every
    solution found is also evidence for all other cells it moves.
    """

    def __init__(
        self,
        problem: Problem,
        hidden: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        watch: Watch = unwatched,
    ) -> None:
        self.problem = problem
        self._watch = watch
        self.hidden = np.asarray(hidden, dtype=np.int64)
        self.column = np.full(problem.table.cells, -1, dtype=np.int64)
        self.column[self.hidden] = np.arange(self.hidden.size)
        self._make_room(1.0 if weights is None else weights)
        rows = problem.table.rows.of_columns(self.hidden)
        self._kept = np.flatnonzero(np.diff(rows.indptr))
        self.rows = rows.of_rows(self._kept)
        self._start()

    def _start(self) -> None:
        zeros = np.zeros(self.rows.shape[0])
        model = programme(
            np.zeros(self.hidden.size),
            self._bounds(self.low),
            self._bounds(self.high),
            (self.rows.indptr, self.rows.indices, self.rows.data),
            zeros,
            zeros,
        )
        self.solver = quiet_highs(model, presolve="off", simplex_strategy=PRIMAL)
        self.scenario = -1
        self.last_prices = np.zeros(self.problem.table.relations)

    def with_room(self, low: np.ndarray, high: np.ndarray) -> "Attacker":
        """The same who holds other changes possible; he sees with the same eyes."""
        other = copy(self)
        other._set_room(low, high)
        other._start()
        other.assume(self.scenario)
        return other

    def _bounds(self, values: np.ndarray) -> np.ndarray:
        """Amounts as the solver takes them, in its unit."""
        return _endless(values) / self._unit

    def rescale(self, weights: np.ndarray) -> None:
        """Let each hidden cell move by a share of its room only."""
        self._make_room(weights)
        self._push_bounds()

    def _make_room(self, weights: np.ndarray | float) -> None:
        self._set_room(
            -np.minimum(self.problem.down[self.hidden], 1e20) * weights,
            np.minimum(self.problem.up[self.hidden], 1e20) * weights,
        )

    def _set_room(self, low: np.ndarray, high: np.ndarray) -> None:
        self.low, self.high = low, high
        rooms = np.concatenate([-low, high])
        largest = float(rooms[rooms < 1e20].max(initial=1.0))
        # The tolerance of the solver is absolute: beside larger figures than these it asks for more digits than there are.
        self._unit = float(2.0 ** max(0.0, np.ceil(np.log2(largest / _LARGEST))))
        # What the solver may be off by: its own tolerance, and the rounding of the largest figures it handles.
        self._error = 1e-7 * self._unit + 1e-14 * largest
        self._directions: Attacker | None = None
        self._near: Attacker | None = None

    def assume(self, scenario: int) -> None:
        """See with the eyes of an insider (or of an outsider, −1)."""
        if scenario != self.scenario:
            self.scenario = scenario
            self._push_bounds()

    def _push_bounds(self) -> None:
        self._change_bounds(*self._in_scenario())

    def let(self, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """Let some cells change by other amounts than before."""
        columns, unit = self.column[cells], self._unit
        bounds = self.low.copy(), self.high.copy()
        bounds[0][columns], bounds[1][columns] = low, high
        self._set_room(*bounds)
        if self._unit != unit:
            self._push_bounds()
            return
        least, most = (self._bounds(side[columns]) for side in self._in_scenario())
        self.solver.changeColsBounds(columns.size, columns.astype(np.int32), least, most)

    def _in_scenario(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.low, self.high
        if self.scenario >= 0:
            fixed = self.column[self.problem.insiders[self.scenario]]
            fixed = fixed[fixed >= 0]
            low, high = low.copy(), high.copy()
            low[fixed] = high[fixed] = 0.0
        return low, high

    def _change_bounds(self, low: np.ndarray, high: np.ndarray) -> None:
        count = self.hidden.size
        self.solver.changeColsBounds(
            count, np.arange(count, dtype=np.int32), self._bounds(low), self._bounds(high)
        )

    def extreme(self, cell: int, kind: int) -> tuple[float, np.ndarray]:
        """How far a cell can move in one direction, and how all hidden cells move then."""
        column = int(self.column[cell])
        self.solver.changeColCost(column, -1.0 if kind == UP else 1.0)
        status = self._ended()
        if status != "Optimal" and self._has_no_end(cell, kind):
            self.solver.changeColCost(column, 0.0)
            self.last_prices = np.zeros(self.problem.table.relations)
            return np.inf, np.zeros(self.hidden.size)
        for strategy in (4, 1):
            if status == "Optimal":
                break
            # A stale basis can mislead the simplex method; from scratch it decides, if need be the dual one.
            self.solver.clearSolver()
            self.solver.setOptionValue("simplex_strategy", strategy)
            status = self._ended()
            self.solver.setOptionValue("simplex_strategy", 4)
        limited = status != "Optimal"
        if limited:
            status = self._ended_within_limits()
        solution = self.solver.getSolution()
        # What is not known to be possible is not: a cell that the solver cannot judge stays where it is.
        change = (
            self._unit * np.array(solution.col_value) if status == "Optimal" else np.zeros(self.hidden.size)
        )
        # The duals of the relations, from which follows what a little more room for each cell would gain.
        self.last_prices = np.zeros(self.problem.table.relations)
        if status == "Optimal":
            self.last_prices[self._kept] = np.array(solution.row_dual)
        self.solver.changeColCost(column, 0.0)
        if limited:
            self._push_bounds()
        return abs(float(change[column])), change

    def _ended(self) -> str:
        if not self._watch.limited:
            self.solver.run()
        else:
            run_until(self.solver, self._watch.late)
            # A programme that was broken off says nothing.
            self._watch.look()
        return str(self.solver.modelStatusToString(self.solver.getModelStatus()))

    def _has_no_end(self, cell: int, kind: int) -> bool:
        """Whether there is a direction without end in which the cell moves.

        Beside large bounds the solver has been seen to call bounded cells unbounded; the directions have none.
        """
        if self._directions is None:
            self._directions = self.with_room(
                np.where(self.low <= -1e20, -1.0, 0.0), np.where(self.high >= 1e20, 1.0, 0.0)
            )
        self._directions.assume(self.scenario)
        return self._directions.extreme(cell, kind)[0] > 0.5

    def _ended_within_limits(self) -> str:
        """Solve with limits far out where there are none, which no solver can take for the lack of any."""
        low, high = self._in_scenario()
        rooms = np.concatenate([-low, high])
        far = 1e3 * float(rooms[rooms < 1e20].max(initial=1.0))
        self._change_bounds(np.maximum(low, -far), np.minimum(high, far))
        self.solver.clearSolver()
        return self._ended()

    def furthest(self, cell: int, kind: int) -> tuple[float, np.ndarray]:
        """As ``extreme``, but exact for cells, too, that move by hardly more than the solver may be off by."""
        amount, change = self.extreme(cell, kind)
        if amount >= _FIRM * self._error:
            return amount, change
        if self._near is None:
            self._near = self.with_room(
                np.maximum(self.low / self._error, -_NEAR), np.minimum(self.high / self._error, _NEAR)
            )
        self._near.assume(self.scenario)
        amount, change = self._near.extreme(cell, kind)
        return self._error * amount, self._error * change

    def _as_far_as(self, cell: int, kind: int, need: float) -> np.ndarray:
        """How all hidden cells move when a cell that could move without limit moves as far as it must."""
        column = int(self.column[cell])
        low, high = self._bounds(self.low[[column]])[0], self._bounds(self.high[[column]])[0]
        most = need / self._unit
        self.solver.changeColBounds(
            column, low if kind == UP else max(low, -most), min(high, most) if kind == UP else high
        )
        _, change = self.extreme(cell, kind)
        self.solver.changeColBounds(column, low, high)
        return change

    def intervals(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far each cell can rise and fall, without limit; NaN stands for those that there was no time for.

        A cell that has been seen as far out as the bounds of its relations let it go is not looked at again.
        """
        rise, fall = np.zeros(self.hidden.size), np.zeros(self.hidden.size)
        columns = self.column[cells]
        done = 0
        try:
            for done in self._looked_at(cells, rise, fall):
                self._watch(done, cells.size)
        except TimeIsOver:
            missed = columns[done:]
            rise[missed] = fall[missed] = np.nan
        return rise[columns], fall[columns]

    def _looked_at(self, cells: np.ndarray, rise: np.ndarray, fall: np.ndarray) -> Iterator[int]:
        """Look at the cells in turn, and note how far each rises and falls; yields how many are done."""
        most_up, most_down = self._implied()
        columns = self.column[cells]
        yield 0
        for done, (cell, column) in enumerate(zip(cells.tolist(), columns.tolist(), strict=True), 1):
            for kind, reached, most in ((UP, rise, most_up), (DOWN, fall, most_down)):
                if reached[column] >= most[column] * (1.0 - 1e-10):
                    continue
                amount, change = self.furthest(cell, kind)
                # Of other cells a change says nothing where it moves them by what the solver may be off by.
                firm = np.where(np.abs(change) >= _FIRM * self._error, change, 0.0)
                np.maximum(rise, firm, out=rise)
                np.maximum(fall, -firm, out=fall)
                reached[column] = max(amount, float(reached[column]))
            yield done

    def _implied(self) -> tuple[np.ndarray, np.ndarray]:
        """The furthest each hidden cell could rise and fall as far as any one relation tells."""
        up, down = _endless(self.high), -_endless(self.low)
        at, column, sign = self.rows.at, self.rows.indices, self.rows.data
        for _ in range(4):
            # What the sum of a relation's terms can rise and fall by, each term left out in turn.
            high = np.where(sign > 0, up[column], down[column]) * np.abs(sign)
            low = np.where(sign > 0, down[column], up[column]) * np.abs(sign)
            room = []
            for term in (high, low):
                endless = np.isinf(term)
                total = np.bincount(at, np.where(endless, 0.0, term), self.rows.shape[0])
                count = np.bincount(at, endless, self.rows.shape[0])
                others = np.where(count[at] - endless > 0, np.inf, total[at] - np.where(endless, 0.0, term))
                room.append(others / np.abs(sign))
            # A term rises when the others fall.
            np.minimum.at(up, column, np.where(sign > 0, room[1], room[0]))
            np.minimum.at(down, column, np.where(sign > 0, room[0], room[1]))
        return np.maximum(up, 0.0), np.maximum(down, 0.0)

    def met(self, wanted: Requirements) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How far each requirement is met, and which cells show it (starts and cells).

        A requirement that the solution of an earlier one meets is not solved again.
        """
        reached = np.zeros(wanted.size)
        supports: list[np.ndarray] = [np.empty(0, dtype=np.int64)] * wanted.size
        columns = self.column[wanted.cell]
        for place in np.lexsort((np.arange(wanted.size), wanted.scenario)):
            if reached[place] >= wanted.need[place]:
                continue
            kind = int(wanted.kind[place])
            self.assume(int(wanted.scenario[place]))
            total, moved = 0.0, np.zeros(self.hidden.size, dtype=bool)
            for direction in (UP, DOWN):
                if kind not in (direction, WIDTH) or total >= wanted.need[place]:
                    continue
                amount, change = self.furthest(int(wanted.cell[place]), direction)
                if np.isinf(amount):
                    # One bounded way there is, so that its cells are known.
                    change = self._as_far_as(int(wanted.cell[place]), direction, float(wanted.need[place]))
                total += amount
                moved |= np.abs(change) > 1e-9 * min(1.0, float(wanted.need[place]))
                if kind != WIDTH:
                    self._share(wanted, place, change, reached, supports)
            reached[place] = total
            supports[place] = self.hidden[moved & (np.arange(self.hidden.size) != columns[place])]
        self.assume(-1)
        starts = np.concatenate([[0], np.cumsum([cells.size for cells in supports])]).astype(np.int64)
        return reached, starts, np.concatenate(supports) if supports else np.empty(0, dtype=np.int64)

    def unmet(self, wanted: Requirements) -> np.ndarray:
        """Which requirements are not met: first many are shown at once, then the rest one by one."""
        places = np.flatnonzero(~self._shown_together(wanted))
        if places.size == 0:
            return places
        rest = wanted.at(places)
        reached, _, _ = self.met(rest)
        return places[reached < allowed(rest)]

    def _shown_together(self, wanted: Requirements) -> np.ndarray:
        """Requirements shown by maximising many cells at once, each held back at what it needs."""
        shown = np.zeros(wanted.size, dtype=bool)
        plain = (wanted.scenario < 0) & (wanted.kind != WIDTH) & (wanted.need >= _FIRM * self._error)
        if plain.sum() < 40:
            return shown
        column = self.column[wanted.cell]
        low, high = self.low.copy(), self.high.copy()
        rising, falling = plain & (wanted.kind == UP), plain & (wanted.kind == DOWN)
        np.minimum.at(high, column[rising], wanted.need[rising])
        np.maximum.at(low, column[falling], -wanted.need[falling])
        count = self.hidden.size
        every = np.arange(count, dtype=np.int32)
        self.solver.changeColsBounds(count, every, self._bounds(low), self._bounds(high))
        for turn in range(40):
            cost = np.zeros(count)
            for kind, chosen in (
                ((UP, rising), (DOWN, falling)) if turn % 2 == 0 else ((DOWN, falling), (UP, rising))
            ):
                todo = np.flatnonzero(chosen & ~shown)
                cost[column[todo]] = (-1.0 if kind == UP else 1.0) / np.maximum(wanted.need[todo], 1e-9)
            if not cost.any():
                break
            self.solver.changeColsCost(count, every, cost)
            self._ended()
            change = self._unit * np.array(self.solver.getSolution().col_value)[column]
            amount = np.where(wanted.kind == UP, change, -change)
            new = plain & ~shown & (amount >= allowed(wanted))
            shown |= new
            if new.sum() < max(2, 0.02 * (plain & ~shown).sum()):
                break
        self.solver.changeColsCost(count, every, np.zeros(count))
        self._push_bounds()
        return shown

    def _share(
        self,
        wanted: Requirements,
        position: int,
        change: np.ndarray,
        reached: np.ndarray,
        supports: list[np.ndarray],
    ) -> None:
        """Note what else a change shows, for the same one who looks."""
        amount = wanted.reached_by(change[self.column[wanted.cell]])
        same = (wanted.scenario == wanted.scenario[position]) & (wanted.need >= _FIRM * self._error)
        shown = np.flatnonzero(same & (amount >= wanted.need) & (reached < wanted.need))
        if shown.size == 0:
            return
        cells = self.hidden[np.abs(change) > 1e-9 * min(1.0, float(wanted.need[shown].min()))]
        for other in shown:
            reached[other] = amount[other]
            supports[other] = cells[cells != wanted.cell[other]]


class View:
    """A pattern as the attacker sees it: hidden cells that move together are one, those that cannot move are known."""

    def __init__(self, problem: Problem, hidden: np.ndarray, watch: Watch = unwatched) -> None:
        self.problem = problem
        self.ties = ties(problem.table.rows, hidden)
        if self.ties.groups == 0:
            return
        rise, fall = self.ties.room(problem.up, problem.down)
        table = small_table(problem.table, self.ties)
        known = [np.unique(self.ties.group[cells]) for cells in problem.insiders]
        self.small = Problem.of(
            table,
            [],
            cost=np.zeros(table.cells),
            candidates=np.ones(table.cells, dtype=bool),
            low=table.values - fall,
            high=table.values + rise,
            insiders=tuple(groups[groups >= 0] for groups in known),
        )
        self.attacker = Attacker(self.small, np.arange(table.cells), watch=watch)

    def intervals(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far each cell can rise and fall, in the order of the cells as long as there is time."""
        group, sign = self.ties.group[cells], self.ties.sign[cells]
        rise, fall = np.zeros(cells.size), np.zeros(cells.size)
        moving = group >= 0
        if moving.any():
            groups, first, back = np.unique(group[moving], return_index=True, return_inverse=True)
            order = np.argsort(first)
            above, below = np.empty(groups.size), np.empty(groups.size)
            above[order], below[order] = self.attacker.intervals(groups[order])
            plain = sign[moving] > 0
            rise[moving] = np.where(plain, above[back], below[back])
            fall[moving] = np.where(plain, below[back], above[back])
        return rise, fall

    def unmet(self, wanted: Requirements) -> np.ndarray:
        """Which requirements are not met."""
        if wanted.size == 0 or self.ties.groups == 0:
            return np.arange(wanted.size)
        small, owner = self.on_groups(wanted)
        bad = np.zeros(small.size, dtype=bool)
        bad[self.attacker.unmet(small)] = True
        failed = owner < 0
        failed[~failed] = bad[owner[~failed]]
        return np.flatnonzero(failed)

    def on_groups(self, wanted: Requirements) -> tuple[Requirements, np.ndarray]:
        """The requirements on groups, and which of them each original one has become (−1: its cell cannot move)."""
        group, sign = self.ties.group[wanted.cell], self.ties.sign[wanted.cell]
        turned = np.where(wanted.kind == UP, DOWN, np.where(wanted.kind == DOWN, UP, WIDTH))
        kind = np.where(sign >= 0, wanted.kind, turned)
        moving = np.flatnonzero(group >= 0)
        need = allowed(wanted)[moving]
        keys = np.stack([group[moving], kind[moving], wanted.scenario[moving], need], axis=1)
        distinct, place = np.unique(keys, axis=0, return_inverse=True)
        owner = np.full(wanted.size, -1, dtype=np.int64)
        owner[moving] = place.reshape(-1)
        whole = distinct[:, :3].astype(np.int64)
        return Requirements(whole[:, 0], whole[:, 1], distinct[:, 3], whole[:, 2]), owner
