"""Folders that something else writes: under another name first, then renamed, whole or not at all."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from shoal.errors import InputError, parameter
from shoal.sources.address import FORMATS

# What renames a folder in one step. Object stores copy and delete file by file: who looks meanwhile sees a half.
# What stands in a folder that was written as a whole: parts, and what the writer leaves to say that it ended well.
_PARTS = re.compile(r"part-.*\.parquet|_SUCCESS|\..*\.crc")
_RENAMES = frozenset({"file", "hdfs", "viewfs", "webhdfs", "abfs", "abfss", "ofs", "o3fs", "maprfs"})


class Staged(Protocol):
    """A folder on its way."""

    def put(self) -> None:
        """Give it its place."""

    def undo(self) -> None:
        """Take it out again, and bring back what was there."""

    def close(self) -> None:
        """Remove what did not get its place."""


@dataclass(frozen=True)
class RemoteFolder:
    """A folder of a file system that is not this machine's."""

    url: str

    def __str__(self) -> str:
        return self.url


def parse_folder(folder: str) -> Path | RemoteFolder:
    """What a place for parts names; an ``InputError`` for file systems on which nothing can appear at once.

    >>> str(parse_folder("hdfs://cluster/safe"))
    'hdfs://cluster/safe'
    >>> parse_folder("s3a://bucket/safe")
    Traceback (most recent call last):
    shoal.errors.InputError: a folder of s3a cannot be renamed in one step; write to hdfs or a local folder and copy it from there
    """
    ending = PurePosixPath(folder).suffix.lower()
    if ending in set(FORMATS) - {".parquet"}:
        raise InputError(
            f"'{folder}': parts of Parquet are written into a folder; give it a name without '{ending}'"
        )
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):/", folder)
    if found is None:
        return Path(folder)
    scheme = found[1].lower()
    if scheme not in _RENAMES:
        raise InputError(
            f"a folder of {scheme} cannot be renamed in one step; write to hdfs or a local folder and copy it from there"
        )
    if scheme == "file":
        return Path("/" + folder[len(found[0]) :].lstrip("/"))
    return RemoteFolder(folder)


def check_folder(folder: Path | RemoteFolder, force: bool) -> None:
    """Refuse a place for parts that exists already or cannot be written to, as far as this machine can tell."""
    if isinstance(folder, RemoteFolder):
        return
    if folder.exists() or folder.is_symlink():
        if not folder.is_dir():
            raise InputError(f"'{folder}' is a file, but parts are written into a folder")
        if not force:
            raise InputError(f"'{folder}' exists already; {parameter('force')} replaces it")
        check_replaceable(str(folder), (entry.name for entry in folder.iterdir()))
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise InputError(f"there is no folder '{parent}'")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"folder '{parent}' cannot be written to")


def check_replaceable(folder: str, names: Iterable[str]) -> None:
    """Refuse to replace a folder with anything in it that is no part of an earlier release.

    >>> check_replaceable("safe", ["part-00000.parquet", "_SUCCESS"])
    >>> check_replaceable("home", ["part-00000.parquet", "thesis"])
    Traceback (most recent call last):
    shoal.errors.InputError: 'home' holds other things than the parts of a release, which would be lost; give another folder
    """
    if not all(_PARTS.fullmatch(name) for name in names):
        raise InputError(
            f"'{folder}' holds other things than the parts of a release, which would be lost; give another folder"
        )


def written_whole(staged: Staged) -> None:
    """Give one folder its place, or leave nothing of it."""
    try:
        staged.put()
    except BaseException:
        staged.undo()
        raise
    finally:
        staged.close()
