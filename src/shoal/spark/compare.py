"""``shoal.spark.compare``: what a release lost and what an intruder still finds, by sums and inside blocks."""

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.columns.units import unit_column
from shoal.microdata.measures.information_loss import ColumnLoss, InformationLoss, Mean
from shoal.microdata.measures.intervals import WIDTHS
from shoal.microdata.measures.large_comparison import LargeComparison
from shoal.microdata.measures.result import AttributeComparison
from shoal.microdata.microaggregation.leaves.leaf_search import LeafOptions
from shoal.microdata.microaggregation.leaves.scale import Scaling
from shoal.microdata.microaggregation.leaves.split_tree import SplitTree
from shoal.microdata.microaggregation.leaves.splitting import Router, split_records
from shoal.numbers import whole
from shoal.spark.anonymity import count_classes
from shoal.spark.arguments import on_cluster
from shoal.spark.comparison_request import ComparisonRequest, read_comparison
from shoal.spark.failures import in_one_line
from shoal.spark.frames import Frame, as_number
from shoal.spark.splitting import Records
from shoal.spark.workers import check_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@on_cluster
def compare(
    original: "DataFrame",
    protected: "DataFrame",
    *,
    key: str | None = None,
    columns: Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    unit: str | None = None,
    block: int = 20_000,
    name: str = "release",
) -> LargeComparison:
    """Measure loss and risk of numeric columns; records are paired by a column that both tables have.

    IL1 to IL5, IL1s, the squared error and interval disclosure are those of ``shoal.compare``, and K is counted over all that
    could be known unless ``quasi`` says otherwise. Linkage by distance is measured inside blocks of about ``block`` near
    released records: an upper bound on the links of all to all. Without ``columns`` those are compared that measure something.

    >>> found = shoal.spark.compare(before, after, key="person", columns=["income", "rent"])   # doctest: +SKIP
    >>> found.il, found.dld, found.k                                                          # doctest: +SKIP
    (4.1, 19.8, 1)
    """
    one, two = Frame.of(original), Frame.of(protected)
    declared, unit = unit, unit_column(unit, two.names)
    if key is None:
        raise InputError(
            f"on a cluster {parameter('key')} pairs records: name a column that both tables have"
        )
    for frame in (one, two):
        frame.check([key, *(column for column in columns or () if column != "*")])
    two.check([*(quasi or ()), unit])
    check_workers(original.sparkSession)
    block = whole(block, "the size of a block", least=2)
    with in_one_line("the tables cannot be compared"):
        asked = read_comparison(one, two, key, columns, quasi, roles, unit, declared)
        for frame in (one, two):
            for column in asked.columns:
                if frame.kind(column) is None:
                    raise InputError(
                        f"column '{column}' is of type {frame.type_in_words(column)}, which cannot be compared as a number"
                    )
        pairs = _paired(one, two, key, asked.columns)
        return _measured(pairs, two, asked, unit, block, name)


def _paired(one: Frame, two: Frame, key: str, columns: Sequence[str]) -> "DataFrame":
    """Records before (x…) and after (y…) side by side; an ``InputError`` unless every one has exactly one partner."""
    from pyspark.sql import functions as f

    def numbers(frame: Frame, letter: str) -> "DataFrame":
        schema = frame.data.schema
        return frame.data.select(
            f.col(frame.own(key)).alias(f"key{letter}"),
            *(
                as_number(frame.own(column), schema[frame.own(column)].dataType).alias(f"{letter}{place}")
                for place, column in enumerate(columns)
            ),
        )

    before, after = numbers(one, "x"), numbers(two, "y")
    pairs = before.join(after, f.col("keyx") == f.col("keyy"))
    counts = [
        frame.agg(f.count("*").alias("n"), f.count_distinct(f.col(name)).alias("keys")).first()
        for frame, name in ((before, "keyx"), (after, "keyy"))
    ]
    for row, which in zip(counts, ("original", "protected"), strict=True):
        assert row is not None
        if row["n"] != row["keys"]:
            raise InputError(
                f"column '{key}' of the {which} data has missing or repeated values, so it pairs nothing"
            )
    gaps = [f.col(f"{letter}{place}").isNull() for letter in "xy" for place in range(len(columns))]
    row = pairs.agg(
        f.count("*").alias("n"), *(f.count_if(gap).alias(f"g{i}") for i, gap in enumerate(gaps))
    ).first()
    assert row is not None and counts[1] is not None
    if not row["n"]:
        raise InputError(f"no record has the same '{key}' before and after")
    if row["n"] < counts[1]["n"]:
        raise InputError(
            f"{counts[1]['n'] - row['n']:,} protected records have no original one of the same '{key}'"
        )
    if any(row[f"g{i}"] for i in range(len(gaps))):
        raise InputError(
            "the columns to compare have missing values; compare those without, or set such records aside"
        )
    return pairs


def _measured(
    pairs: "DataFrame",
    two: Frame,
    request: ComparisonRequest,
    unit: str | None,
    block: int,
    name: str,
) -> LargeComparison:
    from pyspark.sql import functions as f

    size = len(request.columns)
    xs, ys = [f"x{place}" for place in range(size)], [f"y{place}" for place in range(size)]
    ranges = pairs.agg(
        f.count("*").alias("n"),
        f.approx_count_distinct(f.xxhash64(*ys), 0.02).alias("distinct"),
        *(part for x in xs for part in (f.min(x).alias(f"low{x}"), f.max(x).alias(f"high{x}"))),
        *(part for y in ys for part in (f.min(y).alias(f"low{y}"), f.max(y).alias(f"high{y}"))),
        *(f.stddev_samp(x).alias(f"sd{x}") for x in xs),
        *(f.avg(column).alias(f"mean{column}") for column in (*xs, *ys)),
        *(f.avg(f.abs(x)).alias(f"size{x}") for x in xs),
        *(
            f.covar_samp(one[i], one[j]).alias(f"cov{one[i]}{one[j]}")
            for one in (xs, ys)
            for i, j in combinations_with_replacement(range(size), 2)
        ),
        *(
            part
            for x, y in zip(xs, ys, strict=True)
            for part in (
                f.sum(f.when(f.col(x) != 0, f.abs(f.col(x) - f.col(y)) / f.abs(x))).alias(f"relative{x}"),
                f.count_if(f.col(x) != 0).alias(f"usable{x}"),
                f.sum(f.abs(f.col(x) - f.col(y))).alias(f"moved{x}"),
                f.sum((f.col(x) - f.col(y)) * (f.col(x) - f.col(y))).alias(f"square{x}"),
            )
        ),
    ).first()
    assert ranges is not None
    row = ranges.asDict()
    low = np.array([row[f"low{x}"] for x in xs])
    width = np.array([row[f"high{x}"] for x in xs]) - low
    divisor = np.where(width > 0, width, 1.0)
    deviation = np.where(width > 0, [row[f"sd{x}"] or 0.0 for x in xs], 0.0)
    # The same steps as on one machine, or values at the very edge of an interval would fall on its other side.
    scaled = [
        [(f.col(name) - float(low[place])) / float(divisor[place]) for place, name in enumerate(names)]
        for names in (xs, ys)
    ]
    asked = []
    for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
        gone, moved = f.abs(scaled[0][place] - scaled[1][place]), f.abs(f.col(x) - f.col(y))
        for number, share in enumerate(WIDTHS):
            asked.append(f.count_if(gone <= share * f.abs(scaled[1][place])).alias(f"id{place}_{number}"))
            asked.append(f.count_if(moved <= share * float(deviation[place])).alias(f"sd{place}_{number}"))
    disclosed = pairs.agg(*asked).first()
    assert disclosed is not None
    n = row["n"]
    by_column, sd_by_column = (
        [sum(disclosed[f"{what}{i}_{w}"] for w in range(len(WIDTHS))) for i in range(size)]
        for what in ("id", "sd")
    )
    cells = len(WIDTHS) * n
    strict, expected, blocks, largest = _links(pairs, xs, ys, low, divisor, row, block)
    loss = _loss(row, xs, ys, deviation)
    measured = count_classes(two, request.quasi, unit)
    alone = (
        measured if set(request.quasi) == set(request.columns) else count_classes(two, request.columns, unit)
    )
    return LargeComparison(
        name=name,
        records=n,
        columns=request.columns,
        quasi=request.quasi,
        quasi_guessed=request.quasi_guessed,
        k=measured.k,
        k_compared=alone.k,
        loss=loss,
        attributes=tuple(
            AttributeComparison(
                column=column,
                id=100.0 * near / cells,
                id_sd=100.0 * near_sd / cells,
                constant=bool(alike),
                **vars(own),
            )
            for column, near, near_sd, alike, own in zip(
                request.columns, by_column, sd_by_column, width == 0, loss.by_column, strict=True
            )
        ),
        id=100.0 * sum(by_column) / (cells * size),
        id_sd=100.0 * sum(sd_by_column) / (cells * size),
        dld=100.0 * expected / n,
        strict_links=strict,
        expected_links=expected,
        blocks=blocks,
        largest_block=largest,
        anonymity=measured,
        remarks=request.remarks,
    )


def _loss(
    row: dict[str, Any], xs: Sequence[str], ys: Sequence[str], deviation: np.ndarray
) -> InformationLoss:
    """IL1 to IL5 from the sums; what rounding alone explains is 0, as on one machine."""
    n, size = row["n"], len(xs)
    noise = float(4.0 * np.finfo(float).eps * np.sqrt(n))
    about = np.array([row[f"size{x}"] for x in xs])
    means = np.array([row[f"mean{x}"] for x in xs])
    means = np.where(np.abs(means) > noise * about, means, 0.0)
    after = np.array([row[f"mean{y}"] for y in ys])
    after = np.where(np.abs(after - means) > noise * about, after, means)

    def matrix(names: Sequence[str]) -> np.ndarray:
        found = np.zeros((size, size))
        for i, j in combinations_with_replacement(range(size), 2):
            found[i, j] = found[j, i] = row[f"cov{names[i]}{names[j]}"] or 0.0
        return found

    covariance, covariance_after = matrix(xs), matrix(ys)
    flat = deviation == 0
    flat_after = np.array([row[f"low{y}"] == row[f"high{y}"] for y in ys])
    covariance[flat, :] = covariance[:, flat] = 0.0
    covariance_after[flat_after, :] = covariance_after[:, flat_after] = 0.0
    spread = np.sqrt(np.diag(covariance))
    of_pair = np.outer(spread, spread + about)
    covariance = np.where(np.abs(covariance) > noise * np.maximum(of_pair, of_pair.T), covariance, 0.0)
    upper, above = np.triu_indices(size), np.triu_indices(size, 1)
    usable = (~flat[:, None] & ~flat[None, :])[above]
    changes = np.abs(_correlations(covariance) - _correlations(covariance_after))[above][usable]
    relative = np.array([row[f"relative{x}"] or 0.0 for x in xs])
    terms = np.array([row[f"usable{x}"] for x in xs])
    moved = np.array([row[f"moved{x}"] for x in xs])
    in_deviations = np.divide(moved, np.sqrt(2.0) * deviation, out=np.zeros(size), where=~flat)
    squares = np.array([row[f"square{x}"] for x in xs])
    errors = np.divide(squares, np.square(deviation), out=np.zeros(size), where=~flat)
    varying = int((~flat).sum())
    total = varying * (n - 1)
    return InformationLoss(
        il1=Mean(float(relative.sum() / max(1, terms.sum())), int(terms.sum()), int(n * size - terms.sum())),
        il1s=Mean(float(in_deviations.sum() / max(1, varying * n)), varying * n, n * (size - varying)),
        il2=_ratio(means, after),
        il3=_ratio(covariance[upper], covariance_after[upper]),
        il4=_ratio(np.diag(covariance), np.diag(covariance_after)),
        il5=Mean(float(changes.mean()) if changes.size else 0.0, int(changes.size), int((~usable).sum())),
        sse_percent=100.0 * float(errors.sum()) / total if total else 0.0,
        by_column=tuple(
            ColumnLoss(
                il1=float(relative[j] / max(1, terms[j])),
                il1s=float(in_deviations[j] / n),
                il2=_ratio(means[j : j + 1], after[j : j + 1]).value,
                il4=_ratio(covariance[j : j + 1, j], covariance_after[j : j + 1, j]).value,
                sse_percent=100.0 * float(errors[j]) / (n - 1) if n > 1 else 0.0,
            )
            for j in range(size)
        ),
    )


def _ratio(before: np.ndarray, after: np.ndarray) -> Mean:
    usable = before != 0
    terms = int(usable.sum())
    value = float((np.abs(before - after)[usable] / np.abs(before[usable])).mean()) if terms else 0.0
    return Mean(value, terms, before.size - terms)


def _correlations(covariance: np.ndarray) -> np.ndarray:
    spread = np.sqrt(np.diag(covariance))
    safe = np.where(spread > 0, spread, 1.0)
    found: np.ndarray = np.clip(covariance / np.outer(safe, safe), -1.0, 1.0)
    return found


def _links(
    pairs: "DataFrame",
    xs: Sequence[str],
    ys: Sequence[str],
    low: np.ndarray,
    divisor: np.ndarray,
    row: dict[str, Any],
    block: int,
) -> tuple[int, float, int, int]:
    """Links by distance inside blocks of near released records: strict ones, expected ones, blocks, the largest block."""
    from pyspark.sql import functions as f

    n = row["n"]
    scale = Scaling(low, 1.0 / divisor)
    routed = pairs.withColumn("root", f.lit(0)).withColumn("point", f.xxhash64(*ys))
    records = Records(routed, tuple(ys))
    split = split_records(
        records,
        Router(scale, None, SplitTree.unsplit()),
        {0: n},
        max(1, row["distinct"]),
        LeafOptions(leaf=block),
    )
    router = split.router

    def count(table: Any) -> Any:
        import pyarrow as pa

        from shoal.microdata.measures.linkage import link_by_distance

        before, after = (
            scale.points(np.column_stack([table.column(name).to_numpy() for name in names]))
            for names in (xs, ys)
        )
        links = link_by_distance(before, after)
        return pa.table({"strict": [links.strict], "expected": [links.expected], "records": [len(before)]})

    blocks = (
        records.routed(router.nodes)
        .groupBy("node")
        .applyInArrow(count, "strict long, expected double, records long")
    )
    found = blocks.agg(
        f.sum("strict").alias("strict"),
        f.sum("expected").alias("expected"),
        f.count("*").alias("blocks"),
        f.max("records").alias("largest"),
    ).first()
    assert found is not None
    return int(found["strict"]), float(found["expected"]), int(found["blocks"]), int(found["largest"])
