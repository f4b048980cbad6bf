"""How an audit tells how far it is, cell by cell, of so many; and how it ends when its time is over."""

from typing import TYPE_CHECKING

from shoal.search.budget import Budget, StopReason, TimeIsOver
from shoal.search.observer import Observer, Progress, silent

if TYPE_CHECKING:
    from shoal.search.budget import Run

__all__ = ["TimeIsOver", "Watch", "unwatched", "watched"]

#: How many cells, or requirements, of a network are looked at before the next look at the clock, at most.
AT_ONCE = 200
_FIRST = 5


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


#: Nobody looks, and there is no end but the last cell.
unwatched = Watch()


def watched(budget: Budget | None = None, observer: Observer = silent) -> Watch:
    """What tells an observer of the intervals that are computed, and ends within a budget.

    >>> watched(observer=lambda progress: print(progress.phase, progress.work, progress.total))(3, 40)
    intervals 3 40
    """
    return Watch((budget or Budget()).start(), observer)
