"""Ordered categories: neighbours are merged, two by two or as somebody states."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import Row, Values, text_of
from shoal.microdata.columns.hierarchies.rule import Rule
from shoal.microdata.columns.hierarchies.rule_text import RuleText, quoted
from shoal.microdata.columns.orders import by_leading_number
from shoal.numbers import counted


@dataclass(frozen=True)
class Order(Rule):
    """The values from the lowest to the highest, and where the levels part them.

    ``order(a<b<c<d)`` merges two by two. A bar parts: ``order(a<b|c<d||e)`` has the classes a–b, c–d and e, and then a–d and
    e, since one bar parts the first level and two bars the second as well.

    >>> Order.of(["none", "primary", "secondary"]).hierarchy(["none", "secondary"]).rows
    (('none', 'none to primary', '*'), ('primary', 'none to primary', '*'), ('secondary', 'secondary', '*'))
    """

    name = "order"
    takes = "the values that it names"

    values: tuple[str, ...] = ()
    #: For each value but the last how many levels part it from the next; nothing merges two by two.
    bars: tuple[int, ...] = ()

    @classmethod
    def of(cls, values: Iterable[Any]) -> "Order":
        """Values in order, merged two by two."""
        return cls(tuple(str(text_of(value)) for value in values))

    @classmethod
    def read(cls, text: RuleText) -> "Order":
        """From texts like ``order(low<middle<high)``."""
        values: list[str] = []
        marks: list[str] = []
        for token, is_mark in text.tokens:
            if not is_mark:
                values.append(token)
                marks.append("")
            elif token in "<|" and values:
                marks[-1] += token
            else:
                raise InputError("'order' needs values with < or | between them, like order(low<middle|high)")
        well_parted = all(mark == "<" or set(mark) == {"|"} for mark in marks[:-1])
        if text.tokens and (not well_parted or marks[-1] or len(values) < 2):
            raise InputError("'order' needs values with < or | between them, like order(low<middle|high)")
        if len(set(values)) < len(values):
            again = next(place for place, value in enumerate(values) if value in values[:place])
            raise InputError(f"'order' names its value number {again + 1} twice")
        bars = tuple(mark.count("|") for mark in marks[:-1])
        return cls(tuple(values), bars if any(bars) else ())

    def __str__(self) -> str:
        """The values with their marks."""
        if not self.values:
            return self.name
        bars = self.bars or (0,) * (len(self.values) - 1)
        parted = (quoted(value) + ("|" * bar or "<") for value, bar in zip(self.values, bars, strict=False))
        return f"{self.name}({''.join(parted)}{quoted(self.values[-1])})"

    @property
    def shown(self) -> str:
        """Without the values."""
        return self.name

    def in_words(self) -> str:
        """What it does."""
        how = "as stated" if self.bars else "two by two"
        many = counted(len(self.values), "ordered value") if self.values else "ordered values"
        return f"{many}, neighbours merged {how}"

    def settled(self, values: Values) -> Rule:
        """With the order that the type of the column declares, that of numbers, or that of numbers that texts begin with."""
        if self.values:
            return self
        texts = [text for text in values.texts if text is not None]
        found = values.order or _by_number(values) or by_leading_number(texts)
        if found is None:
            raise InputError(
                "nothing says the order of its values; state it from the lowest on: order(low<middle<high)"
            )
        return replace(self, values=tuple(found))

    def position(self, value: Any, text: str) -> int | None:
        """Its place in the order."""
        return self._positions.get(text)

    @property
    def _positions(self) -> dict[str, int]:
        # A frozen rule may keep what follows from it.
        if "_known" not in self.__dict__:
            object.__setattr__(self, "_known", {value: place for place, value in enumerate(self.values)})
            object.__setattr__(self, "_levels", tuple(self._starts()))
        known: dict[str, int] = self.__dict__["_known"]
        return known

    def _starts(self) -> Iterable[np.ndarray]:
        """Where the classes of each level begin."""
        count = len(self.values)
        if self.bars:
            for level in range(max(self.bars)):
                yield np.array([0, *(place + 1 for place, bar in enumerate(self.bars) if bar > level)])
            return
        width = 2
        while width < count:
            yield np.arange(0, count, width)
            width *= 2

    def labels(self, position: int, text: str) -> Row:
        """The class at each level: its first and its last value."""
        levels: Sequence[np.ndarray] = self.__dict__["_levels"]
        return tuple(self._class(starts, position) for starts in levels)

    def _class(self, starts: np.ndarray, position: int) -> str:
        place = int(np.searchsorted(starts, position, side="right"))
        first = int(starts[place - 1])
        last = (int(starts[place]) if place < starts.size else len(self.values)) - 1
        return self.values[first] if first == last else f"{self.values[first]} to {self.values[last]}"

    def covered(self) -> Iterable[str]:
        """All values it names."""
        return self.values


def _by_number(values: Values) -> list[str] | None:
    pairs = zip(values.numbers, values.texts, strict=True)
    known = sorted((number, text) for number, text in pairs if number is not None and text is not None)
    texts = [text for _, text in known]
    return texts if texts and len(texts) == len(values.texts) - values.has_missing else None
