"""The one way to compile a kernel: cached on disk, free of the interpreter's lock, announced the first time."""

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

from shoal.search import compilation


class _Announcer(event.Listener):
    def on_start(self, event: event.Event) -> None:
        compilation.announce()

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Announcer())


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a plain function on arrays; the machine code is kept for the next process.

    The function must release no object and touch nothing but its arguments. ``fastmath`` stays off unless asked
    for, since results must be the same on every machine.
    """
    options = {"cache": True, "nogil": True, **options}
    if function is None:
        return njit(**options)
    return njit(**options)(function)
