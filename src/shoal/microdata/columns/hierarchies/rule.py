"""What builds a hierarchy: a rule that says of any value what it becomes, level by level, and can be written down."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.errors import InputError, first_record
from shoal.microdata.columns.hierarchies.hierarchy import BLANK, Hierarchy, Row, Values, text_of
from shoal.microdata.columns.hierarchies.rule_text import RuleText


@dataclass(frozen=True)
class Rule(ABC):
    """A way to build hierarchies.

    A rule may leave something open (widths, a length, an order); ``settled`` decides it by the values. What is then written
    by ``str`` builds the same labels for any other values, since it depends on no value but the one at hand. Cuts are
    round, and never a least or a largest value of the data.
    """

    name: ClassVar[str]
    #: What the rule needs values to be, for the message about one that is not.
    takes: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def read(cls, text: RuleText) -> "Rule":
        """The rule from its text."""

    @abstractmethod
    def __str__(self) -> str:
        """The rule as ``builder`` reads it."""

    @abstractmethod
    def in_words(self) -> str:
        """What it does, in words that hold no value of the data."""

    @property
    def shown(self) -> str:
        """The rule without values of the data, for messages and reports."""
        return str(self)

    def settled(self, values: Values) -> "Rule":
        """The rule with everything decided that it leaves open."""
        return self

    @abstractmethod
    def position(self, value: Any, text: str) -> Any | None:
        """Where a value stands: something that can be sorted; ``None`` if the rule cannot place it."""

    @abstractmethod
    def labels(self, position: Any, text: str) -> Row:
        """What a value becomes at each level between itself and the root."""

    def covered(self) -> Iterable[str]:
        """Values that belong to the hierarchy whether the data have them or not."""
        return ()

    def hierarchy(self, values: Values | Iterable[Any], name: str = "") -> Hierarchy:
        """The hierarchy of some values; an ``InputError`` says which record has one that the rule cannot place.

        A missing value stays missing at all levels below the root.

        >>> from shoal.microdata.columns.hierarchies.builders import builder
        >>> builder("prefix(2,1,length=3)").hierarchy(["101", "102", "234"]).rows
        (('101', '10*', '1**', '*'), ('102', '10*', '1**', '*'), ('234', '23*', '2**', '*'))
        """
        found = values if isinstance(values, Values) else values_of(values)
        about = f"column '{name}'" if name else "the values"
        if not found.texts:
            raise InputError(f"{about}: there are no records to build a hierarchy for")
        try:
            rule = self.settled(found)
        except InputError as error:
            raise error.about(about) from None
        rows = rule._rows(found, about)
        made = Hierarchy(rows, rule.in_words(), str(rule)) if rows else rule._only_missing()
        return made.with_missing() if found.has_missing else made

    def _rows(self, values: Values, about: str) -> list[Row]:
        placed: dict[str, Any] = {}
        misplaced: list[int] = []
        for number, (text, value) in enumerate(zip(values.texts, values.samples, strict=True)):
            if text is None:
                continue
            position = self.position(value, text)
            if position is None:
                misplaced.append(number)
            else:
                placed[text] = position
        if misplaced:
            where = first_record(np.flatnonzero(np.isin(values.codes, misplaced)))
            raise InputError(f"{about}: {where} cannot be placed by '{self.shown}', which takes {self.takes}")
        for text in self.covered():
            if text not in placed:
                placed[text] = self.position(text, text)
        every = sorted(placed.items(), key=lambda item: (item[1], item[0]))
        return [(text, *self.labels(position, text), BLANK) for text, position in every]

    def _only_missing(self) -> Hierarchy:
        return Hierarchy([(None, BLANK)], self.in_words(), str(self))


def values_of(items: Iterable[Any]) -> Values:
    """Values in a list as ``read_values`` gives those of a column.

    >>> values_of([40, None, 40]).texts
    ['40', None]
    """
    numbers: dict[str | None, int] = {}
    samples: list[Any] = []
    codes = []
    for item in items:
        text = text_of(item)
        if text not in numbers:
            numbers[text] = len(numbers)
            samples.append(item)
        codes.append(numbers[text])
    return Values(list(numbers), np.array(codes, dtype=np.int32), samples)


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them.

    >>> listed(["5", "10", "20"])
    '5, 10 and 20'
    """
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""
