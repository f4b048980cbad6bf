"""Numbers: intervals between round cuts, with open classes at both ends."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import cached_property
from itertools import pairwise

import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.exact_numbers import (
    EXACT,
    Number,
    ceil_to,
    cell_of,
    floor_to,
    times,
    whole_or,
)
from shoal.microdata.columns.hierarchies.hierarchy import Row, Values
from shoal.microdata.columns.hierarchies.numbers import MOST_COVERED, Kind, Numbers, at_rank, counted
from shoal.microdata.columns.hierarchies.rule import Rule, listed
from shoal.microdata.columns.hierarchies.rule_text import RuleText, number_in, plain, written


def round_widths(spread: Number, kind: Kind) -> tuple[Number, ...]:
    """Round widths for numbers spread so far: about 20 classes of the first, each width a multiple of the one before.

    >>> [round_widths(65, "whole"), round_widths(7, "whole"), round_widths(Decimal("1.3"), "decimal")]
    [(5, 10, 20), (2, 4), (Decimal('0.10'), Decimal('0.50'), 1)]
    """
    if kind == "whole" and spread < 20:
        return (2, 4) if spread < 10 else (5, 10)
    wanted = Decimal(spread) / 20 if spread else Decimal(1) / 20
    power = Decimal(1).scaleb(wanted.adjusted())
    steps = next(
        (steps for steps in ((1, 5, 10), (2, 10, 20), (5, 10, 20)) if steps[0] * power >= wanted),
        (10, 50, 100),
    )
    return tuple(whole_or(step * power) for step in steps)


@dataclass(frozen=True)
class Intervals(Numbers):
    """Classes of round widths, each width a multiple of the one before.

    ``bottom`` and ``top`` join what is below one and from the other on: first as a level of their own, in which everything
    between them is kept, and then at every width, from the nearest multiple outwards of which nothing is cut in two.

    >>> rule = Intervals(widths=(5, 10), bottom=20, top=75)
    >>> rule.hierarchy([17, 31, 70, 90]).rows[-1][1:]
    ('>=75', '>=75', '>=70', '*')
    """

    name = "intervals"

    widths: tuple[Number, ...] = ()
    bottom: Number | None = None
    top: Number | None = None

    @classmethod
    def read(cls, text: RuleText) -> "Intervals":
        """From texts like ``intervals``, ``intervals(5,10,20)`` and ``intervals(5,10,bottom=20,top=85)``."""
        widths = tuple(whole_or(number_in(text.name, word)) for word in text.words())
        bottom, top = (
            None if end not in text.options else whole_or(number_in(text.name, text.options[end]))
            for end in ("bottom", "top")
        )
        cuts = [cut for cut in (*widths, bottom, top) if cut is not None]
        rule = cls(widths=widths, bottom=bottom, top=top, **cls._common(text, ("bottom", "top"), cuts))
        rule._check()
        return rule

    def _check(self) -> None:
        if any(width <= 0 for width in self.widths):
            raise InputError("the widths of 'intervals' must be above 0")
        for finer, coarser in pairwise(self.widths):
            if coarser <= finer or floor_to(coarser, finer) != coarser:
                raise InputError(
                    f"the widths of 'intervals' must be multiples of each other, and {plain(coarser)} is none of {plain(finer)}"
                )
        if not self._has_room():
            raise InputError("the bottom of 'intervals' is too near its top for intervals so wide")

    def _has_room(self) -> bool:
        """Whether at every width the open classes leave each other alone."""
        ends = [self._ends(width) for width in (None, *self.widths)]
        apart = [bottom < top for bottom, top in ends if bottom is not None and top is not None]
        touching = [bottom <= top for bottom, top in ends if bottom is not None and top is not None]
        return all(apart[:1]) and all(touching)

    def __str__(self) -> str:
        """Widths, then the ends."""
        ends = {
            "bottom": None if self.bottom is None else plain(self.bottom),
            "top": None if self.top is None else plain(self.top),
        }
        return written(self.name, map(plain, self.widths), {**ends, **self._options()})

    def in_words(self) -> str:
        """What it does."""
        text = "intervals" + (f" of {listed([plain(width) for width in self.widths])}" if self.widths else "")
        ends = []
        if self.bottom is not None:
            ends.append(f"below {plain(self.bottom)} together")
        if self.top is not None:
            ends.append(f"{plain(self.top)} and above together")
        return "; ".join([text, *ends])

    def _all_cuts(self) -> Iterable[Number]:
        return [cut for cut in (*self.widths, self.bottom, self.top) if cut is not None]

    def settled(self, values: Values) -> Rule:
        """With widths and ends that suit the numbers, if there are none, and with what it covers."""
        rule: Intervals = replace(self, numbers=self._kind(values))
        numbers, reach = counted(values)
        if not numbers:
            return rule if rule._is_stated() else replace(rule, widths=(5, 10, 20))
        if not rule._is_stated():
            rule = rule._chosen(numbers, reach)
        return rule if rule.cover is not None else replace(rule, cover=rule._to_cover(numbers))

    def _is_stated(self) -> bool:
        return bool(self.widths) or self.bottom is not None or self.top is not None

    def _chosen(self, numbers: list[Number], reach: np.ndarray) -> "Intervals":
        """Widths by where nine tenths of the records are, and open ends with enough records in each."""
        kind, records = self.numbers or "decimal", int(reach[-1])
        enough = min(max(10, records // 50), max(1, records // 4))
        inner = [at_rank(numbers, reach, share * (records - 1)) for share in (0.05, 0.95)]
        outer = [at_rank(numbers, reach, rank) for rank in (enough - 1, records - enough)]
        with localcontext(EXACT):
            # Where nearly all have one value, those beside it say how wide classes should be, else its size.
            spreads: tuple[Number, ...] = (inner[1] - inner[0], outer[1] - outer[0], abs(Decimal(outer[0])))
            widths = round_widths(next((spread for spread in spreads if spread), 1), kind)
            inside = [floor_to(number, widths[0]) for number in outer]
            # An open class from the largest value on would show it.
            top = inside[1] - widths[0] if inside[1] >= numbers[-1] else inside[1]
            # Where most have the same value, its class alone is closed, however few are outside.
            ends = ((inside[0] + widths[0], top), (inside[0], inside[1] + widths[0]))
        rules = [
            replace(self, widths=widths[:count], bottom=bottom, top=top)
            for bottom, top in ends
            for count in range(len(widths), 0, -1)
        ]
        return next(rule for rule in rules if rule._has_room())

    def _to_cover(self, numbers: list[Number]) -> tuple[int, int] | None:
        """The whole numbers of all classes of the widest kind that have records, and of one beyond an open end."""
        if self.numbers != "whole" or not self.widths:
            return None
        widest = int(self.widths[-1])
        bottom, top = self._ends(widest)
        first = int(floor_to(numbers[0], widest) if bottom is None else bottom - widest)
        last = int(floor_to(numbers[-1], widest) if top is None else top) + widest - 1
        if numbers[0] >= 0:
            first = max(0, first)
        return (first, last) if 0 <= last - first < MOST_COVERED else None

    def _ends(self, width: Number | None) -> tuple[Number | None, Number | None]:
        """Where the open classes are at a width; without one, as stated."""
        if width is None:
            return self.bottom, self.top
        return (
            None if self.bottom is None else ceil_to(self.bottom, width),
            None if self.top is None else floor_to(self.top, width),
        )

    def labels(self, position: Number, text: str) -> Row:
        """The ends alone, then one class for each width."""
        found: list[str] = []
        if self.bottom is not None or self.top is not None:
            found.append(self._open_class(position, None) or text)
        if self.widths:
            # What is in one class of the finest width is so at all others.
            cell = cell_of(position, self.widths[0])
            if cell not in self._by_cell:
                low = times(cell, self.widths[0])
                self._by_cell[cell] = [self._class(low, width) for width in self.widths]
            found += self._by_cell[cell]
        return tuple(found)

    @cached_property
    def _by_cell(self) -> dict[int, list[str]]:
        return {}

    def _class(self, number: Number, width: Number) -> str:
        low = floor_to(number, width)
        return self._open_class(number, width) or self._named(low, EXACT.add(low, width))

    def _open_class(self, number: Number, width: Number | None) -> str | None:
        """The open class of a number, if it is in one."""
        bottom, top = self._ends(width)
        if bottom is not None and number < bottom:
            return self._named(None, bottom)
        if top is not None and number >= top:
            return self._named(top, None)
        return None
