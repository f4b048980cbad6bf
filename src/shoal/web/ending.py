"""How the server ends when it is told to: always through its own clearing up, then as the signal would have it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

#: Ctrl-C, "please end", and the terminal that was closed; not every system has all of them.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]


class Leaving(Protocol):
    """A server that leaves when it is asked to."""

    should_exit: bool
    force_exit: bool


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """A signal that ends the process is an exception in the block, so that whatever has to be cleared up is."""

    def end(number: int, frame: Any) -> None:
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    with _handled(end):
        yield


@contextmanager
def ending_politely(server: Leaving) -> Iterator[None]:
    """A signal asks the server to leave; then it counts for whoever runs the server. A second one makes it hurry."""
    came: list[int] = []

    def ask(number: int, frame: Any) -> None:
        came.append(number)
        server.force_exit = server.should_exit
        server.should_exit = True

    with _handled(ask):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def undisturbed() -> Iterator[None]:
    """No signal interrupts the block, short of kill -9: it is clearing up."""
    with _handled(signal.SIG_IGN):
        yield


@contextmanager
def whole() -> Iterator[None]:
    """A signal waits until the block is over: what it does is done whole, and then the signal counts.

    Masking it would not do: a process started in the block would inherit the mask.
    """
    came: list[int] = []
    with _handled(lambda number, frame: came.append(number)):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _handled(handler: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread, which is not ours
        return
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, signal.SIG_DFL if previous is None else previous)
