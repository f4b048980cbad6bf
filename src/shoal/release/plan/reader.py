"""Reading a plan: everything in it is checked before anything runs, and what is wrong is told with its line."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from shoal.errors import InputError, unknown, unreadable
from shoal.microdata.columns.roles import ROLES
from shoal.operation_release import OperationRelease, RecordsRelease
from shoal.release.folder import OF_THE_HOUSE
from shoal.release.plan.plan import (
    About,
    Gates,
    Output,
    Plan,
    Source,
    Step,
    data_fields,
    is_step,
    operation_of,
    possible_steps,
    products,
    wrong_at,
)
from shoal.settings import checked
from shoal.sources.outputs import folded

_NAME = re.compile(r"[A-Za-z][\w-]*")
_SEPARATOR = "."
#: Why a gate cannot judge a step.
_WITHOUT = {
    "safe": "'safe' is about tables; step '{}' protects none",
    "loss": "step '{}' has no loss",
}


def read_plan(path: "str | os.PathLike[str]") -> Plan:
    """A plan from its file, checked; an ``InputError`` names the line that is wrong."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable("plan", place, error) from None
    return parse_plan(text, place.parent, place.name)


def parse_plan(
    text: str, folder: Path, name: str = "plan.toml", *, content: Mapping[str, Any] | None = None
) -> Plan:
    """A plan from its text; ``content`` is what it says with some settings changed.

    >>> plan = parse_plan('''
    ... [release]
    ... name = "survey"
    ... [sources.people]
    ... data = "people.csv"
    ... [[steps]]
    ... do = "recode"
    ... quasi = ["age", "sex"]
    ... [outputs]
    ... "safe.csv" = "recode"
    ... ''', Path())
    >>> plan.steps[0].inputs, plan.outputs[0].product
    (('people',), 'output')
    """
    try:
        said = tomllib.loads(text) if content is None else content
        return _Reader(text, folder, name).plan(said)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{name} is no TOML: {problem}") from None
    except RecursionError:
        raise InputError(f"{name} is no plan: its values are nested too deeply") from None


class _Reader:
    """Reads a plan and says where something is wrong."""

    def __init__(self, text: str, folder: Path, name: str) -> None:
        # Operations look for what they are given in the plan's folder: a place that is relative would be looked for in it twice.
        self._text, self._folder, self._name = text, folder.absolute(), name

    def plan(self, content: Mapping[str, Any]) -> Plan:
        """The whole plan."""
        known = ("release", "sources", "steps", "gates", "outputs", "internal")
        for key in content:
            if key not in known:
                raise self._wrong((key,), str(unknown("part", key, known, where="a part of a plan")))
        about = self._model(About, content.get("release"), ("release",))
        sources = self._sources(content.get("sources"))
        steps = self._steps(content.get("steps"), sources, about)
        gates = self._gates(content.get("gates", {}), steps)
        outputs = self._outputs(content, steps)
        return Plan(about, sources, steps, gates, outputs, self._text, self._folder, self._name)

    def _wrong(self, path: Sequence[str | int], why: str) -> InputError:
        return wrong_at(self._text, self._name, path, why)

    def _model(self, model: type[Any], values: Any, path: tuple[str | int, ...]) -> Any:
        if not isinstance(values, Mapping):
            raise self._wrong(path, f"the part [{path[0]}] is missing")
        try:
            return checked(model, values)
        except InputError as problem:
            raise self._wrong((*path, *_first_key(model, values)), str(problem)) from None

    def _sources(self, value: Any) -> dict[str, Source]:
        if not isinstance(value, Mapping) or not value:
            raise self._wrong(("sources",), 'name at least one source: [sources.NAME] with data = "FILE"')
        for name in value:
            self._check_name(name, ("sources", name))
        found = {name: self._model(Source, values, ("sources", name)) for name, values in value.items()}
        for name, source in found.items():
            for column, role in source.roles.items():
                if role not in ROLES:
                    why = unknown("role", role, ROLES, where="a role of columns")
                    raise self._wrong(("sources", name, "roles", column), str(why))
        return found

    def _check_name(self, name: Any, path: Sequence[str | int]) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise self._wrong(path, f"'{name}' is no name: letters, digits, - and _, beginning with a letter")

    def _steps(self, value: Any, sources: Mapping[str, Source], about: About) -> tuple[Step, ...]:
        if not isinstance(value, list) or not value:
            raise self._wrong(
                ("steps",), 'there are no steps: [[steps]] with do = "recode" or another operation'
            )
        steps: list[Step] = []
        for number, values in enumerate(value):
            step = self._step(values, ("steps", number), sources, steps, about)
            if step.name in sources or step.name in {other.name for other in steps}:
                raise self._wrong(
                    ("steps", number), f"there are two things named '{step.name}'; say name = …"
                )
            steps.append(step)
        return tuple(steps)

    def _step(
        self,
        values: Any,
        path: tuple[str | int, ...],
        sources: Mapping[str, Source],
        before: Sequence[Step],
        about: About,
    ) -> Step:
        if not isinstance(values, Mapping):
            raise self._wrong(path, 'a step is a table: [[steps]] with do = "recode" or another operation')
        do = values.get("do")
        if not (isinstance(do, str) and is_step(do)):
            where = "something a plan can do"
            why = unknown("step", str(do), possible_steps(), where=where) if do else "say what to do"
            raise self._wrong((*path, "do"), str(why))
        operation = operation_of(do)
        release = operation.release
        assert release is not None
        name = values.get("name", do)
        self._check_name(name, (*path, "name"))
        own = {key: value for key, value in values.items() if key not in ("do", "name")}
        named = data_fields(operation)
        former = before[-1].name if before else next(iter(sources))
        if named and named[0].name not in own:
            several = named[0].kind == "several-data"
            own[named[0].name] = [former] if several else former
        if release.searches and "seed" not in own:
            own["seed"] = about.seed
        if isinstance(release, RecordsRelease) and "order" not in own:
            # Whoever sees the original order can link by it.
            own["order"] = "sorted"
        known = {*sources, *(step.name for step in before)}
        inputs = []
        for item in named:
            given = own.get(item.name)
            if given is not None and not isinstance(given, str | list):
                raise self._wrong((*path, item.name), f"{item.name} names a source or an earlier step")
            for data in _as_list(given):
                if data.split(_SEPARATOR)[0] not in known:
                    why = unknown("data", data, known, where="a source or an earlier step")
                    raise self._wrong((*path, item.name), str(why))
                inputs.append(data.split(_SEPARATOR)[0])
        self._check_step(release, own, path, about)
        try:
            settings = checked(operation.settings, own)
        except InputError as problem:
            raise self._wrong(
                (*path, *_first_key(operation.settings, own)), f"step '{name}': {problem}"
            ) from None
        return Step(name, do, own, tuple(inputs), settings)

    def _check_step(
        self, release: OperationRelease, own: Mapping[str, Any], path: tuple[str | int, ...], about: About
    ) -> None:
        if isinstance(release, RecordsRelease) and about.type in release.refused_for:
            raise self._wrong(path, release.refused_for[about.type])
        if release.repeated_by_secret and "seed" in own:
            raise self._wrong((*path, "seed"), "a release draws from its secret; leave the seed out")
        for key in ("secret", "time_limit"):
            if key in own:
                why = {
                    "secret": "the secret of a release is kept in its internal part, and not in a plan",
                    "time_limit": "a run that is cut by the clock cannot be repeated; give iterations instead",
                }[key]
                raise self._wrong((*path, key), why)

    def _gates(self, value: Any, steps: Sequence[Step]) -> dict[str, Gates]:
        names = [step.name for step in steps]
        found = {}
        for name, values in self._table(value, "gates").items():
            if name not in names:
                raise self._wrong(
                    ("gates", name), str(unknown("step", name, names, where="a step of this plan"))
                )
            gates = self._model(Gates, values, ("gates", name))
            for measure, limit in values.items():
                if isinstance(limit, bool) and measure != "safe":
                    raise self._wrong(("gates", name, measure), f"{measure} must be a number")
            if gates.safe is False:
                why = "'safe' is true or left out: nobody asks that a table can be computed back"
                raise self._wrong(("gates", name, "safe"), why)
            release = next(step.release for step in steps if step.name == name)
            for measure in gates.model_dump(exclude_none=True):
                if measure not in release.gates:
                    why = _WITHOUT.get(measure, f"'{measure}' is about records; step '{{}}' has none")
                    raise self._wrong(("gates", name, measure), why.format(name))
            found[name] = gates
        return found

    def _outputs(self, content: Mapping[str, Any], steps: Sequence[Step]) -> tuple[Output, ...]:
        public = [item for step in steps for item in products(step.do, public=True)]
        if public and not content.get("outputs"):
            raise self._wrong(("outputs",), 'name what is released: [outputs] with "FILE" = "STEP"')
        found = (
            *self._files(content.get("outputs", {}), steps, "outputs", public=True),
            *self._files(content.get("internal", {}), steps, "internal", public=False),
        )
        for part, public_part in (("outputs", True), ("internal", False)):
            # Of each folder: some file systems take two spellings for one name.
            known: dict[str, str] = {}
            for file in (item.file for item in found if item.public is public_part):
                other = known.setdefault(folded(file), file)
                if other != file:
                    raise self._wrong(
                        (part, file),
                        f"'{file}' and '{other}' are one file where names do not tell capitals apart",
                    )
        return found

    def _table(self, value: Any, part: str) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise self._wrong((part,), f"'{part}' is a part of its own: [{part}]")
        return value

    def _files(self, value: Any, steps: Sequence[Step], part: str, *, public: bool) -> list[Output]:
        names = [step.name for step in steps]
        found = []
        for file, what in self._table(value, part).items():
            path = (part, file)
            plain = Path(file).name == file and file.isprintable() and not file.startswith(".")
            if not plain or folded(file) in OF_THE_HOUSE:
                raise self._wrong(path, "an output is a file of the release folder: a name without folders")
            step, _, product = str(what).partition(_SEPARATOR)
            if step not in names:
                raise self._wrong(path, str(unknown("step", step, names, where="a step of this plan")))
            do, release = next((item.do, item.release) for item in steps if item.name == step)
            wanted = product or (release.product if public else "output")
            if wanted not in products(do, public=False):
                raise self._wrong(
                    path,
                    str(unknown("product", wanted, products(do, public=False), where=f"a product of '{do}'")),
                )
            if public and wanted not in products(do, public=True):
                raise self._wrong(
                    path, f"'{wanted}' of '{do}' is not for publication; [internal] keeps it inside"
                )
            found.append(Output(file, step, wanted, public))
        return found


def _as_list(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]


def _first_key(model: type[Any], values: Mapping[str, Any]) -> tuple[str, ...]:
    """The key that the settings refuse first."""
    try:
        model.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]["loc"]
        return (str(first[0]),) if first else ()
    return ()
