"""The data of a workspace: each a Parquet file with a description beside it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, unknown
from shoal.microdata.columns.roles import KNOWABLE, REMOVED, ROLES
from shoal.sources import atomically
from shoal.sources.fingerprint import records_fingerprint
from shoal.web.workspace import Workspace, plain_name

if TYPE_CHECKING:
    import polars as pl

_ORIGIN = "run "
_SQLITE = "sqlite:///"
# What may lie beside the records of data.
_ENDINGS = ("jj", "hst")


@dataclass(frozen=True)
class Dataset:
    """What is known of one table: where it came from, its columns and their roles. It holds no value.

    ``reasons`` say why a role was guessed, and ``averaged`` are the columns whose means mean something. ``sha256`` is the
    fingerprint of the file that was received, or of the records if there was ``no_file``.
    ``file`` is the place by which whoever has that file reads the same, if there is one, and ``address`` that of a table; of a
    database in a file it has the name alone, since the workspace may move.
    ``distinct`` and ``missing`` count the values of each column that differ and those that are not there.
    """

    name: str
    origin: str
    records: int
    columns: tuple[str, ...]
    types: tuple[str, ...]
    roles: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    averaged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    table: str | None = None
    connection: str | None = None
    sha256: str | None = None
    no_file: bool = False
    distinct: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    file: str | None = None
    address: str | None = None

    def with_role(self, role: str) -> list[str]:
        """The columns that have a role."""
        return [name for name in self.columns if self.roles.get(name) == role]

    def only_with_role(self, role: str) -> str | None:
        """The one column that has a role; none if there are several to choose from."""
        found = self.with_role(role)
        return found[0] if len(found) == 1 else None

    @property
    def removed(self) -> list[str]:
        """The columns that a release leaves out unless somebody says otherwise."""
        return [name for name in self.columns if self.roles.get(name) in REMOVED]

    @property
    def quasi(self) -> list[str]:
        """The quasi-identifiers."""
        return self.with_role("quasi-identifier")

    @property
    def knowable(self) -> list[str]:
        """What could be known of somebody, and is no identifier, which a release leaves out."""
        known = [role for role in KNOWABLE if role != "identifier"]
        return [name for name in self.columns if self.roles.get(name) in known]

    @property
    def measured(self) -> list[str]:
        """The columns to protect if nobody names others: numbers that measure something, and ages."""
        fits = [name for name in self.numeric if self.roles.get(name) == "measurement"]
        ages = [name for name in self.averaged if self.roles.get(name) == "quasi-identifier"]
        return [name for name in self.columns if name in fits or name in ages]

    @property
    def numeric(self) -> list[str]:
        """The columns of numbers."""
        return [
            name
            for name, kind in zip(self.columns, self.types)
            if kind in ("number", "whole number", "decimal")
        ]


def origin_of(run: str) -> str:
    """Where data comes from that a run released."""
    return f"{_ORIGIN}{run}"


def is_release(dataset: Dataset) -> bool:
    """Whether data is what a run released."""
    return dataset.origin.startswith(_ORIGIN)


def run_of(dataset: Dataset) -> str:
    """The run that released data."""
    return dataset.origin.removeprefix(_ORIGIN)


class Datasets:
    """The shelf of data; every change is on disk at once, so that worker processes see the same."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def names(self) -> list[str]:
        """All names, in order."""
        return sorted(path.stem for path in self._workspace.shelf("data").glob("*.json"))

    @property
    def workspace(self) -> Workspace:
        """The folder in which the shelf stands."""
        return self._workspace

    @property
    def scratch(self) -> Path:
        """Where files may lie while something is read: in the workspace, with which they go, not in a shared folder."""
        return self._workspace.shelf("incoming")

    def all(self) -> list[Dataset]:
        """All descriptions, in order of their names."""
        return [self[name] for name in self.names()]

    def tables(self, url: str) -> list[str]:
        """The tables that data came from; those of databases in files where that of ``url`` is."""
        folder = Path(url.removeprefix(_SQLITE)).parent
        every = [dataset.address for dataset in self.all() if dataset.address is not None]
        return [
            f"{_SQLITE}{folder / address.removeprefix(_SQLITE)}" if address.startswith(_SQLITE) else address
            for address in every
        ]

    def __contains__(self, name: str) -> bool:
        return name in self.names()

    def __getitem__(self, name: str) -> Dataset:
        if name not in self.names():
            raise unknown("data", name, self.names(), where="in the workspace")
        content = json.loads(self._description(name).read_text(encoding="utf-8"))
        for key in ("columns", "types", "notes", "averaged", "distinct", "missing"):
            content[key] = tuple(content.get(key, ()))
        return Dataset(**content)

    def path(self, name: str) -> Path:
        """The Parquet file."""
        return self._workspace.path("data", f"{self[name].name}.parquet")

    def frame(self, name: str, columns: list[str] | None = None) -> "pl.DataFrame":
        """The records, all columns or some."""
        import polars as pl

        for column in columns or ():
            if column not in self[name].columns:
                raise unknown("column", column, self[name].columns, where=f"in '{name}'")
        return pl.read_parquet(self.path(name), columns=columns)

    def head(self, name: str, count: int) -> "pl.DataFrame":
        """The first records."""
        import polars as pl

        return pl.scan_parquet(self.path(name)).head(count).collect()

    def add(
        self,
        frame: "pl.DataFrame",
        name: str,
        origin: str,
        notes: tuple[str, ...] = (),
        table: str | None = None,
        connection: str | None = None,
        sha256: str | None = None,
        file: str | None = None,
        address: str | None = None,
    ) -> Dataset:
        """Put a frame on the shelf under a free name like the one asked for; ``sha256`` is that of the file it came in."""
        from shoal.microdata.columns.roles import guess_roles

        if frame.width == 0:
            raise InputError(f"'{origin}' has no columns")
        guesses = guess_roles(frame)
        described = Dataset(
            name="",
            origin=origin,
            records=frame.height,
            columns=tuple(frame.columns),
            types=tuple(type_in_words(kind) for kind in frame.dtypes),
            roles={guess.column: guess.role for guess in guesses},
            reasons={guess.column: guess.reason for guess in guesses},
            averaged=tuple(guess.column for guess in guesses if guess.averaged),
            notes=notes,
            table=table,
            connection=connection,
            sha256=sha256 or records_fingerprint(frame),
            no_file=sha256 is None,
            file=file,
            address=address,
            distinct=tuple(_distinct(column) for column in frame.iter_columns()),
            missing=tuple(column.len() - _present(column).len() for column in frame.iter_columns()),
        )
        place = self._reserve(name)
        found = replace(described, name=place.stem)
        try:
            with atomically(place, force=True) as unfinished:
                frame.write_parquet(unfinished)
        except BaseException:
            place.unlink(missing_ok=True)
            raise
        self._write(found)
        return found

    def _reserve(self, name: str) -> Path:
        """The file of records under a free name; two workers that ask for the same at once get different ones."""
        while True:
            taken = [path.stem for path in self._workspace.shelf("data").glob("*.parquet")]
            place = self._workspace.path("data", f"{plain_name(name, taken)}.parquet")
            try:
                place.touch(mode=0o600, exist_ok=False)
            except FileExistsError:
                continue
            return place

    def tidy(self) -> None:
        """Remove records without a description, which a worker that was ended has left, and what was removed before."""
        self._workspace.empty_removed()
        described = set(self.names())
        for path in self._workspace.shelf("data").glob("*.parquet"):
            if path.stem not in described:
                path.unlink(missing_ok=True)

    def attach(self, name: str, ending: str, content: str) -> None:
        """Keep beside the records what they cannot hold: a general table as a whole."""
        with atomically(self._beside(name, ending), force=True) as unfinished:
            unfinished.write_text(content, encoding="utf-8")

    def attachment(self, name: str, ending: str) -> Path | None:
        """What is kept beside the records, if there is something of this ending."""
        if ending not in _ENDINGS:
            return None
        path = self._beside(self[name].name, ending)
        return path if path.exists() else None

    def set_roles(self, name: str, roles: Mapping[str, str]) -> Dataset:
        """Say what columns are, all of them or none."""
        found = self[name]
        for column, role in roles.items():
            if column not in found.columns:
                raise unknown("column", column, found.columns, where=f"in '{name}'")
            if role not in ROLES:
                raise unknown("role", role, ROLES)
        said = dict.fromkeys(roles, "somebody has said so")
        changed = replace(found, roles={**found.roles, **roles}, reasons={**found.reasons, **said})
        self._write(changed)
        return changed

    def set_aside(self, name: str) -> None:
        """Take data off the shelf so that it can be brought back until the workbench ends."""
        self[name]
        for path in self._files(name):
            if path.exists():
                path.replace(self._workspace.path("removed", path.name))

    def restore(self, name: str) -> None:
        """Bring back what was set aside."""
        gone = self._workspace.path("removed", f"{name}.json")
        if not gone.is_file():
            raise InputError(f"'{name}' cannot be brought back any more")
        if name in self:
            raise InputError(f"there is other data called '{name}' now; remove it first")
        # The description comes last: data are there when it is.
        for path in self._files(name)[::-1]:
            left = self._workspace.path("removed", path.name)
            if left.exists():
                left.replace(path)

    def remove(self, name: str) -> None:
        """Take data off the shelf, with its records."""
        self[name]
        for path in self._files(name):
            path.unlink(missing_ok=True)

    def _files(self, name: str) -> list[Path]:
        """All that there is of data, the description first: without it there is none."""
        beside = [self._beside(name, ending) for ending in _ENDINGS]
        return [self._description(name), self._workspace.path("data", f"{name}.parquet"), *beside]

    def _beside(self, name: str, ending: str) -> Path:
        if ending not in _ENDINGS:
            raise InputError(f"nothing ending in '{ending}' is kept beside data")
        return self._workspace.path("data", f"{name}.{ending}")

    def _description(self, name: str) -> Path:
        return self._workspace.path("data", f"{name}.json")

    def _write(self, dataset: Dataset) -> None:
        with atomically(self._description(dataset.name), force=True) as unfinished:
            unfinished.write_text(json.dumps(asdict(dataset), ensure_ascii=False), encoding="utf-8")


def _present(column: "pl.Series") -> "pl.Series":
    present = column.drop_nulls()
    return present.drop_nans() if present.dtype.is_float() else present


def _distinct(column: "pl.Series") -> int:
    """How many different values there are; of lists and the like nobody needs to know."""
    return 0 if column.dtype.is_nested() else _present(column).n_unique()


def type_in_words(kind: Any) -> str:
    """A Polars type as a user would call it.

    >>> import polars as pl
    >>> type_in_words(pl.Float64()), type_in_words(pl.String())
    ('number', 'text')
    """
    import polars as pl

    if kind.is_float():
        return "number"
    if kind.is_integer():
        return "whole number"
    if kind.is_decimal():
        return "decimal"
    if isinstance(kind, pl.Boolean):
        return "yes/no"
    if kind.is_temporal():
        return "date or time"
    if isinstance(kind, pl.String | pl.Categorical | pl.Enum):
        return "text"
    return str(kind).lower()
