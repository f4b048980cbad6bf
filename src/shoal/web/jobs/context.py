"""What an activity has to work with inside its process."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.runtime.budget import Budget
from shoal.runtime.control import Control
from shoal.runtime.observer import Progress
from shoal.runtime.stages import stage_of
from shoal.web.datasets import Datasets
from shoal.web.jobs.task import Task
from shoal.web.workspace import Workspace

# More often than this nobody can see it.
_EVERY = 0.1


class Context:
    """The workspace, the run's own folder, the switches, and the line to the server."""

    def __init__(self, task: Task, send: Callable[[dict[str, Any]], None]) -> None:
        self.workspace = Workspace(task.workspace)
        self.datasets = Datasets(self.workspace)
        self.control = Control.at(task.control)
        self.run = task.run
        self.folder = self.workspace.path("runs", task.run)
        self.files: list[dict[str, str]] = []
        self._secrets = task.secrets
        self._send = send
        self._last_sent = 0.0
        self._last: Progress | None = None
        self._stages: set[str] = set()

    def budget(
        self, iterations: int | None = None, seconds: float | None = None, target: float | None = None
    ) -> Budget:
        """A budget that the switches of this run govern."""
        return Budget(iterations=iterations, seconds=seconds, target=target, control=self.control)

    def secret(self, name: str) -> str:
        """An address with its password, by the name of its connection."""
        if name not in self._secrets:
            raise InputError("the connection to the database was closed; connect again")
        return self._secrets[name]

    def observe(self, progress: Progress) -> None:
        """Pass on a glimpse of the search, not too often."""
        # Where another stage begins, the one before is over now, and not when somebody looks next.
        begins = (stage := stage_of(progress.phase)) not in self._stages
        self._stages.add(stage)
        if begins and self._last is not None:
            self.flush()
        self._last = progress
        if begins or time.monotonic() - self._last_sent >= _EVERY:
            self.flush()

    def flush(self) -> None:
        """Pass on the latest glimpse."""
        if self._last is None:
            return
        progress, self._last = self._last, None
        self._last_sent = time.monotonic()
        self._send(
            {
                "what": "progress",
                "work": progress.work,
                "seconds": round(progress.seconds, 3),
                "total": progress.total,
                "share": progress.share,
                "value": plain(progress.value),
                "bound": plain(progress.bound),
                "phase": progress.phase,
            }
        )

    def say(self, phase: str) -> None:
        """Tell what is being done now, where there is nothing to count."""
        self.flush()
        self._stages.add(stage_of(phase))
        self._send({"what": "phase", "phase": phase})

    def file(self, name: str, title: str) -> Path:
        """The place of a result file, which will be offered for download under a title."""
        self.files.append({"name": name, "title": title})
        return self.folder / name

    def keep(self, name: str) -> Path:
        """The place of a file that later steps need but nobody downloads."""
        return self.folder / name

    def report(self, page: Any) -> None:
        """Write the run's report."""
        page.write(self.file("report.html", "Report"), force=True)


def plain(value: Any) -> Any:
    """A value or bound of a search as something a chart can draw, or else a text.

    >>> plain(2.5), plain((1, 2)), plain(None)
    (2.5, '(1, 2)', None)
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return value.item()
    if hasattr(value, "k") and hasattr(value, "pairs"):  # an anonymity vector
        return int(value.k)
    return str(value)
