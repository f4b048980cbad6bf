"""Files written whole or not at all."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import InputError

_MARK = ".shoal-unfinished"


@contextmanager
def atomically(path: str | os.PathLike[str], force: bool = False) -> Iterator[Path]:
    """A temporary file in the same folder that takes the place of ``path`` when the block ends well.

    An existing file is replaced only with ``force``, and keeps its permissions; if anything fails, even the power,
    the old file is whole.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "labels.txt"
    >>> with atomically(target) as unfinished:
    ...     _ = unfinished.write_text("1 1 2 2")
    >>> target.read_text()
    '1 1 2 2'
    """
    check_target(path, force)
    # A link stays a link: its target is what gets replaced.
    target = Path(path).resolve()
    _remove_leftovers(target)
    unfinished = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(6)}{_MARK}{target.suffix}")
    try:
        handle = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    except OSError as error:
        raise _unwritable(target, error) from None
    try:
        _lock(handle)
        if force:
            _copy_permissions(target, handle)
        yield unfinished
        _synchronise(unfinished)
        if force:
            unfinished.replace(target)
        else:
            _move_to_free_place(unfinished, target)
        _synchronise(target.parent)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        os.close(handle)
        with suppress(FileNotFoundError):
            unfinished.unlink()


def check_target(path: str | os.PathLike[str], force: bool) -> None:
    """Refuse a file that cannot or must not be written, before any work is done."""
    path = Path(path)
    target = path.resolve()
    if target.is_dir():
        raise InputError(f"'{path}' is a folder, not a file")
    if target.exists() and not target.is_file():
        raise InputError(f"'{path}' is not an ordinary file")
    if target.exists() and not force:
        raise InputError(f"'{path}' exists already; --force replaces it")
    if not target.parent.is_dir():
        raise InputError(f"folder '{path.parent}' does not exist")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"folder '{path.parent}' cannot be written to")


def _move_to_free_place(unfinished: Path, target: Path) -> None:
    """Rename without ever replacing a file that turned up in the meantime."""
    try:
        target.hardlink_to(unfinished)
    except FileExistsError:
        raise InputError(f"'{target.name}' exists already; --force replaces it") from None
    except OSError:
        # Some file systems have no hard links; there the check and the rename are two steps.
        if target.exists():
            raise InputError(f"'{target.name}' exists already; --force replaces it") from None
        unfinished.replace(target)


def _copy_permissions(target: Path, handle: int) -> None:
    with suppress(FileNotFoundError):
        old = target.stat()
        # Changing the owner is for root only; then the mode, since a change of owner may clear bits of it.
        with suppress(OSError, AttributeError):
            os.fchown(handle, old.st_uid, old.st_gid)
        with suppress(AttributeError):  # not every system has it
            os.fchmod(handle, old.st_mode & 0o7777)


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
        token, mark, rest = path.name.removeprefix(prefix).partition(_MARK)
        if not (path.name.startswith(prefix) and mark and len(token) == 12 and rest == target.suffix):
            continue
        with suppress(OSError), path.open("rb") as leftover:
            # A file this young may belong to a process that has not locked it yet.
            if time.time() - path.stat().st_mtime > 2:
                fcntl.flock(leftover, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def _synchronise(path: Path) -> None:
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR
    with suppress(PermissionError):  # a folder cannot be opened on every system
        handle = os.open(path, flags)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _unwritable(target: Path, error: OSError) -> InputError:
    return InputError(
        f"'{target.name}' cannot be written: {(error.strerror or 'input/output error').lower()}"
    )
