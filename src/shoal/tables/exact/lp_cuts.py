"""Separation on general tables: the attacker's linear programmes and their duals (Fischetti and Salazar 2001)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from shoal.search import Run
from shoal.search.kernels import kernel
from shoal.search.linear_programmes import PRIMAL, is_optimal, programme, quiet_highs
from shoal.tables.exact.inequalities import Rows
from shoal.tables.exact.strengthening import best_two, coefficient
from shoal.tables.heuristic.neighbourhood import around
from shoal.tables.problem import DOWN, UP, WIDTH, Problem, Requirements
from shoal.tables.safety.attacker import Attacker

_POOL = 300
# How many relations around a cell are looked at: more when fewer inequalities than this share of the requirements are
# found with less. On tables with more cells than that all relations are looked at only if nothing else is found.
_REACHES = (30, 120, 400)
_ENOUGH = 0.02
_LARGE = 5000
# What room counts as no limit.
_FAR = 1e15
# Requirements that the point only just meets give inequalities too: rounded, they may be violated.
_NEARLY = 1.05


@dataclass(frozen=True)
class _Capacity:
    """Σ cap·y ≥ need over the cells: what one requirement asks of every pattern."""

    cells: np.ndarray
    caps: np.ndarray
    need: float

    @cached_property
    def mark(self) -> bytes:
        content = self.cells.tobytes() + self.caps.tobytes() + repr(self.need).encode()
        return blake2b(content, digest_size=16).digest()


@dataclass(frozen=True)
class _Record:
    capacity: _Capacity
    need: float
    divisor: float
    moved: np.ndarray


@kernel
def _coefficients(caps: np.ndarray, need: float, divisor: float) -> Any:
    values = np.empty(caps.shape[0])
    for i in range(caps.shape[0]):
        values[i] = coefficient(caps[i], need, divisor)
    return values


class AttackerCuts:
    """The separation routine of a general table; it remembers every inequality it gave out.

    For each requirement the attacker's programme is solved over the relations around the cell that are connected by
    cells of the point. Its dual gives a valid inequality whether or not relations further away were left out.
    """

    def __init__(self, problem: Problem, run: Run | None = None) -> None:
        self.problem = problem
        self.wanted = problem.requirements
        self.records: list[_Record] = []
        # Not measured here: what is left out around a cell makes it look better protected.
        self.worst = 1.0
        self.solved = 0
        self.run = run
        self._known: dict[bytes, int] = {}
        self._pool: list[_Capacity] = []
        self._reach = 0
        self._attacker: Attacker | None = None
        self._large = problem.size > _LARGE
        self._fixed = problem.is_sensitive
        self._movable = problem.candidates | problem.is_sensitive
        table = problem.table
        columns = table.matrix.tocsc()
        self._starts, self._members = table.starts, table.members.astype(np.int64)
        self._signs = table.signs
        self._of_starts, self._of_cell = columns.indptr.astype(np.int64), columns.indices.astype(np.int64)
        self._place = np.full(table.cells, -1, dtype=np.int64)
        self._reached = np.zeros(table.relations, dtype=bool)
        self._up, self._down = np.minimum(problem.up, _FAR), np.minimum(problem.down, _FAR)
        # At rest every cell keeps its value, which is feasible: the primal method goes on from there.
        self._solver = quiet_highs(presolve="off", simplex_strategy=PRIMAL)

    def require(self, more: Requirements) -> None:
        """Take further requirements into account."""
        self.wanted = self.wanted.with_more(more)

    def separate(
        self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01, bridges: bool = True
    ) -> Rows:
        """Violated inequalities at the point ``x`` (one number per cell), over the given columns."""
        numbers = [number for capacity in self._pool for number in self._strengthen(capacity, x, least)]
        share = np.where(self._fixed, 1.0, np.where(x < 1e-9, 0.0, x)) * self._movable
        # Deep in a search tree a quick look suffices, unless the point is a pattern to be refused.
        quick = not bridges and bool(((x > 0.0) & (x < 1.0)).any())
        while True:
            reach = min(self._reach, 1) if quick else self._reach
            local = reach < len(_REACHES)
            fresh = self._capacities(share, _REACHES[reach]) if local else self._all_capacities(share)
            numbers += [number for capacity in fresh for number in self._strengthen(capacity, x, least)]
            self._pool = [*self._pool, *fresh][-_POOL:]
            found = len(numbers)
            stopped = self.run is not None and self.run.stopped
            if quick or not local or stopped or found > _ENOUGH * self.wanted.size:
                break
            if reach + 1 == len(_REACHES) and self._large and found:
                break
            # The surroundings looked at have little more to give: from now on, larger ones.
            self._reach += 1
            if found:
                break
        return self.write(dict.fromkeys(numbers), columns)

    def _capacities(self, share: np.ndarray, reach: int) -> list[_Capacity]:
        wanted = self.wanted
        shown = np.zeros(wanted.size, dtype=bool)
        found: list[_Capacity] = []
        for count, place in enumerate(np.argsort(-wanted.need, kind="stable").tolist()):
            if shown[place]:
                continue
            if count % 50 == 49 and self.run is not None and self.run.stopped:
                break
            capacity = self._capacity(place, share, shown, reach)
            if capacity is not None and capacity.need > 0:
                found.append(capacity)
        return found

    def _capacity(self, place: int, share: np.ndarray, shown: np.ndarray, reach: int) -> _Capacity | None:
        """What a requirement asks of every pattern, if the point (nearly) fails it."""
        wanted = self.wanted
        cell, kind, need = int(wanted.cell[place]), int(wanted.kind[place]), float(wanted.need[place])
        known = np.empty(0, dtype=np.int64)
        if wanted.scenario[place] >= 0:
            known = self.problem.insiders[wanted.scenario[place]]
            share = share.copy()
            share[known] = 0.0
        relations, cells, starts, columns, values, _ = around(
            cell,
            share > 0.0,
            reach,
            self._starts,
            self._members,
            self._signs,
            self._of_starts,
            self._of_cell,
            self._place,
            self._reached,
        )
        total = 0.0
        caps: np.ndarray | None = None
        others = np.empty(0, dtype=np.int64)
        for direction in (UP, DOWN):
            if kind not in (direction, WIDTH) or total >= need * _NEARLY:
                continue
            solved = self._extreme(direction, need, cells, share, (starts, columns, values))
            if solved is None:
                return None
            amount, change, prices = solved
            total += amount
            others, mine = self._caps(direction, cell, relations, prices)
            caps = mine if caps is None else caps + mine
            if kind != WIDTH:
                # With relations left out this proves nothing, but says where not to look first.
                self._share(place, cells, change, shown)
        if total >= need * _NEARLY or caps is None:
            return None
        return self._asked(others, caps, need, known)

    def _extreme(
        self,
        direction: int,
        need: float,
        cells: np.ndarray,
        share: np.ndarray,
        rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> tuple[float, np.ndarray, np.ndarray] | None:
        """How far the first of the cells moves (at most a little more than it must), the change, and the prices of rows."""
        starts, columns, values = rows
        low, high = -self._down[cells] * share[cells] / need, self._up[cells] * share[cells] / need
        if direction == UP:
            high[0] = min(high[0], 1.01 * _NEARLY)
        else:
            low[0] = max(low[0], -1.01 * _NEARLY)
        cost = np.zeros(cells.size)
        cost[0] = -1.0 if direction == UP else 1.0
        zeros = np.zeros(starts.size - 1)
        self._solver.clearModel()
        self._solver.passModel(programme(cost, low, high, (starts, columns, values), zeros, zeros))
        self._solver.run()
        self.solved += 1
        if not is_optimal(self._solver):
            return None
        solution = self._solver.getSolution()
        change = np.array(solution.col_value) * need
        return abs(float(change[0])), change, np.array(solution.row_dual)

    def _caps(
        self, direction: int, cell: int, relations: np.ndarray, prices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What each cell around can contribute, given prices of the relations: valid whatever the prices are."""
        begin = self._starts[relations]
        counts = self._starts[relations + 1] - begin
        entries = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        owner = np.repeat(np.round(prices, 9), counts)
        cells, place = np.unique(self._members[entries], return_inverse=True)
        rate = -np.bincount(place, owner * self._signs[entries], cells.size)
        rate[np.searchsorted(cells, cell)] += -1.0 if direction == UP else 1.0
        rate[np.abs(rate) < 1e-8] = 0.0
        # A negative rate gains by rising.
        caps = np.abs(rate) * np.where(rate < 0.0, self._up[cells], self._down[cells])
        movable = self._movable[cells]
        return cells[movable], np.minimum(caps[movable], _FAR)

    def _all_capacities(self, share: np.ndarray) -> list[_Capacity]:
        """The same over all relations, by one resident programme that every solution of it serves several cells."""
        wanted = self.wanted
        if self._attacker is None:
            self._attacker = Attacker(self.problem, np.flatnonzero(self._movable))
        attacker = self._attacker
        attacker.scenario = -1
        attacker.rescale(share[attacker.hidden])
        shown = np.zeros(wanted.size, dtype=bool)
        found: list[_Capacity] = []
        every = np.arange(self.problem.table.relations)
        for count, place in enumerate(np.lexsort((np.arange(wanted.size), wanted.scenario)).tolist()):
            if count % 50 == 49 and self.run is not None and self.run.stopped:
                break
            if shown[place]:
                continue
            cell, kind, need = int(wanted.cell[place]), int(wanted.kind[place]), float(wanted.need[place])
            scenario = int(wanted.scenario[place])
            attacker.assume(scenario)
            total, caps = 0.0, np.zeros(0)
            others = np.empty(0, dtype=np.int64)
            for direction in (UP, DOWN):
                if kind in (direction, WIDTH) and total < need * _NEARLY:
                    amount, change = attacker.extreme(cell, direction)
                    self.solved += 1
                    total += amount
                    others, mine = self._caps(direction, cell, every, attacker.last_prices)
                    caps = mine if caps.size == 0 else caps + mine
                    if kind != WIDTH:
                        self._share(place, attacker.hidden, change, shown)
            if total < need * _NEARLY:
                known = self.problem.insiders[scenario] if scenario >= 0 else np.empty(0, dtype=np.int64)
                capacity = self._asked(others, caps, need, known)
                if capacity.need > 0:
                    found.append(capacity)
        attacker.assume(-1)
        return found

    def _asked(self, cells: np.ndarray, caps: np.ndarray, need: float, known: np.ndarray) -> _Capacity:
        """What is left to the cells that may or may not be hidden."""
        caps[np.isin(cells, known)] = 0.0
        fixed = self._fixed[cells]
        keep = ~fixed & (caps > 1e-9 * need)
        return _Capacity(cells[keep], caps[keep], need - float(caps[fixed].sum()))

    def _share(self, place: int, cells: np.ndarray, change: np.ndarray, shown: np.ndarray) -> None:
        wanted = self.wanted
        amounts = np.zeros(self.problem.table.cells)
        amounts[cells] = change
        at = amounts[wanted.cell]
        amount = np.where(wanted.kind == UP, at, np.where(wanted.kind == DOWN, -at, 0.0))
        shown |= (amount >= wanted.need) & (wanted.scenario == wanted.scenario[place])

    def _strengthen(self, capacity: _Capacity, x: np.ndarray, least: float) -> list[int]:
        """The numbers of the forms of an inequality that the point violates."""
        numbers = []
        here = x[capacity.cells]
        used = here > 1e-9
        caps, shares = capacity.caps[used], here[used]
        for violation, above, need, divisor in best_two(caps, shares, caps.size, capacity.need, least):
            if violation <= least:
                continue
            moved = capacity.cells[used][shares >= above] if above < 2.0 else np.empty(0, dtype=np.int64)
            mark = b"|".join((capacity.mark, repr((need, divisor)).encode(), moved.tobytes()))
            number = self._known.setdefault(mark, len(self.records))
            if number == len(self.records):
                self.records.append(_Record(capacity, float(need), float(divisor), moved))
            numbers.append(number)
        return numbers

    def write(self, numbers: Iterable[int], columns: np.ndarray) -> Rows:
        """The inequalities of these numbers over the given columns."""
        rows = Rows.empty()
        inside = np.zeros(self.problem.table.cells, dtype=bool)
        inside[columns] = True
        for number in numbers:
            record = self.records[number]
            keep = inside[record.capacity.cells]
            if record.moved.size:
                keep &= ~np.isin(record.capacity.cells, record.moved)
            cells, caps = record.capacity.cells[keep], record.capacity.caps[keep]
            values = _coefficients(caps, record.need, record.divisor)
            rows.add(number, cells.astype(np.int32), values, 1.0)
        return rows

    def price(self, numbers: np.ndarray, duals: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Never needed: a general table keeps all its columns."""
        raise NotImplementedError
