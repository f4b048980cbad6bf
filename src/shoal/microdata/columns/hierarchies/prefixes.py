"""Postcodes and other codes: the first signs stay, the others become ``*``."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import BLANK, Row, Values
from shoal.microdata.columns.hierarchies.rule import Rule, listed
from shoal.microdata.columns.hierarchies.rule_text import RuleText, whole_in, written

# More levels than this help nobody; longer codes lose several signs at a time.
_MOST_LEVELS = 8
_LONGEST = 200


@dataclass(frozen=True)
class Prefix(Rule):
    """How many of the first signs stay at each level, fewer and fewer; codes are filled up with ``*`` to one length.

    With ``zeros`` shorter codes get zeros in front first, as numbers lose them. Where nothing says how many stay, one sign
    less does at each level (or ``step`` signs), and levels that would join no codes are left out.

    >>> Prefix().hierarchy(["10115", "10117", "20095"]).rule
    'prefix(4,length=5)'
    """

    name = "prefix"
    takes = "codes that are not longer than its length"

    keep: tuple[int, ...] = ()
    length: int | None = None
    step: int | None = None
    zeros: bool = False

    @classmethod
    def read(cls, text: RuleText) -> "Prefix":
        """From texts like ``prefix``, ``prefix(step=2)`` and ``prefix(3,2,length=5)``."""
        text.check_options("length", "step", "zeros")
        options = text.options
        keep = tuple(whole_in(text.name, word, least=1) for word in text.words())
        if any(more <= less for more, less in pairwise(keep)):
            raise InputError(f"'{text.name}' needs fewer and fewer signs, like {text.name}(4,3,2)")
        length = whole_in(text.name, options["length"], least=1) if "length" in options else None
        step = whole_in(text.name, options["step"], least=1) if "step" in options else None
        if keep and step is not None:
            raise InputError(f"'{text.name}' needs the signs that stay or a step, not both")
        if length is not None and (length > _LONGEST or (keep and keep[0] >= length)):
            raise InputError(
                f"the length of '{text.name}' must be above the signs that stay, and at most {_LONGEST}"
            )
        if options.get("zeros", "no") not in ("yes", "no"):
            raise InputError(f"'{text.name}' needs zeros=yes or zeros=no")
        return cls(keep, length, step, options.get("zeros") == "yes")

    def __str__(self) -> str:
        """The signs that stay, and the length."""
        options = {"length": self.length, "step": self.step, "zeros": "yes" if self.zeros else None}
        return written(self.name, map(str, self.keep), options)

    def in_words(self) -> str:
        """What it does."""
        if not self.keep:
            return f"the {self._which} signs of the code, one less at each level"
        if self.keep == (1,):
            return f"the {self._which} sign of the code"
        return f"the {self._which} {listed([str(count) for count in self.keep])} signs of the code"

    @property
    def _which(self) -> str:
        return "first"

    def settled(self, values: Values) -> Rule:
        """With the length of the longest code, and the signs that stay."""
        texts = [text for text in values.texts if text is not None]
        length = self.length or min(_LONGEST, max([*map(len, texts), *[count + 1 for count in self.keep], 1]))
        rule = replace(self, length=length)
        if self.keep:
            return rule
        step = self.step or -(-(length - 1) // _MOST_LEVELS) or 1
        reach = range(length - step, 0, -step)
        classes = [len({rule._shown(text, count) if text else text for text in texts}) for count in reach]
        # A level is left out if it joins nothing more than the one before, or all.
        finer = [len(texts), *classes]
        keep = [
            count for count, before, here in zip(reach, finer, classes, strict=False) if 1 < here < before
        ]
        return replace(rule, keep=tuple(keep) or (1,), length=max(length, 2), step=None)

    def position(self, value: Any, text: str) -> str | None:
        """In the order of the codes."""
        assert self.length is not None
        return text if len(text) <= self.length else None

    def labels(self, position: Any, text: str) -> Row:
        """The signs that stay at each level."""
        # A code of no sign, as databases have beside missing ones, has none to hide.
        return tuple(self._shown(text, count) if text else text for count in self.keep)

    def _shown(self, text: str, count: int) -> str:
        assert self.length is not None
        return self._filled(text)[:count].ljust(self.length, BLANK)

    def _filled(self, text: str) -> str:
        return text.rjust(self.length or 0, "0") if self.zeros else text


@dataclass(frozen=True)
class Suffix(Prefix):
    """The same from the other end: the last signs stay.

    >>> Suffix((2,), length=4).hierarchy(["AB01", "CD01"]).rows[0]
    ('AB01', '**01', '*')
    """

    name = "suffix"

    @property
    def _which(self) -> str:
        return "last"

    def _shown(self, text: str, count: int) -> str:
        assert self.length is not None
        return self._filled(text)[-count:].rjust(self.length, BLANK)
