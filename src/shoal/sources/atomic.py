"""Files written whole or not at all: beside their target first, then renamed, and undone if something else fails."""

import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import InputError, parameter

#: What the names of files have that are not finished.
UNFINISHED = ".shoal-unfinished"
_PRIVATE = 0o600


class Beside:
    """A file written beside its target, readable by its owner alone until ``put`` gives it the target's place.

    After ``put`` the file that was there before can still be brought back with ``undo``; ``close`` ends that and removes
    whatever is left. An ``internal`` file stays readable by its owner alone; another one gets the usual permissions, or
    those of the file it replaces.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, internal: bool = False) -> None:
        check_target(path, force)
        # A link stays a link: its target is what gets replaced.
        self.target = Path(path).resolve()
        self._force = force
        _remove_leftovers(self.target)
        self._mode = _PRIVATE if internal else _mode_for(self.target)
        self.path = _sibling(self.target)
        self._old: Path | None = None
        self._placed = False
        self._handles: list[int] = []
        with unwritable(self.target):
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE)
        self._handles.append(handle)
        _lock(handle)
        _copy_owner(self.target, handle)

    def put(self) -> None:
        """Give the file the target's place."""
        with unwritable(self.target):
            _synchronise(self.path)
            self.path.chmod(self._mode)
            if self._force:
                self._set_old_aside()
                self.path.replace(self.target)
            else:
                _move_to_free_path(self.path, self.target)
            self._placed = True
            _synchronise(self.target.parent)

    def undo(self) -> None:
        """Bring back what was there before ``put``."""
        if self._old is not None:
            self._old.replace(self.target)
            # Two names of one file are left alone by the replacement.
            self._old.unlink(missing_ok=True)
        elif self._placed:
            self.target.unlink(missing_ok=True)
        self._old, self._placed = None, False

    def close(self) -> None:
        """Remove what is left beside the target."""
        for leftover in (self.path, self._old):
            with suppress(OSError):
                if leftover is not None:
                    leftover.unlink()
        while self._handles:
            os.close(self._handles.pop())

    def _set_old_aside(self) -> None:
        if not self.target.exists():
            return
        aside = _sibling(self.target)
        try:
            aside.hardlink_to(self.target)
        except OSError:
            # Some file systems have no hard links; there the name is free for a moment.
            self.target.replace(aside)
        self._old = aside
        with suppress(OSError):
            self._handles.append(os.open(aside, os.O_RDONLY))
            _lock(self._handles[-1])


@contextmanager
def atomically(
    path: str | os.PathLike[str], force: bool = False, *, internal: bool = False
) -> Iterator[Path]:
    """A temporary file in the same folder that takes the place of ``path`` when the block ends well.

    An existing file is replaced only with ``force``, and keeps its permissions; if anything fails, even the power,
    the old file is whole. A command with several results writes them together, with ``shoal.sources.outputs``.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "labels.txt"
    >>> with atomically(target) as unfinished:
    ...     _ = unfinished.write_text("1 1 2 2")
    >>> target.read_text()
    '1 1 2 2'
    """
    beside = Beside(path, force=force, internal=internal)
    try:
        with unwritable(beside.target):
            yield beside.path
        try:
            beside.put()
        except BaseException:
            beside.undo()
            raise
    finally:
        beside.close()


@contextmanager
def workshop(path: Path) -> Iterator[Path]:
    """A folder beside an unfinished file for what its writer needs for a moment; nobody else can look into it."""
    with unwritable(path):
        folder = path.with_name(path.name + ".parts")
        folder.mkdir(mode=0o700)
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle)
        yield folder
    finally:
        os.close(handle)
        shutil.rmtree(folder, ignore_errors=True)


def check_target(path: str | os.PathLike[str], force: bool) -> None:
    """Refuse a file that cannot or must not be written, before any work is done."""
    path = Path(path)
    target = path.resolve()
    if target.is_dir():
        raise InputError(f"'{path}' is a folder, not a file")
    if target.exists() and not target.is_file():
        raise InputError(f"'{path}' is not an ordinary file")
    if target.exists() and not force:
        raise InputError(f"'{path}' exists already; {parameter('force')} replaces it")
    if not target.parent.is_dir():
        raise InputError(f"folder '{path.parent}' does not exist")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"folder '{path.parent}' cannot be written to")


@contextmanager
def unwritable(target: Path) -> Iterator[None]:
    """Turn a failure of the system while ``target`` is written into one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise InputError(f"'{target.name}' cannot be written: {reason}") from None


def _reason(error: Exception) -> str | None:
    """What the system complained about; writers wrap it in errors of their own, some in their text alone."""
    number = getattr(error, "errno", None)
    cause = error.__cause__ or error.__context__
    words = str(error)
    if number in (errno.ENOSPC, errno.EDQUOT) or "os error 28" in words or "No space left" in words:
        return "the disk is full"
    if number == errno.EFBIG or "os error 27" in words or "File too large" in words:
        return "it would be larger than a file may be here"
    if isinstance(cause, OSError):
        return _reason(cause)
    if isinstance(error, OSError):
        return (error.strerror or "input/output error").lower()
    return None


def _sibling(target: Path) -> Path:
    return target.with_name(f".{target.stem[:100]}.{secrets.token_hex(6)}{UNFINISHED}{target.suffix}")


def _mode_for(target: Path) -> int:
    """The permissions of the file to be replaced, else what the user's mask leaves of the usual."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    # It can only be asked for by setting it, for a moment to the strictest.
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def _move_to_free_path(unfinished: Path, target: Path) -> None:
    """Rename without ever replacing a file that turned up in the meantime."""
    try:
        target.hardlink_to(unfinished)
    except FileExistsError:
        raise InputError(f"'{target.name}' exists already; {parameter('force')} replaces it") from None
    except OSError:
        # Some file systems have no hard links; there the check and the rename are two steps.
        if target.exists():
            raise InputError(f"'{target.name}' exists already; {parameter('force')} replaces it") from None
        unfinished.replace(target)


def _copy_owner(target: Path, handle: int) -> None:
    # Changing the owner is for root only.
    with suppress(OSError, AttributeError):
        old = target.stat()
        os.fchown(handle, old.st_uid, old.st_gid)


def _lock(handle: int) -> None:
    """Hold a lock for as long as this process lives, so that a leftover can be told from work in progress."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_leftovers(target: Path) -> None:
    """Remove what a killed process left: it may hold confidential records."""
    try:
        import fcntl
    except ImportError:
        return
    prefix = f".{target.stem[:100]}."
    for path in target.parent.iterdir():
        token, mark, rest = path.name.removeprefix(prefix).partition(UNFINISHED)
        known = (target.suffix, f"{target.suffix}.parts")
        if not (path.name.startswith(prefix) and mark and len(token) == 12 and rest in known):
            continue
        with suppress(OSError):
            leftover = os.open(path, os.O_RDONLY)
            try:
                # A file this young may belong to a process that has not locked it yet.
                if time.time() - path.stat().st_mtime > 2:
                    fcntl.flock(leftover, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            finally:
                os.close(leftover)


def _synchronise(path: Path) -> None:
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR
    with suppress(PermissionError):  # a folder cannot be opened on every system
        handle = os.open(path, flags)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
