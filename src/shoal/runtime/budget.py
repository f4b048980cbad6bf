"""How long a search may go on, counted in work rather than in seconds wherever possible."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypedDict

from shoal.numbers import number, whole
from shoal.runtime.compilation import working_time
from shoal.runtime.control import Control
from shoal.runtime.direction import Direction, better
from shoal.runtime.history import History, Point
from shoal.runtime.observer import Observer, Progress, silent

# What no search ever reaches; larger figures would overflow in kernels and solvers.
MOST_ITERATIONS = 10**15
MOST_SECONDS = 1e9


class TimeIsOver(Exception):
    """The time is over, or somebody ended it; work under way is given up."""


class StopReason(StrEnum):
    """What ended a search."""

    OPTIMAL = "optimal"
    ITERATIONS = "iterations"
    TIME = "time"
    TARGET = "target"
    INTERRUPT = "interrupt"


def decisive(reasons: Iterable[StopReason]) -> StopReason:
    """Of several reasons to stop, the one a reader must know."""
    order = ("interrupt", "time", "target", "iterations", "optimal")
    return min(reasons, key=order.index)


@dataclass(frozen=True)
class Budget:
    """What a search may spend: work (iterations, nodes, evaluations), seconds, and the value that is enough.

    A budget of work alone makes a result depend on the seed only. With ``seconds`` the result also depends on
    the machine; the run then says where it stopped, and a budget of that much work repeats it. Seconds in which kernels are
    compiled, once on a machine, do not count.

    >>> Budget(iterations=1000).iterations
    1000
    """

    iterations: int | None = None
    seconds: float | None = None
    target: Any = None
    control: Control = field(default_factory=Control, compare=False)
    clock: Callable[[], float] = field(default=working_time, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.iterations is not None:
            whole(self.iterations, "iterations", most=MOST_ITERATIONS)
        if self.seconds is not None:
            number(self.seconds, "the time limit in seconds", above=0.0, most=MOST_SECONDS)

    @property
    def usual(self) -> bool:
        """Whether neither iterations nor seconds are given, so that a search takes as long as it usually does."""
        return self.iterations is None and self.seconds is None

    @property
    def by_wall_clock(self) -> bool:
        """Whether its seconds are those of the wall, which solvers count by themselves.

        >>> Budget(seconds=1.0).by_wall_clock, Budget(seconds=1.0, clock=time.process_time).by_wall_clock
        (True, False)
        """
        return self.clock in (working_time, time.monotonic)

    def or_iterations(self, default: int) -> "Budget":
        """The same budget, with a number of iterations where neither iterations nor seconds are given.

        >>> Budget().or_iterations(5000).iterations
        5000
        >>> Budget(seconds=2.0).or_iterations(5000).iterations is None
        True
        """
        return replace(self, iterations=default) if self.usual else self

    def start(self, observer: Observer = silent, *, direction: Direction = Direction.MINIMISE) -> "Run":
        """Begin to spend."""
        return Run(self, observer, direction)


class Closing(TypedDict):
    """The fields of a ``Solution`` that a run knows."""

    direction: Direction
    stopped_by: StopReason
    work: int
    seconds: float
    history: History


class Run:
    """A search under way: it hands out work, keeps the history, tells the observer, and knows when to stop.

    The usual loop asks for a chunk of work, does it, and reports::

        run = budget.start(observer)
        while chunk := run.chunk(200):
            state = kernel(state, chunk)
            run.spend(chunk)
            run.report(state.best)
        return Solution(value=state.best, **run.closing())

    Chunks may be of any size, so a solver's result must not depend on how its work was cut.
    """

    def __init__(self, budget: Budget, observer: Observer, direction: Direction) -> None:
        self.budget = budget
        self.direction = direction
        self.work = 0
        self.value: Any = None
        self.bound: Any = None
        self._observer = observer
        self._points: list[Point] = []
        self._stop: StopReason | None = None
        self._clock = budget.clock
        self._began = self._clock()
        self._waited = 0.0
        self._chunk_began = 0.0
        self._chunk_work = 0

    @property
    def seconds(self) -> float:
        """Time spent so far, without pauses and without the compilation of kernels."""
        return self._clock() - self._began - self._waited

    @property
    def stopped(self) -> bool:
        """Whether there is nothing left to spend, or nothing left to gain."""
        self._wait_while_paused()
        if self._stop is None:
            self._stop = self._reason_to_stop()
        return self._stop is not None

    @property
    def out_of_time(self) -> bool:
        """Whether work under way must be broken off, unfinished: a budget of iterations alone never does that."""
        budget = self.budget
        return budget.control.cancelled or (budget.seconds is not None and self.seconds >= budget.seconds)

    def look(self) -> None:
        """Go on with work under way only if there is time; ``TimeIsOver`` if not."""
        if self.out_of_time:
            raise TimeIsOver

    def _reason_to_stop(self) -> StopReason | None:
        budget = self.budget
        if budget.control.cancelled:
            return StopReason.INTERRUPT
        if self._target_is_reached():
            return StopReason.TARGET
        if budget.iterations is not None and self.work >= budget.iterations:
            return StopReason.ITERATIONS
        if budget.seconds is not None and self.seconds >= budget.seconds:
            return StopReason.TIME
        return None

    def _target_is_reached(self) -> bool:
        target = self.budget.target
        return (
            target is not None and self.value is not None and not better(target, self.value, self.direction)
        )

    def _wait_while_paused(self) -> None:
        control = self.budget.control
        if not control.paused:
            return
        since = self._clock()
        while control.paused:
            time.sleep(0.05)
        self._waited += self._clock() - since

    def chunk(self, preferred: int) -> int:
        """How much work to do before the next look at the budget; 0 when the search is over.

        Chunks shrink so that one takes about a tenth of a second, judged by how long the chunk before took.
        """
        if self.stopped:
            return 0
        size = max(1, preferred)
        now = self.seconds
        work, seconds = self.work - self._chunk_work, now - self._chunk_began
        if work > 0 and seconds > 0:
            # At most ten times the work measured: a chunk too short to be timed says little about a long one.
            size = max(1, min(size, 10 * work, int(0.1 * work / seconds)))
        self._chunk_began, self._chunk_work = now, self.work
        if self.budget.iterations is not None:
            size = min(size, self.budget.iterations - self.work)
        return size

    def spend(self, work: int = 1) -> None:
        """Account for work done."""
        self.work += work

    def report(self, value: Any = None, *, bound: Any = None, phase: str = "") -> None:
        """Tell what is known now; a value or bound that is no better than before changes nothing."""
        improved = False
        if value is not None and (self.value is None or better(value, self.value, self.direction)):
            self.value = value
            improved = True
        if bound is not None and (self.bound is None or better(self.bound, bound, self.direction)):
            self.bound = bound
            improved = True
        seconds = self.seconds
        if improved:
            self._points.append(Point(self.work, seconds, self.value, self.bound))
        self._observer(
            Progress(
                work=self.work,
                seconds=seconds,
                total=self.budget.iterations,
                share=self._share(seconds),
                value=self.value,
                bound=self.bound,
                phase=phase,
            )
        )

    def _share(self, seconds: float) -> float | None:
        budget = self.budget
        shares = []
        if budget.iterations:
            shares.append(self.work / budget.iterations)
        if budget.seconds:
            shares.append(seconds / budget.seconds)
        return min(1.0, max(shares)) if shares else None

    def finish(self, reason: StopReason = StopReason.OPTIMAL) -> None:
        """End the search from within, for instance because the optimum is proved."""
        if self._stop is None:
            self._stop = reason

    def remaining(self, *, iterations: int | None = None, seconds: float | None = None) -> Budget:
        """What is left, as a budget for a solver called from here, with tighter limits if given.

        The inner solver shares the control, so a pause or a cancellation reaches it.
        """
        budget = self.budget
        left = None if budget.iterations is None else max(0, budget.iterations - self.work)
        time_left = None if budget.seconds is None else max(1e-9, budget.seconds - self.seconds)
        if iterations is not None:
            left = iterations if left is None else min(left, iterations)
        if seconds is not None:
            time_left = seconds if time_left is None else min(time_left, seconds)
        return replace(budget, iterations=left, seconds=time_left)

    def nested(self, phase: str, *, unit: int = 0) -> Observer:
        """An observer for a solver called from here: its improvements become this run's.

        Each iteration of the inner solver counts as ``unit`` iterations here while it runs; what it spent in
        the end is for the caller to ``spend``.
        """

        def observe(progress: Progress) -> None:
            offset, self.work = self.work, self.work + unit * progress.work
            try:
                self.report(progress.value, bound=progress.bound, phase=phase or progress.phase)
            finally:
                self.work = offset

        return observe

    def closing(self) -> Closing:
        """The fields of the solution that the run knows: why it stopped, work, seconds, history."""
        return {
            "direction": self.direction,
            "stopped_by": self._stop or self._reason_to_stop() or StopReason.ITERATIONS,
            "work": self.work,
            "seconds": self.seconds,
            "history": History(tuple(self._points)),
        }
