"""Numbers: classes between cuts that somebody named, level by level."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.exact_numbers import Number, whole_or
from shoal.microdata.columns.hierarchies.hierarchy import Row, Values
from shoal.microdata.columns.hierarchies.numbers import MOST_COVERED, Numbers
from shoal.microdata.columns.hierarchies.rule import Rule, listed
from shoal.microdata.columns.hierarchies.rule_text import RuleText, number_in, plain, written


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
        if rule.numbers == "whole" and rule.cover is None and 0 < last - first <= MOST_COVERED:
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
