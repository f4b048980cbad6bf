"""Which process has a workspace: a living server holds a lock on it, and what a dead one left behind is removed.

A temporary workspace holds all records somebody looked at. It goes when its server goes; a server that was killed cannot
see to that, so the next one does.
"""

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from shoal.errors import InputError

_PREFIX = "shoal-workbench-"
_LOCK = "lock"
# What tells a temporary workspace from one that somebody asked for, wherever that is and whatever it is called.
_TEMPORARY = "temporary"


class Occupancy:
    """A workspace in the hands of this process, until ``leave`` or its end, whatever ends it."""

    def __init__(self, folder: Path, handle: int | None) -> None:
        self.folder = folder
        self._handle = handle

    def no_longer_temporary(self) -> None:
        """Nobody removes the workspace any more, whatever ends its server."""
        (self.folder / _TEMPORARY).unlink(missing_ok=True)

    def leave(self, *, remove: bool = False) -> None:
        """Give the workspace back; ``remove`` takes everything in it away first, while nobody else can come in."""
        if remove:
            _remove(self.folder)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def occupy(folder: Path) -> Occupancy:
    """Take a workspace for this process; an ``InputError`` if another one works in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = _lock(folder)
    if handle is None:
        raise InputError(f"another workbench works in '{folder.name}'; end it, or choose another --workspace")
    (folder / _TEMPORARY).unlink(missing_ok=True)
    return Occupancy(folder, handle)


def temporary(parent: Path | None = None) -> Occupancy:
    """A fresh workspace for this process alone."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        # Somebody who tidies up may have come between the folder and its lock; then there is another.
        with suppress(FileNotFoundError):
            handle = _lock(folder)
            if handle is not None and _is_at(handle, folder / _LOCK):
                (folder / _TEMPORARY).touch(mode=0o600)
                return Occupancy(folder, handle)
            if handle is not None:
                os.close(handle)


def remove_left_behind(parent: Path | None = None) -> list[Path]:
    """Remove the temporary workspaces whose server is dead: only folders of this user, closed to others, with no lock held."""
    removed = []
    for folder in sorted(Path(parent or tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        with suppress(OSError):
            if not _ours(folder):
                continue
            if not (folder / _LOCK).exists():
                folder.rmdir()  # it goes only if it is empty: one that is just being made, or was never more
                continue
            handle = _lock(folder)
            if handle is None:
                continue
            temporary = _is_temporary(folder)
            Occupancy(folder, handle).leave(remove=temporary)
            removed += [folder] * temporary
    return removed


def _is_temporary(folder: Path) -> bool:
    """Whether a workspace was made for one server alone, or had not come to be more than its lock."""
    names = {path.name for path in folder.iterdir()}
    return _TEMPORARY in names or names == {_LOCK}


def _remove(folder: Path) -> None:
    """Remove a workspace, its marks last: if that is cut short, the next server still knows what this was."""
    for path in folder.iterdir():
        if path.name not in (_LOCK, _TEMPORARY):
            shutil.rmtree(
                path, ignore_errors=True
            ) if path.is_dir() and not path.is_symlink() else path.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _ours(folder: Path) -> bool:
    found = folder.lstat()
    mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    return stat.S_ISDIR(found.st_mode) and mine and not found.st_mode & 0o077


def _lock(folder: Path) -> int | None:
    """A lock that lasts as long as this process and is inherited by nobody; none if another process has it."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(folder / _LOCK, flags, 0o600)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        os.close(handle)
        return None
    return handle


def _is_at(handle: int, path: Path) -> bool:
    """Whether the file that is open is the one of this name still."""
    here, there = os.fstat(handle), path.stat()
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
