"""Types of columns: from the database to Polars and back.

What a database calls a type decides how a column is selected and which Polars type it gets. Types that Polars does not
have (UUID, intervals, arrays …) are selected as text by the database itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from shoal.errors import InputError

_DIGITS = 38
#: Digits that a SQLite number keeps.
_SQLITE_DIGITS = 15


_BINARY = (sa.LargeBinary, sa.BINARY, sa.VARBINARY, mysql.TINYBLOB, mysql.MEDIUMBLOB, mysql.LONGBLOB)


@dataclass(frozen=True)
class Selected:
    """How a column is selected, the Polars type of what comes, and what is done when all of it has come."""

    expression: sa.ColumnElement[Any]
    dtype: pl.DataType
    finish: Callable[[pl.Series], pl.Series] = lambda values: values


def select(column: sa.Column[Any], dialect: str) -> Selected:
    """How to select a column of a server; SQLite, which types values rather than columns, has its own module."""
    kind = column.type
    if dialect in ("mysql", "mariadb"):
        special = _select_mysql(column, kind)
        if special is not None:
            return special
    dtype = polars_type(kind, dialect)
    if dtype is None:
        return Selected(sa.cast(column, sa.Text if dialect == "postgresql" else mysql.CHAR), pl.String())
    if dtype.is_float():
        # Some of these types would come as decimals with ten digits.
        return Selected(sa.type_coerce(column, sa.Double()), dtype)
    return Selected(column, dtype)


def polars_type(kind: Any, dialect: str) -> pl.DataType | None:
    """The Polars type of a type of the database, or nothing where Polars has none."""
    if isinstance(kind, sa.Boolean):
        return pl.Boolean()
    if isinstance(kind, sa.Integer):
        return _integer(kind, dialect)
    if isinstance(kind, sa.Float):
        single = isinstance(kind, sa.REAL) or (isinstance(kind, sa.FLOAT) and (kind.precision or 53) <= 24)
        return pl.Float32() if single and dialect != "sqlite" else pl.Float64()
    if isinstance(kind, sa.Numeric):
        if kind.precision is None:
            return None
        scale = kind.scale or 0
        return pl.Decimal(kind.precision, scale) if 0 <= scale <= kind.precision <= _DIGITS else None
    if isinstance(kind, sa.Enum) or type(kind).__name__ in ("SET", "JSON", "JSONB", "DOMAIN"):
        return None
    if isinstance(kind, sa.String):
        return pl.String()
    if isinstance(kind, sa.Date):
        return pl.Date()
    if isinstance(kind, sa.DateTime):
        return pl.Datetime("us", "UTC" if kind.timezone else None)
    if isinstance(kind, sa.Time):
        return None if kind.timezone else pl.Time()
    if isinstance(kind, _BINARY):
        return pl.Binary()
    return None


def sql_type(values: pl.Series, dialect: str) -> Any:
    """The type of a new column for these values; ``InputError`` where the database has none."""
    dtype = values.dtype
    maria = dialect in ("mysql", "mariadb")
    if dtype == pl.Boolean:
        return sa.Boolean()
    if dtype in (pl.Int8, pl.Int16, pl.UInt8):
        return sa.SmallInteger()
    if dtype in (pl.Int32, pl.UInt16):
        return sa.Integer()
    if dtype in (pl.Int64, pl.UInt32):
        return sa.BigInteger()
    if dtype == pl.UInt64:
        return (
            mysql.BIGINT(unsigned=True)
            if maria
            else sa.Numeric(20, 0)
            if dialect == "postgresql"
            else sa.BigInteger()
        )
    if dtype == pl.Float32 and dialect == "postgresql":
        return sa.REAL()
    if dtype.is_float():
        return sa.Double()
    if isinstance(dtype, pl.Decimal):
        return sa.Numeric(dtype.precision or _DIGITS, dtype.scale)
    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return mysql.LONGTEXT(charset="utf8mb4") if maria else sa.Text()
    if dtype == pl.Date:
        return sa.Date()
    if isinstance(dtype, pl.Datetime):
        return mysql.DATETIME(fsp=6) if maria else sa.DateTime(timezone=dtype.time_zone is not None)
    if dtype == pl.Time:
        return mysql.TIME(fsp=6) if maria else sa.Time()
    if dtype == pl.Binary:
        return mysql.LONGBLOB() if maria else sa.LargeBinary()
    raise InputError(f"column '{values.name}' holds {dtype}, which a database table cannot")


def storable(values: pl.Series, dialect: str) -> pl.Series:
    """The values as the driver can take them; what the database would change on the quiet is refused."""
    name, dtype = values.name, values.dtype
    if dtype in (pl.Categorical, pl.Enum, pl.Null):
        return values.cast(pl.String)
    if dtype == pl.String and dialect == "postgresql" and values.str.contains("\0", literal=True).any():
        raise InputError(f"column '{name}' holds NUL characters, which PostgreSQL cannot")
    if dtype.is_float() and dialect != "postgresql":
        if values.is_nan().any():
            raise InputError(
                f"column '{name}' holds NaN, which {_title(dialect)} cannot; make them missing first"
            )
        if dialect != "sqlite" and values.is_infinite().any():
            raise InputError(f"column '{name}' holds infinite numbers, which {_title(dialect)} cannot")
        return values.cast(pl.Float64)
    if dtype == pl.UInt64 and dialect == "sqlite" and (values.max() or 0) >= 2**63:  # type: ignore[operator]
        raise InputError(f"column '{name}' holds integers that SQLite cannot")
    if isinstance(dtype, pl.Decimal) and dialect == "sqlite":
        largest: Any = values.abs().max() or 0
        if largest * 10**dtype.scale >= 10**_SQLITE_DIGITS:
            raise InputError(
                f"column '{name}' holds decimals of more than {_SQLITE_DIGITS} digits, which SQLite rounds"
            )
        return values.cast(pl.Float64)
    if isinstance(dtype, pl.Datetime):
        moments = values.cast(pl.Datetime("us", dtype.time_zone))
        if dtype.time_zone and dialect != "postgresql":
            # Only PostgreSQL keeps time zones; the others get the time of UTC.
            return moments.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return moments
    return values


def _select_mysql(column: sa.Column[Any], kind: Any) -> Selected | None:
    if isinstance(kind, mysql.TINYINT) and kind.display_width == 1 and not kind.unsigned:
        return Selected(column, pl.Int8(), _boolean_if_binary)
    if isinstance(kind, mysql.BIT):
        return Selected(sa.type_coerce(column, sa.BigInteger()) + sa.literal_column("0"), pl.UInt64())
    if isinstance(kind, sa.Float) and not isinstance(kind, sa.Double):
        # The server shows single floats with six digits; as part of a sum it shows them all.
        return Selected(sa.type_coerce(column, sa.Double()) + sa.literal_column("0"), pl.Float32())
    if isinstance(kind, sa.Time):
        return Selected(sa.cast(column, mysql.CHAR), pl.String(), parsed(pl.Time(), "%H:%M:%S%.f"))
    if isinstance(kind, mysql.YEAR):
        return Selected(column, pl.Int16())
    return None


def parsed(dtype: pl.DataType, *forms: str) -> Callable[[pl.Series], pl.Series]:
    """Text turned into dates or times if all of it is in one of the forms, else left as it is."""

    def parse(values: pl.Series) -> pl.Series:
        for form in forms:
            try:
                return values.str.strptime(dtype, form, strict=True)  # type: ignore[arg-type]
            except pl.exceptions.PolarsError:
                continue
        return values

    return parse


def _boolean_if_binary(values: pl.Series) -> pl.Series:
    return values.cast(pl.Boolean) if values.drop_nulls().is_in([0, 1]).all() else values


def _integer(kind: Any, dialect: str) -> pl.DataType:
    if dialect == "sqlite":
        return pl.Int64()
    unsigned = bool(getattr(kind, "unsigned", False))
    if isinstance(kind, mysql.TINYINT):
        return pl.UInt8() if unsigned else pl.Int8()
    if isinstance(kind, sa.SmallInteger):
        return pl.UInt16() if unsigned else pl.Int16()
    if isinstance(kind, sa.BigInteger):
        return pl.UInt64() if unsigned else pl.Int64()
    return pl.UInt32() if unsigned else pl.Int32()


def _title(dialect: str) -> str:
    return {"sqlite": "SQLite", "mysql": "MariaDB", "mariadb": "MariaDB"}.get(dialect, "PostgreSQL")
