"""A plan: what is released from what, by which steps, behind which gates. It is checked before anything runs."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from shoal.errors import InputError
from shoal.operation import Operation
from shoal.operation_release import ChangedTableRelease, OperationRelease, RecordsRelease
from shoal.operations import OPERATIONS
from shoal.release.plan.own_steps import OWN_STEPS
from shoal.settings import SettingField, Settings, fields

ReleaseType = Literal["public", "scientific", "secure"]
Intruder = Literal["respondents", "register", "neighbour"]
#: A column that says whose records these are; the other roles are those that are guessed.
UNIT = "unit"

#: Roles of columns that say no more who somebody is once there are pseudonyms in their place; nobody may have said one.
_NAMING = ("identifier", UNIT, None)
_VARIABLE = re.compile(r"\$\{(\w+)\}")

_TABLE = re.compile(r"\s*\[(\[)?\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+(?:\s*\.\s*[\w-]+)*)\s*=""")
_PART = re.compile(r""""((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+)""")

#: Names of tables and keys, and numbers of those that come several times.
Where = tuple[str | int, ...]


class About(Settings):
    """What the release is for, and against whom."""

    name: str = Field(min_length=1, max_length=100, pattern=r"^[\w .-]+$")
    type: ReleaseType = "scientific"
    intruders: list[Intruder] = Field(["register"], min_length=1)
    seed: int = Field(0, ge=0)


class Source(Settings):
    """Where data comes from, and what its columns are."""

    data: str = Field(min_length=1)
    roles: dict[str, str] = Field(default_factory=dict)


class Gates(Settings):
    """What must hold of what a step released."""

    k: int | None = Field(default=None, ge=1)
    reidentifications: float | None = Field(default=None, ge=0)
    risk: float | None = Field(default=None, ge=0, le=1)
    linkage: float | None = Field(default=None, ge=0, le=100)
    attacks: float | None = Field(default=None, ge=0, le=100)
    loss: float | None = Field(default=None, ge=0)
    safe: bool | None = None


@dataclass(frozen=True)
class Step:
    """One operation with its settings; ``inputs`` are the names of sources and steps it reads."""

    name: str
    do: str
    values: Mapping[str, Any] = field(repr=False)
    inputs: tuple[str, ...]
    #: The settings of its operation, by these values.
    settings: Any = field(repr=False)

    @property
    def operation(self) -> Operation:
        """What it does."""
        return operation_of(self.do)

    @property
    def release(self) -> OperationRelease:
        """What its operation releases."""
        release = self.operation.release
        assert release is not None
        return release

    @property
    def as_records(self) -> RecordsRelease | None:
        """The same, if these are records, linked one by one to those before."""
        return self.release if isinstance(self.release, RecordsRelease) else None

    @property
    def as_changed_table(self) -> ChangedTableRelease | None:
        """The same, if that is a table with changed figures."""
        return self.release if isinstance(self.release, ChangedTableRelease) else None

    @property
    def outer_key(self) -> str | None:
        """Where a key lies that no plan holds, if it takes one."""
        release = self.as_records
        return getattr(self.settings, release.outer_key) if release and release.outer_key else None

    def located(self, locate: Callable[[str], str | None], **further: Any) -> Any:
        """The settings with addresses in the stead of the names of data; nothing if one of these is nowhere."""
        addresses: dict[str, Any] = {}
        for item in data_fields(self.operation):
            names = getattr(self.settings, item.name)
            if names is None:
                continue
            every = [locate(name) for name in ([names] if isinstance(names, str) else names)]
            if None in every:
                return None
            addresses[item.name] = every[0] if isinstance(names, str) else every
        return self.settings.model_copy(update=addresses | further)


@dataclass(frozen=True)
class Output:
    """A file of the release, and the product of a step that is written to it; ``public``, or kept inside."""

    file: str
    step: str
    product: str
    public: bool = True


@dataclass(frozen=True)
class Plan:
    """All of it, checked. ``text`` is as it was written, ``folder`` where relative paths begin."""

    about: About
    sources: Mapping[str, Source]
    steps: tuple[Step, ...]
    gates: Mapping[str, Gates]
    outputs: tuple[Output, ...]
    text: str = field(repr=False)
    folder: Path = field(repr=False)
    file: str = field(default="plan.toml", repr=False)

    def wrong(self, path: Sequence[str | int], why: str) -> InputError:
        """What is wrong with a part of the plan, with its line."""
        return wrong_at(self.text, self.file, path, why)

    def source_of(self, name: str) -> str:
        """The source whose records a step releases, through all steps between."""
        while name not in self.sources:
            name = self.step(name).inputs[0]
        return name

    def path(self, name: str) -> "tuple[Step, ...]":
        """The steps from the source on to one."""
        path: list[Step] = []
        while name not in self.sources:
            path.insert(0, self.step(name))
            name = path[0].inputs[0]
        return tuple(path)

    def roles(self, name: str) -> dict[str, str]:
        """The roles of the columns of what a step released, or of a source: those of its source, and no name is one any more
        once there are pseudonyms in its place; what a step takes for a quasi-identifier is one, whatever else is said.
        """
        path = () if name in self.sources else self.path(name)
        roles = dict(self.sources[self.source_of(name)].roles)
        for step in path:
            release = step.as_records
            if release is None:
                continue
            if release.renames:
                # What tells groups of people apart does so under other names as well.
                replaced = [name for name in release.touched(step.settings) if roles.get(name) in _NAMING]
                roles |= dict.fromkeys(replaced, "other")
            keys = [name for part in release.keys for name in getattr(step.settings, part)]
            roles |= dict.fromkeys(keys, "quasi-identifier")
        return roles

    def unit(self, name: str) -> str | None:
        """The column of the source that says whose records these are."""
        roles = self.sources[self.source_of(name)].roles
        return next((column for column, role in roles.items() if role == UNIT), None)

    def step(self, name: str) -> Step:
        """A step by its name."""
        return next(step for step in self.steps if step.name == name)

    def target(self, output: "str | os.PathLike[str] | None" = None) -> Path:
        """The folder of the release: as somebody says, or one named like it, beside the plan."""
        place = Path(output) if output is not None else self.folder / self.about.name.replace(" ", "-")
        return place.resolve()

    def location(self, name: str) -> str:
        """Where the data of a source is, with variables of the environment filled in."""
        given = self.sources[name].data
        return located(given, self.folder)


def operation_of(do: str) -> Operation:
    """An operation, or a step that only plans have."""
    return OWN_STEPS[do] if do in OWN_STEPS else OPERATIONS[do]


def is_step(do: str) -> bool:
    """Whether plans may do something: operations that release, and what prepares records for them."""
    return do in OWN_STEPS or (do in OPERATIONS and OPERATIONS[do].release is not None)


def possible_steps() -> list[str]:
    """All that plans may do."""
    return [do for do in (*OPERATIONS, *OWN_STEPS) if is_step(do)]


def data_fields(operation: Operation) -> list[SettingField]:
    """The settings that name data."""
    return [item for item in fields(operation.settings) if item.kind in ("data", "several-data")]


def located(text: str, folder: Path) -> str:
    """A place with its variables filled in; a relative path begins in the plan's folder."""

    def value(match: "re.Match[str]") -> str:
        if match.group(1) not in os.environ:
            raise InputError(
                f"the environment has no variable {match.group(1)}: set it to the address of the data"
            )
        return os.environ[match.group(1)]

    filled = _VARIABLE.sub(value, text)
    if filled.startswith("sqlite:///") and not filled.startswith("sqlite:////"):
        return f"sqlite:///{folder.resolve() / filled.removeprefix('sqlite:///')}"
    if "://" in filled:
        return filled
    path, *sheet = filled.split("::")
    return "::".join([str(folder / path), *sheet])


def wrong_at(text: str, file: str, path: Sequence[str | int], why: str) -> InputError:
    """What is wrong with a part of a plan, with its line."""
    line = line_of(lines_of(text), path)
    return InputError(f"{file}: {why}" if line is None else f"{file}, line {line}: {why}")


def products(do: str, *, public: bool) -> list[str]:
    """What a step can write into one file; only what may be published, if that is asked for."""
    every = [item for item in operation_of(do).products if item.form in ("data", "text")]
    return [item.name for item in every if not (public and item.internal)]


def named_files(step: Step, folder: Path) -> dict[str, Path]:
    """The files that the settings of a step name, which are neither sources nor steps."""
    known = {str(name).partition(".")[0] for name in step.inputs}
    names = [str(name) for name in step.operation.reads(step.settings)]
    paths = {
        name: Path(located(name, folder).split("::")[0])
        for name in dict.fromkeys(names)
        if name.partition(".")[0] not in known and "://" not in name
    }
    return {name: path for name, path in paths.items() if path.is_file()}


def _parts(name: str) -> tuple[str, ...]:
    return tuple(next(filter(None, match.groups()), "") for match in _PART.finditer(name))


def lines_of(text: str) -> dict[Where, int]:
    r"""The line of every table and key of a TOML text, counted from 1.

    >>> lines_of("[[steps]]\ndo = 'drop'\n[[steps]]\ndo = 'recode'\nk = 5")[("steps", 1, "k")]
    5
    """
    found: dict[Where, int] = {}
    here: Where = ()
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        table = _TABLE.match(line)
        if table:
            names = _parts(table.group(2))
            if table.group(1):
                seen[names] = seen.get(names, -1) + 1
            here = _numbered(names, seen)
            found[here] = number
            continue
        key = _KEY.match(line)
        if key:
            quoted = key.group(1)[:1] in "\"'"
            names = _parts(key.group(1)) if quoted else tuple(re.split(r"\s*\.\s*", key.group(1)))
            found.setdefault((*here, *names), number)
    return found


def _numbered(names: tuple[str, ...], seen: dict[tuple[str, ...], int]) -> Where:
    found: list[str | int] = []
    for end, name in enumerate(names, start=1):
        found.append(name)
        if names[:end] in seen:
            found.append(seen[names[:end]])
    return tuple(found)


def line_of(lines: dict[Where, int], path: Sequence[str | int]) -> int | None:
    """The line of a key, or else of the nearest table around it."""
    for end in range(len(path), 0, -1):
        if tuple(path[:end]) in lines:
            return lines[tuple(path[:end])]
    return None
