"""Names as the database itself knows them. Nothing reaches a statement that was not found here or quoted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.errors import InputError, unknown
from shoal.sources.address import TableAddress
from shoal.sources.databases.connecting import connected

#: Beginning of the names of tables that a replacement needs for a moment.
OWN = "_shoal_"

_LONGEST = {"postgresql": 63, "mysql": 64, "mariadb": 64}


@dataclass(frozen=True)
class CatalogueTable:
    """A table, found in the catalogue or to be made; ``kind`` is ``table``, ``view`` or ``new``."""

    table: str
    schema: str | None
    kind: str


def find(connection: sa.Connection, name: str) -> CatalogueTable:
    """An existing table or view; ``InputError`` with the closest name otherwise."""
    place = locate(connection, name)
    if place.kind == "new":
        raise unknown("table", name, visible(connection, place.schema), where="in the database")
    return place


def locate(connection: sa.Connection, name: str) -> CatalogueTable:
    """Where a table is or would be: a name with a dot that is no table as it stands has a schema before the dot."""
    inspector = sa.inspect(connection)
    place = _look_up(inspector, name, None)
    if place.kind == "new" and "." in name:
        schema, _, table = name.partition(".")
        schemas = inspector.get_schema_names()
        if schema not in schemas:
            raise unknown("schema", schema, schemas, where="in the database")
        place = _look_up(inspector, table, schema)
    if place.kind == "new":
        _check_new(connection, "table", place.table)
    return place


def kind_of(address: TableAddress) -> str:
    """Whether a place of a database is a table, a view or new."""
    with connected(address.database) as connection:
        return locate(connection, address.table).kind


def visible(connection: sa.Connection, schema: str | None = None) -> list[str]:
    """Tables and views, without what an interrupted replacement left."""
    inspector = sa.inspect(connection)
    names = sorted(inspector.get_table_names(schema)) + sorted(_views(inspector, schema))
    return [name for name in names if not name.startswith(OWN)]


def describe(connection: sa.Connection, table: CatalogueTable) -> list[Any]:
    """The columns of an existing table, as SQLAlchemy describes them."""
    described: list[Any] = list(sa.inspect(connection).get_columns(table.table, table.schema))
    return [column | {"name": _unescaped(connection, column["name"])} for column in described]


def primary_key(connection: sa.Connection, table: CatalogueTable) -> list[str]:
    """The names of the columns of the primary key, if there is one."""
    key = sa.inspect(connection).get_pk_constraint(table.table, table.schema)
    return [_unescaped(connection, name) for name in key["constrained_columns"]]


def check_columns(connection: sa.Connection, names: Sequence[str]) -> None:
    """Refuse names of columns that the database would cut, change or confuse."""
    seen: dict[str, str] = {}
    for name in names:
        _check_new(connection, "column", name)
        key = name if connection.dialect.name == "postgresql" else name.lower()
        if key in seen:
            raise InputError(f"the database does not tell columns '{seen[key]}' and '{name}' apart")
        seen[key] = name


def make_table(table: CatalogueTable, columns: Iterable[tuple[str, Any]], **options: Any) -> sa.Table:
    """A table for statements; all its names get quoted."""
    schema = quoted_name(table.schema, quote=True) if table.schema else None
    return sa.Table(
        quoted_name(table.table, quote=True),
        sa.MetaData(),
        *(sa.Column(quoted_name(name, quote=True), kind, nullable=True) for name, kind in columns),
        schema=schema,
        **options,
    )


def referring(connection: sa.Connection, table: CatalogueTable) -> list[str]:
    """Other tables whose foreign keys point to this one."""
    keys = sa.inspect(connection).get_multi_foreign_keys(schema=table.schema)
    return sorted(
        {
            name
            for (_, name), foreign in keys.items()
            if name != table.table and any(key["referred_table"] == table.table for key in foreign)
        }
    )


def _unescaped(connection: sa.Connection, name: str) -> str:
    """Of MariaDB, SQLAlchemy gives the names as they stand in a statement, where a backtick is doubled."""
    return name.replace("``", "`") if connection.dialect.name in ("mysql", "mariadb") else name


def _look_up(inspector: sa.Inspector, name: str, schema: str | None) -> CatalogueTable:
    for kind, names in (("table", inspector.get_table_names(schema)), ("view", _views(inspector, schema))):
        if name in names:
            return CatalogueTable(name, schema, kind)
        if inspector.dialect.name == "sqlite":
            for known in names:
                if known.lower() == name.lower():
                    return CatalogueTable(known, schema, kind)
    return CatalogueTable(name, schema, "new")


def _views(inspector: sa.Inspector, schema: str | None) -> list[str]:
    views = list(inspector.get_view_names(schema))
    if inspector.dialect.name == "postgresql":
        views += inspector.get_materialized_view_names(schema)
    return views


def _check_new(connection: sa.Connection, kind: str, name: str) -> None:
    dialect = connection.dialect.name
    if not name or "\0" in name:
        raise InputError(f"a {kind} needs a name without NUL characters")
    longest = _LONGEST.get(dialect)
    length = len(name.encode()) if dialect == "postgresql" else len(name)
    if longest is not None and length > longest:
        raise InputError(
            f"the name of {kind} '{name[:20]}…' is longer than the {longest} that {dialect} allows"
        )
    if dialect == "sqlite" and kind == "table" and name.lower().startswith("sqlite_"):
        raise InputError(f"table '{name}': SQLite keeps names that begin with sqlite_ for itself")
    if dialect in ("mysql", "mariadb") and (
        name != name.rstrip() or any(ord(sign) > 0xFFFF for sign in name)
    ):
        raise InputError(
            f"{kind} '{name}': MariaDB allows no space at the end of a name and no rare characters in it"
        )
    if kind == "table" and name.startswith(OWN):
        raise InputError(f"table '{name}': names that begin with {OWN} are kept for replacements")
