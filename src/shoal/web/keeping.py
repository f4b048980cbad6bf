"""What becomes of the workspace when the workbench ends: it stays where it is, it goes, or it is kept elsewhere."""

import shutil
import time
from pathlib import Path

from shoal.errors import InputError
from shoal.web.occupancy import Occupancy


class Keeping:
    """A workspace and its end; a temporary one goes unless somebody says where to keep it."""

    def __init__(self, held: Occupancy, *, temporary: bool) -> None:
        self._held = held
        self.temporary = temporary
        self.destination: Path | None = None

    @property
    def folder(self) -> Path:
        """Where everything is now."""
        return self._held.folder

    @property
    def removed_at_the_end(self) -> bool:
        """Whether everything goes when the workbench ends."""
        return self.temporary and self.destination is None

    def in_words(self) -> str:
        """Where data and results are, and what becomes of them."""
        if self.destination is not None:
            return f"kept in {self.destination} when the workbench ends; until then in {self.folder}"
        if self.temporary:
            return f"in a temporary folder, {self.folder}, which is removed when the workbench ends"
        return f"kept in {self.folder}"

    @staticmethod
    def suggestion() -> Path:
        """A folder that is not there yet, beside where the workbench was started."""
        wanted = Path.cwd() / time.strftime("shoal-workspace-%Y-%m-%d-%H%M")
        found, number = wanted, 2
        while found.exists():
            found, number = wanted.with_name(f"{wanted.name}-{number}"), number + 1
        return found

    def keep(self, destination: Path | None = None) -> Path:
        """Let a temporary workspace go to a folder at the end instead of being removed."""
        if not self.temporary:
            return self.folder
        wanted = (destination or self.suggestion()).expanduser().absolute()
        if wanted.exists() and (not wanted.is_dir() or any(wanted.iterdir())):
            raise InputError(f"'{wanted.name}' exists already; name a folder that does not")
        if not wanted.parent.is_dir():
            raise InputError(f"there is no folder '{wanted.parent}' to keep it in")
        self._held.no_longer_temporary()
        self.destination = wanted
        return wanted

    def leave(self) -> Path | None:
        """Give the workspace up; where it can be found afterwards, if it can."""
        if self.removed_at_the_end:
            self._held.leave(remove=True)
            return None
        if self.destination is None:
            self._held.leave()
            return self.folder
        aside = self.destination.with_name(f".{self.destination.name}.unfinished")
        try:
            # Nobody else may look into it, from the first file on, and a part of it is never taken for the whole.
            aside.mkdir(mode=0o700)
            shutil.copytree(self.folder, aside, dirs_exist_ok=True, ignore=_marks)
            aside.chmod(0o700)
            aside.rename(self.destination)
        except OSError:
            # Better where nobody looks for it than nowhere.
            shutil.rmtree(aside, ignore_errors=True)
            self._held.leave()
            return self.folder
        self._held.leave(remove=True)
        return self.destination


def _marks(folder: str, names: list[str]) -> list[str]:
    """What belongs to the server that ends."""
    return [name for name in names if name in ("lock", "temporary", "authorization")]
