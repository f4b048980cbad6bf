"""Waiting for something to come true, and never for time: tests pass on a machine ten times slower.

The guard only ends a test that would wait for ever; nothing passes or fails by how fast the machine is.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

GUARD = 600.0
# Looking costs work too, most of all in a browser: whoever has waited longer looks less often.
_SOON, _SELDOM, _SHARE = 0.02, 0.25, 0.1
# How often a process must have gone to sleep and woken up before it counts as waiting.
_NAPS = 20

Found = TypeVar("Found")


def until(
    condition: Callable[[], Found], what: object = "", *, otherwise: Callable[[], str] | None = None
) -> Found:
    """Wait until a condition gives something true, and give it back; ``otherwise`` tells more if it never does."""
    began = time.monotonic()
    while not (found := condition()):
        waited = time.monotonic() - began
        if waited > GUARD:
            raise AssertionError(
                f"waited in vain for {what or condition}" + (otherwise() if otherwise else "")
            )
        time.sleep(min(max(_SOON, _SHARE * waited), _SELDOM))
    return found


def naps(*processes: int) -> int:
    """How often processes have gone to sleep of their own accord so far, as Linux counts it."""
    lines = [line for pid in processes for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def until_at_rest(reading: Callable[[], Found], *processes: int) -> Found:
    """Wait until a reading stays the same while the processes go to sleep and wake up many times; the reading."""
    last, since = reading(), naps(*processes)

    def unchanged() -> bool:
        nonlocal last, since
        if (now := reading()) != last:
            last, since = now, naps(*processes)
        return naps(*processes) >= since + _NAPS

    until(unchanged, "a rest")
    return last


def gone(pid: int) -> bool:
    """Whether a process has ended, also when nobody has asked for its exit code yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
