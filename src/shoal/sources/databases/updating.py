"""Some columns of an existing table written back, all of them or none; the rest of the table stays as it is."""

import secrets
from collections.abc import Sequence
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from shoal.errors import InputError, unknown
from shoal.exact_names import only
from shoal.sources.data import chosen
from shoal.sources.databases import catalogue, types
from shoal.sources.databases.catalogue import CatalogueTable
from shoal.sources.databases.loading import load
from shoal.sources.databases.reading import reflect

#: Bytes that an index of InnoDB can hold.
_INDEX = 3072


def update(connection: sa.Connection, name: str, keys: list[str], frame: pl.DataFrame) -> None:
    """Set the columns of ``frame`` (all but ``keys``) in the records with the same keys; commits nothing.

    Every record of the frame must have exactly one counterpart; indexes, keys and all other columns are untouched,
    and records of the table that are not in the frame keep what they have.
    """
    _check_frame(frame, keys)
    _check_engine(connection, found := catalogue.find(connection, name))
    table = reflect(connection, found)
    known = {str(column.name): column for column in table.columns}
    chosen(frame.columns, known, f"in table '{name}'")
    _check_types(frame, keys, known)
    news = _news(connection, found, frame, keys, known)
    match = sa.and_(*(known[key] == news.columns[f"k{i}"] for i, key in enumerate(keys)))
    _check_counterparts(connection, table, news, match, frame.height, name)
    rest = [column for column in frame.columns if column not in keys]
    values = {known[column]: news.columns[f"v{i}"] for i, column in enumerate(rest)}
    connection.execute(table.update().values(values).where(match))


def _check_frame(frame: pl.DataFrame, keys: list[str]) -> None:
    for name in keys:
        if name not in frame.columns:
            raise unknown("key column", name, frame.columns, where="in the data")
    if len(keys) == frame.width or not keys:
        raise InputError("an update needs at least one key column and one other column")
    if only(frame, keys).null_count().sum_horizontal().item():
        raise InputError("the key of some record is missing")
    if only(frame, keys).is_duplicated().any():
        raise InputError("several records have the same key")


def _check_engine(connection: sa.Connection, target: CatalogueTable) -> None:
    if target.kind != "table":
        raise InputError(f"'{target.table}' is a view and cannot be updated")
    if connection.dialect.name in ("mysql", "mariadb"):
        options = sa.inspect(connection).get_table_options(target.table, target.schema)
        engine = str(options.get("mysql_engine") or options.get("mariadb_engine") or "")
        if engine.lower() != "innodb":
            raise InputError(
                f"table '{target.table}' is of engine {engine}, which cannot undo a broken update"
            )


def _check_types(frame: pl.DataFrame, keys: list[str], known: dict[str, sa.Column[Any]]) -> None:
    """Refuse fractions for a column of whole numbers: some databases would round them without a word."""
    for name in frame.columns:
        if (
            name not in keys
            and isinstance(known[name].type, sa.Integer)
            and not frame.schema[name].is_integer()
        ):
            raise InputError(f"column '{name}' of the table holds whole numbers, not {frame.schema[name]}")


def _news(
    connection: sa.Connection,
    target: CatalogueTable,
    frame: pl.DataFrame,
    keys: list[str],
    known: dict[str, sa.Column[Any]],
) -> sa.Table:
    """The new values in a temporary table, indexed by the key if it can be: then one statement updates all."""
    dialect = connection.dialect.name
    maria = dialect in ("mysql", "mariadb")
    rest = [name for name in frame.columns if name not in keys]
    short = {f"k{i}": name for i, name in enumerate(keys)} | {f"v{i}": name for i, name in enumerate(rest)}
    kinds = {own: _kind(known[name].type, frame[name], dialect) for own, name in short.items()}
    if maria:
        collations = _collations(connection, target)
        kinds |= {
            f"k{i}": _text_key(known[key].type, frame[key], collations.get(key)) for i, key in enumerate(keys)
        }
    indexed = not maria or not _too_long([kinds[f"k{i}"] for i in range(len(keys))])
    news = sa.Table(
        # Several updates of one transaction need a name each; the tables vanish with the connection.
        f"{catalogue.OWN}update_{secrets.token_hex(6)}",
        sa.MetaData(),
        sa.Column("number", sa.BigInteger),
        *(
            sa.Column(own, kind, primary_key=indexed and own.startswith("k"), autoincrement=False)
            for own, kind in kinds.items()
        ),
        prefixes=["TEMPORARY"],
        mysql_charset="utf8mb4",
    )
    news.create(connection)
    records = frame.select(types.storable(frame[name], dialect).alias(own) for own, name in short.items())
    load(connection, news, records.with_row_index("number"))
    return news


def _kind(kind: Any, values: pl.Series, dialect: str) -> Any:
    """The type of the table's own column, so that values are compared as they are there."""
    unknown_type = dialect == "sqlite" or isinstance(kind, sa.types.NullType)
    return types.sql_type(values, dialect) if unknown_type else kind


def _text_key(kind: Any, values: pl.Series, collation: str | None) -> Any:
    """A text key of MariaDB: of the same collation, or it cannot be compared, and short, or it can have no index."""
    if collation is None or values.dtype != pl.String:
        return kind
    longest: Any = values.str.len_chars().max() or 1
    return (
        mysql.VARCHAR(longest, collation=collation)
        if 4 * longest <= _INDEX
        else mysql.LONGTEXT(collation=collation)
    )


def _collations(connection: sa.Connection, target: CatalogueTable) -> dict[str, str]:
    names: list[sa.ColumnClause[Any]] = [
        sa.column(name) for name in ("table_schema", "table_name", "column_name", "collation_name")
    ]
    columns = sa.table("columns", *names, schema="information_schema")
    schema = sa.func.database() if target.schema is None else target.schema
    statement = sa.select(names[2], names[3]).select_from(columns)
    rows = connection.execute(
        statement.where(names[0] == schema, names[1] == target.table, names[3].is_not(None))
    )
    return {str(name): str(collation) for name, collation in rows}


def _too_long(kinds: Sequence[Any]) -> bool:
    texts = [kind for kind in kinds if isinstance(kind, sa.String | sa.LargeBinary)]
    lengths = [kind.length for kind in texts]
    return None in lengths or 4 * sum(length or 0 for length in lengths) > _INDEX


def _check_counterparts(
    connection: sa.Connection, table: sa.Table, news: sa.Table, match: Any, height: int, name: str
) -> None:
    counts = sa.select(sa.func.count(), sa.func.count(sa.distinct(news.columns["number"])))
    pairs, distinct = connection.execute(counts.select_from(news.join(table, match))).one()
    if distinct < height:
        raise InputError(f"{height - distinct} of {height} keys are not in table '{name}'")
    if pairs > height:
        raise InputError(f"{pairs - height} records of table '{name}' share their key with another")
