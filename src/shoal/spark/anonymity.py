"""``shoal.spark.anonymity``: K, the vector and diversity of a DataFrame, counted on the cluster."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.anonymity.vector import AnonymityVector
from shoal.errors import InputError, parameter
from shoal.microdata.anonymity.result import Anonymity, Diversity
from shoal.microdata.columns.units import unit_column, unit_remarks
from shoal.spark.arguments import on_cluster
from shoal.spark.failures import in_one_line
from shoal.spark.frames import Frame, plain, same
from shoal.spark.look import some_records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@on_cluster
def anonymity(
    frame: "DataFrame",
    quasi: Iterable[str] | str,
    *,
    unit: str | None = None,
    null: str = "own",
    confidential: Sequence[str] | str | None = None,
) -> Anonymity:
    """Measure K, the class sizes and diversity of a table; the same as ``shoal.anonymity``.

    Classes are counted where the records are; only how many there are of each size comes back. A missing value is a
    value of its own.

    >>> shoal.spark.anonymity(spark.read.parquet("people"), ["zip", "sex"]).k   # doctest: +SKIP
    4
    """
    names = (quasi,) if isinstance(quasi, str) else tuple(quasi)
    secrets = (
        () if confidential is None else (confidential,) if isinstance(confidential, str) else confidential
    )
    if null != "own":
        raise InputError(
            f"on a cluster a missing value is a value of its own; {parameter('null', str(null))} needs all "
            "records in one place"
        )
    own = Frame.of(frame)
    declared, unit = unit, unit_column(unit, own.names)
    own.check([*names, unit, *secrets])
    if not names:
        raise InputError("name at least one quasi-identifier column")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"column '{name}' is named twice among the quasi-identifiers")
    for other in (unit, *secrets):
        if other in names:
            raise InputError(f"column '{other}' cannot be a quasi-identifier and something else at once")
    own.check_carried([*names, *([unit] if unit else []), *secrets])
    with in_one_line("the records cannot be counted"):
        found = count_classes(own, names, unit, tuple(secrets))
        looked_at = some_records(own) if declared is None else None
    remarks = () if looked_at is None else unit_remarks(looked_at, declared, but=(*names, *secrets))
    return replace(found, remarks=tuple(remarks))


def count_classes(
    frame: Frame, quasi: tuple[str, ...], unit: str | None, confidential: tuple[str, ...] = ()
) -> Anonymity:
    """The same of columns that were checked."""
    from pyspark.sql import functions as f

    keys = [f"k{place}" for place in range(len(quasi))]
    wanted = dict(zip(keys, quasi, strict=True))
    if unit is not None:
        wanted["unit"] = unit
    wanted |= {f"s{place}": name for place, name in enumerate(confidential)}
    schema = frame.data.schema
    records = frame.data.select(
        *(
            plain(f.col(frame.own(name)), schema[frame.own(name)].dataType).alias(key)
            for key, name in wanted.items()
        )
    )
    # Records without a unit count as one; count_distinct passes over nulls, so a unit is told as a structure.
    counted = f.count_distinct(f.struct("unit")) if unit is not None else f.count("*")
    classes = records.groupBy(*keys).agg(f.count("*").alias("records"), counted.alias("size"))
    sizes = (
        classes.groupBy("size")
        .agg(f.count("*").alias("classes"), f.sum("records").alias("records"))
        .collect()
    )
    sizes.sort(key=lambda row: row["size"])
    vector = AnonymityVector({row["size"]: row["classes"] for row in sizes})
    people = {row["size"]: row["records"] for row in sizes}
    if unit is not None:
        people = _people_by_unit(records, classes, keys)
    return Anonymity(
        quasi=quasi,
        unit=unit,
        null="own",
        records=sum(row["records"] for row in sizes),
        units=sum(people.values()),
        vector=vector,
        people=people,
        diversities=tuple(
            _diversity(records, keys, f"s{place}", name, unit) for place, name in enumerate(confidential)
        ),
    )


def _people_by_unit(records: "DataFrame", classes: "DataFrame", keys: list[str]) -> dict[int, int]:
    """How many units have their smallest class of each size."""
    from pyspark.sql import functions as f

    members = records.select(*keys, "unit").distinct().alias("members")
    sizes = classes.select(*keys, "size").alias("classes")
    alike = same([f"members.{key}" for key in keys], [f"classes.{key}" for key in keys])
    joined = members.join(sizes, alike).select("members.unit", "size")
    smallest = joined.groupBy("unit").agg(f.min("size").alias("size"))
    rows = smallest.groupBy("size").agg(f.count("*").alias("people")).collect()
    return {row["size"]: row["people"] for row in sorted(rows, key=lambda row: row["size"])}


def _diversity(records: "DataFrame", keys: list[str], secret: str, name: str, unit: str | None) -> Diversity:
    """The least mixed class: distinct values, and the exponential of their entropy."""
    from pyspark.sql import functions as f

    known = records.where(f.col(secret).isNotNull())
    # A person with several records of one value in a class says that value once.
    counted = f.count("*") if unit is None else f.count_distinct(f.struct("unit"))
    counts = known.groupBy(*keys, secret).agg(counted.cast("double").alias("n"))
    mixed = counts.groupBy(*keys).agg(
        f.count("*").alias("distinct"),
        f.sum("n").alias("n"),
        f.sum(f.col("n") * f.log("n")).alias("weighted"),
    )
    entropy = f.exp(f.log("n") - f.col("weighted") / f.col("n"))
    bounded = f.least(f.greatest(entropy, f.lit(1.0)), f.col("distinct").cast("double"))
    row = mixed.agg(f.min("distinct").alias("distinct"), f.min(bounded).alias("entropy")).first()
    if row is None or row["distinct"] is None:
        raise InputError(f"the confidential column '{name}' has no values")
    return Diversity(name, int(row["distinct"]), float(row["entropy"]))
