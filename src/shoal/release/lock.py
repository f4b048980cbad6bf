"""One process at a time works in a folder. Where there are no locks, nothing is held."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.errors import InputError


@contextmanager
def alone(folder: Path, busy: str) -> Iterator[None]:
    """Have a folder for this process alone; ``busy`` is said where another one has it.

    The lock lasts as long as the process, whatever ends it, and is inherited by nobody.
    """
    handle = _locked(folder, wait=False)
    if handle is _TAKEN:
        raise InputError(busy)
    yield from _until_closed(handle)


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Wait until no other process has a folder, for work that takes a moment."""
    yield from _until_closed(_locked(folder, wait=True))


#: Somebody else has the lock.
_TAKEN = -1


def _until_closed(handle: int | None) -> Iterator[None]:
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _locked(folder: Path, *, wait: bool) -> int | None:
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return _TAKEN
    except OSError:
        os.close(handle)
        return None
    return handle
