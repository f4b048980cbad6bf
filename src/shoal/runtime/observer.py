"""What a search tells the outside while it runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """A glimpse of a running search.

    ``work`` counts iterations, nodes or evaluations; ``total`` is how many are allowed, if that is known;
    ``share`` is how much of the budget (work or time, whichever is nearer its end) is used, and ``expected`` how many seconds
    the phase is expected to take, if there is a guess.
    """

    work: int
    seconds: float
    total: int | None = None
    share: float | None = None
    value: Any = None
    bound: Any = None
    phase: str = ""
    expected: float | None = None


Observer = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """The observer that looks away."""


VERIFICATION = "verification"
#: What a search does with what it found, and the independent check does once more.
CHECKING = "proving what can be computed"


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
        self._check: float | None = None

    def __call__(self, progress: Progress) -> None:
        """Pass a glimpse on."""
        if self._last.phase == CHECKING:
            self._check = progress.seconds - self._last.seconds
        self._last = progress
        self._observer(progress)

    def verification(self, checks: int = 1) -> None:
        """The search is over; what follows takes as long as so many of its own checks, or nobody knows how long."""
        expected = None if self._check is None else checks * self._check
        over = replace(self._last, phase=VERIFICATION, total=None, share=None, expected=expected)
        self._observer(over)


def mapped(observer: Observer, value: Callable[[Any], Any], phase: str = "") -> Observer:
    """An observer who is told values and bounds in other units, and what is being done if there is a word for it."""

    def observe(progress: Progress) -> None:
        best = None if progress.value is None else value(progress.value)
        bound = None if progress.bound is None else value(progress.bound)
        observer(replace(progress, value=best, bound=bound, phase=phase or progress.phase))

    return observe
