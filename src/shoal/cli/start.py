"""Where a process begins and ends: Ctrl-C gives exit code 130 and one line, whenever it comes.

While modules are imported there is nothing to keep or to undo, and an exception could come to light anywhere in them; so
the process ends at once, from the first line of the package on, which is loaded before this module. When the result is
written and told the command is done, and Ctrl-C comes too late. Signals that end a process end it through its own clearing up.
"""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from shoal import _INTERRUPTED, _leave


def main() -> NoReturn:
    """The command ``shoal``."""
    signal.signal(signal.SIGINT, _leave)
    _open_standard_streams()
    from shoal.cli.interrupts import interrupts
    from shoal.cli.main import main as run

    def on_signal(number: int, frame: FrameType | None) -> None:
        interrupts.pressed = True
        raise KeyboardInterrupt

    code: int | str | None = 130
    try:
        sys.unraisablehook = _not_lost
        signal.signal(signal.SIGINT, on_signal)
        _ended_in_order()
        run()
    except SystemExit as done:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = done.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write(f"shoal: {_INTERRUPTED}\n")
    sys.exit(code)


def _open_standard_streams() -> None:
    """Let streams that were closed (``shoal … >&-``) lead nowhere: files would be opened in their place, and be printed to."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # It takes the lowest free number, which is that of the stream.
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
            # Processes that are started from here find it where they look for it.
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


class _Ending(SystemExit):
    """The process was told to end by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


#: The signals that told the process to end; the first one ends it.
_told_to_end: list[int] = []


def _ended_in_order() -> None:
    """Who is told to end, or loses the terminal, clears up first: what lies on disk in between may be confidential.

    Such a signal often comes twice, from the shell and from the system; the second may not break off the clearing up.
    """

    def on_end(number: int, frame: FrameType | None) -> None:
        _told_to_end.append(number)
        if len(_told_to_end) == 1:
            raise _Ending(number)
        if len(_told_to_end) > 2:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What nohup has turned off stays off.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, on_end)


def _not_lost(unraisable: "sys.UnraisableHookArgs") -> None:
    """Let no signal be lost that came while an object ended or a library called back: exceptions go no further there.

    That Ctrl-C was pressed is remembered, and searches ask; the order to end is given again.
    """
    if isinstance(unraisable.exc_value, _Ending):
        _told_to_end.clear()
        _tell_again(unraisable.exc_value.number)
    elif not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _tell_again(number: int) -> None:
    """Send a signal to the main thread a little later, when it has left what swallowed the first one."""
    import threading

    again = threading.Timer(0.05, signal.pthread_kill, (threading.main_thread().ident, number))
    again.daemon = True
    again.start()


if __name__ == "__main__":
    main()
