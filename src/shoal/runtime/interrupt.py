"""Ctrl-C that keeps the best found."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from shoal.runtime.control import Control


@contextmanager
def keep_best_on_interrupt(
    control: Control,
    tell: Callable[[], None] = lambda: None,
    *,
    over: Callable[[], bool] = lambda: False,
) -> Iterator[Control]:
    """Within this block the first Ctrl-C asks the search to end; a second one raises ``KeyboardInterrupt``.

    So does the first when the search is ``over``: what is checked then cannot be kept unless the check is done.
    Outside the main thread signals cannot be caught, and the block changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield control
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        if control.cancelled or over():
            raise KeyboardInterrupt
        control.cancel()
        tell()

    previous = signal.signal(signal.SIGINT, on_signal)
    try:
        yield control
    finally:
        # A handler that was not installed from Python cannot be put back by it.
        signal.signal(signal.SIGINT, signal.default_int_handler if previous is None else previous)
