"""Combinations of values counted by the database itself, so that K of a large table needs no record of it."""

from collections.abc import Sequence
from typing import Any

import polars as pl
import sqlalchemy as sa

from shoal.sources.address import TableAddress
from shoal.sources.data import Data
from shoal.sources.databases import catalogue, types
from shoal.sources.databases.connecting import connected
from shoal.sources.databases.failures import one_line
from shoal.sources.databases.reading import choose, framed, reflect, see_one_state, ways_to_select

# From so many records on an index is worth a word.
_LARGE = 100_000


def count_combinations(address: TableAddress, columns: Sequence[str]) -> Data:
    """Every combination of values of some columns, and in one more column, the last, how many records have it.

    Values are those that ``read_table`` reads. The database tells apart at least what differs in them: by bytes where a
    collation would take some texts for equal. So combinations that are equal may stand in several rows.
    """
    with connected(address.database) as connection, one_line(f"table '{address.table}' cannot be read"):
        see_one_state(connection)
        place = catalogue.find(connection, address.table)
        table = reflect(connection, place)
        chosen = choose(table, columns, address.table)
        selected = ways_to_select(connection, table, chosen)
        dialect = connection.dialect.name
        told = [_exactly(choice, column, dialect) for choice, column in zip(selected, chosen, strict=True)]
        statement = sa.select(
            *(shown.label(f"c{position}") for position, (shown, _) in enumerate(told)),
            sa.func.count().label(f"c{len(told)}"),
        )
        statement = statement.select_from(table).group_by(*(key for _, keys in told for key in keys))
        names = [str(column.name) for column in chosen]
        count = "records"
        while count in names:
            count = f"number of {count}"
        counted = types.Selected(sa.func.count(), pl.Int64())
        frame = framed(connection, statement, [*names, count], [*selected, counted])
        notes = _notes(connection, place, names, int(frame[count].sum()))
    return Data(frame, address, notes)


def _exactly(choice: types.Selected, column: sa.Column[Any], dialect: str) -> tuple[Any, list[Any]]:
    """What to select of a column, and by what to group so that no two values are taken for one."""
    value = choice.expression
    text = choice.dtype == pl.String()
    if dialect == "sqlite":
        raw = sa.type_coerce(column, sa.types.NullType())
        exact = sa.collate(raw, "BINARY") if text else raw
        # Only a column of mixed types is converted: 1 and 1.0 are equal, but two texts.
        return value, [exact, sa.func.typeof(raw)] if isinstance(value, sa.Cast) else [exact]
    if text and dialect == "postgresql":
        exact = sa.collate(value, "C")
        return exact, [exact]
    if text:
        # Collations of MariaDB may ignore case, accents and blanks at the end.
        return sa.func.min(value), [sa.func.sha2(value, 256)]
    return value, [value]


def _notes(
    connection: sa.Connection, table: catalogue.CatalogueTable, names: list[str], records: int
) -> tuple[str, ...]:
    if records < _LARGE or table.kind != "table" or _indexed(connection, table, set(names)):
        return ()
    listed = ", ".join(names)
    return (f"the database counted the records; an index on ({listed}) would spare it the whole table",)


def _indexed(connection: sa.Connection, table: catalogue.CatalogueTable, names: set[str]) -> bool:
    """Whether an index begins with these columns, in any order."""
    indexes = sa.inspect(connection).get_indexes(table.table, table.schema)
    every = [index["column_names"] for index in indexes] + [catalogue.primary_key(connection, table)]
    return any(set(columns[: len(names)]) == names for columns in every)
