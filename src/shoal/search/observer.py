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


def mapped(observer: Observer, value: Callable[[Any], Any], phase: str = "") -> Observer:
    """An observer who is told values and bounds in other units, and what is being done if there is a word for it."""

    def observe(progress: Progress) -> None:
        best = None if progress.value is None else value(progress.value)
        bound = None if progress.bound is None else value(progress.bound)
        observer(replace(progress, value=best, bound=bound, phase=phase or progress.phase))

    return observe
