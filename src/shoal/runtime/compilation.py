"""Says that something is being compiled, once and only when it is true, and how long it takes. Imports nothing heavy.

Machine code is compiled once on a machine, so it is no part of what a search takes: its clocks stand still meanwhile.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

_listeners: list[Callable[[], None]] = []
# Whoever gives up in the middle of a look at the clock, as Ctrl-C makes one, must be able to look again.
_lock = RLock()


class ClockWithoutCompiling:
    """A clock that stands still while kernels are compiled, in whatever thread: only one thread compiles at a time.

    >>> ticks = iter([1.0, 2.0, 5.0, 9.0])
    >>> clock = ClockWithoutCompiling(lambda: next(ticks))
    >>> clock.begin(); clock.now(); clock.end(); clock.now()
    1.0
    4.0
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._depth = 0
        self._began = 0.0
        self._compiling = 0.0

    def begin(self) -> None:
        """A kernel is compiled now; those that it calls are compiled within."""
        with _lock:
            if self._depth == 0:
                self._began = self._clock()
            self._depth += 1

    def end(self) -> None:
        """It is compiled; without its beginning, as Ctrl-C between two clocks leaves it, that is nothing."""
        with _lock:
            if self._depth == 0:
                return
            self._depth -= 1
            if self._depth == 0:
                self._compiling += max(0.0, self._clock() - self._began)

    def now(self) -> float:
        """What the clock shows, without the time that was spent on compiling until now."""
        with _lock:
            return (self._began if self._depth else self._clock()) - self._compiling

    def compiling(self) -> float:
        """How long kernels were compiled until now."""
        with _lock:
            return self._compiling + (max(0.0, self._clock() - self._began) if self._depth else 0.0)


_wall = ClockWithoutCompiling(time.monotonic)
_work = ClockWithoutCompiling(time.process_time)


def working_time() -> float:
    """Seconds of the wall, as ``time.monotonic`` counts them, without those in which kernels were compiled."""
    return _wall.now()


def working_cpu_time() -> float:
    """Seconds of work of this process, as ``time.process_time`` counts them, without what compiling kernels took."""
    return _work.now()


def seconds_of_compiling() -> float:
    """How many seconds of the wall this process has compiled until now."""
    return _wall.compiling()


@contextmanager
def compiling() -> Iterator[None]:
    """Within this block a kernel is compiled, or kept; blocks may lie in one another, but not in two threads at once."""
    begin()
    try:
        yield
    finally:
        end()


def begin() -> None:
    """From now on a kernel is compiled."""
    _wall.begin()
    _work.begin()


def end() -> None:
    """The kernel whose compilation was begun last is compiled, or given up."""
    _wall.end()
    _work.end()


def on_first_compilation(tell: Callable[[], None]) -> None:
    """Call ``tell`` when a kernel is compiled for the first time on this machine."""
    _listeners.append(tell)


def announce() -> None:
    """Tell all that wait for it, once."""
    while _listeners:
        _listeners.pop()()
