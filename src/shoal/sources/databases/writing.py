"""Tables written whole or not at all.

PostgreSQL and SQLite undo new and dropped tables with the transaction, so one transaction does it all; readers go on
seeing the old rows until it ends. MariaDB and MySQL commit at every such statement: there the records go into shadow
tables, and a single RENAME, which the server does as a whole, puts them in place of the old ones.
"""

import hashlib
import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from shoal.errors import InputError, parameter
from shoal.sources.address import Database, TableAddress, parse
from shoal.sources.databases import catalogue, types
from shoal.sources.databases.catalogue import CatalogueTable
from shoal.sources.databases.connecting import connected
from shoal.sources.databases.failures import one_line
from shoal.sources.databases.loading import load
from shoal.sources.databases.reading import fetch
from shoal.sources.databases.updating import update

#: How long to wait for another replacement of the same table.
LOCK_SECONDS = 10


class TableWriter:
    """Tables of one database that are written together: nobody sees any of them before ``commit``.

    Leaving the block without it undoes everything. On MariaDB do not update columns and replace tables in one block:
    making a table ends the transaction that the update is part of. A file of SQLite that is made here is readable by its
    owner alone if what goes into it is ``internal``; one that exists keeps its rights.
    """

    def __init__(self, database: Database, *, internal: bool = False) -> None:
        self._database = database
        self._internal = internal
        self._stack = ExitStack()
        self._shadows: list[_Shadow] = []
        self._read_from: dict[str, CatalogueTable] = {}
        self._made = database.kind == "sqlite" and not Path(database.database).exists()

    def __enter__(self) -> "TableWriter":
        try:
            if self._made and self._internal:
                with suppress(OSError):  # then connecting says what is wrong
                    os.close(os.open(self._database.database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._connection = self._stack.enter_context(connected(self._database, writing=True))
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def write(self, frame: pl.DataFrame, name: str, *, force: bool = False) -> None:
        """Write a table; an existing one is replaced only with ``force``.

        If it has the same columns, its keys, indexes and grants stay; else it is made anew.
        """
        with one_line(f"table '{name}' cannot be written"):
            self._read_from[name] = _write(self._connection, frame, name, force=force, shadows=self._shadows)

    def update(self, frame: pl.DataFrame, name: str, keys: list[str]) -> None:
        """Set the columns of ``frame`` in the records of an existing table that have the same keys."""
        with one_line(f"table '{name}' cannot be updated"):
            update(self._connection, name, keys, frame)

    def read(self, name: str) -> pl.DataFrame:
        """A table that was written here, as it will be."""
        with one_line(f"table '{name}' cannot be read"):
            return fetch(self._connection, self._read_from[name])

    def commit(self) -> None:
        """Let everybody see all of it, at once."""
        with one_line(f"{self._database} cannot be written"):
            self._connection.commit()
            if self._shadows:
                moves = ", ".join(shadow.moves() for shadow in self._shadows)
                self._connection.exec_driver_sql(f"RENAME TABLE {moves}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After a success these are the old tables, after a failure the unfinished new ones. If even that fails,
        # nothing has changed about how the writing went, and the next one clears up.
        with suppress(SQLAlchemyError):
            for shadow in self._shadows:
                shadow.remove(self._connection)
        self._stack.close()
        # SQLite made the file before the first record; what is empty was made for nothing.
        with suppress(OSError):
            if self._made and not Path(self._database.database).stat().st_size:
                Path(self._database.database).unlink()


def write_table(frame: pl.DataFrame, address: TableAddress, *, force: bool = False) -> None:
    """Write one table, whole or not at all."""
    with TableWriter(address.database) as writer:
        writer.write(frame, address.table, force=force)
        writer.commit()


def update_columns(
    address: "str | PathLike[str] | TableAddress", key: str | Sequence[str], frame: pl.DataFrame
) -> None:
    """Set the columns of ``frame`` (all but ``key``) in the records of the table that have the same key.

    Every record of the frame must have exactly one counterpart; indexes, keys and all other columns are untouched,
    and records of the table that are not in the frame keep what they have.
    """
    place = parse(address)
    if not isinstance(place, TableAddress):
        raise InputError(f"'{place}' is a file; columns are updated in database tables only")
    with TableWriter(place.database) as writer:
        writer.update(frame, place.table, [key] if isinstance(key, str) else list(key))
        writer.commit()


def check_table(address: TableAddress, force: bool) -> None:
    """Refuse a table that cannot or must not be written, before any work is done."""
    database = address.database
    if database.kind == "sqlite" and not Path(database.database).exists():
        if not Path(database.database).parent.is_dir():
            raise InputError(f"folder '{Path(database.database).parent}' does not exist")
        return
    with connected(database) as connection, one_line(f"table '{address.table}' cannot be written"):
        _check_target(connection, catalogue.locate(connection, address.table), force=force)


def _write(
    connection: sa.Connection, frame: pl.DataFrame, name: str, *, force: bool, shadows: "list[_Shadow]"
) -> CatalogueTable:
    """Load the records where nobody sees them yet, and say where that is."""
    dialect = connection.dialect.name
    place = catalogue.locate(connection, name)
    _check_target(connection, place, force=force)
    catalogue.check_columns(connection, frame.columns)
    columns = [(column, types.sql_type(frame[column], dialect)) for column in frame.columns]
    records = frame.select(types.storable(frame[column], dialect) for column in frame.columns)
    keep = place.kind == "table" and _same_shape(connection, place, records, dict(columns))
    if place.kind == "table" and not (keep and dialect in ("postgresql", "sqlite")):
        _refuse_losing_keys(connection, place)
    if dialect in ("mysql", "mariadb"):
        return _load_shadow(connection, place, columns, records, keep=keep, shadows=shadows)
    _replace_in_transaction(connection, place, columns, records, keep=keep)
    return place


def _check_target(connection: sa.Connection, target: CatalogueTable, *, force: bool) -> None:
    if target.kind == "view":
        raise InputError(f"'{target.table}' is a view and cannot be written to")
    if target.kind == "table" and not force:
        raise InputError(f"table '{target.table}' exists already; {parameter('force')} replaces it")
    if target.kind == "table" and (others := catalogue.referring(connection, target)):
        raise InputError(
            f"table '{target.table}' is referred to by '{others[0]}'; write to a new table instead"
        )


def _refuse_losing_keys(connection: sa.Connection, target: CatalogueTable) -> None:
    if sa.inspect(connection).get_foreign_keys(target.table, target.schema):
        raise InputError(
            f"table '{target.table}' has foreign keys that would get lost; write to a new table instead"
        )


def _same_shape(
    connection: sa.Connection, target: CatalogueTable, records: pl.DataFrame, kinds: dict[str, Any]
) -> bool:
    """Whether the old table can take the new records as it is."""
    dialect = connection.dialect.name
    described = catalogue.describe(connection, target)
    if [column["name"] for column in described] != records.columns:
        return False
    for column in described:
        values, old = records[column["name"]], column["type"]
        identity = column.get("identity")
        if column.get("computed") or (identity and identity.get("always")):
            return False
        if not column["nullable"] and values.null_count():
            return False
        if values.dtype == pl.String:
            length = getattr(old, "length", None)
            longest: Any = values.str.len_bytes().max() or 0
            if types.polars_type(old, dialect) != pl.String or (length is not None and longest > length):
                return False
        elif not _same_type(old, kinds[column["name"]], dialect):
            return False
    return True


def _same_type(old: Any, new: Any, dialect: str) -> bool:
    if isinstance(new, sa.Boolean) and dialect in ("mysql", "mariadb"):
        return getattr(old, "display_width", None) == 1
    found = types.polars_type(old, dialect)
    return found is not None and found == types.polars_type(new, dialect)


def _replace_in_transaction(
    connection: sa.Connection,
    target: CatalogueTable,
    columns: list[tuple[str, Any]],
    records: pl.DataFrame,
    *,
    keep: bool,
) -> None:
    table = catalogue.make_table(target, columns)
    if keep:
        _empty(connection, table)
    else:
        if target.kind == "table":
            table.drop(connection)
        table.create(connection)
    load(connection, table, records)


def _empty(connection: sa.Connection, table: sa.Table) -> None:
    """Delete all records. TRUNCATE would be quicker, but readers who began before would find the table empty."""
    if connection.dialect.name == "postgresql":
        name = connection.dialect.identifier_preparer.format_table(table)
        # Readers go on; another writer waits, or the records of both would end up in the table.
        connection.exec_driver_sql(f"LOCK TABLE {name} IN SHARE ROW EXCLUSIVE MODE")
    connection.execute(table.delete())


@dataclass(frozen=True)
class _Shadow:
    """The names, quoted, of a table to be replaced, of its shadow and of the place where the old one goes."""

    table: str
    shadow: str
    backup: str
    replaces: bool

    def moves(self) -> str:
        if self.replaces:
            return f"{self.table} TO {self.backup}, {self.shadow} TO {self.table}"
        return f"{self.shadow} TO {self.table}"

    def remove(self, connection: sa.Connection) -> None:
        for name in (self.backup, self.shadow):
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")


def _load_shadow(
    connection: sa.Connection,
    target: CatalogueTable,
    columns: list[tuple[str, Any]],
    records: pl.DataFrame,
    *,
    keep: bool,
    shadows: list[_Shadow],
) -> CatalogueTable:
    digest = hashlib.sha256(target.table.encode()).hexdigest()[:16]
    new = CatalogueTable(f"{catalogue.OWN}new_{digest}", target.schema, "table")
    old = CatalogueTable(f"{catalogue.OWN}old_{digest}", target.schema, "table")
    quote = connection.dialect.identifier_preparer.format_table
    table_name, new_name, old_name = (quote(catalogue.make_table(each, ())) for each in (target, new, old))
    shadow = _Shadow(table_name, new_name, old_name, replaces=target.kind == "table")
    # A lock tells a replacement under way from the leftovers of one that was killed.
    lock = f"shoal {digest} {target.schema or ''}"[:64]
    if not connection.execute(sa.select(sa.func.get_lock(lock, LOCK_SECONDS))).scalar():
        raise InputError(f"table '{target.table}' is being replaced by another process")
    shadow.remove(connection)
    shadows.append(shadow)
    table = catalogue.make_table(new, columns, mysql_engine="InnoDB", mysql_charset="utf8mb4")
    if keep:
        connection.exec_driver_sql(f"CREATE TABLE {shadow.shadow} LIKE {shadow.table}")
    else:
        table.create(connection)
    load(connection, table, records)
    return new
