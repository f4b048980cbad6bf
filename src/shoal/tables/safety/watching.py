"""How an audit tells how far it is: cell by cell, of so many."""

import time
from collections.abc import Callable
from typing import TypeAlias

from shoal.search.observer import Observer, Progress, silent

#: Is told how many cells are done, and of how many.
Watch: TypeAlias = Callable[[int, int], None]


def unwatched(done: int, of: int) -> None:
    """Nobody looks."""


def watched(observer: Observer) -> Watch:
    """What tells an observer of the intervals that are computed.

    >>> watched(lambda progress: print(progress.phase, progress.work, progress.total))(3, 40)
    intervals 3 40
    """
    if observer is silent:
        return unwatched
    begun = time.monotonic()

    def watch(done: int, of: int) -> None:
        observer(Progress(done, time.monotonic() - begun, of, done / of if of else 1.0, phase="intervals"))

    return watch
