"""The adjustment problem: how far sensitive cells must move, who may move along, and what somebody could conclude."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from shoal.errors import Infeasible, InputError, parameter
from shoal.tables.model.decimals import places
from shoal.tables.model.table import Table, frozen
from shoal.tables.problem import Problem


@dataclass(frozen=True, eq=False)
class AdjustmentProblem:
    """Change figures as little as possible so that every sensitive cell rises by ``up`` or falls by ``down`` at least.

    ``protect`` is the table with its sensitive cells, levels and the bounds that somebody knows; ``up`` and ``down`` are for
    its sensitive cells. ``weight`` is what a change of one costs in each cell. Cells that are not ``movable`` stay as they are;
    the others change by no more than ``limit`` times their value, unless they are sensitive (``None``: no limit). ``whole``
    says that the figures are counts.

    >>> table = Table.from_matrix([[10.0, 20.0], [30.0, 40.0]])
    >>> problem = AdjustmentProblem.of(Problem.of(table, [0], protection=0.2))
    >>> problem.up.tolist(), problem.unit
    ([2.0], 1.0)
    """

    protect: Problem
    up: np.ndarray
    down: np.ndarray
    weight: np.ndarray
    movable: np.ndarray
    limit: float | None = None
    whole: bool = False

    @classmethod
    def of(
        cls,
        protect: Problem,
        *,
        further: np.ndarray | float = 1.0,
        relative: bool = True,
        keep_totals: bool = False,
        limit: float | None = None,
        whole: bool = False,
    ) -> "AdjustmentProblem":
        """The problem with the usual weights; sensitive cells move ``further`` times their levels, at least by one unit."""
        values = protect.table.values
        unit = unit_of(values)
        if unit is not None:
            # Everybody sees how many decimals figures have, so that one moved by a level is moved by whole units.
            lower, upper = (np.ceil(level / unit - 1e-9) * unit for level in (protect.lower, protect.upper))
            protect = replace(protect, lower=np.minimum(lower, protect.down[protect.sensitive]), upper=upper)
        least = unit if unit is not None else protect.point(protect.sensitive)
        up, down = (np.maximum(further * level, least) for level in (protect.upper, protect.lower))
        if unit is not None:
            up, down = (np.ceil(move / unit - 1e-9) * unit for move in (up, down))
        sizes = np.abs(values)
        smallest = float(sizes[sizes > 0].min(initial=1.0)) if unit is None else unit
        weight = 1.0 / np.maximum(sizes, smallest) if relative else np.ones(values.size)
        movable = (values != 0) & ~(keep_totals & ~protect.table.internal) | protect.is_sensitive
        return cls(protect, up, down, weight, movable, limit, whole)

    def __post_init__(self) -> None:
        if self.limit is not None and not 0.0 < self.limit < 1.0:
            raise InputError("the most that a cell may change must be a share between 0 and 1")
        for name in ("up", "down", "weight", "movable"):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name))))
        stuck = self.protect.sensitive[~self.can_rise & ~self.can_fall]
        if stuck.size:
            cell = self.table.name(int(stuck[0]))
            raise Infeasible(
                f"within the bounds that somebody knows, the cell {cell} can neither rise nor fall as far as it must and stay "
                f"uncertain by its levels; try wider bounds, a smaller {parameter('spread')}, or shoal suppress"
            )

    def __repr__(self) -> str:
        # Never the values: what is printed ends up in logs.
        return f"<AdjustmentProblem: {self.table.cells} cells, {self.protect.sensitive.size} sensitive>"

    def __getstate__(self) -> dict[str, object]:
        return {item.name: self.__dict__[item.name] for item in fields(self)}

    @property
    def table(self) -> Table:
        """The cells and their relations."""
        return self.protect.table

    @property
    def size(self) -> int:
        """Number of choices between up and down."""
        return int(self.protect.sensitive.size)

    @cached_property
    def unit(self) -> float | None:
        """The last decimal that all figures have, to which changes keep; ``None`` if they have many decimals."""
        return unit_of(self.table.values)

    @property
    def can_rise(self) -> np.ndarray:
        """Which sensitive cells can rise as far as they must, and then still have been any figure that their levels ask for."""
        return np.isfinite(self.least_moves[0])

    @property
    def can_fall(self) -> np.ndarray:
        """Which sensitive cells can fall so."""
        return np.isfinite(self.least_moves[1])

    @cached_property
    def least_moves(self) -> tuple[np.ndarray, np.ndarray]:
        """How far each sensitive cell must rise, and fall, to be uncertain enough by its own bounds; infinite where it cannot.

        A risen cell may have been higher than it was if it can be a level above what is published; where that is beyond its
        bounds, only if its level above the true figure still is a level below the published one.
        """
        protect, near = self.protect, 1.0 + 1e-7
        above, below = (room[protect.sensitive] * near for room in (protect.up, protect.down))
        found = []
        for least, own, other, ahead, behind in (
            (self.up, protect.upper, protect.lower, above, below),
            (self.down, protect.lower, protect.upper, below, above),
        ):
            move = np.where(least + other <= ahead, least, np.maximum(least, 2.0 * own))
            found.append(np.where((move <= ahead) & (other <= behind), move, np.inf))
        return frozen(found[0]), frozen(found[1])

    @cached_property
    def room(self) -> tuple[np.ndarray, np.ndarray]:
        """How far each cell may fall and rise; changes keep to the unit."""
        fall, rise = self.protect.down.copy(), self.protect.up.copy()
        if self.limit is not None:
            most = self.limit * np.abs(self.table.values)
            if self.unit is not None:
                most = np.floor(most / self.unit + 1e-9) * self.unit
            others = ~self.protect.is_sensitive
            fall[others], rise[others] = np.minimum(fall, most)[others], np.minimum(rise, most)[others]
        fall[~self.movable] = rise[~self.movable] = 0.0
        return frozen(fall), frozen(rise)

    @cached_property
    def room_both_ways(self) -> tuple[np.ndarray, np.ndarray]:
        """How far each cell may fall and rise so that the same change once more would be within what somebody knows.

        Then the table may as well have come from the other side of what is published, as far away as it was, if sensitive cells
        move by both of their levels.
        """
        fall, rise = (
            np.minimum(room, known / 2.0)
            for room, known in zip(self.room, (self.protect.down, self.protect.up), strict=True)
        )
        if self.limit is not None:
            # As a share of the figure it would have come from, a change towards 0 is larger.
            most = self.limit / (1.0 + 2.0 * self.limit) * np.abs(self.table.values)
            others, negative = ~self.protect.is_sensitive, self.table.values < 0
            fall = np.where(others & ~negative, np.minimum(fall, most), fall)
            rise = np.where(others & negative, np.minimum(rise, most), rise)
        if self.unit is not None:
            fall, rise = (np.floor(room / self.unit + 1e-9) * self.unit for room in (fall, rise))
        return frozen(fall), frozen(rise)

    def cost(self, change: np.ndarray) -> float:
        """What the changes cost."""
        return float(np.sort(self.weight * np.abs(change)).sum())


def unit_of(values: np.ndarray) -> float | None:
    """One of the last decimal that all figures have."""
    count = places(values)
    return None if count is None else float(10.0**-count)
