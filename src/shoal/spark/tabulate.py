"""``shoal.spark.tabulate``: cells and contributors summed on the cluster; the table is then protected on one machine."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError, parameter, unknown
from shoal.spark.arguments import on_cluster
from shoal.spark.failures import in_one_line
from shoal.spark.frames import Frame, kind_of, plain
from shoal.tables.model.costs import COSTS, costs
from shoal.tables.model.rules import Rule
from shoal.tables.model.tabulation import Tabulation, Zeros, apply_apriori
from shoal.tables.model.tabulation import tabulate as tabulate_here

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from pyspark.sql import DataFrame

#: So many contributions come to the driver at most.
MOST_ENTRIES = 5_000_000
#: Of records that are contributors themselves, the largest of each cell; rules look at no more.
LARGEST_OF_CELL = 100


@on_cluster
def tabulate(
    frame: "DataFrame",
    dimensions: Sequence[str],
    *,
    value: str | None = None,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    weights_public: bool = False,
    hierarchies: Mapping[str, Mapping[str, str] | str | Path] | None = None,
    rules: Sequence[str | Rule] | None = None,
    apriori: "IntoDataFrame | None" = None,
    zeros: Zeros = "published",
    cost: str = "value",
) -> Tabulation:
    """Build a table of sums or counts with all its totals and find its sensitive cells; as ``shoal.tabulate`` does.

    Sums by cell and contributor come to the driver. Without a contributor every record is one: then only the largest
    hundred of each cell come, which is all that rules look at, with the totals and counts of all.

    >>> made = shoal.spark.tabulate(spark.read.parquet("firms"), ["region"], value="turnover")   # doctest: +SKIP
    >>> shoal.suppress(made).safe                                                               # doctest: +SKIP
    True
    """
    own = Frame.of(frame)
    dimensions = [dimensions] if isinstance(dimensions, str) else list(dimensions)
    own.check([*dimensions, value, contributor, holding, weight])
    if not dimensions:
        raise InputError("name at least one dimension")
    for rule in rules or ():
        _check_depth(rule)
    priced = cost in own.names and cost not in COSTS
    if not priced and cost not in COSTS:
        raise unknown("cost", cost, [*COSTS, *own.names])
    for name in filter(None, (value, weight, cost if priced else None)):
        if own.kind(name) not in ("integer", "number"):
            raise InputError(f"column '{name}' is not numeric: it is of type {own.type_in_words(name)}")
    with in_one_line("the records cannot be tabulated"):
        entries, counts = _entries(
            own, dimensions, value, contributor, holding, weight, cost if priced else None
        )
    if weights_public and counts is not None and counts["records"].max() > LARGEST_OF_CELL:  # type: ignore[operator]
        # All others are told by the weight of the smallest that is told, which would then be known, too.
        raise InputError(
            f"on a cluster {parameter('weights_public')} needs {parameter('contributor')} where a cell has more than "
            f"{LARGEST_OF_CELL} records"
        )
    with _under_names({"amount of it": value, "weight of it": weight, "price of it": cost}):
        made = tabulate_here(
            entries,
            dimensions,
            value="amount of it",
            contributor=None if contributor is None and holding is None else "who it is",
            weight="weight of it",
            weights_public=weights_public,
            hierarchies=hierarchies,
            rules=rules if rules or value else ["frequency(3)"],
            zeros=zeros,
            cost="price of it" if priced else "unity",
        )
    if counts is not None:
        # Where records are contributors only the largest of each cell are told; here are all of them.
        whole = tabulate_here(
            counts, dimensions, value="records", hierarchies=hierarchies, rules=["frequency(1)"]
        )
        contributors = whole.table.values.round().astype(made.contributors.dtype)
        made = replace(made, contributors=contributors, largest_told=LARGEST_OF_CELL)
    if not priced:
        made = replace(made, cost=costs(cost, made.table.values, made.contributors))
    made = replace(made, counts=value is None and weight is None)
    return made if apriori is None else apply_apriori(made, apriori)


@contextmanager
def _under_names(names: Mapping[str, str | None]) -> Iterator[None]:
    """What is refused in this block is told of the columns that were named, not of those that stand for them here."""
    try:
        yield
    except InputError as error:
        text = str(error.args[0])
        for own, name in names.items():
            text = text.replace(f"'{own}'", f"'{name}'")
        raise InputError(text) from None


def _check_depth(rule: str | Rule) -> None:
    """A rule may not look at more contributors of a cell than come to the driver."""
    from shoal.tables.model.rules import parse_rule

    read = parse_rule(rule) if isinstance(rule, str) else rule
    depth = max(getattr(read, "minimum", 0), getattr(read, "n", 0), getattr(read, "coalition", 0) + 1)
    if depth > LARGEST_OF_CELL:
        raise InputError(
            f"on a cluster a rule looks at {LARGEST_OF_CELL} contributors at most, not {depth}: {read}"
        )


def _entries(
    frame: Frame,
    dimensions: Sequence[str],
    value: str | None,
    contributor: str | None,
    holding: str | None,
    weight: str | None,
    price: str | None,
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Contributions by cell; and how many records each cell has, where records are the contributors."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    cells = [f"d{place}" for place in range(len(dimensions))]
    kinds = frame.data.schema

    def number(name: str | None, otherwise: float) -> Any:
        if name is None:
            return f.lit(otherwise)
        assert kind_of(kinds[frame.own(name)].dataType) is not None
        return f.col(frame.own(name)).cast("double")

    amount, own_weight = number(value, 1.0), number(weight, 1.0)
    who = [frame.own(name) for name in (contributor, holding) if name is not None]
    records = frame.data.select(
        *(
            plain(f.col(frame.own(name)), kinds[frame.own(name)].dataType).cast("string").alias(cell)
            for name, cell in zip(dimensions, cells, strict=True)
        ),
        amount.alias("amount"),
        own_weight.alias("weight"),
        number(price, 0.0).alias("price"),
        *(
            f.nullif(plain(f.col(name), kinds[name].dataType).cast("string"), f.lit("")).alias(f"w{place}")
            for place, name in enumerate(who)
        ),
    )
    _check_records(records, dimensions, cells, value, weight, contributor)
    sums = [
        f.sum("amount").alias("amount"),
        f.sum(f.col("amount") * f.col("weight")).alias("weighted"),
        f.sum("price").alias("price"),
    ]
    names = dict(zip(cells, dimensions, strict=True))
    if who:
        # A record of no holding is its contributor's own.
        parts = [f.col(f"w{place}") for place in range(len(who))][::-1]
        mark = [f.concat(f.lit(f"{place}:"), part) for place, part in enumerate(parts)]
        grouped = records.withColumn("who", f.coalesce(*mark)).groupBy(*cells, "who").agg(*sums)
        table = _collected(grouped)
        unclear = table.filter((pl.col("amount") == 0) & (pl.col("weighted") != 0)).height
        if unclear:
            raise InputError(
                f"{unclear:,} contributors have amounts that add up to 0 but weighted do not; give the weights another way"
            )
        ratio = pl.when(pl.col("amount") != 0).then(pl.col("weighted") / pl.col("amount")).otherwise(1.0)
        return _named(table.with_columns(ratio.alias("weight")), names, who=True), None
    rank = f.row_number().over(Window.partitionBy(*cells).orderBy(f.desc("amount"), f.desc("weight")))
    largest = records.withColumn("rank", rank).where(f.col("rank") <= LARGEST_OF_CELL)
    table = _collected(largest.drop("rank"))
    totals = _collected(records.groupBy(*cells).agg(*sums, f.count("*").alias("records")))
    # All others of a cell are told by the weight of its smallest entry: the total is right, and it stays the smallest.
    table = table.with_columns(weighted=pl.col("amount") * pl.col("weight")).sort(*cells, "amount", "weight")
    told_ = table.group_by(cells).agg(pl.col("weighted").sum().alias("told"))
    table = table.with_columns(first=pl.int_range(pl.len()).over(cells) == 0)
    table = table.join(totals.rename({"weighted": "whole", "price": "prices", "amount": "all"}), on=cells)
    table = table.join(told_, on=cells)
    rest = pl.when(pl.col("first") & (pl.col("amount") != 0) & (pl.col("records") > LARGEST_OF_CELL))
    folded = rest.then(pl.col("weight") + (pl.col("whole") - pl.col("told")) / pl.col("amount"))
    table = table.with_columns(
        weight=folded.otherwise(pl.col("weight")).clip(0.0),
        price=pl.when("first").then("prices").otherwise(0.0),
    )
    return _named(table, names, who=False), totals.select(*cells, "records").rename(names)


def _check_records(
    records: "DataFrame",
    dimensions: Sequence[str],
    cells: Sequence[str],
    value: str | None,
    weight: str | None,
    contributor: str | None,
) -> None:
    from pyspark.sql import functions as f

    gaps = [f.count_if(f.col(cell).isNull()).alias(cell) for cell in cells]
    gaps += [f.count_if(f.col(name).isNull() | f.isnan(name)).alias(name) for name in ("amount", "weight")]
    gaps += [f.count_if(f.col("w0").isNull()).alias("w0")] if contributor is not None else []
    row = records.agg(
        f.count("*").alias("n"), f.min("weight").alias("least"), f.min("amount").alias("smallest"), *gaps
    ).first()
    assert row is not None
    if not row["n"]:
        raise InputError("there are no records")
    for cell, name in zip(cells, dimensions, strict=True):
        if row[cell]:
            raise InputError(f"dimension '{name}' has missing values; give them a code of their own")
    for own, column in (("amount", value), ("weight", weight)):
        if row[own]:
            raise InputError(f"column '{column}' has missing values")
    if contributor is not None and row["w0"]:
        raise InputError(f"column '{contributor}' has missing values; every record needs its contributor")
    if row["least"] < 0:
        raise InputError(f"column '{weight}' has negative weights")
    if contributor is None and row["smallest"] < 0:
        raise InputError(
            f"column '{value}' has negative contributions; on a cluster they need a contributor, so that they can be summed"
        )


def _collected(frame: "DataFrame") -> pl.DataFrame:
    table = frame.limit(MOST_ENTRIES + 1).toArrow()
    if table.num_rows > MOST_ENTRIES:
        raise InputError(
            f"there are more than {MOST_ENTRIES:,} contributions to cells, too many for one table; "
            "take fewer or coarser dimensions"
        )
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found


def _named(table: pl.DataFrame, names: Mapping[str, str], *, who: bool) -> pl.DataFrame:
    columns = {"amount": "amount of it", "weight": "weight of it", "price": "price of it"}
    columns |= {"who": "who it is"} if who else {}
    return table.select(*names, *columns).rename({**names, **columns})
