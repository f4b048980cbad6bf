"""Work on the rows of large arrays, shared by threads."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor

Result = TypeVar("Result")

# So many rows at once: enough to be worth handing over, few enough that all threads have something to do to the end.
_ROWS = 16_384


def in_rows(
    executor: "Executor | None", count: int, work: Callable[[slice], Result], rows: int = _ROWS
) -> list[Result]:
    """What the work comes to for each slice of the rows, in their order; by the threads of the executor, if there is one.

    >>> in_rows(None, 5, lambda part: part.stop - part.start, rows=2)
    [2, 2, 1]
    """
    parts = [slice(first, min(first + rows, count)) for first in range(0, count, rows)]
    if executor is None or len(parts) < 2:
        return [work(part) for part in parts]
    return list(executor.map(work, parts))
