"""The folder in which a workbench keeps what it was given and what it made; nothing outside is ever touched."""

import os
import re
import secrets
import shutil
from pathlib import Path

from shoal.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHELVES = ("data", "runs", "databases", "incoming", "removed", "studies")


class Workspace:
    """A folder with a shelf for each kind of thing; only plain names can be asked for.

    >>> import tempfile
    >>> workspace = Workspace(Path(tempfile.mkdtemp()) / "bench")
    >>> workspace.path("data", "people.parquet").name
    'people.parquet'
    >>> workspace.path("data", "../secret")
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: '../secret' cannot be a name here: use letters, digits, '.', '_' and '-'
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for shelf in _SHELVES:
            (self.folder / shelf).mkdir(mode=0o700, exist_ok=True)

    def shelf(self, shelf: str) -> Path:
        """The folder of one kind of thing."""
        if shelf not in _SHELVES:
            raise InputError(f"there is no shelf '{shelf}'")
        return self.folder / shelf

    def path(self, shelf: str, name: str, *inside: str) -> Path:
        """The path of a thing on a shelf; an error for anything that would lead elsewhere."""
        path = self.shelf(shelf)
        for part in (name, *inside):
            if not _NAME.fullmatch(part):
                raise InputError(f"'{part}' cannot be a name here: use letters, digits, '.', '_' and '-'")
            path = path / part
        if not path.resolve().is_relative_to(self.shelf(shelf).resolve()):
            raise InputError(f"'{name}' leads out of the workspace")
        return path

    def incoming(self, name: str) -> Path:
        """A fresh place for a file that is being received, with the ending of its name."""
        suffix = Path(name).suffix.lower()
        if not re.fullmatch(r"\.[a-z0-9]{1,12}", suffix):
            suffix = ""
        return self.shelf("incoming") / f"{secrets.token_hex(8)}{suffix}"

    def empty_removed(self) -> None:
        """Delete what was removed for good."""
        for path in self.shelf("removed").iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def size(self) -> int:
        """Bytes in use."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def remove(self) -> None:
        """Remove the folder with all it holds."""
        shutil.rmtree(self.folder, ignore_errors=True)


def plain_name(name: str, taken: "list[str] | tuple[str, ...]" = ()) -> str:
    """A name for the workspace made from any text, different from those taken.

    >>> plain_name("Häuser 2024 (final).csv"), plain_name("people.csv", ["people"])
    ('Hauser-2024-final', 'people-2')
    """
    import unicodedata

    stem = os.path.splitext(re.split(r"[/\\]", name)[-1])[0]  # noqa: PTH122 - a name from elsewhere, not a path
    text = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    text = re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-._")[:60].strip("-._") or "data"
    candidate, number = text, 2
    lowered = {other.lower() for other in taken}
    while candidate.lower() in lowered:
        candidate = f"{text}-{number}"
        number += 1
    return candidate
