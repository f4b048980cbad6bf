"""The classes of records that look alike, and how many people each holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.anonymity.columns import CONFIDENTIAL, COUNT, UNIT, Columns
from shoal.anonymity.wildcard import compatible_members, compatible_records, has_nulls


@dataclass(frozen=True)
class Classes:
    """Every combination of values that occurs, and how many people are behind it.

    ``table`` has a row per combination: the quasi-identifiers, ``records`` (those with exactly these values), ``size`` (the
    people who cannot be told apart) and, with a confidential column, ``distinct`` and ``entropy`` of its values.
    ``people`` counts people by the ``size`` of the smallest class they are in.
    """

    table: pl.DataFrame
    people: pl.DataFrame

    @property
    def units(self) -> int:
        """The number of people."""
        return int(self.people["people"].sum())

    def listing(self, columns: Columns) -> "Listing":
        """The classes with their values, to be looked at later."""
        return Listing(self.table.select(*columns.keys, "size"), columns.keys, columns.names, columns.values)


@dataclass(frozen=True)
class Listing:
    """The classes and the values they stand for, kept apart from everything that may be printed."""

    table: pl.DataFrame
    keys: Sequence[str]
    names: Mapping[str, Any]
    values: Mapping[str, Sequence[Any]]

    def first(self, number: int) -> pl.DataFrame:
        """The smallest classes by rising size, then by their values."""
        found = self.table.filter(pl.col("size") <= pl.col("size").bottom_k(number).max())
        found = found.sort("size", *self.keys).head(number)
        size = "size"
        while size in self.names.values():
            size = f"class {size}"
        return pl.DataFrame([self._column(found, key) for key in self.keys] + [found["size"].alias(size)])

    def _column(self, combinations: pl.DataFrame, key: str) -> pl.Series:
        name = str(self.names[key])
        if key not in self.values:
            return combinations[key].alias(name)
        values = self.values[key]
        return pl.Series(
            name, [None if code is None else values[code] for code in combinations[key]], strict=False
        )


def find_classes(columns: Columns, null: str) -> Classes:
    """Group the records; ``null`` is ``"own"`` (missing is a value of its own) or ``"wildcard"`` (it matches any)."""
    keys = columns.keys
    details = [name for name in (UNIT, CONFIDENTIAL) if columns.has(name)]
    records = pl.col(COUNT).sum() if columns.has(COUNT) else pl.len()
    table = columns.collect(columns.frame.group_by(keys).agg(records.alias("records"), *details))
    overlap = null == "wildcard" and has_nulls(table, keys)
    if not details and not overlap:
        table = table.with_columns(pl.col("records").alias("size"))
        return Classes(table, _people_by_record(table))

    table = table.with_row_index("class")
    members = table.select("class", *details).explode(details) if details else table.select("class")
    table = table.drop(details)
    if overlap:
        sizes = compatible_records(table, keys).rename({"records": "size"})
        if details:
            found = compatible_members(table, keys, members, rows=sizes)
            sizes = pl.concat(_measure(some) for some in found)
    else:
        sizes = _measure(members)
    table = table.join(sizes, on="class")
    if columns.has(UNIT):
        return Classes(table, _people_by_unit(members.join(sizes, on="class")))
    return Classes(table, _people_by_record(table))


def _measure(members: pl.DataFrame) -> pl.DataFrame:
    """The size of each class, in distinct units if they are known, and the diversity of its confidential values."""
    if UNIT in members.columns:
        # A person with several records of one value in a class says that value once.
        members = members.unique()
        sizes = members.group_by("class").agg(pl.col(UNIT).n_unique().alias("size"))
    else:
        sizes = members.group_by("class").agg(pl.len().alias("size"))
    if CONFIDENTIAL not in members.columns:
        return sizes
    counts = members.drop_nulls(CONFIDENTIAL).group_by("class", CONFIDENTIAL).agg(pl.len().alias("count"))
    return sizes.join(_diversity(counts), on="class", how="left")


def _diversity(counts: pl.DataFrame) -> pl.DataFrame:
    """How many values each class has, and the exponential of their entropy: log n − (Σ c·log c)/n."""
    count = pl.col("count").cast(pl.Float64)
    # The product is taken before grouping: inside a group the same expression costs fifty times as much.
    sums = (
        counts.with_columns(weighted=count * count.log())
        .group_by("class")
        .agg(pl.len().alias("distinct"), pl.col("count").sum(), pl.col("weighted").sum())
    )
    entropy = (count.log() - pl.col("weighted") / count).exp()
    return sums.select("class", "distinct", entropy.clip(1.0, pl.col("distinct")).alias("entropy"))


def _people_by_record(table: pl.DataFrame) -> pl.DataFrame:
    return table.group_by("size").agg(pl.col("records").sum().alias("people")).sort("size")


def _people_by_unit(members: pl.DataFrame) -> pl.DataFrame:
    smallest = members.group_by(UNIT).agg(pl.col("size").min())
    return smallest.group_by("size").agg(pl.len().alias("people")).sort("size")
