"""What can be computed from an adjusted table by somebody who knows how it was made, but for the secret.

That person knows the relations, all bounds, which cells are sensitive and by how much they were moved at least, how far others
may have moved, and that empty cells and kept totals are what they are. Counted are true tables in which the other sensitive
cells were moved the way they were, and those on the line through the true table and the published one, where all were moved the
other way: there may be more, so that nobody can exclude more than is stated here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.search.linear_programmes import is_optimal, programme, quiet_highs
from shoal.tables.model.network import Network
from shoal.tables.problem import DOWN, UP, WIDTH
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.safety.attacker import Attacker
from shoal.tables.safety.audit import furthest_flows, scales
from shoal.tables.safety.flow_kernels import UNLIMITED, Arcs

_SHARE = 1.0 - 1e-6
# What is a smaller share of the unit of a programme may be lost in its tolerances.
_SMALL = 1e-3


def _room(problem: AdjustmentProblem, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far below and above its true figure each cell could be for that person, but for the levels of sensitive ones."""
    protect, values = problem.protect, problem.table.values
    seen = values + change
    fall, rise = protect.down.copy(), protect.up.copy()
    if problem.limit is not None:
        ends = np.stack([seen / (1.0 + problem.limit), seen / (1.0 - problem.limit)])
        if problem.unit is not None:
            # Figures have so many decimals and no more, which is known.
            ends = np.stack(
                [np.ceil(ends.min(0) / problem.unit - 1e-9), np.floor(ends.max(0) / problem.unit + 1e-9)]
            )
            ends = ends * problem.unit
        others = ~protect.is_sensitive
        fall[others] = np.minimum(fall, values - ends.min(axis=0))[others]
        rise[others] = np.minimum(rise, ends.max(axis=0) - values)[others]
    # What is seen as empty is taken to be known, and so are kept totals.
    known = ~problem.movable | ((seen == 0) & ~protect.is_sensitive)
    fall[known] = rise[known] = 0.0
    return fall, rise


def possible(problem: AdjustmentProblem, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far below and above its true figure each cell could be for that person; a sensitive one on the side it came from."""
    protect = problem.protect
    fall, rise = _room(problem, change)
    for cell, lower, upper in zip(protect.sensitive.tolist(), protect.lower, protect.upper, strict=True):
        if change[cell] > 0:
            rise[cell] = min(rise[cell], max(change[cell] - upper, 0.0))
        else:
            fall[cell] = min(fall[cell], max(-change[cell] - lower, 0.0))
    return np.maximum(fall, 0.0), np.maximum(rise, 0.0)


def reached(change: float, lower: float, upper: float, fall: float, rise: float) -> tuple[float, float]:
    """How far below and above its true figure a cell could be, if it could be ``fall`` below and ``rise`` above by all others.

    Its own figure is none of those nearer to the published one than its levels.

    >>> reached(3.0, 2.0, 2.0, 4.0, 9.0), reached(3.0, 2.0, 2.0, 4.0, 4.5)
    ((4.0, 9.0), (4.0, 1.0))
    """
    if change > 0:
        return fall, rise if rise >= change + lower else min(rise, max(change - upper, 0.0))
    return (fall if fall >= -change + upper else min(fall, max(-change - lower, 0.0))), rise


def along(problem: AdjustmentProblem, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far below and above its true figure each sensitive cell could be on the line from the true table to the published one.

    All tables on it add up. Before the true table every sensitive cell is further away than it was; as far behind the published
    one, all were moved the other way.
    """
    protect = problem.protect
    fall, rise = _room(problem, change)
    moved = np.flatnonzero(change)
    own = change[protect.sensitive]
    size = np.abs(own)
    if not moved.size or not size.all():
        return np.zeros(own.size), np.zeros(own.size)
    step, ahead = np.abs(change[moved]), change[moved] > 0
    before = float((np.where(ahead, fall[moved], rise[moved]) / step).min())
    behind = float((np.where(ahead, rise[moved], fall[moved]) / step).min())
    least = 1.0 + float((np.where(own > 0, protect.lower, protect.upper) / size).max(initial=0.0))
    if problem.whole:
        before, behind, least = np.floor(before + 1e-9), np.floor(behind + 1e-9), np.ceil(least - 1e-9)
    behind = behind if behind >= least * (1.0 - 1e-12) else 0.0
    return np.where(own > 0, before, behind) * size, np.where(own > 0, behind, before) * size


@dataclass(frozen=True, eq=False)
class Conclusions:
    """How far below and above its true figure each sensitive cell could be, and which are known too well to whom."""

    fall: np.ndarray
    rise: np.ndarray
    unsafe: np.ndarray
    insider: tuple[tuple[int, int], ...]


def too_well_known(problem: AdjustmentProblem, change: np.ndarray) -> np.ndarray:
    """The sensitive cells that could be computed too closely."""
    protect = problem.protect
    if not protect.insiders:
        fall, rise = along(problem, change)
        levels = zip(fall, rise, protect.lower, protect.upper, protect.required_width, strict=True)
        if all(_enough(*one) for one in levels):
            return np.empty(0, dtype=np.int64)
    found = conclusions(problem, change)
    return np.union1d(found.unsafe, [cell for cell, _ in found.insider]).astype(np.int64)


def conclusions(problem: AdjustmentProblem, change: np.ndarray) -> Conclusions:
    """What follows for every sensitive cell."""
    protect = problem.protect
    if problem.table.network is not None and not protect.insiders:
        return _by_flows(problem, change, problem.table.network)
    line = along(problem, change)
    view = _View(problem, change)
    ways = _Ways(problem, change)
    count = protect.sensitive.size
    fall, rise = np.zeros(count), np.zeros(count)
    unsafe, insider = [], []
    width = protect.required_width
    for place, cell in enumerate(protect.sensitive.tolist()):
        lower, upper = float(protect.lower[place]), float(protect.upper[place])
        below, above, touched = view.span(cell, -1)
        asked = lower, upper, float(width[place])
        ends = reached(float(change[cell]), lower, upper, below, above)
        fall[place], rise[place] = max(ends[0], line[0][place]), max(ends[1], line[1][place])
        if not _enough(fall[place], rise[place], *asked):
            unsafe.append(cell)
            continue
        on_line = _enough(line[0][place], line[1][place], *asked)
        touched |= not _enough(*ends, *asked)
        aims = _aims(float(change[cell]), lower, upper, float(width[place]))
        for number, known in enumerate(protect.insiders):
            if cell in known or (on_line and not change[known].any()):
                continue
            if not touched[known].any() or ways.both(cell, known, aims):
                continue
            ends = reached(float(change[cell]), lower, upper, *view.span(cell, number)[:2])
            left = [
                protect.need_against(cell, kind, need, number)
                for kind, need in zip((DOWN, UP, WIDTH), asked, strict=True)
            ]
            if not _enough(*ends, *left):
                insider.append((cell, number))
    return Conclusions(fall, rise, np.array(unsafe, dtype=np.int64), tuple(insider))


def _by_flows(problem: AdjustmentProblem, change: np.ndarray, network: Network) -> Conclusions:
    """The same of a network without insiders: how far a cell can go is a maximum flow, which takes no programme."""
    protect = problem.protect
    line = along(problem, change)
    below, above = possible(problem, change)
    limit, tiny = scales(protect)
    up, down = np.minimum(above, UNLIMITED), np.minimum(below, UNLIMITED)
    every = np.flatnonzero((up > 0.0) | (down > 0.0) | protect.is_sensitive)
    fall, rise = np.zeros(protect.sensitive.size), np.zeros(protect.sensitive.size)
    unsafe = []
    levels = zip(protect.lower, protect.upper, protect.required_width, strict=True)
    for place, (cell, (lower, upper, width)) in enumerate(zip(protect.sensitive, levels, strict=True)):
        # The cell itself may be wherever its own bounds let it; its levels are judged afterwards.
        held = up[cell], down[cell]
        up[cell], down[cell] = min(protect.up[cell], UNLIMITED), min(protect.down[cell], UNLIMITED)
        arcs = Arcs(network.tail, network.head, up, down)
        ends = furthest_flows(network, arcs, every, np.array([cell]), limit, tiny)
        up[cell], down[cell] = held
        most, least = (float(end[0]) for end in ends)
        fall[place], rise[place] = reached(float(change[cell]), lower, upper, least, most)
        fall[place], rise[place] = max(fall[place], line[0][place]), max(rise[place], line[1][place])
        if not _enough(fall[place], rise[place], lower, upper, width):
            unsafe.append(int(cell))
    return Conclusions(fall, rise, np.array(unsafe, dtype=np.int64), ())


def _enough(fall: float, rise: float, lower: float, upper: float, width: float) -> bool:
    return fall >= _SHARE * lower and rise >= _SHARE * upper and fall + rise >= _SHARE * width


class _View:
    """The true tables that person holds possible, in differences from the true one."""

    def __init__(self, problem: AdjustmentProblem, change: np.ndarray) -> None:
        fall, rise = possible(problem, change)
        every = np.arange(problem.table.cells)
        self._own = problem.protect.down, problem.protect.up
        self._low, self._high = -fall, rise
        self._attacker = Attacker(problem.protect, every).with_room(self._low, self._high)

    def span(self, cell: int, insider: int) -> tuple[float, float, np.ndarray]:
        """How far a cell can fall and rise for an insider, or an outsider (−1), and which cells move along."""
        attacker = self._attacker
        attacker.assume(insider)
        attacker.let(cell, -self._own[0][cell], self._own[1][cell])
        ends, touched = [], np.zeros(self._low.size, dtype=bool)
        for kind in (DOWN, UP):
            amount, moved = attacker.furthest(cell, kind)
            ends.append(amount)
            touched |= (np.abs(moved) > 1e-9 * min(1.0, amount)) | np.isinf(amount)
        attacker.let(cell, self._low[cell], self._high[cell])
        return ends[0], ends[1], touched


def _aims(change: float, lower: float, upper: float, width: float) -> tuple[float, float] | None:
    """So far a cell has to fall and rise to be uncertain enough; ``None`` where its width asks for more than both levels.

    Between the published figure less one level and more the other it cannot be, so that it has to go beyond that.
    """
    if width > lower + upper:
        return None
    if change > 0:
        return lower, upper if upper <= change - upper else max(upper, change + lower)
    return lower if lower <= -change - lower else max(lower, -change + upper), upper


class _Ways:
    """Ways in which a cell can fall or rise as far as it must, each moving as little else as possible.

    One that moves no cell of somebody is a way for whoever knows those cells: most insiders need no programme of their own.
    """

    def __init__(self, problem: AdjustmentProblem, change: np.ndarray) -> None:
        self._fall, self._rise = possible(problem, change)
        self._own = problem.protect.down, problem.protect.up
        sizes = np.abs(problem.table.values[problem.table.values != 0])
        self._unit = float(np.median(sizes)) / 128.0 if sizes.size else 1.0
        matrix = problem.table.matrix.tocsc()
        right = np.zeros(problem.table.relations)
        self._size = problem.table.cells
        # A column for each cell that rises, and one for each that falls.
        starts = np.concatenate([matrix.indptr, matrix.indptr[1:] + matrix.nnz])
        model = programme(
            np.ones(2 * self._size),
            np.zeros(2 * self._size),
            np.concatenate([self._rise, self._fall]) / self._unit,
            (starts, np.tile(matrix.indices, 2), np.concatenate([matrix.data, -matrix.data])),
            right,
            right,
            by="columns",
        )
        self._solver: Any = quiet_highs(model, presolve="off")
        self._cell = -1
        self._known: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])

    def both(self, cell: int, known: np.ndarray, aims: tuple[float, float] | None) -> bool:
        """Whether ways both down and up are found for somebody who knows some cells."""
        if aims is None:
            return False
        if cell != self._cell:
            self._cell, self._known = cell, ([], [])
        return all(self._way(side, known, aim) for side, aim in enumerate(aims))

    def _way(self, side: int, known: np.ndarray, aim: float) -> bool:
        if any(not moved[known].any() for moved in self._known[side]):
            return True
        if aim > self._own[side][self._cell] or aim < _SMALL * self._unit:
            return False
        falls, rises = self._cell + self._size, self._cell
        own, other = (falls, rises) if side == 0 else (rises, falls)
        shut = np.concatenate([known, known + self._size])
        self._bounds(shut, np.zeros(shut.size), np.zeros(shut.size))
        self._bounds(np.array([own]), np.array([aim]), np.array([aim]))
        self._bounds(np.array([other]), np.zeros(1), np.zeros(1))
        self._solver.run()
        found = is_optimal(self._solver)
        if found:
            values = np.array(self._solver.getSolution().col_value)
            self._known[side].append((values[: self._size] > 1e-9) | (values[self._size :] > 1e-9))
        every = np.concatenate([self._rise, self._fall])
        for places in (shut, np.array([own, other])):
            self._bounds(places, np.zeros(places.size), every[places])
        return found

    def _bounds(self, places: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        index = places.astype(np.int32)
        self._solver.changeColsBounds(places.size, index, low / self._unit, high / self._unit)
