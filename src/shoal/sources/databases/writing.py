"""Tables written whole or not at all.

PostgreSQL and SQLite undo new and dropped tables with the transaction, so one transaction does it all. MariaDB and
MySQL commit at every such statement: there the records go into a shadow table, and a single RENAME, which the server
does as a whole, puts it in place of the old one.
"""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from shoal.errors import InputError
from shoal.sources.address import TableAddress
from shoal.sources.databases import catalogue, types
from shoal.sources.databases.catalogue import Place
from shoal.sources.databases.connecting import connected
from shoal.sources.databases.failures import one_line

_BATCH = 10_000
#: How long to wait for another replacement of the same table.
LOCK_SECONDS = 10


def write_table(frame: pl.DataFrame, address: TableAddress, *, force: bool = False) -> None:
    """Write a table; an existing one is replaced only with ``force``.

    If it has the same columns, its keys, indexes and grants stay; else it is made anew.
    """
    database = address.database
    made = database.kind == "sqlite" and not Path(database.database).exists()
    try:
        doing = f"table '{address.table}' cannot be written"
        with connected(database, writing=True) as connection, one_line(doing):
            _write(connection, frame, address.table, force=force)
    except BaseException:
        # SQLite made the file before the first record; what is empty was made for nothing.
        with suppress(OSError):
            if made and not Path(database.database).stat().st_size:
                Path(database.database).unlink()
        raise


def check_table(address: TableAddress, force: bool) -> None:
    """Refuse a table that cannot or must not be written, before any work is done."""
    database = address.database
    if database.kind == "sqlite" and not Path(database.database).exists():
        if not Path(database.database).parent.is_dir():
            raise InputError(f"folder '{Path(database.database).parent}' does not exist")
        return
    with connected(database) as connection, one_line(f"table '{address.table}' cannot be written"):
        _check_place(connection, catalogue.place_of(connection, address.table), force=force)


def _write(connection: sa.Connection, frame: pl.DataFrame, name: str, *, force: bool) -> None:
    dialect = connection.dialect.name
    place = catalogue.place_of(connection, name)
    _check_place(connection, place, force=force)
    catalogue.check_columns(connection, frame.columns)
    columns = [(column, types.sql_type(frame[column], dialect)) for column in frame.columns]
    records = frame.select(types.storable(frame[column], dialect) for column in frame.columns)
    keep = place.kind == "table" and _same_shape(connection, place, records, dict(columns))
    if place.kind == "table" and not (keep and dialect in ("postgresql", "sqlite")):
        _refuse_losing_keys(connection, place)
    if dialect in ("mysql", "mariadb"):
        _replace_by_shadow(connection, place, columns, records, keep=keep)
    else:
        _replace_in_transaction(connection, place, columns, records, keep=keep)


def _check_place(connection: sa.Connection, place: Place, *, force: bool) -> None:
    if place.kind == "view":
        raise InputError(f"'{place.table}' is a view and cannot be written to")
    if place.kind == "table" and not force:
        raise InputError(f"table '{place.table}' exists already; --force replaces it")
    if place.kind == "table" and (others := catalogue.referring(connection, place)):
        raise InputError(
            f"table '{place.table}' is referred to by '{others[0]}'; write to a new table instead"
        )


def _refuse_losing_keys(connection: sa.Connection, place: Place) -> None:
    if sa.inspect(connection).get_foreign_keys(place.table, place.schema):
        raise InputError(
            f"table '{place.table}' has foreign keys that would get lost; write to a new table instead"
        )


def _same_shape(
    connection: sa.Connection, place: Place, records: pl.DataFrame, kinds: dict[str, Any]
) -> bool:
    """Whether the old table can take the new records as it is."""
    dialect = connection.dialect.name
    described = catalogue.describe(connection, place)
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
    place: Place,
    columns: list[tuple[str, Any]],
    records: pl.DataFrame,
    *,
    keep: bool,
) -> None:
    table = catalogue.make_table(place, columns)
    if keep:
        _empty(connection, table)
    else:
        if place.kind == "table":
            table.drop(connection)
        table.create(connection)
    load(connection, table, records)
    connection.commit()


def _empty(connection: sa.Connection, table: sa.Table) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"TRUNCATE {connection.dialect.identifier_preparer.format_table(table)}")
    else:
        connection.execute(table.delete())


def _replace_by_shadow(
    connection: sa.Connection,
    place: Place,
    columns: list[tuple[str, Any]],
    records: pl.DataFrame,
    *,
    keep: bool,
) -> None:
    digest = hashlib.sha256(place.table.encode()).hexdigest()[:16]
    shadow = Place(f"{catalogue.OWN}new_{digest}", place.schema, "new")
    backup = Place(f"{catalogue.OWN}old_{digest}", place.schema, "new")
    options = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4"}
    quoted = {
        each: connection.dialect.identifier_preparer.format_table(catalogue.make_table(each, ()))
        for each in (place, shadow, backup)
    }
    # A lock tells a replacement under way from the leftovers of one that was killed.
    lock = f"shoal {digest} {place.schema or ''}"[:64]
    if not connection.execute(sa.select(sa.func.get_lock(lock, LOCK_SECONDS))).scalar():
        raise InputError(f"table '{place.table}' is being replaced by another process")
    for leftover in (shadow, backup):
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {quoted[leftover]}")
    table = catalogue.make_table(shadow, columns, **options)
    try:
        if keep:
            connection.exec_driver_sql(f"CREATE TABLE {quoted[shadow]} LIKE {quoted[place]}")
        else:
            table.create(connection)
        load(connection, table, records)
        connection.commit()
        if place.kind == "table":
            connection.exec_driver_sql(
                f"RENAME TABLE {quoted[place]} TO {quoted[backup]}, {quoted[shadow]} TO {quoted[place]}"
            )
        else:
            connection.exec_driver_sql(f"RENAME TABLE {quoted[shadow]} TO {quoted[place]}")
    finally:
        # After a success this is the old table, after a failure the unfinished new one. If even that fails, nothing
        # has changed about how the writing went, and the next one clears up.
        with suppress(SQLAlchemyError):
            for leftover in (backup, shadow):
                connection.exec_driver_sql(f"DROP TABLE IF EXISTS {quoted[leftover]}")


def load(connection: sa.Connection, table: sa.Table, records: pl.DataFrame) -> None:
    """Put records into a table, batch by batch, in the transaction of the connection."""
    if connection.dialect.name == "postgresql":
        _copy(connection, table, records)
        return
    # Parameters get names of our own: those of columns may hold any character.
    parameters = [f"p{position}" for position in range(records.width)]
    statement = table.insert().values(
        {column: sa.bindparam(name) for column, name in zip(table.columns, parameters)}
    )
    for batch in records.iter_slices(_BATCH):
        if batch.height:
            connection.execute(statement, batch.rename(dict(zip(batch.columns, parameters))).to_dicts())


def _copy(connection: sa.Connection, table: sa.Table, records: pl.DataFrame) -> None:
    """COPY is ten times as quick as INSERT; psycopg quotes its names and converts its values."""
    from psycopg import sql

    path = [str(part) for part in (table.schema, table.name) if part is not None]
    columns = sql.SQL(", ").join(sql.Identifier(str(column.name)) for column in table.columns)
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(*path), columns)
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        for record in _rows(records):
            copy.write_row(record)


def _rows(records: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    for batch in records.iter_slices(_BATCH):
        yield from batch.iter_rows()
