"""Separation on general tables: the attacker's linear programmes and their duals (Fischetti and Salazar 2001)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal.tables.attacker import Attacker
from shoal.tables.problem import DOWN, UP, WIDTH, Problem, Requirements
from shoal.tables.rows import Rows
from shoal.tables.strengthening import best_two, coefficient

_POOL = 300


@dataclass(frozen=True)
class _Capacity:
    """Σ cap·y ≥ need over the cells: what one requirement asks of every pattern."""

    cells: np.ndarray
    caps: np.ndarray
    need: float


@dataclass(frozen=True)
class _Record:
    capacity: _Capacity
    need: float
    divisor: float
    moved: np.ndarray


class AttackerCuts:
    """The separation routine of a general table; it remembers every inequality it gave out."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.wanted = problem.requirements
        self.records: list[_Record] = []
        self.worst = 0.0
        self._seen: set[bytes] = set()
        self._pool: list[_Capacity] = []
        self._movable = np.flatnonzero(problem.candidates | problem.is_sensitive)
        self._attacker = Attacker(problem, self._movable, np.zeros(self._movable.size))
        self._fixed = problem.is_sensitive

    def require(self, more: Requirements) -> None:
        """Take further requirements into account."""
        self.wanted = self.wanted.with_more(more)

    def separate(
        self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01, bridges: bool = True
    ) -> Rows:
        """Violated inequalities at the point ``x`` (one number per cell), over the given columns."""
        fresh = self._capacities(x)
        start = len(self.records)
        for capacity in [*fresh, *self._pool]:
            self._strengthen(capacity, x, least)
        self._pool = [*self._pool, *fresh][-_POOL:]
        return self.write(range(start, len(self.records)), columns)

    def _capacities(self, x: np.ndarray) -> list[_Capacity]:
        wanted, attacker = self.wanted, self._attacker
        share = np.where(self._fixed[self._movable], 1.0, x[self._movable])
        share[share < 1e-9] = 0.0
        attacker.scenario = -1
        attacker.rescale(share)
        shown = np.zeros(wanted.size, dtype=bool)
        column = attacker.column[wanted.cell]
        found: list[_Capacity] = []
        for place in np.lexsort((np.arange(wanted.size), wanted.scenario)):
            if shown[place]:
                continue
            kind, need, scenario = (
                int(wanted.kind[place]),
                float(wanted.need[place]),
                int(wanted.scenario[place]),
            )
            attacker.assume(scenario)
            total = 0.0
            rates = []
            for direction in (UP, DOWN):
                if kind not in (direction, WIDTH) or total >= need:
                    continue
                amount, change = attacker.extreme(int(wanted.cell[place]), direction)
                total += amount
                rates.append(attacker.last_duals)
                if kind != WIDTH:
                    at = change[column]
                    amounts = np.where(wanted.kind == UP, at, np.where(wanted.kind == DOWN, -at, 0.0))
                    shown |= (amounts >= wanted.need) & (wanted.scenario == scenario)
            if total < need * (1.0 - 1e-9):
                found.append(self._capacity(rates, need, scenario, int(wanted.cell[place])))
        attacker.assume(-1)
        return [capacity for capacity in found if capacity.need > 0]

    def _capacity(self, rates: list[np.ndarray], need: float, scenario: int, own: int) -> _Capacity:
        problem, cells = self.problem, self._movable
        caps = np.zeros(cells.size)
        for rate in rates:
            room = np.where(rate < 0.0, problem.up[cells], problem.down[cells])
            used = np.abs(rate) > 1e-11
            caps[used] += np.minimum(np.abs(rate[used]) * np.minimum(room[used], 1e15), 1e15)
        if scenario >= 0:
            caps[self._attacker.column[np.intersect1d(problem.insiders[scenario], cells)]] = 0.0
        fixed = self._fixed[cells]
        left = need - float(caps[fixed].sum())
        keep = ~fixed & (caps > 1e-9 * need)
        return _Capacity(cells[keep], caps[keep], left)

    def _strengthen(self, capacity: _Capacity, x: np.ndarray, least: float) -> None:
        here = x[capacity.cells]
        used = here > 1e-9
        caps, shares = capacity.caps[used], here[used]
        for violation, above, need, divisor in best_two(caps, shares, caps.size, capacity.need, least):
            if violation <= least:
                continue
            moved = capacity.cells[used][shares >= above] if above < 2.0 else np.empty(0, dtype=np.int64)
            mark = b"|".join((repr((id(capacity), need, divisor)).encode(), moved.tobytes()))
            if mark not in self._seen:
                self._seen.add(mark)
                self.records.append(_Record(capacity, float(need), float(divisor), moved))

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
            values = np.array([coefficient(cap, record.need, record.divisor) for cap in caps])
            rows.add(number, cells.astype(np.int32), values, 1.0)
        return rows

    def price(self, numbers: np.ndarray, duals: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Never needed: a general table keeps all its columns."""
        raise NotImplementedError
