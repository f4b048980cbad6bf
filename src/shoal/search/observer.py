"""What a search tells the outside while it runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """A glimpse of a running search.

    ``work`` counts iterations, nodes or evaluations; ``total`` is how many are allowed, if that is known;
    ``share`` is how much of the budget (work or time, whichever is nearer its end) is used.
    """

    work: int
    seconds: float
    total: int | None = None
    share: float | None = None
    value: Any = None
    bound: Any = None
    phase: str = ""


Observer = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """The observer that looks away."""


VERIFICATION = "verification"


class Witness:
    """An observer who can also be told that the search is over and its result is being checked.

    >>> seen = []
    >>> witness = Witness(seen.append)
    >>> witness(Progress(7, 1.0, value=3.5))
    >>> witness.verification()
    >>> seen[-1].phase, seen[-1].work, seen[-1].value
    ('verification', 7, 3.5)
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._last = Progress(0, 0.0)

    def __call__(self, progress: Progress) -> None:
        """Pass a glimpse on."""
        self._last = progress
        self._observer(progress)

    def verification(self) -> None:
        """The search is over."""
        self._observer(replace(self._last, phase=VERIFICATION, total=None, share=None))


def mapped(observer: Observer, value: Callable[[Any], Any], phase: str = "") -> Observer:
    """An observer who is told values and bounds in other units, and what is being done if there is a word for it."""

    def observe(progress: Progress) -> None:
        best = None if progress.value is None else value(progress.value)
        bound = None if progress.bound is None else value(progress.bound)
        observer(replace(progress, value=best, bound=bound, phase=phase or progress.phase))

    return observe
