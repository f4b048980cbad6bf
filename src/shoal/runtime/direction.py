"""Which of two values is the better one."""

from enum import StrEnum
from typing import Any


class Direction(StrEnum):
    """Whether smaller or larger values are better."""

    MINIMISE = "minimise"
    MAXIMISE = "maximise"


def better(value: Any, than: Any, direction: Direction) -> bool:
    """Whether one ordered key is strictly better than another.

    >>> better(3, 4, Direction.MINIMISE), better(3, 4, Direction.MAXIMISE)
    (True, False)
    """
    if direction is Direction.MINIMISE:
        return bool(value < than)
    return bool(value > than)
