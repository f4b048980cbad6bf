"""The command line as a place where operations run: data are files and tables, and Ctrl-C keeps the best found."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli import output
from shoal.operation import Place, Records
from shoal.search.budget import Budget
from shoal.search.observer import Observer, Progress, silent

if TYPE_CHECKING:
    import polars as pl

_DIALECT = ("separator", "decimal", "encoding", "header_row")


class CommandLine:
    """Reads what is named, as the options for text files say, and passes on what the reader remarks.

    Where there are ``several`` things to read, it says of which.
    """

    def __init__(self, values: Mapping[str, Any], *, quiet: bool, several: bool) -> None:
        self._dialect = {name: values[name] for name in _DIALECT}
        self._quiet = quiet
        self._several = several
        self._observer: Observer = silent
        self._budget = Budget()
        self.threads: int | None = values.get("threads")
        self.reported: bool = values["report"] is not None
        #: The first data that was read: what is written is written like it.
        self.first: Records | None = None

    def allowed(self, settings: Any) -> Budget:
        """The budget of a command, which Ctrl-C ends."""
        self._budget = Budget(
            iterations=settings.iterations,
            seconds=settings.time_limit,
            target=getattr(settings, "target", None),
        )
        return self._budget

    def watched_by(self, observer: Observer) -> "CommandLine":
        """The same with somebody who looks at the search."""
        self._observer = observer
        return self

    def budget(self, settings: Any) -> Budget:
        """What the command allows."""
        return self._budget

    def observe(self, progress: Progress) -> None:
        """Pass it on."""
        self._observer(progress)

    def say(self, phase: str) -> None:
        """Commands are quiet about what takes no time."""

    def records(
        self, name: Place, *, columns: list[str] | None = None, like: Records | None = None
    ) -> Records:
        """Read a file or a table; what the reader guessed is said."""
        from shoal import sources

        if like is None:
            source = sources.read(name, **self._dialect)
        else:
            dialect = {key: value for key, value in self._dialect.items() if key != "header_row"}
            source = sources.read(name, like=like.source, **dialect)
        output.reading(source, quiet=self._quiet, name=str(source.address) if self._several else None)
        found = Records(str(source.address), source.frame, source=source)
        self.first = self.first or found
        return found

    def listed(self, name: str) -> "pl.DataFrame":
        """Read a file or a table in whatever form it is."""
        from shoal import sources

        return sources.read(name).as_written

    def as_file(self, name: str, ending: str) -> Path | None:
        """The file itself, if its name says that it is of this kind."""
        return Path(name) if name.endswith((f".{ending}", f".{ending}.gz")) else None

    def file(self, name: str) -> Path:
        """A file of this machine."""
        return Path(name)
