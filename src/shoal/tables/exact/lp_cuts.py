"""Separation on general tables: the attacker's linear programmes and their duals (Fischetti and Salazar 2001)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from shoal.search import Run
from shoal.search.kernels import kernel
from shoal.search.linear_programmes import PRIMAL, is_optimal, programme, quiet_highs
from shoal.tables.exact.inequalities import Remembered, Rows
from shoal.tables.exact.strengthening import best_two, coefficient
from shoal.tables.heuristic.neighbourhood import Incidence, around
from shoal.tables.problem import DOWN, UP, WIDTH, Problem
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


@dataclass(frozen=True)
class _Extreme:
    """How far a cell can move, how the cells around it move then, and the prices of the relations between them."""

    amount: float
    cells: np.ndarray
    change: np.ndarray
    relations: np.ndarray
    prices: np.ndarray


# For a requirement, the way to ask how far its cell can move in a direction.
_Ask = Callable[[int], Callable[[int], _Extreme | None]]


@kernel
def _coefficients(caps: np.ndarray, need: float, divisor: float) -> Any:
    values = np.empty(caps.shape[0])
    for i in range(caps.shape[0]):
        values[i] = coefficient(caps[i], need, divisor)
    return values


class AttackerCuts(Remembered[_Record]):
    """The separation routine of a general table; it remembers every inequality it gave out.

    For each requirement the attacker's programme is solved over the relations around the cell that are connected by
    cells of the point. Its dual gives a valid inequality whether or not relations further away were left out.
    """

    def __init__(self, problem: Problem, run: Run | None = None) -> None:
        super().__init__(problem)
        # Not measured here: what is left out around a cell makes it look better protected.
        self.worst = 1.0
        self.run = run
        self._pool: list[_Capacity] = []
        self._reach = 0
        self._attacker: Attacker | None = None
        self._large = problem.size > _LARGE
        self._fixed = problem.is_sensitive
        self._movable = problem.candidates | problem.is_sensitive
        table = problem.table
        self._incidence = Incidence.of(table)
        self._place = np.full(table.cells, -1, dtype=np.int64)
        self._reached = np.zeros(table.relations, dtype=bool)
        self._up, self._down = np.minimum(problem.up, _FAR), np.minimum(problem.down, _FAR)
        # At rest every cell keeps its value, which is feasible: the primal method goes on from there.
        self._solver = quiet_highs(presolve="off", simplex_strategy=PRIMAL)

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
            ask = self._ask_around(share, _REACHES[reach]) if local else self._ask_all(share)
            # Around a cell the largest needs come first; one programme for all cells sees with one insider's eyes at a time.
            order = -self.wanted.need if local else self.wanted.scenario
            fresh = self._capacities(ask, np.argsort(order, kind="stable"))
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

    def _capacities(self, ask: _Ask, order: np.ndarray) -> list[_Capacity]:
        """What the requirements that the point (nearly) fails ask of every pattern."""
        shown = np.zeros(self.wanted.size, dtype=bool)
        found: list[_Capacity] = []
        for count, place in enumerate(order.tolist()):
            if count % 50 == 49 and self.run is not None and self.run.stopped:
                break
            if shown[place]:
                continue
            capacity = self._capacity(place, ask(place), shown)
            if capacity is not None and capacity.need > 0:
                found.append(capacity)
        return found

    def _capacity(
        self, place: int, extreme: Callable[[int], _Extreme | None], shown: np.ndarray
    ) -> _Capacity | None:
        """What a requirement asks of every pattern, if the point (nearly) fails it."""
        wanted = self.wanted
        cell, kind, need = int(wanted.cell[place]), int(wanted.kind[place]), float(wanted.need[place])
        total = 0.0
        caps: np.ndarray | None = None
        others = np.empty(0, dtype=np.int64)
        for direction in (UP, DOWN):
            if kind not in (direction, WIDTH) or total >= need * _NEARLY:
                continue
            solved = extreme(direction)
            if solved is None:
                return None
            total += solved.amount
            others, mine = self._caps(direction, cell, solved.relations, solved.prices)
            caps = mine if caps is None else caps + mine
            if kind != WIDTH:
                # With relations left out this proves nothing, but says where not to look first.
                self._share(place, solved.cells, solved.change, shown)
        if total >= need * _NEARLY or caps is None:
            return None
        return self._asked(others, caps, need, self._known_to(int(wanted.scenario[place])))

    def _known_to(self, scenario: int) -> np.ndarray:
        return self.problem.insiders[scenario] if scenario >= 0 else np.empty(0, dtype=np.int64)

    def _ask_around(self, share: np.ndarray, reach: int) -> _Ask:
        """Programmes over the relations around the cell of a requirement."""

        def ask(place: int) -> Callable[[int], _Extreme | None]:
            wanted = self.wanted
            mine = share.copy()
            mine[self._known_to(int(wanted.scenario[place]))] = 0.0
            relations, cells, *rows, _ = around(
                self._incidence, int(wanted.cell[place]), mine > 0.0, reach, self._place, self._reached
            )
            need = float(wanted.need[place])
            return lambda direction: self._extreme(direction, need, relations, cells, mine[cells], rows)

        return ask

    def _ask_all(self, share: np.ndarray) -> _Ask:
        """One resident programme over all relations; every solution of it serves several cells."""
        if self._attacker is None:
            self._attacker = Attacker(self.problem, np.flatnonzero(self._movable))
        attacker = self._attacker
        attacker.scenario = -1
        attacker.rescale(share[attacker.hidden])
        every = np.arange(self.problem.table.relations)

        def ask(place: int) -> Callable[[int], _Extreme | None]:
            def extreme(direction: int) -> _Extreme:
                amount, change = attacker.extreme(int(self.wanted.cell[place]), direction)
                self.solved += 1
                return _Extreme(amount, attacker.hidden, change, every, attacker.last_prices)

            attacker.assume(int(self.wanted.scenario[place]))
            return extreme

        return ask

    def _extreme(
        self,
        direction: int,
        need: float,
        relations: np.ndarray,
        cells: np.ndarray,
        share: np.ndarray,
        rows: Any,
    ) -> _Extreme | None:
        """How far the first of the cells moves, at most a little more than it must."""
        low, high = -self._down[cells] * share / need, self._up[cells] * share / need
        if direction == UP:
            high[0] = min(high[0], 1.01 * _NEARLY)
        else:
            low[0] = max(low[0], -1.01 * _NEARLY)
        cost = np.zeros(cells.size)
        cost[0] = -1.0 if direction == UP else 1.0
        zeros = np.zeros(rows[0].size - 1)
        self._solver.clearModel()
        self._solver.passModel(programme(cost, low, high, tuple(rows), zeros, zeros))
        self._solver.run()
        self.solved += 1
        if not is_optimal(self._solver):
            return None
        solution = self._solver.getSolution()
        change = np.array(solution.col_value) * need
        return _Extreme(abs(float(change[0])), cells, change, relations, np.array(solution.row_dual))

    def _caps(
        self, direction: int, cell: int, relations: np.ndarray, prices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What each cell around can contribute, given prices of the relations: valid whatever the prices are."""
        incidence = self._incidence
        begin = incidence.starts[relations]
        counts = incidence.starts[relations + 1] - begin
        entries = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        owner = np.repeat(np.round(prices, 9), counts)
        cells, place = np.unique(incidence.members[entries], return_inverse=True)
        rate = -np.bincount(place, owner * incidence.signs[entries], cells.size)
        rate[np.searchsorted(cells, cell)] += -1.0 if direction == UP else 1.0
        rate[np.abs(rate) < 1e-8] = 0.0
        # A negative rate gains by rising.
        caps = np.abs(rate) * np.where(rate < 0.0, self._up[cells], self._down[cells])
        movable = self._movable[cells]
        return cells[movable], np.minimum(caps[movable], _FAR)

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
            record = _Record(capacity, float(need), float(divisor), moved)
            numbers.append(self.number(record, capacity.mark, (need, divisor), moved))
        return numbers

    def write(self, numbers: Iterable[int], columns: np.ndarray) -> Rows:
        """The inequalities of these numbers over the given columns."""
        rows = Rows()
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
