"""Columns of SQLite, where every value has a type of its own and the declared one is a hint."""

from typing import Any

import polars as pl
import sqlalchemy as sa

from shoal.errors import InputError
from shoal.sources.databases.types import Selected, parsed, polars_type

_CLASSES = ("integer", "real", "text", "blob")
_MOMENTS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f")


def select(connection: sa.Connection, table: sa.FromClause, columns: list[sa.Column[Any]]) -> list[Selected]:
    """How to select each column, after counting which types its values really have."""
    counts = [
        sa.func.sum(sa.case((sa.func.typeof(column) == name, 1), else_=0))
        for column in columns
        for name in _CLASSES
    ]
    found = [bool(count) for count in connection.execute(sa.select(*counts).select_from(table)).one()]
    width = len(_CLASSES)
    return [
        _select(column, {name for name, there in zip(_CLASSES, found[width * i : width * (i + 1)]) if there})
        for i, column in enumerate(columns)
    ]


def _select(column: sa.Column[Any], classes: set[str]) -> Selected:
    declared = polars_type(column.type, "sqlite") or pl.String()
    raw = sa.type_coerce(column, sa.types.NullType())
    if not classes:
        return Selected(raw, pl.Null(), lambda values: values.cast(declared))
    if classes == {"blob"}:
        return Selected(raw, pl.Binary())
    if "blob" in classes:
        raise InputError(f"column '{column.name}' mixes binary and other values")
    if classes == {"text"}:
        return Selected(raw, pl.String(), _parser(declared))
    if "text" in classes:
        return Selected(sa.cast(raw, sa.Text), pl.String())
    if isinstance(declared, pl.Decimal):
        return Selected(sa.cast(raw, sa.REAL), pl.Float64(), lambda values: values.cast(declared))
    if classes == {"integer"}:
        if declared == pl.Boolean:
            return Selected(raw, pl.Int64(), _boolean_if_binary)
        return Selected(
            raw, pl.Int64(), lambda values: values.cast(pl.Float64) if declared.is_float() else values
        )
    return Selected(sa.cast(raw, sa.REAL), pl.Float64())


def _parser(declared: pl.DataType) -> Any:
    if declared == pl.Date:
        return parsed(pl.Date(), "%Y-%m-%d")
    if isinstance(declared, pl.Datetime):
        return parsed(pl.Datetime("us"), *_MOMENTS)
    if declared == pl.Time:
        return parsed(pl.Time(), "%H:%M:%S%.f")
    return lambda values: values


def _boolean_if_binary(values: pl.Series) -> pl.Series:
    return values.cast(pl.Boolean) if values.drop_nulls().is_in([0, 1]).all() else values
