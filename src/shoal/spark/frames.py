"""A Spark DataFrame as the operations see it: columns under names of ours, numbers and moments as numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter, unknown

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False)
class Frame:
    """The records under the names c0, c1, …: no name of a user can then mean anything to Spark, or two the same."""

    data: "DataFrame"
    names: tuple[str, ...]

    @classmethod
    def of(cls, data: Any) -> "Frame":
        """Rename; an ``InputError`` if it is no DataFrame of Spark, or two columns have one name."""
        from pyspark.sql import DataFrame

        if not isinstance(data, DataFrame):
            raise InputError(
                f"the data must be a DataFrame of Spark, not {type(data).__name__}; what is in memory goes to "
                "the functions of shoal itself"
            )
        names = tuple(data.columns)
        if len(set(names)) < len(names):
            raise InputError("the data has several columns of one name; give each a name of its own")
        return cls(data.toDF(*(f"c{place}" for place in range(len(names)))), names)

    def check(self, names: Sequence[str | None]) -> None:
        """An ``InputError`` with a suggestion for the first column that is not in the data."""
        for name in names:
            if name is not None and name not in self.names:
                raise unknown("column", name, self.names, where="in the data")

    def own(self, name: str) -> str:
        """What a column is called here."""
        return f"c{self.names.index(name)}"

    def is_deterministic(self) -> bool:
        """Whether its plan says the same each time, as far as Spark can tell: without random numbers, that is."""
        plan: Any = self.data
        return bool(plan._jdf.queryExecution().analyzed().deterministic())

    def kind(self, name: str) -> str | None:
        """What a column holds, if it can be averaged: ``integer``, ``number``, ``date`` or ``time``."""
        return kind_of(self.data.schema[self.own(name)].dataType)

    def type_in_words(self, name: str) -> str:
        """The type of a column as Spark calls it."""
        return str(self.data.schema[self.own(name)].dataType.simpleString())

    def check_carried(self, names: Sequence[str]) -> None:
        """An ``InputError`` for a column of a type that cannot go along with the records."""
        for name in names:
            if self.has_no_order(name):
                raise InputError(
                    f"column '{name}' is of type {self.type_in_words(name)}, which has no order and no hash; "
                    f"leave it out with {parameter('drop')}"
                )

    def has_no_order(self, name: str) -> bool:
        """Whether the values of a column can be neither sorted nor grouped."""
        from pyspark.sql import types as t

        without = t.MapType | t.CalendarIntervalType | t.NullType | t.UserDefinedType
        return any(
            isinstance(kind, without) or type(kind).__name__ == "VariantType"
            for kind in _kinds_within(self.data.schema[self.own(name)].dataType)
        )


def _kinds_within(kind: Any) -> list[Any]:
    inner = [field.dataType for field in getattr(kind, "fields", ())]
    inner += [kind.elementType] if hasattr(kind, "elementType") else []
    return [kind, *(found for item in inner for found in _kinds_within(item))]


def kind_of(kind: Any) -> str | None:
    """What values of a type of Spark are, if a mean of them means something."""
    from pyspark.sql import types as t

    if isinstance(kind, t.IntegralType):
        return "integer"
    if isinstance(kind, t.DecimalType):
        return "integer" if kind.scale == 0 and kind.precision <= 18 else "number"
    if isinstance(kind, t.FractionalType):
        return "number"
    if isinstance(kind, t.DateType):
        return "date"
    if isinstance(kind, t.TimestampType | t.TimestampNTZType):
        return "time"
    return None


def as_number(name: str, kind: Any) -> "Column":
    """A column as double, moments in microseconds; missing (null, NaN) is null."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    column = f.col(name)
    if isinstance(kind, t.DateType):
        return f.datediff(column, f.lit("1970-01-01").cast("date")).cast("double") * float(_DAY)
    if isinstance(kind, t.TimestampType):
        return f.unix_micros(column).cast("double")
    if isinstance(kind, t.TimestampNTZType):
        return f.expr(f"timestampdiff(MICROSECOND, TIMESTAMP_NTZ'1970-01-01 00:00:00', {name})").cast(
            "double"
        )
    return plain(column.cast("double"), t.DoubleType())


def from_number(name: str, kind: Any, *, whole: bool) -> "Column":
    """Back to a column of its type; integers become doubles unless they are ``whole``."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    column = f.col(name)
    if isinstance(kind, t.DateType):
        return f.date_add(f.lit("1970-01-01").cast("date"), (column / float(_DAY)).cast("int"))
    if isinstance(kind, t.TimestampType):
        return f.timestamp_micros(column.cast("bigint"))
    if isinstance(kind, t.TimestampNTZType):
        return f.expr(
            f"timestampadd(MICROSECOND, cast({name} as bigint), TIMESTAMP_NTZ'1970-01-01 00:00:00')"
        )
    if whole and kind_of(kind) == "integer":
        return column.cast(kind)
    return column


def every(conditions: "Iterable[Column]") -> "Column":
    """All of these."""
    return reduce(and_, conditions)


def same(one: Sequence[str], other: Sequence[str]) -> "Column":
    """Whether columns agree pair by pair; missing agrees with missing."""
    from pyspark.sql import functions as f

    return every(f.col(mine).eqNullSafe(f.col(yours)) for mine, yours in zip(one, other, strict=True))


def plain(column: "Column", kind: Any) -> "Column":
    """A value that is never two: NaN is missing like null, as everywhere in Shoal, and minus nothing is nothing."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    if not isinstance(kind, t.FloatType | t.DoubleType):
        return column
    return f.when(~f.isnan(column), f.when(column == 0.0, f.lit(0.0).cast(kind)).otherwise(column))
