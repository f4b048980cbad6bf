"""Numbers: intervals between round cuts, with open classes at both ends.

Rules on numbers take whole numbers, others, and texts that are numbers. Arithmetic is that of decimal fractions, so that a
value on a cut is where it should be. Where all numbers are whole the class from 20 up to 25 is ``20-24``, else ``[20, 25)``;
open classes are ``<20`` and ``>=85``. A rule keeps which of the two it is (``numbers=``), and for whole numbers which of them
belong to the hierarchy although nobody has them (``cover=0..119``): what is lost is measured by how many values a class
holds, and that should not depend on who happened to answer.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.exact_numbers import (
    EXACT,
    Number,
    ceil_to,
    cell_of,
    floor_to,
    number_of,
    times,
    whole_or,
)
from shoal.microdata.columns.hierarchies.hierarchy import Row, Values
from shoal.microdata.columns.hierarchies.rule import Rule, listed
from shoal.microdata.columns.hierarchies.rule_text import RuleText, number_in, plain, written

Kind = Literal["whole", "decimal"]

_COVER = re.compile(r"(-?\d{1,15})\.\.(-?\d{1,15})")
# A hierarchy covers no more values than these that nobody has.
_MOST_COVERED = 1_000
_LARGEST_COVER = 100_000


@dataclass(frozen=True)
class Numbers(Rule):
    """What rules on numbers share: classes between cuts, told in the same way."""

    takes: ClassVar[str] = "numbers"

    numbers: Kind | None = None
    cover: tuple[int, int] | None = None

    @staticmethod
    def _common(text: RuleText, own: Sequence[str], cuts: Iterable[Number]) -> dict[str, Any]:
        """The options that all have, checked; with cuts that are not whole, numbers are not."""
        text.check_options(*own, "numbers", "cover")
        numbers = text.options.get("numbers")
        if numbers not in (None, "whole", "decimal"):
            raise InputError(f"'{text.name}' needs numbers=whole or numbers=decimal")
        if any(cut != int(cut) for cut in cuts):
            if numbers == "whole":
                raise InputError(
                    f"'{text.name}' has a cut that is no whole number, so numbers=whole cannot be"
                )
            numbers = "decimal"
        cover = None
        if "cover" in text.options:
            match = _COVER.fullmatch(text.options["cover"])
            if match is None or not 0 <= int(match[2]) - int(match[1]) < _LARGEST_COVER:
                raise InputError(
                    f"'{text.name}' needs cover=FIRST..LAST, at most {_LARGEST_COVER:,} whole numbers"
                )
            if numbers == "decimal":
                raise InputError(f"'{text.name}' can cover whole numbers only")
            cover = int(match[1]), int(match[2])
            numbers = "whole"
        return {"numbers": numbers, "cover": cover}

    def _options(self) -> dict[str, object]:
        cover = None if self.cover is None else f"{self.cover[0]}..{self.cover[1]}"
        return {"numbers": self.numbers, "cover": cover}

    def _kind(self, values: Values) -> Kind:
        """Whether the numbers are whole, if nothing says so."""
        if self.numbers is not None:
            return self.numbers
        return "decimal" if any(isinstance(number, Decimal) for number in values.numbers) else "whole"

    def position(self, value: Any, text: str) -> Number | None:
        """Its number."""
        found = number_of(value)
        return None if self.numbers == "whole" and not isinstance(found, int) else found

    def covered(self) -> Iterable[str]:
        """The whole numbers that belong to it in any case."""
        return () if self.cover is None else map(str, range(self.cover[0], self.cover[1] + 1))

    @cached_property
    def _digits(self) -> int:
        """How many decimals the cuts have, so that all are written alike."""
        exponents = (Decimal(plain(cut)).as_tuple().exponent for cut in self._all_cuts())
        return max((-exponent for exponent in exponents if isinstance(exponent, int)), default=0)

    def _all_cuts(self) -> Iterable[Number]:
        return ()

    def _named(self, low: Number | None, high: Number | None) -> str:
        """The class from one cut up to the next; an end that is not there is open."""
        if low is None and high is None:
            return "*"
        if low is None:
            return f"<{self._cut(high)}"
        if high is None:
            return f">={self._cut(low)}"
        if self.numbers != "whole":
            return f"[{self._cut(low)}, {self._cut(high)})"
        last = int(high) - 1
        if last == low:
            return str(last)
        return f"{low}-{last}" if low >= 0 else f"{low} to {last}"

    def _cut(self, number: Number | None) -> str:
        assert number is not None
        return str(int(number)) if self.numbers == "whole" else f"{Decimal(number):.{self._digits}f}"


def _counted(values: Values) -> tuple[list[Number], np.ndarray]:
    """The numbers from the smallest to the largest, and how many records have at most each."""
    records = np.bincount(values.codes, minlength=len(values.texts))
    pairs = zip(values.numbers, records.tolist(), strict=True)
    known = sorted((number, count) for number, count in pairs if number is not None)
    return [number for number, _ in known], np.cumsum([count for _, count in known])


def _at_rank(numbers: list[Number], reach: np.ndarray, rank: float) -> Number:
    """The number of the record of this rank, from 0 for the first."""
    return numbers[int(np.searchsorted(reach, math.floor(rank), side="right").clip(0, len(numbers) - 1))]


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
        numbers, reach = _counted(values)
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
        inner = [_at_rank(numbers, reach, share * (records - 1)) for share in (0.05, 0.95)]
        outer = [_at_rank(numbers, reach, rank) for rank in (enough - 1, records - enough)]
        with localcontext(EXACT):
            # Where nearly all have one value, those beside it say how wide classes should be, else its size.
            spreads: tuple[Number, ...] = (inner[1] - inner[0], outer[1] - outer[0], abs(Decimal(outer[0])))
            widths = round_widths(next((spread for spread in spreads if spread), 1), kind)
            inside = [floor_to(number, widths[0]) for number in outer]
            # Where most have the same value, its class alone is closed, however few are outside.
            ends = ((inside[0] + widths[0], inside[1]), (inside[0], inside[1] + widths[0]))
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
        return (first, last) if 0 <= last - first < _MOST_COVERED else None

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


@dataclass(frozen=True)
class Cuts(Numbers):
    """Classes between stated cuts, the first and the last open; each level has some of the cuts of the one before.

    >>> Cuts(levels=((18, 30, 65), (30,))).hierarchy([12, 29, 40]).rows[0]
    ('12', '<18', '<30', '*')
    """

    name = "cuts"

    levels: tuple[tuple[Number, ...], ...] = ()

    @classmethod
    def read(cls, text: RuleText) -> "Cuts":
        """From texts like ``cuts(18,30,65;30)``."""
        levels = tuple(
            tuple(whole_or(number_in(text.name, word)) for word in group) for group in text.groups()
        )
        if not levels:
            raise InputError("'cuts' needs cuts, like cuts(18,30,65;30)")
        for level, cuts in enumerate(levels):
            if any(low >= high for low, high in pairwise(cuts)):
                raise InputError("the cuts of 'cuts' must go up")
            if level and not set(cuts) < set(levels[level - 1]):
                raise InputError(
                    "each level of 'cuts' needs some of the cuts of the level before, and no others"
                )
        return cls(levels=levels, **cls._common(text, (), [cut for cuts in levels for cut in cuts]))

    def __str__(self) -> str:
        """Level by level."""
        inside = ";".join(",".join(map(plain, cuts)) for cuts in self.levels)
        return written(self.name, [inside], self._options())

    def in_words(self) -> str:
        """What it does."""
        counts = listed([str(len(cuts) + 1) for cuts in self.levels])
        return f"{counts} classes between stated cuts, open at both ends"

    def _all_cuts(self) -> Iterable[Number]:
        return self.levels[0]

    def settled(self, values: Values) -> Rule:
        """With the numbers between the outermost cuts covered."""
        rule = replace(self, numbers=self._kind(values))
        first, last = self.levels[0][0], self.levels[0][-1]
        if rule.numbers == "whole" and rule.cover is None and 0 < last - first <= _MOST_COVERED:
            return replace(rule, cover=(int(first), int(last) - 1))
        return rule

    def labels(self, position: Number, text: str) -> Row:
        """The class at each level."""
        return tuple(
            names[bisect_right(cuts, position)]
            for cuts, names in zip(self.levels, self._named_levels, strict=True)
        )

    @cached_property
    def _named_levels(self) -> list[list[str]]:
        return [
            [self._named(low, high) for low, high in pairwise((None, *cuts, None))] for cuts in self.levels
        ]


@dataclass(frozen=True)
class Quantiles(Numbers):
    """Classes with about equally many records: so many at each level, the cuts rounded and inside the data.

    The cuts depend on the data; what is built keeps them, as ``cuts(…)``.

    >>> Quantiles(classes=(4, 2)).hierarchy(range(103)).rule
    'cuts(30,50,80;50,numbers=whole,cover=30..79)'
    """

    name = "quantiles"

    classes: tuple[int, ...] = (16, 8, 4)

    @classmethod
    def read(cls, text: RuleText) -> "Quantiles":
        """From texts like ``quantiles`` and ``quantiles(10,5)``."""
        words = [whole_or(number_in(text.name, word)) for word in text.words()]
        if any(not isinstance(word, int) or not 2 <= word <= 1000 for word in words):
            raise InputError("'quantiles' needs numbers of classes from 2 to 1,000, like quantiles(16,8,4)")
        classes = tuple(int(word) for word in words) or cls.classes
        if any(more <= less or more % less for more, less in pairwise(classes)):
            raise InputError("each number of classes of 'quantiles' must divide the one before")
        return cls(classes=classes, **cls._common(text, (), ()))

    def __str__(self) -> str:
        """The numbers of classes."""
        return written(self.name, map(str, self.classes), self._options())

    def in_words(self) -> str:
        """What it does."""
        return f"{listed([str(count) for count in self.classes])} classes of about equally many records"

    def settled(self, values: Values) -> Rule:
        """The cuts that are meant."""
        numbers, reach = _counted(values)
        levels = list(self._levels(numbers, reach, self._kind(values))) if numbers else []
        if not levels:
            # There is nothing between the ends to cut at.
            return replace(Intervals(), numbers=self.numbers, cover=self.cover).settled(values)
        return Cuts(levels=tuple(levels), numbers=self._kind(values), cover=self.cover).settled(values)

    def labels(self, position: Number, text: str) -> Row:
        """Nothing before the cuts are known."""
        raise NotImplementedError

    def _levels(self, numbers: list[Number], reach: np.ndarray, kind: Kind) -> Iterator[tuple[Number, ...]]:
        records, most = int(reach[-1]), self.classes[0]
        low, high = (_at_rank(numbers, reach, share * (records - 1)) for share in (0.05, 0.95))
        with localcontext(EXACT):
            spread = high - low
            if not spread:
                return
            # Fine enough for the classes, and round.
            unit = Decimal(1).scaleb((Decimal(spread) / (2 * most)).adjusted())
            unit = max(unit, Decimal(1)) if kind == "whole" else unit
            ranks = [_at_rank(numbers, reach, part * records / most) for part in range(1, most)]
            cuts = [whole_or(Decimal(floor_to(number + unit / 2, unit))) for number in ranks]
        before: tuple[Number, ...] = ()
        for classes in self.classes:
            step = most // classes
            # A cut below all records, or on the largest value, would part nothing or show it.
            level = sorted({cut for cut in cuts[step - 1 :: step] if numbers[0] < cut < numbers[-1]})
            if level and tuple(level) != before:
                before = tuple(level)
                yield before


@dataclass(frozen=True)
class Top(Numbers):
    """Only large numbers are joined, from lower and lower on.

    >>> Top(cuts=(90, 80)).hierarchy([50, 85, 95]).rows
    (('50', '50', '50', '*'), ('85', '85', '>=80', '*'), ('95', '>=90', '>=80', '*'))
    """

    name = "top"

    cuts: tuple[Number, ...] = ()

    @classmethod
    def read(cls, text: RuleText) -> "Top":
        """From texts like ``top(85)`` and ``top(90,85,80)``."""
        cuts = tuple(whole_or(number_in(text.name, word)) for word in text.words())
        if not cuts or any(not cls._further(one, next_one) for one, next_one in pairwise(cuts)):
            raise InputError(f"'{text.name}' needs the number to begin at, and at coarser levels nearer ones")
        return cls(cuts=cuts, **cls._common(text, (), cuts))

    def __str__(self) -> str:
        """The cuts."""
        return written(self.name, map(plain, self.cuts), self._options())

    def in_words(self) -> str:
        """What it does."""
        return f"{listed([plain(cut) for cut in self.cuts])} and above together"

    def _all_cuts(self) -> Iterable[Number]:
        return self.cuts

    def settled(self, values: Values) -> Rule:
        """With the kind of numbers."""
        return replace(self, numbers=self._kind(values))

    @staticmethod
    def _further(one: Number, coarser: Number) -> bool:
        return coarser < one

    def labels(self, position: Number, text: str) -> Row:
        """The open class, or the value itself."""
        return tuple(self._named(cut, None) if position >= cut else text for cut in self.cuts)


@dataclass(frozen=True)
class Bottom(Top):
    """Only small numbers are joined, below higher and higher ones.

    >>> Bottom(cuts=(18,)).hierarchy([16, 40]).rows
    (('16', '<18', '*'), ('40', '40', '*'))
    """

    name = "bottom"

    def in_words(self) -> str:
        """What it does."""
        return f"below {listed([plain(cut) for cut in self.cuts])} together"

    @staticmethod
    def _further(one: Number, coarser: Number) -> bool:
        return coarser > one

    def labels(self, position: Number, text: str) -> Row:
        """The open class, or the value itself."""
        return tuple(self._named(None, cut) if position < cut else text for cut in self.cuts)
