"""Pause, resume and cancel a search, also from another process."""

import mmap
import os
import tempfile
from pathlib import Path

# One byte each, so that a pause and a cancellation from two processes cannot overwrite one another.
_PAUSED, _CANCELLED = 0, 1


class Control:
    """A pair of switches that a search looks at between two steps.

    ``Control()`` lives in this process. ``Control.shared()`` lives in a small file, so that its ``path`` can
    be handed to another process, which opens it with ``Control.at(path)``; a shared control can be pickled.

    >>> control = Control()
    >>> control.cancel()
    >>> control.cancelled
    True
    """

    def __init__(self) -> None:
        self._path: Path | None = None
        self._memory: bytearray | mmap.mmap = bytearray(2)
        self._owner = False

    @classmethod
    def shared(cls, folder: Path | None = None) -> "Control":
        """A control another process can open by its path."""
        handle, name = tempfile.mkstemp(prefix="shoal-control-", dir=folder)
        try:
            os.write(handle, bytes(2))
        finally:
            os.close(handle)
        control = cls.at(Path(name))
        control._owner = True
        return control

    @classmethod
    def at(cls, path: Path) -> "Control":
        """The control that lives at this path."""
        control = cls()
        control._path = Path(path)
        with control._path.open("r+b") as file:
            control._memory = mmap.mmap(file.fileno(), 2)
        return control

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        if self._path is None:
            raise TypeError(
                "only a shared control can be sent to another process; make it with Control.shared()"
            )
        return (Control.at, (self._path,))

    @property
    def path(self) -> Path | None:
        """Where a shared control lives; ``None`` for one of this process."""
        return self._path

    @property
    def paused(self) -> bool:
        """Whether the search is asked to wait; a cancelled search never waits."""
        return self._memory[_PAUSED] == 1 and not self.cancelled

    @property
    def cancelled(self) -> bool:
        """Whether the search is asked to end with the best it has."""
        return self._memory[_CANCELLED] == 1

    def pause(self) -> None:
        """Ask the search to wait; a cancelled search stays cancelled."""
        self._memory[_PAUSED] = 1

    def resume(self) -> None:
        """Let a paused search go on."""
        self._memory[_PAUSED] = 0

    def cancel(self) -> None:
        """Ask the search to end with the best it has."""
        self._memory[_CANCELLED] = 1

    def close(self) -> None:
        """Release a shared control; the process that made it removes its file."""
        if isinstance(self._memory, mmap.mmap):
            state = bytearray(self._memory[:])
            self._memory.close()
            self._memory = state
        if self._owner and self._path is not None:
            self._path.unlink(missing_ok=True)
            self._owner = False

    def __enter__(self) -> "Control":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
