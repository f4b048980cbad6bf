"""The suppression problem: which cells are sensitive, how well they must be hidden, and from whom."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from shoal.errors import InputError, parameter
from shoal.numbers import first_unusable, number
from shoal.tables.model.count_rules import InOneCell
from shoal.tables.model.distinct import distinct
from shoal.tables.model.table import Table, frozen

# An interval narrower than this share of the least any cell can move counts as a point …
RESOLUTION = 1e-2
# … unless that is lost in the rounding of the cell's own value.
ROUNDING = 1e-9
# What is short of its need by this share is short by rounding errors only.
TOLERANCE = 2e-7

UP, DOWN, WIDTH = 0, 1, 2


class Requirements(NamedTuple):
    """What a safe pattern must allow: cell ``cell[i]`` can rise (``UP``), fall (``DOWN``), or both together (``WIDTH``)
    by ``need[i]``, whoever looks: an outsider (``scenario`` −1) or the insider of that number.
    """

    cell: np.ndarray
    kind: np.ndarray
    need: np.ndarray
    scenario: np.ndarray

    @property
    def size(self) -> int:
        """Number of requirements."""
        return int(self.cell.size)

    def at(self, places: np.ndarray | slice) -> "Requirements":
        """Some of them."""
        return Requirements(*(array[places] for array in self))

    def against(self, places: np.ndarray, scenario: np.ndarray) -> "Requirements":
        """Some of them, each against another one who looks."""
        return self.at(places)._replace(scenario=scenario)

    def reached_by(self, change: np.ndarray) -> np.ndarray:
        """How far each is met by a change of its cell; of a width, as far as one direction goes."""
        signed = np.where(self.kind == DOWN, -change, change)
        return np.where(self.kind == WIDTH, np.abs(change), signed)

    def with_more(self, more: "Requirements") -> "Requirements":
        """These and those of ``more`` that are not among them yet."""
        known = set(zip(self.cell.tolist(), self.kind.tolist(), self.scenario.tolist(), strict=True))
        keys = zip(more.cell.tolist(), more.kind.tolist(), more.scenario.tolist(), strict=True)
        new = [place for place, key in enumerate(keys) if key not in known]
        return Requirements(
            *map(np.concatenate, zip(self, more.at(np.array(new, dtype=np.int64)), strict=True))
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the cheapest further cells to hide so that every sensitive cell is protected.

    For the ``sensitive`` cells, ``lower``, ``upper`` and ``sliding`` say how far below and above its value, and over
    which width in all, an attacker must find values possible; levels of 0 mean no more than a strictly wider interval
    than a point. ``candidates`` may be hidden at their ``cost``; ``low`` and ``high`` are bounds the attacker knows.
    ``insiders`` are lists of cells a single contributor knows; ``conceded`` are for each of them the sensitive cells of
    which its own part leaves less than they should be able to fall, and ``left`` is what it leaves of each. ``sums`` says
    of a set of cells whether the sum of them may be known. ``groups`` are cells with all that a total counts: what is beside
    them must not be known to be less than so many.

    >>> table = Table.from_matrix([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]])
    >>> problem = Problem.of(table, [table.find("2", "2")], protection=0.10)
    >>> problem.requirements.need.tolist()
    [5.0, 5.0]
    """

    table: Table
    sensitive: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    sliding: np.ndarray
    cost: np.ndarray
    candidates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    insiders: tuple[np.ndarray, ...] = ()
    conceded: tuple[np.ndarray, ...] = ()
    left: tuple[np.ndarray, ...] = ()
    sums: "Callable[[np.ndarray], bool] | None" = None
    groups: tuple[InOneCell, ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        sensitive: object,
        *,
        protection: float = 0.10,
        lower: object = None,
        upper: object = None,
        sliding: object = None,
        cost: object = None,
        candidates: np.ndarray | None = None,
        low: object = None,
        high: object = None,
        insiders: tuple[np.ndarray, ...] = (),
    ) -> Self:
        """The problem with the usual defaults: a share of the value on both sides, value as cost, totals published."""
        number(protection, "the protection, a share of the value between 0 and 1,", least=0.0, most=1.0)
        cells = np.asarray(sensitive, dtype=np.int64).reshape(-1)
        if cells.size and (cells.min() < 0 or cells.max() >= table.cells):
            raise InputError("a sensitive cell is not in the table")
        level = protection * np.abs(table.values[cells])
        return cls(
            table,
            cells,
            lower=level if lower is None else np.asarray(lower, dtype=np.float64),
            upper=level if upper is None else np.asarray(upper, dtype=np.float64),
            sliding=np.zeros(cells.size) if sliding is None else np.asarray(sliding, dtype=np.float64),
            cost=np.abs(table.values) if cost is None else np.asarray(cost, dtype=np.float64),
            candidates=table.internal if candidates is None else np.asarray(candidates, dtype=bool),
            low=np.broadcast_to(0.0 if low is None else np.asarray(low, dtype=np.float64), (table.cells,)),
            high=np.broadcast_to(
                np.inf if high is None else np.asarray(high, dtype=np.float64), (table.cells,)
            ),
            insiders=insiders,
        )

    def __post_init__(self) -> None:
        table = self.table
        sensitive = np.asarray(self.sensitive, dtype=np.int64)
        if distinct(sensitive).size != sensitive.size:
            values, times = np.unique(sensitive, return_counts=True)
            raise InputError(f"the cell {table.name(int(values[times > 1][0]))} is listed as sensitive twice")
        for name in ("lower", "upper", "sliding"):
            levels = np.array(getattr(self, name), dtype=np.float64)
            if levels.shape != sensitive.shape:
                raise InputError(
                    f"there are {sensitive.size} sensitive cells, but {levels.size} {name} levels"
                )
            if not (levels >= 0).all():
                bad = int(sensitive[np.flatnonzero(~(levels >= 0))[0]])
                raise InputError(
                    f"the {name} protection level of the cell {table.name(bad)} is not a number of at least 0"
                )
            if (place := first_unusable(levels)) is not None:
                raise InputError(
                    f"the {name} protection level of the cell {table.name(int(sensitive[place]))} is too large"
                )
            object.__setattr__(self, name, frozen(levels))
        cost = np.array(self.cost, dtype=np.float64)
        if cost.shape != (table.cells,) or not (cost >= 0).all() or first_unusable(cost) is not None:
            raise InputError("the cost of hiding a cell must be a number of at least 0 for every cell")
        for name in ("low", "high"):
            place = first_unusable(np.asarray(getattr(self, name), dtype=np.float64), infinite=True)
            if place is not None:
                raise InputError(
                    f"the bound '{name}' of the cell {table.name(place)} is no number to compute with"
                )
        low = np.minimum(np.array(self.low, dtype=np.float64), np.inf)
        high = np.array(self.high, dtype=np.float64)
        rounding = ROUNDING * np.abs(table.values)
        outside = np.flatnonzero(table.values < low - rounding)
        if outside.size:
            cell = int(outside[0])
            if table.values[cell] < 0:
                raise InputError(
                    f"the cell {table.name(cell)} is negative; say which values an attacker holds possible "
                    f"(lower and upper bounds, {parameter('low')} and {parameter('high')})"
                )
            raise InputError(
                f"the value of the cell {table.name(cell)} is below its lower bound; see {parameter('low')}"
            )
        outside = np.flatnonzero(table.values > high + rounding)
        if outside.size:
            raise InputError(
                f"the value of the cell {table.name(int(outside[0]))} is above its upper bound; see {parameter('high')}"
            )
        candidates = np.array(self.candidates, dtype=bool)
        candidates[sensitive] = False
        for name, array in (
            ("sensitive", sensitive),
            ("cost", cost),
            ("low", np.minimum(low, table.values)),
            ("high", np.maximum(high, table.values)),
            ("candidates", candidates),
        ):
            object.__setattr__(self, name, frozen(array))

    def __repr__(self) -> str:
        # Never the values: what is printed ends up in logs.
        return (
            f"<Problem: {self.table.cells} cells, {self.sensitive.size} sensitive, {self.size} may be hidden>"
        )

    def __getstate__(self) -> dict[str, object]:
        # What is computed on demand is neither sent nor compared.
        return {item.name: self.__dict__[item.name] for item in fields(self)}

    @property
    def size(self) -> int:
        """Number of cells that could be hidden: the measure of how hard a problem is."""
        return int(self.candidates.sum())

    @cached_property
    def is_sensitive(self) -> np.ndarray:
        """Which cells are sensitive."""
        flags = np.zeros(self.table.cells, dtype=bool)
        flags[self.sensitive] = True
        return frozen(flags)

    @cached_property
    def required_width(self) -> np.ndarray:
        """The width the interval of each sensitive cell must reach; never 0."""
        return np.maximum(self.sliding, self.point(self.sensitive))

    @cached_property
    def without_range(self) -> np.ndarray:
        """Which of the sensitive cells need only not be known exactly: all of their levels are 0."""
        return frozen(self._required <= 0.0)

    @cached_property
    def tiny_range(self) -> np.ndarray:
        """Which of the sensitive cells have levels above 0 that ask for no more than what counts as a point."""
        return frozen((self._required > 0.0) & (self._required <= self.point(self.sensitive)))

    @property
    def _required(self) -> np.ndarray:
        found: np.ndarray = np.maximum(self.lower + self.upper, self.sliding)
        return found

    def point(self, cells: np.ndarray) -> np.ndarray:
        """The width below which the interval of a cell is a point.

        A cell that can move at all can move about as far as the least mobile of all cells.
        """
        usable = self.candidates | self.is_sensitive
        room = np.concatenate([self.up[usable], self.down[usable]])
        room = room[(room > 0) & np.isfinite(room)]
        least = float(room.min()) if room.size else 1.0
        found: np.ndarray = np.maximum(RESOLUTION * least, ROUNDING * np.abs(self.table.values[cells]))
        return found

    @cached_property
    def requirements(self) -> Requirements:
        """What somebody who knows only what is published may not learn; what others imply is left out.

        Those of insiders are the same for every cell they do not know (``against_insider``), and so many that
        solvers take up only the ones a pattern fails.
        """
        width = self.required_width
        asked = [self.upper > 0, self.lower > 0, width > self.lower + self.upper]
        levels = np.concatenate([self.upper, self.lower, width])
        kinds = np.repeat([UP, DOWN, WIDTH], self.sensitive.size)
        cells = np.tile(self.sensitive, 3)
        order = np.lexsort((kinds, cells))
        order = order[np.concatenate(asked)[order]]
        return Requirements(
            cells[order], kinds[order], levels[order], np.full(order.size, -1, dtype=np.int64)
        )

    @cached_property
    def _left(self) -> dict[tuple[int, int], float]:
        return {
            (int(cell), number): float(amount)
            for number, (cells, amounts) in enumerate(zip(self.conceded, self.left, strict=True))
            for cell, amount in zip(cells, amounts, strict=True)
        }

    @cached_property
    def _upper_of(self) -> dict[int, float]:
        return dict(zip(self.sensitive.tolist(), self.upper.tolist(), strict=True))

    def need_against(self, cell: int, kind: int, need: float, number: int) -> float:
        """What is asked against this insider: of a cell it gives most of, no more below than the others give.

        Nothing (0) where they give nothing: it knows then how far the cell can fall, and the others have nothing to hide.
        """
        left = self._left.get((int(cell), number))
        if left is None or kind == UP or need <= 0.0:
            return float(need)
        most = left + (self._upper_of[int(cell)] if kind == WIDTH else 0.0)
        return 0.0 if most <= float(self.point(np.array([cell]))[0]) else float(min(need, most))

    @cached_property
    def _known(self) -> list[frozenset[int]]:
        return [frozenset(cells.tolist()) for cells in self.insiders]

    def against_insiders(self, wanted: Requirements, pairs: Iterable[tuple[int, int]]) -> Requirements:
        """Some of the requirements (by their places) against insiders (by their numbers).

        Left out are those on cells that the insider knows anyway; of cells it gives most of, less is asked.
        """
        asked = sorted(
            (place, number)
            for place, number in set(pairs)
            if int(wanted.cell[place]) not in self._known[number]
        )
        places, numbers = np.array(asked, dtype=np.int64).reshape(-1, 2).T
        return self._reduced(wanted.against(places, numbers))

    def _reduced(self, wanted: Requirements) -> Requirements:
        if not self._left:
            return wanted
        needs = np.array([self.need_against(*item) for item in zip(*wanted, strict=True)], dtype=np.float64)
        return wanted._replace(need=needs).at(np.flatnonzero((needs > 0.0) | (wanted.need <= 0.0)))

    def against_insider(self, number: int) -> Requirements:
        """The requirements against the insider of this number."""
        base = self.requirements
        keep = ~np.isin(base.cell, self.insiders[number])
        return self._reduced(base.against(keep, np.full(int(keep.sum()), number, dtype=np.int64)))

    @cached_property
    def up(self) -> np.ndarray:
        """How far each cell can rise before it meets the bound the attacker knows."""
        return frozen(self.high - self.table.values)

    @cached_property
    def down(self) -> np.ndarray:
        """How far each cell can fall before it meets the bound the attacker knows."""
        return frozen(self.table.values - self.low)

    def hidden_mask(self, complementary: np.ndarray) -> np.ndarray:
        """Sensitive and complementary cells as one mask."""
        mask = self.is_sensitive.copy()
        mask[complementary] = True
        return mask

    def total_cost(self, complementary: np.ndarray) -> float:
        """What hiding these cells costs."""
        return float(np.sort(self.cost[complementary]).sum())

    def with_totals_published(self) -> "Problem":
        """The same problem with totals that may not be hidden, unless they are sensitive themselves."""
        return self.with_changes(candidates=self.candidates & self.table.internal)

    def with_changes(self, **changes: object) -> "Problem":
        """The same problem with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


class PublishedProblem(Problem):
    """A problem without sensitive cells, since of a published table nobody knows which they are: any hidden one may be."""
