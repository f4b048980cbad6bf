"""Values that say nothing of each other: each becomes ``*``, and nothing in between."""

from dataclasses import dataclass
from typing import Any

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import Row
from shoal.microdata.columns.hierarchies.rule import Rule
from shoal.microdata.columns.hierarchies.rule_text import RuleText


@dataclass(frozen=True)
class Star(Rule):
    """A hierarchy of one level.

    >>> Star().hierarchy(["m", "f"]).rows
    (('f', '*'), ('m', '*'))
    """

    name = "star"
    takes = "any value"

    @classmethod
    def read(cls, text: RuleText) -> "Star":
        """It needs nothing."""
        if text.tokens:
            raise InputError(f"the rule '{text.name}' needs nothing in brackets")
        return cls()

    def __str__(self) -> str:
        """Its name."""
        return self.name

    def in_words(self) -> str:
        """What it does."""
        return "kept, or *"

    def position(self, value: Any, text: str) -> str:
        """In the order of the texts."""
        return text

    def labels(self, position: Any, text: str) -> Row:
        """Nothing between the value and the root."""
        return ()
