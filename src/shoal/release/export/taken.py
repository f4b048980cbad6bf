"""A step that was taken, and where the data of steps lie."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.operation import Operation
from shoal.operation_release import Written
from shoal.operations import OPERATIONS
from shoal.release.plan.written import comment
from shoal.settings import SettingField, changed, fields

#: What a script and a command cannot say of a table.
_BY_HAND = ("sensitive", "hidden", "linked", "contributions")
_OUTSIDE = re.compile(r"\$\{[A-Za-z_]\w*\}::")


@dataclass(frozen=True)
class Source:
    """Where data lies, as whoever runs the steps will have it; ``note`` says how to come by it."""

    location: str
    note: str = ""

    @property
    def from_environment(self) -> bool:
        """Whether a variable of the environment stands for the address of a database: never what files are called."""
        return _OUTSIDE.match(self.location) is not None


@dataclass(frozen=True)
class Taken:
    """A step that was taken: an operation with its settings; data is named as in the others, or as a source.

    ``gates`` are what a plan is to require of it.
    """

    name: str
    do: str
    settings: Mapping[str, Any] = field(repr=False)
    gates: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def operation(self) -> Operation:
        """What was done."""
        return OPERATIONS[self.do]

    @property
    def written(self) -> Written:
        """How that is written down."""
        return self.operation.written

    @property
    def drawn(self) -> bool:
        """Whether it is repeated with its secret."""
        release = self.operation.release
        return release is not None and release.repeated_by_secret and release.needs_secret(self.settings)

    @property
    def chosen(self) -> dict[str, Any]:
        """The settings that differ from the usual ones, and those it cannot do without."""
        model = self.operation.settings
        every = {item.name: item for item in fields(model)}
        needed = {name for name, item in every.items() if item.required and name in self.settings}
        own = {**changed(model, self.settings), **{name: self.settings[name] for name in needed}}
        return {
            name: value
            for name, value in own.items()
            # Nothing chosen is a choice where something is chosen unless somebody says otherwise.
            if value is not None and (value not in ([], {}) or every[name].default is None)
        }

    @property
    def data(self) -> list[str]:
        """The settings that name data, in order."""
        return [item.name for item in self._fields() if item.kind in ("data", "several-data")]

    @property
    def with_places(self) -> list[str]:
        """The settings among whose values data may be, such as the hierarchy of a column."""
        return [item.name for item in self._fields() if item.kind == "hierarchies"]

    @property
    def from_records(self) -> bool:
        """Whether records become a table first."""
        return bool(self.written.builds and self.settings.get("dimensions"))

    @property
    def unsayable(self) -> list[str]:
        """What it says that neither a function nor a command takes."""
        return [name for name in _BY_HAND if self.settings.get(name)] if self.written.builds else []

    def read(self) -> list[str]:
        """The data it names: sources and steps."""
        return [data for name in self.data for data in as_list(self.settings.get(name))]

    def in_two(self) -> "tuple[Taken, Taken]":
        """A table that is built of records and protected, as two steps."""
        own = OPERATIONS[self.written.builds].settings.model_fields
        apart = {item.name for item in self._fields() if item.name not in own}
        building = {
            name: value for name, value in self.settings.items() if name in own and name not in _BY_HAND
        }
        commands = {item.name for item in self.operation.fields("command")}
        first = Taken(f"{self.name}-table", self.written.builds, building)
        kept = {name: value for name, value in self.settings.items() if name in apart | commands}
        left = {name: value for name, value in kept.items() if name not in _BUILT}
        return first, replace(self, settings={**left, "data": first.name})

    def _fields(self) -> list[SettingField]:
        return fields(self.operation.settings)


# Said of the records, and known of the table that was built of them.
_BUILT = (
    "data",
    "source",
    "dimensions",
    "value",
    "contributor",
    "rules",
    "hierarchy",
    "holding",
    "weight",
    "weights_public",
    "apriori",
    "cost",
)


def as_list(value: Any) -> list[str]:
    """One name, several or none, as a list.

    >>> as_list(None), as_list("people"), as_list(["a", "b"])
    ([], ['people'], ['a', 'b'])
    """
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def placed(step: Taken, places: Mapping[str, str]) -> dict[str, Any]:
    """What a step says, with the places of data in what may be data or a rule."""
    found = dict(step.chosen)
    for name in step.with_places:
        if isinstance(found.get(name), Mapping):
            found[name] = {key: places.get(item, item) for key, item in found[name].items()}
    return found


def needed(sources: Mapping[str, Source], steps: Iterable[Taken]) -> dict[str, Source]:
    """The sources that steps read as data."""
    used = {data for step in steps for data in step.read()}
    return {name: source for name, source in sources.items() if name in used}


def noted(sources: Mapping[str, Source]) -> list[str]:
    """What is to be known of where the data lies, as comments."""
    return [comment(f"{source.location}: {source.note}") for source in sources.values() if source.note]
