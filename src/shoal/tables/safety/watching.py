"""How an audit tells how far it is, cell by cell, of so many; and how it ends when its time is over."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from shoal.runtime.budget import Budget, StopReason, TimeIsOver
from shoal.runtime.observer import Observer, Progress, silent

if TYPE_CHECKING:
    from shoal.runtime.budget import Run

__all__ = ["TimeIsOver", "Watch", "unwatched", "watched"]

#: How many cells, or requirements, of a network are looked at before the next look at the clock, at most.
AT_ONCE = 200
_FIRST = 5
#: What is left for the check of what was found when the time of a search is over.
LAST_SECONDS = 5.0


class Watch:
    """Is told how many cells are done, and of how many; raises ``TimeIsOver`` when the time of its run is over."""

    def __init__(self, run: "Run | None" = None, observer: Observer = silent) -> None:
        self.run = run
        self._observer = observer

    def __call__(self, done: int, of: int) -> None:
        """So many cells are done."""
        if self.run is not None and self._observer is not silent:
            share = done / of if of else 1.0
            self._observer(Progress(done, self.run.seconds, of, share, phase="intervals"))
        self.look()

    @property
    def limited(self) -> bool:
        """Whether there is a time by which it must end."""
        return self.run is not None and self.run.budget.seconds is not None

    def late(self) -> bool:
        """Whether it must end now."""
        return self.run is not None and self.run.out_of_time

    def look(self) -> None:
        """Go on only if there is time."""
        if self.run is not None:
            self.run.look()

    @property
    def reason(self) -> StopReason:
        """Why it ended."""
        return StopReason.TIME if self.run is None else self.run.closing()["stopped_by"]

    @property
    def left(self) -> Budget | None:
        """What is left of its budget, for an audit within this one."""
        return None if self.run is None else self.run.remaining()

    def seconds_left(self) -> dict[str, float]:
        """What is left of a time of the wall, as solvers take it."""
        if self.run is None or not self.limited or not self.run.budget.by_wall_clock:
            return {}
        left = self.run.remaining().seconds
        return {} if left is None else {"time_limit": left}

    def chunk(self) -> int:
        """How many cells to look at next: fewer where they take long."""
        if self.run is None or not self.limited:
            return AT_ONCE
        # Nobody knows how long a cell takes before some were looked at.
        return max(1, self.run.chunk(AT_ONCE if self.run.work else _FIRST))

    def spend(self, cells: int) -> None:
        """So many were looked at."""
        if self.run is not None:
            self.run.spend(cells)


class Afterwards(Watch):
    """For looking at what a search found: when its time is over, or somebody ended it, a last few seconds are left.

    >>> from shoal.runtime.control import Control
    >>> over = Control()
    >>> over.cancel()
    >>> times = iter([10.0, 12.0, 20.0])
    >>> watch = Afterwards(Budget(control=over).start(), clock=lambda: next(times))
    >>> watch.late(), watch.late(), watch.late()
    (False, False, True)
    """

    def __init__(self, run: "Run", *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(run)
        self._search, self._clock = run, clock
        self._over: float | None = None

    @property
    def limited(self) -> bool:
        """It always may have to end."""
        return True

    def late(self) -> bool:
        """Whether the last seconds are over, too."""
        if not self._search.out_of_time:
            return False
        now = self._clock()
        self._over = now if self._over is None else self._over
        return now - self._over > LAST_SECONDS

    def look(self) -> None:
        """Go on only if there is time."""
        if self.late():
            raise TimeIsOver

    def seconds_left(self) -> dict[str, float]:
        """Solvers are told when to stop."""
        return {}

    def chunk(self) -> int:
        """How many to look at next."""
        return AT_ONCE

    def spend(self, cells: int) -> None:
        """It is no work of the search."""


#: Nobody looks, and there is no end but the last cell.
unwatched = Watch()


def watched(budget: Budget | None = None, observer: Observer = silent) -> Watch:
    """What tells an observer of the intervals that are computed, and ends within a budget.

    >>> watched(observer=lambda progress: print(progress.phase, progress.work, progress.total))(3, 40)
    intervals 3 40
    """
    return Watch((budget or Budget()).start(), observer)
