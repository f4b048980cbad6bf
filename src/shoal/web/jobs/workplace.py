"""The workbench as a place where operations run: data are those of the workspace, and its switches govern the search."""

from collections.abc import Collection
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.operation import DataName, Readers, Records
from shoal.report.provenance import Input
from shoal.report.sources_named import RECORDS
from shoal.runtime.budget import Budget
from shoal.runtime.observer import Progress
from shoal.settings import Settings
from shoal.web.datasets import Dataset, Datasets
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import polars as pl


class WorkspaceData:
    """The data of a workspace, where nobody watches: what an operation asks for before it searches."""

    threads: int | None = None
    reported = True
    decimal = "."

    def __init__(self, datasets: Datasets) -> None:
        self._datasets = datasets
        #: What was read, by its name, for the report.
        self.inputs: dict[str, Input] = {}

    def records(
        self, name: DataName, *, columns: list[str] | None = None, like: Records | None = None
    ) -> Records:
        """A table of the workspace with the roles its columns were given."""
        dataset = self._remember(str(name))
        frame = self._datasets.frame(dataset.name, columns)
        return Records(dataset.name, frame, roles=dataset.roles)

    def counted(self, name: DataName, columns: list[str]) -> Records | None:
        """Tables of the workspace are files."""
        return None

    def listed(self, name: str) -> "pl.DataFrame":
        """Any table of the workspace."""
        self._remember(name)
        return self._datasets.frame(name)

    def as_file(self, name: str, ending: str) -> Path | None:
        """What is kept beside a table of the workspace, if it came from such a file."""
        found = self._datasets.attachment(name, ending)
        if found is not None:
            self._remember(name)
        return found

    def companion(self, name: DataName, readers: Readers = MappingProxyType({})) -> Records:
        """Whatever it was, it is a table of the workspace now."""
        return self.records(name)

    def wanted(self, product: str, files: Collection[str] = ()) -> bool:
        """Everything is made, in the folder of the run."""
        return True

    def file(self, name: str) -> Path:
        """No file can be named here."""
        raise InputError(f"the workbench reads no files of the machine, and so not '{name}'")

    def budget(self, settings: Settings) -> Budget:
        """No limit."""
        return Budget()

    def observe(self, progress: Progress) -> None:
        """Nobody looks."""

    def warn(self, text: str) -> None:
        """The summary of the run will say it."""

    def say(self, phase: str) -> None:
        """Nobody listens."""

    def _remember(self, name: str) -> Dataset:
        dataset = self._datasets[name]
        came = f"data of the workspace, from {dataset.origin}"
        self.inputs[name] = Input(
            dataset.name,
            came,
            records=dataset.records,
            columns=dataset.columns,
            sha256=dataset.sha256,
            of=RECORDS if dataset.no_file else "the file that was loaded",
            lacking="not known: it was loaded by an earlier version",
            notes=dataset.notes,
        )
        return dataset


class RunWorkplace(WorkspaceData):
    """What an operation asks for, answered by the context of a run."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.datasets)
        self._context = context

    def budget(self, settings: Settings) -> Budget:
        """What the request allows; the run can be paused and stopped."""
        asked = settings.model_dump(include={"iterations", "time_limit", "target"})
        return self._context.budget(asked.get("iterations"), asked.get("time_limit"), asked.get("target"))

    def observe(self, progress: Progress) -> None:
        """Pass on a glimpse of the search."""
        self._context.observe(progress)

    def say(self, phase: str) -> None:
        """Tell what is being done now."""
        self._context.say(phase)
