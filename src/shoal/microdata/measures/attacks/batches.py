"""People looked for in turns, with a look at the clock between two of them."""

from collections.abc import Callable, Iterator

#: Is called now and then, and raises to give up an attack that there is no time for.
Look = Callable[[], None]
# Few enough that a turn among a million records takes well below a second.
_AT_ONCE = 100


def go_on() -> None:
    """There is time."""


def turns(people: int, look: Look) -> Iterator[slice]:
    """So many people in turns.

    >>> [part.stop - part.start for part in turns(230, go_on)]
    [100, 100, 30]
    """
    for first in range(0, people, _AT_ONCE):
        look()
        yield slice(first, min(people, first + _AT_ONCE))
