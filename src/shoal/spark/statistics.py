"""What is known of all records before any is moved: counts, ranges, exact sums, strata, and a fingerprint of the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from shoal.microdata.microaggregation.leaves.moments import Moments
from shoal.microdata.microaggregation.leaves.overview import (
    Overview,
    check_records,
    check_strata,
    check_units,
)
from shoal.microdata.microaggregation.leaves.request import Request
from shoal.microdata.microaggregation.leaves.scale import STEPS, ColumnSums
from shoal.spark.frames import every
from shoal.spark.moments import moment_columns, moments_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Half of the bits of a squared step: two sums of halves never overflow.
_HALF = 28
#: So many units are surely told apart by 64 buckets, if there are many.
_UNITS_PER_WORD = 16
#: What the hashes of units begin with, so that they are none of those that records are drawn by.
_BUCKETS = 64


def complete(columns: Sequence[str]) -> "Column":
    """Whether a record has a value in all of these columns."""
    from pyspark.sql import functions as f

    return every(f.col(name).isNotNull() for name in columns)


def fingerprint(columns: "Sequence[str | Column]", chosen: "Column | None" = None) -> "list[Column]":
    """Sums over the hashes of records, or of those chosen, which are the same for the same records in any order."""
    from pyspark.sql import functions as f

    every_one = f.xxhash64(*columns) if columns else f.lit(0).cast("bigint")
    hashed = every_one if chosen is None else f.when(chosen, every_one)
    return [
        f.coalesce(f.bit_xor(hashed), f.lit(0)).alias("mixed"),
        f.coalesce(f.sum(hashed.bitwiseAND(0xFFFFFFFF)), f.lit(0)).alias("added"),
    ]


def surely_units(unit: "Column", k: int) -> "Column":
    """An aggregate: a number of distinct units that some records surely have, as much as k where there are many.

    Units fall into buckets by their hashes; as many buckets as are hit, as many units there are at least.
    """
    from pyspark.sql import functions as f

    words = -(-k // _UNITS_PER_WORD)
    hashed = f.xxhash64(f.lit(_BUCKETS), f.struct(unit))
    bit = f.call_function("shiftleft", f.lit(1).cast("bigint"), f.pmod(hashed, f.lit(64)).cast("int"))
    word = f.pmod(f.call_function("shiftrightunsigned", hashed, f.lit(8)), f.lit(words))
    hit = [f.bit_count(f.bit_or(f.when(word == place, bit).otherwise(f.lit(0)))) for place in range(words)]
    return reduce(add, hit)


def overview(
    records: "DataFrame",
    columns: Sequence[str],
    unchanged: Mapping[str, str],
    unit: "Column | None",
    request: Request,
) -> Overview:
    """One pass over all records; an ``InputError`` for what cannot be protected.

    ``unchanged`` says what the columns that are kept are called here, by their own names; ``unit`` is whose record each is.
    """
    from pyspark.sql import functions as f

    whole = complete(columns)
    asked = [f.count("*").alias("all"), f.count_if(whole).alias("complete")]
    for name in columns:
        value = f.when(whole, f.col(name))
        asked += [
            f.count_if(f.col(name).isNull()).alias(f"gaps_{name}"),
            f.count_if(f.abs(f.col(name)) == float("inf")).alias(f"endless_{name}"),
            f.min(value).alias(f"least_{name}"),
            f.max(value).alias(f"largest_{name}"),
        ]
    asked.append(f.approx_count_distinct(f.when(whole, f.col("point")), 0.02).alias("distinct"))
    rare = [name for name in request.may_be_rare() if name in unchanged]
    asked += [
        f.approx_count_distinct(f.when(whole, f.xxhash64(unchanged[name]))).alias(f"values_{place}")
        for place, name in enumerate(rare)
    ]
    # Of what is kept as it is, only the records that take part.
    asked += fingerprint(list(unchanged.values()), whole)
    row = records.agg(*asked).first()
    assert row is not None
    found = row.asDict()
    least, largest = (
        tuple(float(found[f"{what}_{name}"] or 0.0) for name in columns) for what in ("least", "largest")
    )
    check_records(
        request,
        found["all"],
        found["complete"],
        gaps=[found[f"gaps_{name}"] for name in columns],
        endless=[found[f"endless_{name}"] for name in columns],
        sizes=[max(abs(low), abs(high)) for low, high in zip(least, largest, strict=True)],
    )
    if unit is not None:
        _check_units(records.where(whole), unit, request)
    return Overview(
        found["complete"],
        found["all"] - found["complete"],
        max(1, found["distinct"]),
        least,
        largest,
        {name: found[f"values_{place}"] for place, name in enumerate(rare)},
        (found["mixed"], found["added"]),
    )


def _check_units(records: "DataFrame", unit: "Column", request: Request) -> None:
    """Buckets show that there are enough; where they do not, units are counted one by one."""
    row = records.agg(surely_units(unit, request.k).alias("units")).first()
    assert row is not None
    if row["units"] < request.k:
        check_units(request, records.select(unit).distinct().limit(request.k).count())


def exact_sums(
    records: "DataFrame", columns: Sequence[str], known: Overview
) -> tuple[list[ColumnSums], Moments]:
    """The sums that the scale of the distances is made from, in whole numbers; and the moments, in the same pass."""
    from pyspark.sql import functions as f

    asked = []
    for name, least, largest in zip(columns, known.least, known.largest, strict=True):
        width = largest - least
        step = f.floor((f.col(name) - least) / (width if width > 0 else 1.0) * float(STEPS) + 0.5).cast(
            "bigint"
        )
        square = step * step
        asked += [
            f.sum(step).alias(f"steps_{name}"),
            f.sum(f.shiftright(square, _HALF)).alias(f"high_{name}"),
            f.sum(square.bitwiseAND((1 << _HALF) - 1)).alias(f"low_{name}"),
        ]
    row = records.agg(*asked, *moment_columns(columns, known)).first()
    assert row is not None
    sums = [
        ColumnSums(
            known.records,
            least,
            largest,
            int(row[f"steps_{name}"]),
            (int(row[f"high_{name}"]) << _HALF) + int(row[f"low_{name}"]),
        )
        for name, least, largest in zip(columns, known.least, known.largest, strict=True)
    ]
    return sums, moments_of(row, known)


@dataclass(frozen=True, eq=False)
class Strata:
    """How many strata there are; how many records those have that are too large for one leaf, and their values.

    ``keys`` is a table of Arrow with the place of each: as objects of Python two moments could be the same.
    """

    number: int
    records: tuple[int, ...]
    keys: Any = None


def find_strata(records: "DataFrame", by: Sequence[str], unit: "Column | None", request: Request) -> Strata:
    """Count the strata; an ``InputError`` if some have fewer than k records, or units."""
    import numpy as np
    import pyarrow as pa
    from pyspark.sql import functions as f

    counted = f.count("*") if unit is None else f.count_distinct(f.struct(unit))
    sizes = records.groupBy(*by).agg(f.count("*").alias("records"), counted.alias("counted"))
    row = sizes.agg(
        f.count("*").alias("number"),
        f.count_if(f.col("counted") < request.k).alias("small"),
        f.min("counted").alias("least"),
        f.max("records").alias("largest"),
    ).first()
    assert row is not None
    check_strata(request, row["number"], row["small"], row["least"])
    if row["largest"] <= request.most:
        return Strata(row["number"], ())
    large = sizes.where(f.col("records") > request.most).withColumn("mark", f.xxhash64(*by))
    table = large.select(*by, "records", "mark").toArrow()
    # An order of their own, whatever the order they were found in: randomness goes by it.
    order = np.lexsort([table.column(name).to_numpy() for name in ("mark", "records")])
    table = table.take(order)
    places = pa.array(np.arange(table.num_rows), pa.int32())
    return Strata(
        row["number"],
        tuple(table.column("records").to_pylist()),
        table.select(list(by)).append_column("root", places),
    )
