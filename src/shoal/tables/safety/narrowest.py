"""How narrow the intervals of hidden sensitive cells are in the end, as figures and in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.numbers import counted
from shoal.report.blocks import shown


@dataclass(frozen=True)
class Narrowest:
    """The narrowest interval an outsider can compute among some hidden sensitive cells. For internal use.

    ``cells`` is how many cells there are, ``width`` how wide the narrowest interval is (``inf`` if all are open), and ``percent``
    the least width in percent of the value of its cell (``None`` if that is 0, or without limit), which may be that of another
    cell: ``percent_width`` is how wide that one is. ``unsafe`` is how many of the cells are not safe.

    >>> print(Narrowest.of(np.array([4222.04, 100.0]), np.array([0.6, 20.0])))
    0.6 wide, 0.014 % of its value
    >>> print(Narrowest.of(np.array([400.0, 5.0]), np.array([4.0, 3.0])))
    3 wide; in percent of its value the narrowest is 1 %, 4 wide
    """

    cells: int
    width: float
    percent: float | None
    percent_width: float
    unsafe: int = 0

    @classmethod
    def of(cls, values: np.ndarray, widths: np.ndarray, unsafe: int = 0) -> "Narrowest | None":
        """The narrowest of these intervals; ``None`` if there are none."""
        if values.size == 0:
            return None
        sizes = np.abs(values)
        # Beside a value of 0 every width is large; a point is a point.
        share = np.where(
            sizes > 0.0, widths / np.where(sizes > 0.0, sizes, 1.0), np.where(widths > 0.0, np.inf, 0.0)
        )
        place = int(np.lexsort((widths, share))[0])
        known = bool(sizes[place] > 0.0 and np.isfinite(widths[place]))
        percent = 100.0 * float(share[place]) if known else None
        return cls(int(values.size), float(widths.min()), percent, float(widths[place]), unsafe)

    def __str__(self) -> str:
        if not np.isfinite(self.width):
            return "no limit"
        wide = f"{shown(self.width)} wide"
        if self.percent is None:
            return f"{wide}, its value is 0"
        share = f"{self.percent:.2g}" if self.percent < 100.0 else f"{self.percent:,.0f}"
        if shown(self.width) != shown(self.percent_width):
            return f"{wide}; in percent of its value the narrowest is {share} %, {shown(self.percent_width)} wide"
        return f"{wide}, {share} % of its value"

    def to_dict(self) -> dict[str, Any]:
        """The figures, as the command line prints them; a width without limit is ``None``."""
        width, other = (one if np.isfinite(one) else None for one in (self.width, self.percent_width))
        return {"cells": self.cells, "width": width, "percent": self.percent, "percent_width": other}


def in_words(
    every: Narrowest | None, without_range: Narrowest | None, tiny_range: Narrowest | None
) -> Iterator[tuple[str, str]]:
    """What the narrowest intervals are and what was asked of them, as pairs of a name and a sentence."""
    if every is not None:
        yield "narrowest interval of a hidden sensitive cell", str(every)
    if without_range is not None:
        yield (
            "asked only not to be known exactly",
            f"{_counted(without_range)}. No range is asked for by a rule or level such as frequency(n,0) or 20 percent of a "
            "value of 0; to ask for one, write frequency(n,20), zero(a) for values of 0, or give them levels (a list of "
            "sensitive cells with a protection, an a-priori file, or the jj file)",
        )
    if tiny_range is not None:
        yield (
            "asked for next to no range",
            f"{_counted(tiny_range)}. Levels are above 0, but no wider than what counts as a point in this table; to ask for "
            "more, give larger ones where these are from (the list of sensitive cells, the a-priori file, the jj file, or the "
            "rule)",
        )


def _counted(narrowest: Narrowest) -> str:
    """How many cells there are, whether they are safe, and how narrow the narrowest interval is.

    >>> _counted(Narrowest(3, 0.0, 0.0, 0.0, unsafe=1))
    '3 sensitive cells, 1 of them unsafe, the narrowest interval 0 wide, 0 % of its value'
    """
    unsafe = ""
    if narrowest.unsafe:
        unsafe = ", which is unsafe" if narrowest.cells == 1 else f", {narrowest.unsafe:,} of them unsafe"
    return f"{counted(narrowest.cells, 'sensitive cell')}{unsafe}, the narrowest interval {narrowest}"
