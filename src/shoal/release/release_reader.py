"""A release as it lies in its folder: what it says of itself, its files, and which record became which."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.release.folder import DONE, INTERNAL, LINKS, MANIFEST, PLAN, PUBLIC, SECRET, SIGNS, STEPS
from shoal.release.gates.judge import GateOutcome, Released
from shoal.release.plan.plan import Output, Plan, Step
from shoal.release.plan.reader import parse_plan, read_plan
from shoal.release.plan.workplace import PlanWorkplace
from shoal.release.readings import Readings
from shoal.release.register.record_keys import RecordKeys, keys_path

if TYPE_CHECKING:
    import polars as pl

    from shoal import sources
    from shoal.tables.table_to_protect import TableToProtect


@dataclass(frozen=True, eq=False)
class OpenedRelease:
    """A release that was made: ``inside`` and ``plan`` are there if its internal part is.

    ``originals`` says where the data of its sources is, if somebody gave that.
    """

    name: str
    public: Path
    manifest: Mapping[str, Any] = field(repr=False)
    internal: Path | None = None
    inside: Mapping[str, Any] | None = field(default=None, repr=False)
    plan: Plan | None = field(default=None, repr=False)
    originals: Plan | None = field(default=None, repr=False)
    readings: Readings = field(default_factory=Readings, repr=False)
    _tables: "dict[str, TableToProtect | None]" = field(default_factory=dict, repr=False)

    @property
    def outputs(self) -> list[Mapping[str, Any]]:
        """The files that were released, as the public manifest lists them."""
        return list(self.manifest["outputs"])

    @property
    def files(self) -> Path:
        """Where the files are that settings name beside the data: in the folder of the originals, if that is known."""
        assert self.plan is not None
        return (self.originals or self.plan).folder

    def frame(self, file: str) -> "pl.DataFrame":
        """A released file, read."""
        return self._released(file).frame

    def _released(self, file: str) -> "sources.Data":
        """A released file, read by the signs that the manifest says it is written with."""
        item = next((item for item in self.outputs if item["file"] == file), {})
        signs = {name: str(item[name]) for name in SIGNS if name in item}
        return self.readings.read(str(self.public / file), **signs)

    def written(self, file: str) -> "pl.DataFrame":
        """A released file, with its texts as they are written."""
        return self._released(file).as_written

    def step_folder(self, name: str) -> Path:
        """The private folder of a step."""
        assert self.internal is not None and self.plan is not None
        number = next(n for n, item in enumerate(self.plan.steps, start=1) if item.name == name)
        return self.internal / STEPS / f"{number:02d}-{name}"

    def passed_on(self, step: Step) -> "pl.DataFrame":
        """What a step left for the next one."""
        return self.readings.read(str(self.step_folder(step.name) / step.release.passes_on)).frame

    def figures(self, name: str) -> Mapping[str, Any]:
        """What a step told of itself when it was made."""
        assert self.inside is not None
        found: Mapping[str, Any] = next(
            item["figures"] for item in self.inside["steps"] if item["name"] == name
        )
        return found

    def step_key(self, step: Step) -> str | None:
        """The keyed hash of all that a step depended on; nothing if it cannot be read."""
        try:
            told = json.loads((self.step_folder(step.name) / DONE).read_text(encoding="utf-8"))
            return str(told["key"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def path(self, step: Step) -> list[Step]:
        """The steps from the source on to one."""
        assert self.plan is not None
        return list(self.plan.path(step.name))

    def record_outputs(self) -> list[tuple[Output, Step]]:
        """Outputs that are records, linked one by one to those of the source."""
        assert self.plan is not None
        pairs = [
            (item, self.plan.step(item.step))
            for item in self.plan.outputs
            if item.public and item.product == "output"
        ]
        return [(item, step) for item, step in pairs if all(own.as_records for own in self.path(step))]

    def links(self, step: Step) -> np.ndarray:
        """For each record of the source the released one, −1 where there is none."""
        found: np.ndarray | None = None
        for item in self.path(step):
            own = self.own_links(item)
            if found is not None and found.size and found.max() >= own.size:
                raise InputError(f"the record links of step '{item.name}' are not those of its records")
            found = own if found is None else np.where(found >= 0, own[np.maximum(found, 0)], -1)
        assert found is not None
        return found

    def own_links(self, step: Step) -> np.ndarray:
        """For each record that a step read the one it released."""
        try:
            found: np.ndarray = np.load(self.step_folder(step.name) / LINKS)
            whole = found.ndim == 1 and np.issubdtype(found.dtype, np.integer)
        except (OSError, ValueError, EOFError, AttributeError):
            whole = False
        if not whole:
            raise InputError(f"the record links of step '{step.name}' cannot be read")
        return found

    def roles(self, step: Step) -> dict[str, str]:
        """The roles of the columns of what a step released."""
        assert self.plan is not None
        return self.plan.roles(step.name)

    def record_keys(self, step: Step) -> RecordKeys:
        """By what the records of a step's source are known again in other releases."""
        assert self.plan is not None and self.internal is not None
        return RecordKeys.read(keys_path(self.internal, self.plan.source_of(step.name)))

    def original(self, step: Step, *, written: bool = False) -> "pl.DataFrame | None":
        """The records of a step's source, if it is known where they are; with their dates as they are ``written``, if so."""
        if self.originals is None or self.plan is None:
            return None
        found = self.readings.read(self.originals.location(self.plan.source_of(step.name)))
        return found.as_written if written else found.frame

    def released(self, output: Output, step: Step) -> Released:
        """What a step released, beside its source; the source itself only where it is known."""
        assert self.plan is not None
        frame = self.frame(output.file)
        original = self.original(step)
        unit = self.plan.unit(step.name)
        units = None if unit is None else self.record_keys(step).units
        links, roles = self.links(step), self.roles(step)
        return Released(frame if original is None else original, frame, links, roles, units, unit)

    def located(self, name: str) -> str | None:
        """The file or table of a source, or of a step; nothing if it is not there."""
        assert self.plan is not None
        if name in self.plan.sources:
            return None if self.originals is None else self.originals.location(name)
        step, _, file = name.partition(".")
        place = self.step_folder(step) / (file or self.plan.step(step).release.passes_on)
        return str(place) if place.exists() else None

    def settings(self, step: Step) -> Any:
        """The settings of a step that say where its data and its secret are; nothing if some data is not there."""
        secret = self.step_folder(step.name) / SECRET
        own = {"secret": str(secret)} if step.release.needs_secret(step.values) else {}
        return step.located(self.located, **own)

    def workplace(self, *inputs: str) -> PlanWorkplace:
        """Where a step can be run again; ``inputs`` are the data whose columns have roles."""
        assert self.plan is not None
        named = {name: self.located(name) for name in inputs}
        roles = {place: self.plan.roles(name) for name, place in named.items() if place is not None}
        return PlanWorkplace(self.files, roles, readings=self.readings)

    def table(self, step: Step) -> "TableToProtect | None":
        """The table that a step protects, built again; nothing if what it was made of is not there."""
        from shoal.tables.table_to_protect import table_to_protect

        if step.name not in self._tables:
            settings = self.settings(step)
            self._tables[step.name] = (
                None if settings is None else table_to_protect(settings, self.workplace())
            )
        return self._tables[step.name]

    def step_of(self, file: str) -> Step:
        """The step that a published file comes from."""
        assert self.plan is not None
        return self.plan.step(
            next(item.step for item in self.plan.outputs if item.public and item.file == file)
        )


def open_release(
    folder: "str | os.PathLike[str]", originals: "str | os.PathLike[str] | None" = None
) -> OpenedRelease:
    """Open a release, or its public part alone; ``originals`` is a plan whose sources are read, or the folder they are in."""
    # Steps read files by their place, and a relative one begins elsewhere for each of them.
    place = Path(folder).resolve()
    if not place.is_dir():
        raise InputError(f"there is no folder '{folder}'")
    public = place / PUBLIC if (place / PUBLIC).is_dir() else place
    manifest = _json(public / MANIFEST, place.name)
    internal = place / INTERNAL
    if not internal.is_dir():
        if originals is not None:
            raise InputError(
                f"'{place.name}' has no internal part, and only that says how its records came from the originals"
            )
        return OpenedRelease(place.name, public, manifest)
    inside = _inside(internal / MANIFEST, place.name)
    plan = parse_plan(_text(internal / PLAN, place.name), internal)
    return OpenedRelease(place.name, public, manifest, internal, inside, plan, _originals(plan, originals))


def _originals(plan: Plan, originals: "str | os.PathLike[str] | None") -> Plan | None:
    if originals is None:
        return None
    place = Path(originals).resolve()
    if place.is_dir():
        return parse_plan(plan.text, place)
    found = read_plan(place)
    for name in plan.sources:
        if name not in found.sources:
            raise InputError(f"the plan '{place.name}' has no source '{name}', which the release is made of")
    return found


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"'{name}' is no release: it has no {path.parent.name}/{path.name}") from None


def _json(path: Path, name: str) -> dict[str, Any]:
    wrong = InputError(f"the file {path.name} of '{name}' is damaged: it is no manifest of a release")
    text = _text(path, name)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(content, dict):
        raise wrong
    outputs = content.get("outputs")
    if not isinstance(outputs, list) or not all(
        isinstance(item, dict) and _is_file(item.get("file")) and isinstance(item.get("sha256"), str)
        for item in outputs
    ):
        raise wrong
    return content


def _is_file(name: Any) -> bool:
    """Whether this names a file of the folder, and nothing outside."""
    return isinstance(name, str) and name not in ("", "..") and Path(name).name == name


def _inside(path: Path, name: str) -> dict[str, Any]:
    content = _json(path, name)
    kinds = {"inputs": dict, "steps": list, "gates": list}
    damaged = InputError(f"the internal manifest of '{name}' is damaged")
    if any(not isinstance(content.get(key), kind) for key, kind in kinds.items()):
        raise damaged
    try:
        _ = [GateOutcome(**item) for item in content["gates"]]
        whole = all({"name", "settings", "figures"} <= set(item) for item in content["steps"])
        whole = whole and all("fingerprint" in item for item in content["inputs"].values())
    except TypeError:
        raise damaged from None
    if not whole:
        raise damaged
    return content
