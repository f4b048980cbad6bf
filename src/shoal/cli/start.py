"""Where a process begins and ends: Ctrl-C gives exit code 130 and one line, whenever it comes.

While modules are imported there is nothing to keep or to undo, and an exception could come to light anywhere in them; so
the process ends at once, from the first line of the package on, which is loaded before this module. When the result is
written and told the command is done, and Ctrl-C comes too late.
"""

import signal
import sys
from types import FrameType
from typing import NoReturn

from shoal import _INTERRUPTED, _leave


def main() -> NoReturn:
    """The command ``shoal``."""
    signal.signal(signal.SIGINT, _leave)
    from shoal.cli.interrupts import interrupts
    from shoal.cli.main import main as run

    def on_signal(number: int, frame: FrameType | None) -> None:
        interrupts.asked = True
        raise KeyboardInterrupt

    code: int | str | None = 130
    try:
        # An interruption of an object's end is nobody's news; that it happened is remembered.
        sys.unraisablehook = _quiet_about_interrupts
        signal.signal(signal.SIGINT, on_signal)
        run()
    except SystemExit as done:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = done.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write(f"shoal: {_INTERRUPTED}\n")
    sys.exit(code)


def _quiet_about_interrupts(unraisable: "sys.UnraisableHookArgs") -> None:
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    main()
