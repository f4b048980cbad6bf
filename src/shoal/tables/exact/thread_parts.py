"""Doing independent parts of one step at once, in threads that last as long as the step.

Solvers and kernels let go of the interpreter's lock, so that threads share the cores; what the parts leave behind must
not depend on how many there are.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A thread is not worth its while for less than so many requirements or cuts.
FEWEST_EACH = 16


def worthwhile(threads: int, count: int) -> int:
    """How many of the threads to use for so many things to look at.

    >>> worthwhile(2, 20), worthwhile(2, 1000)
    (1, 2)
    """
    return max(1, min(threads, count // FEWEST_EACH))


@contextmanager
def hands(threads: int) -> Iterator[Callable[[Callable[[int], None], int], None]]:
    """The way to have ``work(0)``, …, ``work(parts - 1)`` done; with one thread, one after the other without any other.

    >>> done = []
    >>> with hands(1) as at_once:
    ...     at_once(done.append, 3)
    >>> done
    [0, 1, 2]
    """
    if threads == 1:

        def in_turn(work: Callable[[int], None], parts: int) -> None:
            for part in range(parts):
                work(part)

        yield in_turn
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:

        def at_once(work: Callable[[int], None], parts: int) -> None:
            for done in [pool.submit(work, part) for part in range(parts)]:
                done.result()

        yield at_once
