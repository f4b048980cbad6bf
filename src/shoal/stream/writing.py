"""A folder of parts on this machine: copied beside its place, checked there, then renamed."""

import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.errors import Infeasible, InputError
from shoal.sources.atomic import unwritable
from shoal.sources.staged import check_folder, parse_folder
from shoal.stream.records import scan_parts


class StagedFolder:
    """Parts beside their place."""

    def __init__(self, folder: str, force: bool) -> None:
        target = parse_folder(folder)
        if not isinstance(target, Path):
            raise InputError(f"'{folder}' is not on this machine; write to a folder of it")
        check_folder(target, force)
        self._target = target.absolute()
        name = f".{self._target.name}.{secrets.token_hex(6)}.shoal"
        self.path = self._target.with_name(name)
        self._old = self._target.with_name(f"{name}.old")
        self._placed = False
        with unwritable(self._target):
            self.path.mkdir()

    def put(self) -> None:
        """Rename."""
        with unwritable(self._target):
            if self._target.exists():
                self._target.rename(self._old)
            self.path.rename(self._target)
            self._placed = True

    def undo(self) -> None:
        """Take it out, and bring back what was there."""
        if self._placed:
            shutil.rmtree(self._target, ignore_errors=True)
        if self._old.exists():
            with suppress(OSError):
                self._old.rename(self._target)
        self._placed = False

    def close(self) -> None:
        """Remove what is left beside the place; what was there before stays if it could not be brought back."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._target.exists():
            shutil.rmtree(self._old, ignore_errors=True)


def stage_folder(parts: Path, folder: str, force: bool, verify: Callable[[Any], None]) -> StagedFolder:
    """Put parts beside their place, and check them there."""
    staged = StagedFolder(folder, force)
    try:
        with unwritable(Path(folder)):
            for part in sorted(parts.iterdir()):
                try:
                    os.link(part, staged.path / part.name)
                except OSError:
                    shutil.copyfile(part, staged.path / part.name)
        try:
            verify(scan_parts(staged.path))
        except AssertionError:
            raise Infeasible(
                f"'{folder}' does not hold this result: read back it is another one, so nothing was written"
            ) from None
    except BaseException:
        staged.close()
        raise
    return staged
