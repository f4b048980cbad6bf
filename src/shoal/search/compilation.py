"""Says that something is being compiled, once and only when it is true. Imports nothing heavy."""

from collections.abc import Callable

_listeners: list[Callable[[], None]] = []


def on_first_compilation(tell: Callable[[], None]) -> None:
    """Call ``tell`` when a kernel is compiled for the first time on this machine."""
    _listeners.append(tell)


def announce() -> None:
    """Tell all that wait for it, once."""
    while _listeners:
        _listeners.pop()()
