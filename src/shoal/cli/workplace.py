"""The command line as a place where operations run: data are files and tables, and Ctrl-C keeps the best found."""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from shoal.cli import output
from shoal.errors import as_option, spelled
from shoal.operation import DataName, Product, Readers, Records
from shoal.runtime.budget import Budget
from shoal.runtime.observer import Observer, Progress, silent
from shoal.runtime.stages import READING, Stopwatch

if TYPE_CHECKING:
    import polars as pl

    from shoal.report.provenance import Input
    from shoal.sources import Data, Output, Outputs
    from shoal.sources.data import Dialect

    #: The places of each product: of columns one for each table, else a single one.
    Declared = dict[Product, list[Output]]

_DIALECT = ("separator", "decimal", "encoding", "header_row")


class CommandLine:
    """Reads what is named, as the options for text files say, and passes on what the reader remarks.

    Where there are ``several`` things to read, it says of which. ``declared`` is what will be written, by product;
    ``watch`` is called when the search begins.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        outputs: "Outputs",
        declared: "Declared",
        *,
        quiet: bool,
        several: bool,
        watch: Callable[[Budget], Observer],
        lasting: ExitStack | None = None,
    ) -> None:
        self._outputs = outputs
        self._declared = declared
        self._dialect = {name: values[name] for name in _DIALECT}
        # The header row is that of the data, and not of what goes with it.
        self._layout = {**self._dialect, "header_row": None}
        self._secret = values.get("secret")
        self._quiet = quiet
        self._several = several
        self._watch = watch
        #: What must stay until everything is written: the connection to a cluster, files on its way.
        self.lasting = ExitStack() if lasting is None else lasting
        self._observer: Observer = silent
        self._by_stages = False
        self._budget: Budget | None = None
        self.threads: int | None = values.get("threads")
        self.reported: bool = values["report"] is not None
        #: How long reading, search, bound, verification and writing take.
        self.stopwatch = Stopwatch(READING)
        #: What was warned of already.
        self.warned: set[str] = set()
        #: The first data that was read: what is written is written like it.
        self.first: Records | None = None
        #: What was read, by its name, if there will be a report that names it.
        self.inputs: dict[str, Input] = {}

    @property
    def decimal(self) -> str:
        """As the option says, or as the first text that was read has it."""
        if self._dialect["decimal"] is not None:
            from shoal.sources.dialect import known_decimal

            return known_decimal(self._dialect["decimal"])
        return "." if self._first_dialect is None else self._first_dialect.decimal

    def signs(self, ending: str) -> dict[str, str | None]:
        """The signs of a text file with this ending: as somebody says, or those of the input; a decimal comma parts nothing."""
        said, first = self._dialect, self._first_dialect
        separator = said["separator"]
        if separator is None and first is not None and first.separator != self.decimal:
            alike = str(self.first.source.address).lower().endswith(ending)  # type: ignore[union-attr]
            separator = first.separator if alike else None
        if separator is None and self.decimal == "," and ending == ".csv":
            separator = ";"
        return {"separator": separator, "decimal": self.decimal, "encoding": said["encoding"]}

    @property
    def _first_dialect(self) -> "Dialect | None":
        return None if self.first is None or self.first.source is None else self.first.source.dialect

    def budget(self, settings: Any) -> Budget:
        """What the command allows. The first search that asks is what somebody begins to watch, and Ctrl-C to end."""
        if self._budget is None:
            self._budget = Budget(
                iterations=getattr(settings, "iterations", None),
                seconds=settings.time_limit,
                target=getattr(settings, "target", None),
            )
            if not self._by_stages:
                self._observer = self._watch(self._budget)
        return self._budget

    def show_stages(self, observer: Observer) -> None:
        """Somebody looks at what is done from now on, all of which takes time, and Ctrl-C gives it up."""
        self._observer, self._by_stages = observer, True

    def observe(self, progress: Progress) -> None:
        """Pass it on."""
        self.stopwatch.begins(progress.phase)
        self._observer(progress)

    def say(self, phase: str) -> None:
        """Commands are quiet about what takes no time, but it is measured."""
        self.stopwatch.begins(phase)
        if self._by_stages:
            self._observer(Progress(0, 0.0, phase=phase))

    def warn(self, text: str) -> None:
        """Say it at once, and once."""
        text = spelled(text, as_option)
        if text not in self.warned:
            self.warned.add(text)
            output.warn([text])

    def records(
        self, name: DataName, *, columns: list[str] | None = None, like: Records | None = None
    ) -> Records:
        """Read a file or a table; what the reader guessed is said."""
        found = self._read(name, self._dialect if like is None else self._layout, like)
        self.first = self.first or found
        return found

    def counted(self, name: DataName, columns: list[str]) -> Records | None:
        """What a database counts by itself. The fingerprint in a report is that of the records."""
        from shoal import sources

        source = None if self.reported else sources.count(name, columns)
        if source is None:
            return None
        output.reading(source, quiet=self._quiet, name=str(source.address) if self._several else None)
        return Records(str(source.address), source.frame, source=source)

    def listed(self, name: str) -> "pl.DataFrame":
        """Read a file or a table in whatever form it is."""
        from shoal import sources

        source = sources.read_list(name)
        self._remember(source)
        return source.as_written

    def as_file(self, name: str, ending: str) -> Path | None:
        """The file itself, if its name says that it is of this kind."""
        return self.file(name) if name.endswith((f".{ending}", f".{ending}.gz")) else None

    def companion(self, name: DataName, readers: Readers = MappingProxyType({})) -> Records:
        """The same of what goes with the data."""
        ending = Path(name).suffix.lower() if isinstance(name, str) else ""
        if ending in readers:
            return Records(str(name), readers[ending](self.file(str(name))))
        return self._read(name, self._layout)

    def _read(self, name: DataName, dialect: Mapping[str, Any], like: Records | None = None) -> Records:
        from shoal import sources

        source = sources.read(name, like=None if like is None else like.source, **dialect)
        self._remember(source)
        output.reading(source, quiet=self._quiet, name=str(source.address) if self._several else None)
        return Records(str(source.address), source.frame, source=source)

    def wanted(self, product: str, files: Collection[str] = ()) -> bool:
        """Whether an option names a place for it."""
        targets = next((places for item, places in self._declared.items() if item.name == product), [])
        for target in targets if files else ():
            self._outputs.check_inside(target, files)
        return bool(targets)

    def file(self, name: str) -> Path:
        """A file of this machine."""
        self.name_file(name)
        return Path(name)

    def name_file(self, name: str) -> None:
        """Name a file in the report, if there is such a file; of a secret not even a fingerprint is told."""
        if self.reported and name not in (*self.inputs, self._secret) and Path(name).is_file():
            from shoal.report.sources_named import named_file

            self.inputs[name] = named_file(Path(name))

    def _remember(self, source: "Data") -> None:
        """Take its fingerprint as soon as it was read: it may be another file when the search is done."""
        if self.reported:
            from shoal.report.sources_named import named_data

            self.inputs.setdefault(str(source.address), named_data(source))
