"""The folder of a release: made aside, under a name of its own, and put in its place in one move when all of it is there."""

import json
import os
import shutil
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, parameter
from shoal.release.lock import alone
from shoal.release.register.record_keys import RECORD_KEYS
from shoal.runtime.secrets import Secret
from shoal.sources.atomic import UNFINISHED, atomically

PUBLIC, INTERNAL, STEPS = "public", "internal", "steps"
SECRET = "secret.txt"
MANIFEST = "manifest.json"
PLAN = "plan.toml"
#: Which record of a step's input became which of its release.
LINKS = "links.npy"
DONE = "done.json"
#: What the manifest says of a CSV file that is not written with commas and points.
SIGNS = ("separator", "decimal")
_INPUTS = "inputs.json"
#: What another run of the same plan with the same secret writes otherwise: times, and the keys of the folder of releases.
PASSING = (MANIFEST, "report.html", _INPUTS, DONE, RECORD_KEYS)
#: What every internal part has.
OF_THE_HOUSE = (MANIFEST, PLAN, "report.html", SECRET, _INPUTS, RECORD_KEYS, STEPS)


@dataclass(frozen=True)
class ReleaseFolder:
    """Where a release goes (``target``), and where it is made (``path``) until it is finished."""

    target: Path

    @property
    def path(self) -> Path:
        """The folder while it is unfinished; only its owner can look into it."""
        return self.target.with_name(f".{self.target.name}.unfinished")

    @property
    def public(self) -> Path:
        """What may be published."""
        return self.path / PUBLIC

    @property
    def internal(self) -> Path:
        """What must stay."""
        return self.path / INTERNAL

    def step(self, number: int, name: str) -> Path:
        """The private folder of one step."""
        return self.internal / STEPS / f"{number + 1:02d}-{name}"

    def open(self, *, resume: bool, force: bool) -> None:
        """Make the unfinished folder, or find it again; refuse to overwrite anything unasked."""
        if self.target.exists() and not force:
            raise InputError(
                f"'{self.target.name}' exists already; choose another folder, or {parameter('force')}"
            )
        if self.target.exists() and not is_release(self.target):
            raise InputError(
                f"'{self.target.name}' is no release, and is not replaced by one; choose another folder"
            )
        if self.path.exists():
            if not resume and not force:
                raise InputError(
                    f"an earlier run for '{self.target.name}' is not finished: {parameter('resume')} goes on with it, "
                    f"{parameter('force')} begins again"
                )
            if not resume:
                with self.held():
                    shutil.rmtree(self.path)
        elif resume:
            raise InputError(f"there is no unfinished run for '{self.target.name}' to go on with")
        for folder in (self.path, self.internal, self.internal / STEPS):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.public.mkdir(exist_ok=True)

    def held(self) -> AbstractContextManager[None]:
        """Have the unfinished folder for this run alone: two in one folder would mix what they write."""
        return alone(
            self.path,
            f"another run for '{self.target.name}' is going on; wait until it has ended, or end it",
        )

    def secret(self, own: Secret | None) -> Secret:
        """The secret of this release: the one it has, one that is given, or a new one, kept at once."""
        place = self.internal / SECRET
        if place.exists():
            return Secret.read(place)
        secret = own or Secret.new()
        write_private(place, secret.text())
        return secret

    def remembered(self) -> dict[str, str] | None:
        """The fingerprints of what this run read when it began."""
        place = self.internal / _INPUTS
        if not place.exists():
            return None
        found: dict[str, str] = json.loads(place.read_text(encoding="utf-8"))
        return found

    def remember(self, fingerprints: Mapping[str, str]) -> None:
        """Keep the fingerprints of what is read."""
        write_private(self.internal / _INPUTS, json.dumps(dict(fingerprints), indent=1))

    def keep_only(self, public: Collection[str], internal: Collection[str], steps: Collection[str]) -> None:
        """Remove what a run that was broken off left and the plan does not name: it would go out with the rest."""
        wanted = {
            self.public: {*public, MANIFEST},
            self.internal: {*internal, *OF_THE_HOUSE},
            self.internal / STEPS: set(steps),
        }
        left = [
            place for folder, names in wanted.items() for place in folder.iterdir() if place.name not in names
        ]
        for place in [*left, *self.path.rglob(f".*{UNFINISHED}*")]:
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)

    def finished_step(self, number: int, name: str, key: str) -> dict[str, Any] | None:
        """What a step told of itself, if it was finished with the same settings and inputs."""
        place = self.step(number, name) / DONE
        if not place.exists():
            return None
        found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        return found if found.get("key") == key else None

    def finished_names(self) -> set[str]:
        """The names of the steps that were finished, at whatever place and with whatever settings."""
        return {done.parent.name.partition("-")[2] for done in (self.internal / STEPS).glob(f"*/{DONE}")}

    def finish_step(self, number: int, name: str, outcome: dict[str, Any]) -> None:
        """Mark a step as finished; this is written last."""
        write_private(self.step(number, name) / DONE, json.dumps(outcome, indent=1, default=str))

    def protect(self) -> None:
        """Let nobody else look into what is internal."""
        for place in sorted(self.internal.rglob("*")):
            place.chmod(0o700 if place.is_dir() else 0o600)
        self.internal.chmod(0o700)

    def finish(self, *, force: bool) -> None:
        """Put the whole folder in its place, in one move."""
        self.protect()
        self.path.chmod(0o755)
        (self.internal / _INPUTS).unlink(missing_ok=True)
        _flush(self.path)
        old = self.target.with_name(f".{self.target.name}.replaced")
        if self.target.exists() and force:
            shutil.rmtree(old, ignore_errors=True)
            self.target.rename(old)
        self.path.rename(self.target)
        # Also what a run left that was killed between the two moves.
        shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        """Remove the unfinished folder."""
        shutil.rmtree(self.path, ignore_errors=True)


def is_release(folder: Path) -> bool:
    """Whether a folder is a release, or was one that lost a part."""
    return folder.is_dir() and (
        (folder / PUBLIC / MANIFEST).is_file() or (folder / INTERNAL / MANIFEST).is_file()
    )


def write_private(path: Path, text: str) -> None:
    """Write a text whole or not at all, for its owner alone."""
    with atomically(path, force=True, internal=True) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _flush(folder: Path) -> None:
    for place in folder.rglob("*"):
        if place.is_file():
            handle = os.open(place, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)
