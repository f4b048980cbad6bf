"""How many threads a search may use."""

import os

from shoal.numbers import whole

# More threads than this no machine has, and none could be started.
MOST = 4096


def available_cores() -> int:
    """The cores this process may run on.

    >>> available_cores() >= 1
    True
    """
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not every system has it
        return os.cpu_count() or 1


def usable_threads(threads: int | None) -> int:
    """The number of threads to use: as many as were asked for, else one for each core.

    >>> usable_threads(3)
    3
    """
    return (
        available_cores() if threads is None else whole(threads, "the number of threads", least=1, most=MOST)
    )
