"""Classes counted in turns: those of one share of the hashes at a time, so that never all are in memory."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import polars.selectors as cs

from shoal.anonymity.vector import AnonymityVector
from shoal.exact_names import exactly
from shoal.microdata.anonymity.result import Anonymity
from shoal.stream.records import scan_parts


def count_classes(
    plan: pl.LazyFrame, quasi: Sequence[str], records: int, at_once: int, unit: str | None = None
) -> Anonymity:
    """K and the vector over some columns; ``at_once`` is how many classes fit into memory."""
    keys = plan.select(
        *(exactly(name).alias(f"k{place}") for place, name in enumerate(quasi)),
        *([] if unit is None else [exactly(unit).alias("unit")]),
    )
    keys = keys.with_columns(cs.float().fill_nan(None))
    names = [f"k{place}" for place in range(len(quasi))]
    if unit is None:
        sizes = _by_records(keys, names, -(-records // at_once))
        people = {size: size * classes for size, classes in sorted(sizes.items())}
    else:
        hashed = keys.with_columns(pl.col("unit").hash(11))
        sizes, people = _by_units(hashed, names, -(-2 * records // at_once))
    return Anonymity(
        quasi=tuple(quasi),
        unit=unit,
        null="own",
        records=records,
        units=sum(people.values()),
        vector=AnonymityVector(dict(sizes)),
        people=people,
    )


def _turn(keys: pl.LazyFrame, names: Sequence[str], turn: int, turns: int) -> pl.LazyFrame:
    return keys if turns < 2 else keys.filter(pl.struct(names).hash() % turns == turn)


def _by_records(keys: pl.LazyFrame, names: Sequence[str], turns: int) -> Counter[int]:
    """How many classes there are of each size."""
    sizes: Counter[int] = Counter()
    for turn in range(max(1, turns)):
        classes = _turn(keys, names, turn, turns).group_by(names).agg(pl.len().alias("size"))
        found = classes.group_by("size").agg(pl.len().alias("classes")).collect(engine="streaming")
        for size, number in found.iter_rows():
            sizes[int(size)] += int(number)
    return sizes


def _by_units(keys: pl.LazyFrame, names: Sequence[str], turns: int) -> tuple[Counter[int], dict[int, int]]:
    """How many classes hold so many distinct units, and how many units have their smallest class of each size."""
    sizes: Counter[int] = Counter()
    people: Counter[int] = Counter()
    turns = max(1, turns)
    with tempfile.TemporaryDirectory(prefix="shoal-units-") as folder:
        for turn in range(turns):
            members = _turn(keys, names, turn, turns).unique().collect(engine="streaming")
            sized = members.select("unit", pl.len().over(names).alias("size"))
            for size, number in sized.group_by("size").agg(pl.len()).iter_rows():
                sizes[int(size)] += int(number) // int(size)
            smallest = sized.group_by("unit").agg(pl.col("size").min())
            smallest.write_parquet(Path(folder) / f"{turn}.parquet")
        units = scan_parts(Path(folder))
        for turn in range(turns):
            mine = units.filter(pl.col("unit") % turns == turn).group_by("unit").agg(pl.col("size").min())
            for size, number in mine.collect(engine="streaming").group_by("size").agg(pl.len()).iter_rows():
                people[int(size)] += int(number)
    return sizes, dict(sorted(people.items()))
