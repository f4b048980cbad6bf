"""How what tables give away together is judged: what must stay possible of their sensitive cells, and what is known."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.tables.problem import Problem
from shoal.tables.public_table import TOTAL, Key, PublicTable

# What is narrower than this share of its figures is known.
_POINT = 1e-6

# How far the ends of intervals are computed, as a share of the largest figures.
_COMPUTED = 1e-12

#: Why nothing can be said of two tables.
NO_FIT = "no figures fit both: they are of different data, or of other hierarchies than those that were named"


@dataclass(frozen=True)
class Limits:
    """What must stay possible of a cell: the least, the most, how far apart, and what may be missing by rounding."""

    least: float
    most: float
    width: float
    slack: float

    def holds(self, ends: tuple[float, float]) -> bool:
        """Whether an interval leaves as much open.

        >>> Limits(8.0, 12.0, 0.0, 1e-6).holds((7.0, 12.0)), Limits(8.0, 12.0, 6.0, 1e-6).holds((7.0, 12.0))
        (True, False)
        """
        low, high = ends
        wide = low <= self.least + self.slack and high >= self.most - self.slack
        return wide and high - low >= self.width - self.slack and not is_point(ends)


#: What must stay possible of the sensitive cells.
Required = Mapping[Key, Limits]


@dataclass(frozen=True)
class Shown:
    """A published table; what must stay possible of its sensitive cells, and what else is given away if more is shown.

    Whoever does not have the levels (``required``) judges by what is known exactly. ``beyond`` counts what insiders and sums give
    away besides, when the cells that both tables show (by these dimensions) are known. ``within`` are bounds of hidden cells that
    everybody knows anyway, and ``low`` what no cell is below, where that is not 0. Figures may be ``whole`` numbers.
    """

    table: PublicTable
    required: Required | None = None
    beyond: Callable[[tuple[str, ...], Mapping[Key, float | None]], int] | None = None
    within: Mapping[Key, tuple[float, float]] = field(default_factory=dict)
    low: float | None = None
    whole: bool = False

    def narrowed(self, ends: tuple[float, float]) -> tuple[float, float]:
        """An interval as somebody sees it who knows whether figures are whole numbers.

        >>> Shown(PublicTable((), {}, ()), whole=True).narrowed((14.55, 15.75))
        (15.0, 15.0)
        """
        if not self.whole:
            return ends
        low, high = np.ceil(ends[0] - _POINT), np.floor(ends[1] + _POINT)
        return (float(low), float(high)) if low <= high else ends


@dataclass(frozen=True)
class JointDisclosure:
    """What both give away: ``discloses`` is ``None`` where it cannot be measured, and ``detail`` says why.

    ``cells`` are those of the first table that are known exactly, or more closely than they may be. Tables ``of_one`` and the
    same data were taken for one system.
    """

    discloses: bool | None
    detail: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    cells: tuple[Key, ...] = ()
    of_one: bool = False


def required_of(problem: Problem, dimensions: tuple[str, ...]) -> Required:
    """What must stay possible of each sensitive cell, by its coordinates in these dimensions."""
    found = {}
    computed = _COMPUTED * float(np.abs(problem.table.values).max(initial=0.0))
    levels = zip(problem.sensitive.tolist(), problem.lower, problem.upper, problem.sliding, strict=True)
    for cell, lower, upper, sliding in levels:
        own = problem.table.key(cell)
        value = float(problem.table.values[cell])
        key = tuple(own.get(name, TOTAL) for name in dimensions)
        # A level may be far below the figure, and is to be reached all the same.
        slack = max(computed, _POINT * max(lower, upper, sliding))
        found[key] = Limits(value - lower, value + upper, float(sliding), slack)
    return found


def known_of(problem: Problem, hidden: np.ndarray) -> tuple[dict[Key, tuple[float, float]], float | None]:
    """What an attacker knows of the hidden cells anyway, by their coordinates, and what no cell is below if that is not 0."""
    bounds = {
        tuple(problem.table.key(cell).values()): (float(problem.low[cell]), float(problem.high[cell]))
        for cell in np.flatnonzero(hidden).tolist()
    }
    least = float(problem.low.min(initial=0.0))
    return bounds, least if least < 0 else None


def over(own: Shown, table: PublicTable, known: Mapping[Key, Any]) -> dict[Key, Any]:
    """What is known by the keys of a table, by the keys of the wider one."""
    place = {name: number for number, name in enumerate(own.table.dimensions)}
    return {
        tuple(key[place[name]] if name in place else TOTAL for name in table.dimensions): item
        for key, item in known.items()
    }


def required_over(own: Shown, table: PublicTable) -> Required:
    """What must stay possible, by the keys of the wider table."""
    return over(own, table, own.required or {})


def within_over(
    shown: Sequence[Shown], table: PublicTable
) -> tuple[dict[Key, tuple[float, float]], float | None]:
    """What is known of the hidden cells of all of them anyway, by the keys of the wider table; and what no cell is below."""
    bounds: dict[Key, tuple[float, float]] = {}
    for own in shown:
        for key, (low, high) in over(own, table, own.within).items():
            before = bounds.get(key, (low, high))
            bounds[key] = max(low, before[0]), min(high, before[1])
    return bounds, min((own.low for own in shown if own.low is not None), default=None)


def too_close(own: Shown, required: Required, ends: Mapping[Key, tuple[float, float]]) -> Iterator[Key]:
    """The cells of which less stays possible than must, for somebody who knows whether figures are whole numbers."""
    return (
        key for key, limits in required.items() if key in ends and not limits.holds(own.narrowed(ends[key]))
    )


def is_point(ends: tuple[float, float]) -> bool:
    """Whether an interval is so narrow that the figure is known.

    >>> is_point((3.0, 3.0)), is_point((0.0, float("inf")))
    (True, False)
    """
    low, high = ends
    return bool(np.isfinite(high - low) and high - low <= _POINT * max(1e-9, abs(low), abs(high)))
