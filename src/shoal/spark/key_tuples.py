"""The combinations of keys that occur on a cluster, how many records have each, and whose these are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import InputError, parameter
from shoal.microdata.recoding.recode_counts import Members
from shoal.spark.frames import Frame, plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: So many combinations of keys are searched on one machine.
MOST_TUPLES = 2_000_000
#: So many combinations may those have together who have several.
MOST_SPREAD = 5_000_000


def key_tuples(frame: Frame, names: Sequence[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """The combinations of keys, and how many records have each."""
    from pyspark.sql import functions as f

    owns = [f"k{place}" for place in range(len(names))]
    counted = (
        _selected(frame, dict(zip(owns, names, strict=True)))
        .groupBy(*owns)
        .agg(f.count("*").alias("records"))
    )
    table = counted.limit(MOST_TUPLES + 1).toArrow()
    if table.num_rows > MOST_TUPLES:
        raise InputError(
            f"there are more than {MOST_TUPLES:,} combinations of keys, too many to search; leave out a key, or make one coarser "
            f"before (round it, or take fewer digits), or choose {parameter('engine', 'local')}"
        )
    if table.num_rows == 0:
        raise InputError("there are no records")
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    # An order of their own, whatever the order they were found in.
    found = found.sort(owns)
    return found.select(pl.col(own).alias(name) for own, name in zip(owns, names, strict=True)), found[
        "records"
    ].to_numpy()


def tuple_members(frame: Frame, names: Sequence[str], unit: str, tuples: pl.DataFrame) -> Members:
    """Whose the records of each combination are; records without a unit are all of the same."""
    from pyspark.sql import functions as f

    owns = [f"k{place}" for place in range(len(names))]
    records = _selected(frame, {**dict(zip(owns, names, strict=True)), "unit": unit})
    each = (
        records.distinct()
        .groupBy("unit")
        .agg(f.count("*").alias("several"), f.collect_list(f.struct(*owns)).alias("has"))
    )
    counts = each.agg(f.sum(f.when(f.col("several") > 1, f.col("several"))).alias("entries")).first()
    if counts is not None and (counts["entries"] or 0) > MOST_SPREAD:
        raise InputError(
            f"units with several combinations of keys have more than {MOST_SPREAD:,} of them, too many to search; leave out a "
            f"key, or make one coarser before, or choose {parameter('engine', 'local')}"
        )
    only = each.where(f.col("several") == 1).select("has").select(f.col("has")[0].alias("of"))
    alone = only.select("of.*").groupBy(*owns).agg(f.count("*").alias("people")).toArrow()
    spread = each.where(f.col("several") > 1).select("has").toArrow()
    numbered = tuples.select(
        *(pl.col(name).alias(own) for own, name in zip(owns, names, strict=True))
    ).with_row_index("tuple")
    people, lists = pl.from_arrow(alone), pl.from_arrow(spread)
    assert isinstance(people, pl.DataFrame) and isinstance(lists, pl.DataFrame)
    here = people.join(numbered, on=owns, nulls_equal=True)
    counted = np.zeros(tuples.height, dtype=np.int64)
    counted[here["tuple"].to_numpy()] = here["people"].to_numpy()
    several = lists.with_row_index("who").explode("has").unnest("has")
    entries = several.join(numbered, on=owns, nulls_equal=True)
    assert (here.height, entries.height) == (people.height, several.height), "a combination was not counted"
    return Members(counted, *(entries[name].to_numpy().astype(np.int64) for name in ("who", "tuple")))


def _selected(frame: Frame, columns: Mapping[str, str]) -> "DataFrame":
    """Columns under names of our own, as values to group by."""
    from pyspark.sql import functions as f

    schema = frame.data.schema
    return frame.data.select(
        *(
            plain(f.col(frame.own(name)), schema[frame.own(name)].dataType).alias(own)
            for own, name in columns.items()
        )
    )
