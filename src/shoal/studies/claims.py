"""What a work says of its methods, put as a rule that a measured figure obeys or does not.

A verdict is never written by hand: it is the rule, applied to the figure that stands beside it in the same row.
"""

import re
from dataclasses import dataclass
from typing import Protocol

from shoal.studies.study import Row

#: The tables in which claims stand: what the work says, and what Shoal asks besides.
TABLE = "Claims"
OWN_TABLE = "Questions of our own"

_HOLDS, _FAILS = "holds", "does not hold"
_RELATIONS = {
    "at least": lambda figure, limit: figure >= limit,
    "at most": lambda figure, limit: figure <= limit,
    "above": lambda figure, limit: figure > limit,
    "below": lambda figure, limit: figure < limit,
    "exactly": lambda figure, limit: figure == limit,
}
_WRITTEN = re.compile(rf": ({'|'.join(_RELATIONS)}) (-?[\d.e+-]+)$")


@dataclass(frozen=True)
class Rule:
    """What a figure must be for a claim to hold.

    >>> rule = Rule("at most", 1.25)
    >>> rule.holds(1.2), rule.holds(1.3), str(rule)
    (True, False, 'at most 1.25')
    """

    relation: str
    limit: float

    def __post_init__(self) -> None:
        if self.relation not in _RELATIONS:
            raise ValueError(f"no relation '{self.relation}'")

    def __str__(self) -> str:
        return f"{self.relation} {self.limit:g}"

    def holds(self, figure: float) -> bool:
        """Whether a figure obeys the rule."""
        return _RELATIONS[self.relation](figure, self.limit)


@dataclass(frozen=True)
class Claim:
    """A statement about a figure: where, what is measured, what it must be, what is printed and what was measured.

    The rule of a claim is never softer than the sentence of the work. ``extent`` says on what: "on 2 tables". ``own``
    marks what Shoal asks besides, of which the work says nothing.
    """

    case: str
    figure: str
    rule: Rule
    measured: float
    published: float | str | None = None
    extent: str = ""
    own: bool = False

    def row(self) -> Row:
        """The claim with its verdict, which follows from the figure as it is printed.

        >>> Claim("all cases", "CPU over CPU", Rule("at least", 10), 12.0, 14.1, "on 15 cases").row().note
        'holds here on 15 cases'
        """
        shown = round(self.measured, 4)
        printed = round(self.published, 4) if isinstance(self.published, float) else self.published
        verdict = _HOLDS if self.rule.holds(shown) else _FAILS
        note = f"{verdict} here{' ' + self.extent if self.extent else ''}"
        return Row(
            OWN_TABLE if self.own else TABLE, self.case, f"{self.figure}: {self.rule}", printed, shown, note
        )


def verdict_of(row: Row) -> bool:
    """Whether the claim in a row holds, computed again from its figure and the rule it states.

    >>> verdict_of(Claim("a", "b", Rule("below", 5), 4.0).row())
    True
    """
    written = _WRITTEN.search(row.measure)
    if written is None or not isinstance(row.measured, int | float):
        raise ValueError(f"the row '{row.measure}' states no rule that a figure could obey")
    return Rule(written[1], float(written[2])).holds(row.measured)


def says(row: Row) -> bool:
    """Whether the note of a row says that its claim holds.

    >>> says(Claim("a", "b", Rule("below", 5), 6.0).row())
    False
    """
    return row.note.startswith(f"{_HOLDS} ")


class Solved(Protocol):
    """Anything that knows whether it is proved to be the best."""

    @property
    def optimal(self) -> bool:
        """Whether nothing is better; proved."""


def proof(solution: Solved) -> str:
    """What a solution says of itself: proved or not proved. No study writes these words itself.

    >>> from types import SimpleNamespace
    >>> proof(SimpleNamespace(optimal=True)), proof(SimpleNamespace(optimal=False))
    ('proved', 'not proved')
    """
    return "proved" if solution.optimal else "not proved"
