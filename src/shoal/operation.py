"""An operation on data: declared once, run by every front end.

An ``Operation`` names its settings, the function that runs it, what it can write, and the module that tells its result.
Command line, REST, forms, the manual's tables of options and plans are made from it. A front end is a ``Workplace``: it finds
data by its name, watches the search and says how much work is allowed.

The module that tells a result has these functions, each of the result and the settings it was made with:
``figures`` (one JSON object), ``facts`` (names and values), ``tables`` (``Rows``), ``page`` (the figures of the report) and
``assurances`` (the attacker assumed, and what is known of singling out, linking and inference); and where there is a search,
``glimpse`` says how far it is. ``shoal.operation_report`` completes the page with data, command, settings and signatures.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from shoal.errors import InputError, parameter
from shoal.import_paths import load
from shoal.operation_release import OperationRelease, Written
from shoal.settings import Front, SettingField, Settings, fields

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from shoal.runtime import Budget, Progress, Registry
    from shoal.sources import Address, Data, Labels

Result = TypeVar("Result")

#: What names data: for a command a file or a table, for the workbench data of its workspace.
DataName: TypeAlias = "str | Address"
#: What reads files of further formats, by their ending.
Readers: TypeAlias = "Mapping[str, Callable[[Path], pl.DataFrame]]"


@dataclass(frozen=True, repr=False)
class Records:
    """Data that a workplace found: the frame, and what is known of it besides.

    ``roles`` are those a person confirmed, where there is such a person; ``source`` is how a file or a table was written.
    """

    name: str
    frame: "pl.DataFrame"
    roles: Mapping[str, str] | None = None
    source: "Data | None" = None

    @property
    def as_written(self) -> "pl.DataFrame":
        """The frame with its dates as the file wrote them, for those who use them as names and codes."""
        return self.frame if self.source is None else self.source.as_written

    @property
    def labels(self) -> "Labels | None":
        """The value labels of a file of SPSS or Stata."""
        return None if self.source is None else self.source.labels

    @property
    def knowable(self) -> list[str]:
        """The columns that an intruder may know: by their roles, or else by the look of them."""
        import shoal

        roles = self.roles or {guess.column: guess.role for guess in shoal.guess_roles(self.frame)}
        return [name for name, role in roles.items() if role == "quasi-identifier"]


class Workplace(Protocol):
    """Where an operation runs: the command line, the workbench, a plan."""

    @property
    def threads(self) -> int | None:
        """How many threads may be used; one for each core if nobody says."""

    @property
    def reported(self) -> bool:
        """Whether there will be a report, which may need more than the figures."""

    @property
    def decimal(self) -> str:
        """The decimal sign of figures for people: as somebody says, or as the data that were read have it."""

    def records(
        self, name: DataName, *, columns: list[str] | None = None, like: Records | None = None
    ) -> Records:
        """Data by its name; only ``columns`` are needed, if they are named; ``like`` is what it should have the types of."""

    def counted(self, name: DataName, columns: list[str]) -> Records | None:
        """Every combination of values of some columns, and in the last column how many records have it; ``None`` where the
        records have to be read, because nobody else can count them or the report tells of them.
        """

    def listed(self, name: str) -> "pl.DataFrame":
        """A list that belongs to the data (cells, codes, costs): its form is its own, whatever is said of the data's."""

    def as_file(self, name: str, ending: str) -> "Path | None":
        """Data as a file of one kind, which holds more than a frame can; ``None`` if it is of another kind."""

    def companion(self, name: DataName, readers: Readers = MappingProxyType({})) -> Records:
        """What goes with the data and has a layout of its own; ``readers`` read files that are no tables."""

    def wanted(self, product: str, files: Collection[str] = ()) -> bool:
        """Whether a product will be written; the names of the files in a folder are refused at once if they exist."""

    def file(self, name: str) -> "Path":
        """Where a file of our own is, such as groups or record links."""

    def budget(self, settings: Any) -> "Budget":
        """How much work the settings allow."""

    def observe(self, progress: "Progress") -> None:
        """Somebody looks at the search."""

    def say(self, phase: str) -> None:
        """Tell what is being done now, where there is nothing to count."""

    def warn(self, text: str) -> None:
        """Warn of something before the work begins; the result has to say it, too."""


@dataclass(frozen=True)
class Rows:
    """A table for people: of many rows the first ones, and then ``rest`` in words."""

    header: Sequence[str]
    body: Iterable[Sequence[Any]]
    title: str | None = None
    rest: str = ""


@dataclass(frozen=True)
class Product:
    """Something a run can write, made from the result and the settings.

    It is data, a text, bytes, a ``folder`` of files by name, or ``columns``: of each table that ``into`` names a frame with the
    key first and the columns to be set there. Of ``parts`` it is what writes a folder of files by itself, under another name
    first (``Staged``). ``check`` looks at data that was read back before it takes its place. Unless
    ``like_input`` says otherwise, data is written like the input if it is not internal; with ``signs_of_input`` text has at
    least its separator and its decimal sign. ``suits`` refuses a place that does not go with the settings. A place with one of
    the ``endings`` gets the ``whole`` as bytes, which hold more than data can. With ``beside`` it is written beside the first
    product, under the same name with this ending; with ``named_by`` where a setting says, if nothing is there yet. A place
    without the ``ending`` is refused, where there is one. ``only`` keeps a product to one of the front ends. ``also`` are
    further names of its option.

    ``files`` are names and titles it gets in the workbench, ``archive`` those of all where a result is of several tables (by
    name). What the data lack for it is told there in a note that begins with ``lacking``, or not at all if that is empty.
    ``subject`` is what is missed when no product of it goes anywhere.
    """

    name: str
    sentence: str
    make: Callable[[Any, Any], Any]
    form: Literal["data", "text", "bytes", "folder", "columns", "parts"] = "data"
    short: str | None = None
    metavar: str = "FILE"
    internal: bool = False
    into: Callable[[Any], Iterable[DataName]] = lambda settings: ()
    check: Callable[[Any, Any], Callable[[Any], object]] | None = None
    files: tuple[tuple[str, str], ...] = ()
    archive: tuple[str, str] | None = None
    lacking: str | None = None
    subject: str = ""
    beside: str = ""
    named_by: str = ""
    whole: Callable[[Any, str], bytes] | None = None
    endings: tuple[str, ...] = ()
    ending: str = ""
    only: Front | None = None
    like_input: bool | None = None
    signs_of_input: bool = False
    suits: Callable[[Any, str, frozenset[str]], None] = lambda settings, name, written: None
    also: tuple[str, ...] = ()

    @property
    def has_option(self) -> bool:
        """Whether a command asks where to write it."""
        return not (self.beside or self.named_by) and self.only != "workbench"

    def is_whole(self, name: object) -> bool:
        """Whether it is written as bytes into a place of this name."""
        return str(name).endswith(self.endings)

    @property
    def option(self) -> str:
        """Its name on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def named(self) -> str:
        """The name that messages use: the short one where there is one."""
        return self.short or self.option


@dataclass(frozen=True)
class Engine:
    """Another place where an operation runs: what it does there, by import paths.

    ``takes`` names the settings it knows; others must be left as they are. What it can write are its own ``products``.
    ``checked`` is whether what the operation refuses before any work is refused there, too.
    """

    run: str
    reporter: str
    takes: frozenset[str]
    products: tuple[Product, ...] = ()
    methods: str | None = None
    checked: bool = False


_MEASURED = Written(ending="parquet")


@dataclass(frozen=True)
class Operation:
    """One thing Shoal can do.

    ``function`` is the import path of the public function whose signature the settings go with, ``reporter`` that of the
    module that tells its result. ``reads`` names all data that will be read, and ``check`` refuses what cannot go together
    with the products (or "report") that are to be written, both before any work; ``reads_beside`` names files that are read
    though nobody named them; ``writes`` is whether there is anything to
    write with these settings at all. ``gate`` gives the words of a refusal if the result is not what the settings require;
    a result that is not ``good`` is told and written all the same, and a command leaves with 3. ``columns_in`` says which
    tables must have the columns that settings name: each item is one table, or several that have them together; without it
    they are those of its first argument, one by one. ``only_in_workbench`` names
    settings that its command does without. ``apart`` names parameters of the function that are no settings, and settings
    that it does not take. ``engines`` are the other places where it runs, by name. ``release`` says how
    plans take what it releases; if it measures alone, ``measured`` says how that is written down.
    """

    name: str
    title: str
    summary: str
    settings: type[Settings]
    run: Callable[[Any, Workplace], Any]
    reporter: str
    function: str
    description: str = ""
    examples: tuple[str, ...] = ()
    doing: str = ""
    titled: Callable[[Any], str] = lambda settings: ""
    products: tuple[Product, ...] = ()
    check: Callable[[Any, frozenset[str]], None] = lambda settings, written: None
    writes: Callable[[Any], bool] = lambda settings: True
    gate: Callable[[Any, Any], str | None] | None = None
    good: Callable[[Any, Any], bool] = lambda result, settings: True
    methods: str | None = None
    reads: Callable[[Any], Iterable[DataName]] = lambda settings: ()
    columns_in: Callable[[Any], Iterable[tuple[DataName, ...]]] | None = None
    reads_beside: Callable[[Any], Iterable[str]] = lambda settings: ()
    only_in_workbench: frozenset[str] = frozenset()
    apart: frozenset[str] = field(default_factory=frozenset)
    engines: Mapping[str, Engine] = field(default_factory=dict)
    release: OperationRelease | None = None
    measured: Written = _MEASURED

    def on_its_engine(self, settings: Settings) -> "Operation":
        """The same operation where the settings say it runs; an ``InputError`` for settings that place does not know."""
        name = getattr(settings, "engine", "local")
        if name == "local":
            for other in ("master", "spark_conf", "memory"):
                if getattr(settings, other, None):
                    raise InputError(
                        f"{parameter(other)} is for another engine; choose it with {parameter('engine')}"
                    )
            return self
        if name not in self.engines:
            raise InputError(
                f"{self.name} does not run with {parameter('engine', name)}; it runs with "
                + " and ".join(["local", *self.engines])
            )
        engine = self.engines[name]
        for item in fields(self.settings):
            value = getattr(settings, item.name)
            if item.name not in engine.takes and not item.argument and value != item.default:
                raise InputError(f"{parameter(item.name)} is not for {parameter('engine', name)}")
        return replace(
            self,
            run=load(engine.run),
            reporter=engine.reporter,
            products=engine.products,
            methods=engine.methods or self.methods,
            check=self.check if engine.checked else lambda settings, written: None,
        )

    @property
    def written(self) -> Written:
        """How a step of it is written down."""
        return self.measured if self.release is None else self.release.written

    @property
    def search(self) -> bool:
        """Whether it looks for something, and so can be stopped with the best it has found, or with what it has measured."""
        return "time_limit" in self.settings.model_fields

    @property
    def registry(self) -> "Registry | None":
        """The methods to choose from, loaded when they are asked for."""
        return None if self.methods is None else load(self.methods)

    @property
    def reporter_module(self) -> Any:
        """The module that tells its result, loaded when there is one."""
        return import_module(self.reporter)

    def tables_with_columns(self, settings: Settings) -> list[tuple[DataName, ...]]:
        """The tables that must have the columns that the settings name."""
        if self.columns_in is not None:
            return list(self.columns_in(settings))
        first = next((item.name for item in self.fields() if item.argument), None)
        named = None if first is None else getattr(settings, first)
        return [] if named is None else [(named,)] if isinstance(named, str) else [(name,) for name in named]

    def fields(self, front: Front | None = None) -> list[SettingField]:
        """Its settings, as a front end sees them."""
        without = self.only_in_workbench if front == "command" else ()
        every = [self._here(item) for item in fields(self.settings, front) if item.name not in without]
        if "stream" not in self.engines:
            every = [item for item in every if item.name != "memory"]
        # What belongs to no section comes before all that does.
        return sorted(every, key=lambda item: bool(item.section))

    def _here(self, item: SettingField) -> SettingField:
        """A setting as this operation has it: of the engines those that it runs with."""
        if item.name != "engine":
            return item
        names = ("local", *self.engines)
        return replace(item, choices=names, metavar="|".join(names))


def call(
    function: Callable[..., Result], settings: Settings, workplace: Workplace, *frames: Any, **own: Any
) -> Result:
    """Call a public function with the settings it has parameters for, as a workplace allows.

    ``own`` are arguments that are no settings, or settings in another form.
    """
    names = inspect.signature(function).parameters
    given = {name: value for name, value in settings if name in names}
    if "budget" in names:
        given["budget"] = workplace.budget(settings)
    if "observer" in names:
        given["observer"] = workplace.observe
    if "threads" in names:
        given["threads"] = workplace.threads
    return function(*frames, **given | own)
