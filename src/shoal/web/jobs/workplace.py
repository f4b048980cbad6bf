"""The workbench as a place where operations run: data are those of the workspace, and its switches govern the search."""

from pathlib import Path

from shoal.errors import InputError
from shoal.operation import Place, Records
from shoal.search.budget import Budget
from shoal.search.observer import Progress
from shoal.settings import Settings
from shoal.web.jobs.context import Context


class Workbench:
    """What an operation asks for, answered by the context of a run."""

    threads: int | None = None
    reported = True

    def __init__(self, context: Context) -> None:
        self._context = context

    def records(
        self, name: Place, *, columns: list[str] | None = None, like: Records | None = None
    ) -> Records:
        """A table of the workspace with the roles its columns were given."""
        dataset = self._context.datasets[str(name)]
        frame = self._context.datasets.frame(dataset.name, columns)
        return Records(dataset.name, frame, roles=dataset.roles)

    def file(self, name: str) -> Path:
        """No file can be named here."""
        raise InputError(f"the workbench reads no files of the machine, and so not '{name}'")

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
