"""Numbers: the largest or the smallest as one open class, the others as they are."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.exact_numbers import Number, whole_or
from shoal.microdata.columns.hierarchies.hierarchy import Row, Values
from shoal.microdata.columns.hierarchies.numbers import Numbers
from shoal.microdata.columns.hierarchies.rule import Rule, listed
from shoal.microdata.columns.hierarchies.rule_text import RuleText, number_in, plain, written


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
