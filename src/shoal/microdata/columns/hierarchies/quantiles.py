"""Numbers: classes that hold about equally many records, between rounded cuts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.cuts import Cuts
from shoal.microdata.columns.hierarchies.exact_numbers import EXACT, Number, floor_to, whole_or
from shoal.microdata.columns.hierarchies.hierarchy import Row, Values
from shoal.microdata.columns.hierarchies.intervals import Intervals
from shoal.microdata.columns.hierarchies.numbers import Kind, Numbers, at_rank, counted
from shoal.microdata.columns.hierarchies.rule import Rule, listed
from shoal.microdata.columns.hierarchies.rule_text import RuleText, number_in, written


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
        numbers, reach = counted(values)
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
        low, high = (at_rank(numbers, reach, share * (records - 1)) for share in (0.05, 0.95))
        with localcontext(EXACT):
            spread = high - low
            if not spread:
                return
            # Fine enough for the classes, and round.
            unit = Decimal(1).scaleb((Decimal(spread) / (2 * most)).adjusted())
            unit = max(unit, Decimal(1)) if kind == "whole" else unit
            ranks = [at_rank(numbers, reach, part * records / most) for part in range(1, most)]
            cuts = [whole_or(Decimal(floor_to(number + unit / 2, unit))) for number in ranks]
        before: tuple[Number, ...] = ()
        for classes in self.classes:
            step = most // classes
            # A cut below all records, or on the largest value, would part nothing or show it.
            level = sorted({cut for cut in cuts[step - 1 :: step] if numbers[0] < cut < numbers[-1]})
            if level and tuple(level) != before:
                before = tuple(level)
                yield before
