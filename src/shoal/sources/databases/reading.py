"""Tables read in batches into a frame."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import polars as pl
import sqlalchemy as sa

from shoal.errors import InputError
from shoal.sources.address import Database, TableAddress
from shoal.sources.data import Data, chosen
from shoal.sources.databases import catalogue, dynamic, types
from shoal.sources.databases.connecting import connected
from shoal.sources.databases.failures import one_line

_BATCH = 20_000


def read_table(address: TableAddress, *, columns: Sequence[str] | None = None) -> Data:
    """Read a table or a view, its records in the order of the primary key if it has one."""
    with connected(address.database) as connection, one_line(f"table '{address.table}' cannot be read"):
        see_one_state(connection)
        place = catalogue.find(connection, address.table)
        table = reflect(connection, place)
        frame = _fetch(
            connection, table, choose(table, columns, address.table), _order(connection, place, table)
        )
    return Data(frame, address)


def see_one_state(connection: sa.Connection) -> None:
    """Let all statements see the same state of a table."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def fetch(connection: sa.Connection, source: catalogue.CatalogueTable) -> pl.DataFrame:
    """A whole table as the transaction of the connection sees it."""
    table = reflect(connection, source)
    return _fetch(connection, table, list(table.columns), _order(connection, source, table))


def table_names(database: Database) -> tuple[str, ...]:
    """The tables and views of a database."""
    with connected(database) as connection, one_line(f"the tables of {database} cannot be listed"):
        return tuple(catalogue.visible(connection))


def reflect(connection: sa.Connection, source: catalogue.CatalogueTable) -> sa.Table:
    """A table with the names and types that the catalogue gives its columns."""
    described = catalogue.describe(connection, source)
    return catalogue.make_table(source, ((column["name"], column["type"]) for column in described))


def choose(table: sa.Table, columns: Sequence[str] | None, name: str) -> list[sa.Column[Any]]:
    """The columns that were asked for, or all; ``name`` is what the table is called."""
    known = {str(column.name): column for column in table.columns}
    return [known[column] for column in chosen(columns, known, f"in table '{name}'")]


def _order(
    connection: sa.Connection, source: catalogue.CatalogueTable, table: sa.Table
) -> list[sa.Column[Any]]:
    if source.kind != "table":
        return []
    key = catalogue.primary_key(connection, source)
    return [column for name in key for column in table.columns if column.name == name]


def _fetch(
    connection: sa.Connection, table: sa.Table, columns: list[sa.Column[Any]], order: list[sa.Column[Any]]
) -> pl.DataFrame:
    if not columns:
        return pl.DataFrame()
    selected = ways_to_select(connection, table, columns)
    labelled = [choice.expression.label(f"c{position}") for position, choice in enumerate(selected)]
    statement = sa.select(*labelled).select_from(table).order_by(*order)
    return framed(connection, statement, [str(column.name) for column in columns], selected)


def ways_to_select(
    connection: sa.Connection, table: sa.Table, columns: list[sa.Column[Any]]
) -> list[types.Selected]:
    """How to select each column so that nothing of it is lost, and what it becomes."""
    dialect = connection.dialect.name
    if dialect == "sqlite":
        return dynamic.select(connection, table, columns)
    return [
        _unbounded(connection, column) if _is_unbounded(column) else types.select(column, dialect)
        for column in columns
    ]


def framed(
    connection: sa.Connection, statement: sa.Select[Any], names: list[str], selected: list[types.Selected]
) -> pl.DataFrame:
    """What a statement selects, as a frame with these names."""
    parts = [
        [_series(name, values, choice.dtype) for name, values, choice in zip(names, batch, selected)]
        for batch in _batches(connection, statement)
    ]
    if not parts:
        parts = [[_series(name, [], choice.dtype) for name, choice in zip(names, selected)]]
    whole = [pl.concat(series) if len(series) > 1 else series[0] for series in map(list, zip(*parts))]
    return pl.DataFrame([choice.finish(values) for choice, values in zip(selected, whole)])


def _batches(connection: sa.Connection, statement: sa.Select[Any]) -> Iterator[list[list[Any]]]:
    """The columns of one batch of records after the other, so that only one is held as Python objects."""
    with connection.execution_options(yield_per=_BATCH).execute(statement) as result:
        for rows in result.partitions():
            yield [list(column) for column in zip(*rows)]


def _series(name: str, values: list[Any], dtype: pl.DataType) -> pl.Series:
    try:
        if isinstance(dtype, pl.Float64) and any(isinstance(value, Decimal) for value in values):
            values = [None if value is None else float(value) for value in values]
        return pl.Series(name, values, dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise InputError(f"column '{name}' holds values that its type ({dtype}) does not allow") from None


def _is_unbounded(column: sa.Column[Any]) -> bool:
    kind = column.type
    return isinstance(kind, sa.Numeric) and not isinstance(kind, sa.Float) and kind.precision is None


def _unbounded(connection: sa.Connection, column: sa.Column[Any]) -> types.Selected:
    """Decimals without declared digits (PostgreSQL): as many as the values have, floats if that is too many."""
    digits = sa.func.length(
        sa.func.replace(sa.cast(sa.func.abs(sa.func.trunc(column)), sa.Text), "NaN", "0" * 40)
    )
    statement = sa.select(sa.func.max(sa.func.scale(column)), sa.func.max(digits)).select_from(column.table)
    scale, whole = connection.execute(statement).one()
    scale, whole = scale or 0, whole or 1
    if scale + whole > 38:
        return types.Selected(sa.cast(column, sa.Double), pl.Float64())
    return types.Selected(column, pl.Decimal(38, scale))
