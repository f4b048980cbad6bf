"""Some records of a cluster, to see what its columns are."""

from typing import Any

from shoal.microdata.columns.roles import Guess, guess_with_nested, with_roles
from shoal.microdata.microaggregation.leaves.request import LOOKED_AT
from shoal.spark.frames import Frame

#: Types that cannot be hashed, by name since not every version has them.
_NO_HASH = frozenset({"VariantType", "CalendarIntervalType", "NullType"})


def some_records(frame: Frame) -> Any:
    """Some records to look at: those whose hashes come first, the same in any order; of plain values alone."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    nested = t.ArrayType | t.MapType | t.StructType | t.UserDefinedType
    plain_ones = [
        name
        for name in frame.names
        if not isinstance(kind := frame.data.schema[frame.own(name)].dataType, nested)
        and type(kind).__name__ not in _NO_HASH
    ]
    own = [frame.own(name) for name in plain_ones]
    first = frame.data.select(*own).withColumn("h", f.xxhash64(*own)).orderBy("h").limit(LOOKED_AT)
    return first.drop("h").toArrow().rename_columns(plain_ones)


def guessed(frame: Frame, looked_at: Any, roles: Any = None) -> tuple[Guess, ...]:
    """What each column is to an intruder by the look of some records, corrected by ``roles``."""
    return with_roles(guess_with_nested(frame.names, looked_at), roles or {})
