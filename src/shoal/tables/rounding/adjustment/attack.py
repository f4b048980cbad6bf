"""What can be computed from an adjusted table by somebody who knows how it was made, but for the secret.

That person knows the relations, all bounds, which cells are sensitive and by how much they were moved at least, how far others
may have moved, and that empty cells and kept totals are what they are. Counted are true tables in which the other sensitive
cells were all moved the way they were, and where that is not enough those in which all were moved the other way: there may be
more, so that nobody can exclude more than is stated here.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs
from shoal.tables.model.network import Network
from shoal.tables.problem import DOWN, UP, WIDTH
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.twins import twins
from shoal.tables.safety.attacker import Attacker
from shoal.tables.safety.audit import furthest_flows, scales
from shoal.tables.safety.flow_kernels import UNLIMITED, Arcs
from shoal.tables.safety.watching import Watch, unwatched

_SHARE = 1.0 - 1e-6
# What is a smaller share of the unit of a programme may be lost in its tolerances.
_SMALL = 1e-3
# A change adds up if it is off by no more than such a share of the least that a sensitive cell moved.
_OFF = 1e-6
# So many cells are looked at one by one rather than together first.
_FEW = 20


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
    own = change[problem.protect.sensitive]
    size, room = np.abs(own), _room(problem, change)
    if not size.all():
        return np.zeros(own.size), np.zeros(own.size)
    before, behind = _times(problem, change, -1.0, room), _times(problem, change, 1.0, room)
    behind = behind if behind >= _least_behind(problem, change) * (1.0 - 1e-12) else 0.0
    return np.where(own > 0, before, behind) * size, np.where(own > 0, behind, before) * size


def _times(
    problem: AdjustmentProblem, change: np.ndarray, sign: float, room: tuple[np.ndarray, np.ndarray]
) -> float:
    """How often the change, or its opposite, can be made from the true table on; of one that does not add up never."""
    moved = np.flatnonzero(change)
    least = float(np.abs(change[problem.protect.sensitive]).min(initial=np.inf))
    if (np.abs(problem.table.matrix @ change) > _OFF * least).any():
        return 0.0
    ahead = sign * change[moved] > 0
    found = float(
        (np.where(ahead, room[1][moved], room[0][moved]) / np.abs(change[moved])).min(initial=np.inf)
    )
    return float(np.floor(found + 1e-9)) if problem.whole else found


def _least_behind(problem: AdjustmentProblem, change: np.ndarray) -> float:
    """How often the change must be made to be as far behind the published table as the levels of all sensitive cells ask."""
    protect = problem.protect
    own = change[protect.sensitive]
    levels = np.where(own > 0, protect.lower, protect.upper)
    found = 1.0 + float((levels / np.abs(own)).max(initial=0.0))
    return float(np.ceil(found - 1e-9)) if problem.whole else found


@dataclass(frozen=True, eq=False)
class Region:
    """True tables around one of them: ``base`` in differences from the true table, and how far below and above it others are.

    ``own`` is how far a cell could be by its bounds alone; levels of the one that is looked at are judged afterwards.
    """

    base: np.ndarray
    fall: np.ndarray
    rise: np.ndarray
    own: tuple[np.ndarray, np.ndarray]

    @classmethod
    def around(cls, problem: AdjustmentProblem, change: np.ndarray) -> "Region":
        """Those in which the other sensitive cells were moved the way they were."""
        own = problem.protect.down, problem.protect.up
        return cls(np.zeros(change.size), *possible(problem, change), own)

    @classmethod
    def behind(cls, problem: AdjustmentProblem, change: np.ndarray) -> "Region | None":
        """Those in which the other sensitive cells were moved the other way; ``None`` if none is known."""
        protect, room = problem.protect, _room(problem, change)
        own = change[protect.sensitive]
        if not own.all():
            return None
        times = _least_behind(problem, change)
        if _times(problem, change, 1.0, room) < times:
            return None
        base = times * change
        fall, rise = np.maximum(room[0] + base, 0.0), np.maximum(room[1] - base, 0.0)
        beyond = np.abs(base[protect.sensitive] - own) - np.where(own > 0, protect.lower, protect.upper)
        beyond = np.maximum(beyond, 0.0)
        fall[protect.sensitive] = np.where(own > 0, beyond, fall[protect.sensitive])
        rise[protect.sensitive] = np.where(own > 0, rise[protect.sensitive], beyond)
        return cls(base, fall, rise, (protect.down + base, protect.up - base))

    def ends(self, cell: int, fall: float, rise: float) -> tuple[float, float]:
        """How far below and above its true figure a cell is that is so far below and above its figure in the base."""
        return max(fall - float(self.base[cell]), 0.0), max(rise + float(self.base[cell]), 0.0)


@dataclass(frozen=True, eq=False)
class Conclusions:
    """How far below and above its true figure each sensitive cell could be, and which are known too well to whom."""

    fall: np.ndarray
    rise: np.ndarray
    unsafe: np.ndarray
    insider: tuple[tuple[int, int], ...]


def too_well_known(problem: AdjustmentProblem, change: np.ndarray, watch: Watch = unwatched) -> np.ndarray:
    """The sensitive cells that could be computed too closely; ``TimeIsOver`` if there is no time for all."""
    protect = problem.protect
    places = np.arange(protect.sensitive.size)
    if not protect.insiders:
        fall, rise = along(problem, change)
        asked = protect.lower, protect.upper, protect.required_width
        places = places[~_each_enough(fall, rise, *asked)]
        if places.size > _FEW:
            more = together(problem, change)
            fall, rise = np.maximum(fall, more[0]), np.maximum(rise, more[1])
            places = np.flatnonzero(~_each_enough(fall, rise, *asked))
    if not places.size:
        return np.empty(0, dtype=np.int64)
    found = conclusions(problem, change, places, watch)
    return np.union1d(found.unsafe, [cell for cell, _ in found.insider]).astype(np.int64)


def _each_enough(
    fall: np.ndarray, rise: np.ndarray, lower: np.ndarray, upper: np.ndarray, width: np.ndarray
) -> np.ndarray:
    found: np.ndarray = (fall >= _SHARE * lower) & (rise >= _SHARE * upper) & (fall + rise >= _SHARE * width)
    return found


def together(problem: AdjustmentProblem, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far below or above its true figure each sensitive cell could be where all are, on the side they came from, by one
    programme: as many as possible by their levels.
    """
    from scipy.sparse import csr_matrix, hstack, vstack

    protect, size, count = problem.protect, problem.table.cells, problem.size
    fall, rise = possible(problem, change)
    sizes = np.abs(problem.table.values[problem.table.values != 0])
    unit = float(np.median(sizes)) / 128.0 if sizes.size else 1.0
    own = change[protect.sensitive]
    away = np.where(own > 0, -1.0, 1.0)
    level = np.where(own > 0, protect.lower, protect.upper)
    every = np.arange(count)
    matrix = vstack(
        [
            hstack([problem.table.matrix, csr_matrix((problem.table.relations, count))]),
            hstack(
                [
                    csr_matrix((away, (every, protect.sensitive)), shape=(count, size)),
                    csr_matrix((-level / unit, (every, every)), shape=(count, count)),
                ]
            ),
        ],
        format="csr",
    )
    zero = np.zeros(problem.table.relations)
    solver = quiet_highs(
        programme(
            np.concatenate([np.zeros(size), -np.ones(count)]),
            np.concatenate([-fall / unit, np.zeros(count)]),
            np.concatenate([rise / unit, np.ones(count)]),
            (matrix.indptr, matrix.indices, matrix.data),
            np.concatenate([zero, np.zeros(count)]),
            np.concatenate([zero, np.full(count, np.inf)]),
        )
    )
    solver.run()
    if not is_optimal(solver):
        return np.zeros(count), np.zeros(count)
    moved = np.array(solver.getSolution().col_value)[protect.sensitive] * unit
    return np.maximum(-moved, 0.0), np.maximum(moved, 0.0)


def conclusions(
    problem: AdjustmentProblem,
    change: np.ndarray,
    places: np.ndarray | None = None,
    watch: Watch = unwatched,
) -> Conclusions:
    """What follows for every sensitive cell, or those at some places among them."""
    protect = problem.protect
    line, alike = along(problem, change), Twins.of(problem, change)
    views = _Views(problem, change, alike)
    count = protect.sensitive.size
    fall, rise = np.zeros(count), np.zeros(count)
    unsafe, insider = [], []
    ways = _Ways(problem, change) if protect.insiders else None
    for place in range(count) if places is None else places.tolist():
        watch.look()
        cell = int(protect.sensitive[place])
        lower, upper = float(protect.lower[place]), float(protect.upper[place])
        asked = lower, upper, float(protect.required_width[place])
        on_line = line[0][place], line[1][place]
        below, above, touched = views.around.span(cell, -1)
        ends = reached(float(change[cell]), *alike.levels[place], below, above)
        found = _further(ends, on_line)
        if not _enough(*found, *asked):
            found = _further(found, views.behind(place, -1))
        fall[place], rise[place] = found
        if not _enough(*found, *asked):
            unsafe.append(cell)
            continue
        # Whoever knows nothing that moves in a way which is enough for others is as uncertain as they are.
        free = touched if _enough(*ends, *asked) else np.ones_like(touched)
        still = change != 0 if _enough(*on_line, *asked) else np.ones_like(touched)
        aims = _aims(float(change[cell]), *asked)
        for number, known in enumerate(protect.insiders):
            if cell in known or not free[known].any() or not still[known].any():
                continue
            watch.look()
            assert ways is not None
            if ways.both(cell, known, aims):
                continue
            left = [
                protect.need_against(cell, kind, need, number)
                for kind, need in zip((DOWN, UP, WIDTH), asked, strict=True)
            ]
            mine = reached(float(change[cell]), *alike.levels[place], *views.around.span(cell, number)[:2])
            if not _enough(*mine, *left) and not change[known].any():
                mine = _further(_further(mine, on_line), views.behind(place, number))
            if not _enough(*mine, *left):
                insider.append((cell, number))
    return Conclusions(fall, rise, np.array(unsafe, dtype=np.int64), tuple(insider))


def _further(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return max(one[0], other[0]), max(one[1], other[1])


@dataclass(frozen=True, eq=False)
class Twins:
    """Which sensitive cells move as each other do, such as one and the total of which it is all, and the levels of all of them.

    Looked at is one of them; the others go where it goes, and are no nearer to what is published than their levels either.
    """

    cells: dict[int, np.ndarray]
    levels: list[tuple[float, float]]

    @classmethod
    def of(cls, problem: AdjustmentProblem, change: np.ndarray) -> "Twins":
        """Those of a published table."""
        protect = problem.protect
        fall, rise = _room(problem, change)
        levels = list(zip(protect.lower.tolist(), protect.upper.tolist(), strict=True))
        cells = {cell: np.array([cell]) for cell in protect.sensitive.tolist()}
        for places in twins(protect, (fall > 0.0) | (rise > 0.0) | protect.is_sensitive):
            moved = change[protect.sensitive[places]]
            # Where a cell beside them is taken to be known that did move, they did not move alike.
            if places.size == 1 or not ((moved > 0).all() or (moved < 0).all()):
                continue
            over, under = (moved + protect.lower[places]).max(), (moved - protect.upper[places]).min()
            for place, own in zip(places.tolist(), moved.tolist(), strict=True):
                levels[place] = float(over - own), float(own - under)
                cells[int(protect.sensitive[place])] = protect.sensitive[places]
        return cls(cells, levels)


class _Views:
    """How far cells can go among true tables where the others were moved the way they were, and among those behind."""

    def __init__(self, problem: AdjustmentProblem, change: np.ndarray, alike: Twins) -> None:
        self._problem, self._change, self._twins = problem, change, alike
        self.around = self._of(Region.around(problem, change))

    def _of(self, region: "Region") -> "_View | _Flows":
        network = self._problem.table.network
        if network is not None and not self._problem.protect.insiders:
            return _Flows(self._problem, network, region, self._twins)
        return _View(self._problem, region, self._twins)

    @cached_property
    def _behind(self) -> "tuple[Region, _View | _Flows] | None":
        region = Region.behind(self._problem, self._change)
        return None if region is None else (region, self._of(region))

    def behind(self, position: int, insider: int) -> tuple[float, float]:
        """How far below and above its true figure a sensitive cell could be if all others were moved the other way."""
        if self._behind is None:
            return 0.0, 0.0
        region, view = self._behind
        cell = int(self._problem.protect.sensitive[position])
        ends = region.ends(cell, *view.span(cell, insider)[:2])
        return reached(float(self._change[cell]), *self._twins.levels[position], *ends)


class _Flows:
    """The true tables of a network around one of them: how far a cell can go is a maximum flow, which takes no programme."""

    def __init__(self, problem: AdjustmentProblem, network: Network, region: Region, alike: Twins) -> None:
        self._network, self._own, self._twins = network, region.own, alike
        self._limit, self._tiny = scales(problem.protect)
        self._up, self._down = np.minimum(region.rise, UNLIMITED), np.minimum(region.fall, UNLIMITED)
        open_ = (self._up > 0.0) | (self._down > 0.0) | problem.protect.is_sensitive
        self._every = np.flatnonzero(open_)
        self._touched = np.ones(problem.table.cells, dtype=bool)

    def span(self, cell: int, insider: int) -> tuple[float, float, np.ndarray]:
        """How far a cell can fall and rise, and which cells may move along; nobody here knows any of them."""
        up, down, free = self._up, self._down, self._twins.cells[cell]
        # The cell and its twins may be wherever their own bounds let them; levels are judged afterwards.
        held = up[free], down[free]
        down[free], up[free] = (np.minimum(own[free], UNLIMITED) for own in self._own)
        arcs = Arcs(self._network.tail, self._network.head, up, down)
        ends = furthest_flows(self._network, arcs, self._every, np.array([cell]), self._limit, self._tiny)
        up[free], down[free] = held
        most, least = (float(end[0]) for end in ends)
        return least, most, self._touched


def _enough(fall: float, rise: float, lower: float, upper: float, width: float) -> bool:
    return fall >= _SHARE * lower and rise >= _SHARE * upper and fall + rise >= _SHARE * width


class _View:
    """The true tables of any table around one of them, as a linear programme."""

    def __init__(self, problem: AdjustmentProblem, region: Region, alike: Twins) -> None:
        every = np.arange(problem.table.cells)
        self._own, self._twins = region.own, alike
        self._low, self._high = -region.fall, region.rise
        self._attacker = Attacker(problem.protect, every).with_room(self._low, self._high)

    def span(self, cell: int, insider: int) -> tuple[float, float, np.ndarray]:
        """How far a cell can fall and rise for an insider, or an outsider (−1), and which cells move along."""
        attacker, free = self._attacker, self._twins.cells[cell]
        attacker.assume(insider)
        attacker.let(free, -self._own[0][free], self._own[1][free])
        ends, touched = [], np.zeros(self._low.size, dtype=bool)
        for kind in (DOWN, UP):
            amount, moved = attacker.furthest(cell, kind)
            ends.append(amount)
            touched |= (np.abs(moved) > 1e-9 * min(1.0, amount)) | np.isinf(amount)
        attacker.let(free, self._low[free], self._high[free])
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
