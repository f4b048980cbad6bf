"""Separation on general tables: the attacker's linear programmes and their duals (Fischetti and Salazar 2001)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from shoal.runtime import Run
from shoal.runtime.kernels import kernel
from shoal.runtime.linear_programmes import PRIMAL, is_optimal, programme, quiet_highs
from shoal.tables.exact.inequalities import Inequalities, Remembered
from shoal.tables.exact.strengthening import best_two, coefficient
from shoal.tables.exact.thread_parts import hands, worthwhile
from shoal.tables.heuristic.neighbourhood import Incidence, around
from shoal.tables.problem import DOWN, UP, WIDTH, Problem
from shoal.tables.safety.attacker import Attacker

_POOL = 300
# How many relations around a cell are looked at, and whether no cell may give more there than is needed, which it cannot in
# the rounded inequality either: the next of these when fewer inequalities than this share of the requirements are found. On
# tables with more cells than that all relations are looked at only if nothing else is found.
_STAGES = ((30, False), (30, True), (120, False), (120, True), (400, False), (400, True))
# What is looked at to refuse a pattern, and where that is not enough: then all relations.
_REFUSING = (((120, False), (120, True)), ((400, False),))
# So many requirements are looked at together, for threads to share.
_TOGETHER = 16
# Deep in a tree nothing beyond this stage is looked at.
_QUICK = 3
_ENOUGH = 0.02
_LARGE = 5000
# What room counts as no limit.
_FAR = 1e15
# Requirements that the point only just meets give inequalities too: rounded, they may be violated.
_NEARLY = 1.3


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


@dataclass(frozen=True)
class _Bridge:
    """Hiding a cell is of no use unless another one of its relation is hidden."""

    own: int
    others: np.ndarray


class _Desk:
    """What one thread needs to itself: a solver, and work space for the surroundings of a cell."""

    def __init__(self, problem: Problem) -> None:
        # At rest every cell keeps its value, which is feasible: the primal method goes on from there.
        self.solver = quiet_highs(presolve="off", simplex_strategy=PRIMAL)
        self.place = np.full(problem.table.cells, -1, dtype=np.int64)
        self.reached = np.zeros(problem.table.relations, dtype=bool)


# For a requirement, the way to ask at a desk how far its cell can move in a direction.
_Ask = Callable[[int, _Desk], Callable[[int], _Extreme | None]]


@dataclass(frozen=True)
class _Look:
    """What a requirement asks of every pattern, if the point (nearly) fails it, and what was solved to learn that."""

    capacity: _Capacity | None
    solved: list[_Extreme]


@kernel
def _coefficients(caps: np.ndarray, need: float, divisor: float) -> Any:
    values = np.empty(caps.shape[0])
    for i in range(caps.shape[0]):
        values[i] = coefficient(caps[i], need, divisor)
    return values


@kernel
def priced(incidence: Incidence, relations: np.ndarray, prices: np.ndarray) -> Any:
    """The cells of these relations, sorted, and for each the prices of its relations taken off with its signs."""
    cells = incidence.of_starts.shape[0] - 1
    rate, inside = np.zeros(cells), np.zeros(cells, dtype=np.bool_)
    count = 0
    for i in range(relations.shape[0]):
        for k in range(incidence.starts[relations[i]], incidence.starts[relations[i] + 1]):
            cell = incidence.members[k]
            rate[cell] -= prices[i] * incidence.signs[k]
            if not inside[cell]:
                inside[cell] = True
                count += 1
    found = np.empty(count, dtype=np.int64)
    count = 0
    for cell in range(cells):
        if inside[cell]:
            found[count] = cell
            count += 1
    return found, rate[found]


class AttackerCuts(Remembered["_Record | _Bridge"]):
    """The separation routine of a general table; it remembers every inequality it gave out.

    For each requirement the attacker's programme is solved over the relations around the cell that are connected by
    cells of the point. Its dual gives a valid inequality whether or not relations further away were left out.
    """

    def __init__(self, problem: Problem, run: Run | None = None, threads: int = 1) -> None:
        super().__init__(problem)
        # Not measured here: what is left out around a cell makes it look better protected.
        self.worst = 1.0
        self.run = run
        self._pool: list[_Capacity] = []
        self._stage = 0
        self._attacker: Attacker | None = None
        self._large = problem.size > _LARGE
        self._fixed = problem.is_sensitive
        self._movable = problem.candidates | problem.is_sensitive
        table = problem.table
        self._incidence = Incidence.of(table)
        self._desks = [_Desk(problem) for _ in range(threads)]
        self._up, self._down = np.minimum(problem.up, _FAR), np.minimum(problem.down, _FAR)
        # Relations in which nothing moves unless two cells that may be shown are hidden.
        hidden = np.add.reduceat(self._fixed[self._incidence.members].astype(np.int64), table.starts[:-1])
        self._unprotected = hidden == 0

    def separate(
        self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01, bridges: bool = True
    ) -> Inequalities:
        """Violated inequalities at the point ``x`` (one number per cell), over the given columns."""
        numbers = [number for capacity in self._pool for number in self._strengthen(capacity, x, least)]
        share = np.where(self._fixed, 1.0, np.where(x < 1e-9, 0.0, x)) * self._movable
        # Deep in a search tree a quick look suffices, unless the point is a pattern to be refused.
        quick = not bridges and bool(((x > 0.0) & (x < 1.0)).any())
        if quick and numbers:
            return self.write(dict.fromkeys(numbers), columns)
        while True:
            stage = min(self._stage, _QUICK) if quick else self._stage
            local = stage < len(_STAGES)
            ask = self._ask_around(share, *_STAGES[stage]) if local else self._ask_all(share)
            # Around a cell the largest needs come first; one programme for all cells sees with one insider's eyes at a time.
            order = -self.wanted.need if local else self.wanted.scenario
            fresh = self._capacities(ask, np.argsort(order, kind="stable"), _TOGETHER if local else 1)
            numbers += [number for capacity in fresh for number in self._strengthen(capacity, x, least)]
            self._pool = [*self._pool, *fresh][-_POOL:]
            found = len(numbers)
            stopped = self.run is not None and self.run.stopped
            if quick or not local or stopped or found > _ENOUGH * self.wanted.size:
                break
            if stage + 1 == len(_STAGES) and (self.near or (self._large and found)):
                break
            # The surroundings looked at have little more to give: from now on, larger ones.
            self._stage += 1
            if found:
                break
        # A cell can also be hidden only to keep a sum from being given away; then it need not move.
        if self.problem.sums is None:
            numbers += self._bridges(x, least)
        return self.write(dict.fromkeys(numbers), columns)

    def refuse(self, x: np.ndarray, columns: np.ndarray, places: np.ndarray, least: float) -> Inequalities:
        """Inequalities that a pattern violates because it fails the requirements at these places."""
        share = np.where(self._fixed, 1.0, x) * self._movable
        order = places[np.argsort(-self.wanted.need[places], kind="stable")]
        numbers: list[int] = []
        for stages in (*_REFUSING, None):
            for stage in stages or (None,):
                ask = self._ask_all(share) if stage is None else self._ask_around(share, *stage)
                fresh = self._capacities(ask, order, 1 if stage is None else _TOGETHER)
                numbers += [number for capacity in fresh for number in self._strengthen(capacity, x, least)]
                self._pool = [*self._pool, *fresh][-_POOL:]
            if numbers:
                break
        return self.write(dict.fromkeys(numbers), columns)

    def _bridges(self, x: np.ndarray, least: float) -> list[int]:
        """The numbers of inequalities against cells that one relation gives away: y ≤ Σ of its other cells.

        In a relation with a sensitive cell that is always so; of the others only the cell used most can break it.
        """
        incidence = self._incidence
        share = np.where(self._movable, x, 0.0)[incidence.members]
        begin = incidence.starts[:-1]
        total, most = np.add.reduceat(share, begin), np.maximum.reduceat(share, begin)
        numbers: list[int] = []
        for relation in np.flatnonzero(self._unprotected & (2.0 * most - total > least)).tolist():
            cells = incidence.members[incidence.starts[relation] : incidence.starts[relation + 1]]
            cells = cells[self.problem.candidates[cells]]
            own = int(cells[np.argmax(x[cells])])
            others = cells[cells != own]
            numbers.append(self.number(_Bridge(own, others), "bridge", own, relation))
        return numbers

    def _capacities(self, ask: _Ask, order: np.ndarray, together: int) -> list[_Capacity]:
        """What the requirements that the point (nearly) fails ask of every pattern.

        So many are looked at ``together``, however many threads there are, so that these change nothing.
        """
        shown = np.zeros(self.wanted.size, dtype=bool)
        found: list[_Capacity] = []
        desks = self._desks[: min(together, worthwhile(len(self._desks), order.size))]
        with hands(len(desks)) as at_once:
            while order.size and not (self.run is not None and self.run.stopped):
                places, order = order[:together].tolist(), order[together:]
                looks: list[_Look | None] = [None] * len(places)

                def work(mine: int, places: list[int] = places, looks: list[_Look | None] = looks) -> None:
                    for at in range(mine, len(places), len(desks)):
                        looks[at] = self._look(places[at], ask(places[at], desks[mine]))

                at_once(work, len(desks))
                for place, look in zip(places, looks, strict=True):
                    if look is None:
                        continue
                    self.solved += len(look.solved)
                    if look.capacity is not None and look.capacity.need > 0:
                        found.append(look.capacity)
                    if self.wanted.kind[place] != WIDTH:
                        # With relations left out this proves nothing, but says where not to look first.
                        for extreme in look.solved:
                            self._share(place, extreme.cells, extreme.change, shown)
                order = order[~shown[order]]
        return found

    def _look(self, position: int, extreme: Callable[[int], _Extreme | None]) -> _Look:
        wanted = self.wanted
        cell, kind, need = (
            int(wanted.cell[position]),
            int(wanted.kind[position]),
            float(wanted.need[position]),
        )
        total = 0.0
        caps: np.ndarray | None = None
        others = np.empty(0, dtype=np.int64)
        solved: list[_Extreme] = []
        for direction in (UP, DOWN):
            if kind not in (direction, WIDTH) or total >= need * _NEARLY:
                continue
            found = extreme(direction)
            if found is None:
                return _Look(None, solved)
            solved.append(found)
            total += found.amount
            others, mine = self._caps(direction, cell, found.relations, found.prices)
            caps = mine if caps is None else caps + mine
        if total >= need * _NEARLY or caps is None:
            return _Look(None, solved)
        return _Look(
            self._capacity(others, caps, need, self._known_to(int(wanted.scenario[position]))), solved
        )

    def _known_to(self, scenario: int) -> np.ndarray:
        return self.problem.insiders[scenario] if scenario >= 0 else np.empty(0, dtype=np.int64)

    def _ask_around(self, share: np.ndarray, reach: int, capped: bool) -> _Ask:
        """Programmes over the relations around the cell of a requirement."""

        def ask(position: int, desk: _Desk) -> Callable[[int], _Extreme | None]:
            wanted = self.wanted
            mine = share.copy()
            mine[self._known_to(int(wanted.scenario[position]))] = 0.0
            relations, cells, *rows, _ = around(
                self._incidence, int(wanted.cell[position]), mine > 0.0, reach, desk.place, desk.reached
            )
            need = float(wanted.need[position])
            most = need if capped else _FAR
            return lambda direction: self._extreme(
                desk.solver, direction, need, most, relations, cells, mine[cells], rows
            )

        return ask

    def _ask_all(self, share: np.ndarray) -> _Ask:
        """One resident programme over all relations; every solution of it serves several cells."""
        if self._attacker is None:
            self._attacker = Attacker(self.problem, np.flatnonzero(self._movable))
        attacker = self._attacker
        attacker.scenario = -1
        attacker.rescale(share[attacker.hidden])
        every = np.arange(self.problem.table.relations)

        def ask(position: int, desk: _Desk) -> Callable[[int], _Extreme | None]:
            def extreme(direction: int) -> _Extreme:
                amount, change = attacker.extreme(int(self.wanted.cell[position]), direction)
                return _Extreme(amount, attacker.hidden, change, every, attacker.last_prices)

            attacker.assume(int(self.wanted.scenario[position]))
            return extreme

        return ask

    def _extreme(
        self,
        solver: Any,
        direction: int,
        need: float,
        most: float,
        relations: np.ndarray,
        cells: np.ndarray,
        share: np.ndarray,
        rows: Any,
    ) -> _Extreme | None:
        """How far the first of the cells moves, at most a little more than it must."""
        low = -np.minimum(self._down[cells], most) * share / need
        high = np.minimum(self._up[cells], most) * share / need
        if direction == UP:
            high[0] = min(self._up[cells[0]] / need, 1.01 * _NEARLY)
        else:
            low[0] = max(-self._down[cells[0]] / need, -1.01 * _NEARLY)
        cost = np.zeros(cells.size)
        cost[0] = -1.0 if direction == UP else 1.0
        zeros = np.zeros(rows[0].size - 1)
        solver.clearModel()
        programme(cost, low, high, tuple(rows), zeros, zeros).hand_to(solver)
        solver.run()
        if not is_optimal(solver):
            return None
        solution = solver.getSolution()
        change = np.array(solution.col_value) * need
        return _Extreme(abs(float(change[0])), cells, change, relations, np.array(solution.row_dual))

    def _caps(
        self, direction: int, cell: int, relations: np.ndarray, prices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What each cell around can contribute, given prices of the relations: valid whatever the prices are."""
        cells, rate = priced(self._incidence, relations, np.round(prices, 9))
        rate[np.searchsorted(cells, cell)] += -1.0 if direction == UP else 1.0
        rate[np.abs(rate) < 1e-8] = 0.0
        # A negative rate gains by rising.
        caps = np.abs(rate) * np.where(rate < 0.0, self._up[cells], self._down[cells])
        movable = self._movable[cells]
        return cells[movable], np.minimum(caps[movable], _FAR)

    def _capacity(self, cells: np.ndarray, caps: np.ndarray, need: float, known: np.ndarray) -> _Capacity:
        """What is left to the cells that may or may not be hidden."""
        caps[np.isin(cells, known)] = 0.0
        fixed = self._fixed[cells]
        keep = ~fixed & (caps > 1e-9 * need)
        return _Capacity(cells[keep], caps[keep], need - float(caps[fixed].sum()))

    def _share(self, position: int, cells: np.ndarray, change: np.ndarray, shown: np.ndarray) -> None:
        wanted = self.wanted
        amounts = np.zeros(self.problem.table.cells)
        amounts[cells] = change
        at = amounts[wanted.cell]
        amount = np.where(wanted.kind == UP, at, np.where(wanted.kind == DOWN, -at, 0.0))
        shown |= (amount >= wanted.need) & (wanted.scenario == wanted.scenario[position])

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

    def write(self, numbers: Iterable[int], columns: np.ndarray) -> Inequalities:
        """The inequalities of these numbers over the given columns."""
        rows = Inequalities()
        inside = np.zeros(self.problem.table.cells, dtype=bool)
        inside[columns] = True
        for number in numbers:
            record = self.records[number]
            if isinstance(record, _Bridge):
                others = record.others[inside[record.others]]
                if inside[record.own]:
                    cells = np.concatenate([[record.own], others]).astype(np.int32)
                    rows.add(number, cells, np.where(cells == record.own, -1.0, 1.0), 0.0)
                continue
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
