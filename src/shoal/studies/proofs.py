"""Whether a figure is proved: said by the solution that stands behind it, never by the text of a study."""

from typing import Protocol


class Solved(Protocol):
    """Anything that knows whether it is proved to be the best."""

    @property
    def optimal(self) -> bool:
        """Whether nothing is better; proved."""


def proof(found: Solved) -> str:
    """What a solution says of itself: proved or not proved.

    >>> from types import SimpleNamespace
    >>> proof(SimpleNamespace(optimal=True)), proof(SimpleNamespace(optimal=False))
    ('proved', 'not proved')
    """
    return "proved" if found.optimal else "not proved"
