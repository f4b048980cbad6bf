"""A plan as a place where operations run: data are files of the plan's folder and of steps before."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from shoal.operation import DataName, Readers, Records
from shoal.release.plan.plan import located
from shoal.release.readings import Readings
from shoal.runtime.budget import Budget
from shoal.runtime.observer import Observer, Progress, silent

if TYPE_CHECKING:
    import polars as pl

    from shoal.runtime.secrets import Secret


class PlanWorkplace:
    """Reads what a step names; ``roles`` are those of the columns by the place of their data, ``secret`` that of the release."""

    threads: int | None = None
    reported = True
    decimal = "."

    def __init__(
        self,
        folder: Path,
        roles: Mapping[str, Mapping[str, str]],
        *,
        say: Callable[[str], None] = lambda phase: None,
        observer: Observer = silent,
        budget: Callable[[Any], Budget] | None = None,
        secret: "Secret | None" = None,
        readings: Readings | None = None,
    ) -> None:
        self.folder = folder
        self.secret = secret
        self._readings = readings or Readings()
        self._roles = roles
        self._say = say
        self._observer = observer
        self._budget = budget
        #: What the readers and operations warned of.
        self.warned: list[str] = []

    def records(
        self, name: DataName, *, columns: list[str] | None = None, like: Records | None = None
    ) -> Records:
        """Read a file or a table."""
        from shoal import sources

        place = self._location(name)
        source = self._readings.read(place) if like is None else sources.read(place, like=like.source)
        given = self._roles.get(str(place), {})
        # Steps before may have removed columns.
        roles = {column: role for column, role in given.items() if column in source.frame.columns}
        return Records(Path(str(place)).name, source.frame, roles=roles or None, source=source)

    def counted(self, name: DataName, columns: list[str]) -> Records | None:
        """A release is made of records, which are read."""
        return None

    def listed(self, name: str) -> "pl.DataFrame":
        """A list that belongs to the data."""
        return self._readings.listed(self._location(name)).as_written

    def as_file(self, name: str, ending: str) -> Path | None:
        """The file itself, if its name says that it is of this kind."""
        place = str(self._location(name))
        return Path(place) if place.endswith((f".{ending}", f".{ending}.gz")) else None

    def companion(self, name: DataName, readers: Readers = MappingProxyType({})) -> Records:
        """What goes with the data."""
        place = str(self._location(name))
        ending = Path(place).suffix.lower()
        if ending in readers:
            return Records(Path(place).name, readers[ending](Path(place)))
        return self.records(place)

    def wanted(self, product: str, files: Collection[str] = ()) -> bool:
        """Everything is made that can be."""
        return product != "update"

    def file(self, name: str) -> Path:
        """A file of the plan's folder."""
        return Path(str(self._location(name)))

    def budget(self, settings: Any) -> Budget:
        """How much work the settings allow; never a time, since a release is to be repeated."""
        if self._budget is not None:
            return self._budget(settings)
        return Budget(
            iterations=getattr(settings, "iterations", None), target=getattr(settings, "target", None)
        )

    def observe(self, progress: Progress) -> None:
        """Pass it on."""
        self._observer(progress)

    def say(self, phase: str) -> None:
        """Tell what is being done now."""
        self._say(phase)

    def warn(self, text: str) -> None:
        """Keep it for the report."""
        self.warned.append(text)

    def _location(self, name: DataName) -> Any:
        return located(name, self.folder) if isinstance(name, str) else name
