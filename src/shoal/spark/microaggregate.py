"""``shoal.spark.microaggregate``: every record equal to at least k−1 others, on a cluster."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import xor
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.columns.inputs import Missing
from shoal.microdata.microaggregation.aggregate import Aggregate
from shoal.microdata.microaggregation.leaves.conclusion import Counted, claims_of, conclude
from shoal.microdata.microaggregation.leaves.leaf_search import crowd_value, groups_of_crowd
from shoal.microdata.microaggregation.leaves.leaf_work import LeafWork
from shoal.microdata.microaggregation.leaves.moments import Moments
from shoal.microdata.microaggregation.leaves.overview import Overview
from shoal.microdata.microaggregation.leaves.plan import LeafPlan, plan_leaves
from shoal.microdata.microaggregation.leaves.request import Request, read_request
from shoal.microdata.microaggregation.leaves.result import LargeMicroaggregation
from shoal.microdata.microaggregation.leaves.scale import scaling
from shoal.microdata.microaggregation.leaves.steps import Steps
from shoal.runtime.observer import Observer, silent
from shoal.spark.anonymity import count_classes
from shoal.spark.arguments import on_cluster
from shoal.spark.failures import in_one_line
from shoal.spark.frames import Frame, as_number, from_number, plain, same
from shoal.spark.leaf_tables import LeafTables
from shoal.spark.look import some_records
from shoal.spark.moments import moments_of_sums, sum_columns
from shoal.spark.splitting import Records
from shoal.spark.statistics import Strata, exact_sums, find_strata, fingerprint, overview, surely_units
from shoal.spark.verify import ReleaseCheck
from shoal.spark.workers import check_workers
from shoal.spark.writing import stage_parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@on_cluster
def microaggregate(
    frame: "DataFrame",
    k: int = 5,
    *,
    columns: Sequence[str] | None = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    aggregate: Aggregate = "mean",
    by: Sequence[str] = (),
    missing: Missing = "refuse",
    attribute_weights: Mapping[str, float] | None = None,
    largest: int | None = None,
    drop: Sequence[str] = (),
    quasi: Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    unit: str | None = None,
    iterations: int | None = None,
    seed: int | None = 0,
    observer: Observer = silent,
) -> LargeMicroaggregation:
    """Replace records by the means of groups of at least k, where the records are; as ``shoal.microaggregate`` does.

    The same seed releases the same records, whatever the partitions, the executors and the order of rows. With ``unit`` every
    group holds at least k distinct units. The released frame is kept on the executors' disks until ``close()``; it was
    verified by aggregations of its own.

    >>> safe = shoal.spark.microaggregate(spark.read.parquet("firms"), k=3, columns=["turnover"])  # doctest: +SKIP
    >>> safe.k_protected, safe.frame.count()                                                      # doctest: +SKIP
    (3, 40000)
    """
    began = monotonic()
    own = Frame.of(frame)
    check_workers(frame.sparkSession)
    with in_one_line("the records cannot be protected"):
        request = read_request(
            own.names,
            own.kind,
            own.type_in_words,
            lambda: some_records(own),
            k=k,
            columns=columns,
            method=method,
            options=options,
            aggregate=aggregate,
            by=by,
            missing=missing,
            attribute_weights=attribute_weights,
            largest=largest,
            drop=drop,
            quasi=quasi,
            roles=roles,
            unit=unit,
            iterations=iterations,
            seed=seed,
        )
        return Cluster(own, request, Steps(observer, began)).release()


class Cluster:
    """One microaggregation on a cluster, step by step."""

    def __init__(self, frame: Frame, request: Request, steps: Steps) -> None:
        self.frame, self.request, self.steps = frame, request, steps
        carried = request.carried(frame.names)
        frame.check_carried(carried)
        self.kept = {name: frame.own(name) for name in request.unchanged(frame.names)}
        self.numbers = tuple(f"x{place}" for place in range(len(request.columns)))
        self.rest = tuple(frame.own(name) for name in carried)
        self.by = [frame.own(name) for name in request.by]
        self.unit = None if request.unit is None else frame.own(request.unit)
        self.at_points: Counter[int] = Counter()

    def release(self) -> LargeMicroaggregation:
        """All of it: look at the records, split them, group them, release them, check what came out."""
        request = self.request
        self.steps.reading()
        records = self._numbered()
        known = overview(records, self.numbers, self.kept, self._whose(), request)
        if known.set_aside:
            records = records.dropna(subset=list(self.numbers))
        strata = self._strata(records, known)
        sums, before = exact_sums(records, self.numbers, known)
        self.steps.search()
        whose = self._whose()
        units = None if whose is None else surely_units(whose, request.k)
        rooted = Records(self._rooted(records, strata), self.numbers, units)
        sizes = dict(enumerate(strata.records))
        plan = plan_leaves(rooted, scaling(sums, request.weights), sizes, known.distinct, request)
        made = self._grouped(rooted, plan, known)
        return self._result(made, known, plan, strata, before)

    def _numbered(self) -> "DataFrame":
        """The columns to protect as numbers, the rest as it is, and hashes of both."""
        from pyspark.sql import functions as f

        schema = self.frame.data.schema
        numbers = [
            as_number(self.frame.own(name), schema[self.frame.own(name)].dataType).alias(own)
            for own, name in zip(self.numbers, self.request.columns, strict=True)
        ]
        rest = [plain(f.col(name), schema[name].dataType).alias(name) for name in self.rest]
        data = self.frame.data.select(*numbers, *rest)
        seed = f.lit(self.request.seed)
        tie = f.xxhash64(seed, *self.rest) if self.rest else f.lit(0).cast("bigint")
        return data.withColumn("point", f.xxhash64(seed, *self.numbers)).withColumn("tie", tie)

    def _whose(self) -> "Column | None":
        """Whose record each is."""
        from pyspark.sql import functions as f

        return None if self.unit is None else f.col(self.unit)

    def _strata(self, records: "DataFrame", known: Overview) -> Strata:
        """The strata that are too large for one leaf: each gets a tree."""
        request = self.request
        if request.by:
            return find_strata(records, self.by, self._whose(), request)
        large = known.records > request.most
        return Strata(1, (known.records,) if large else ())

    def _rooted(self, records: "DataFrame", strata: Strata) -> "DataFrame":
        """Each record with the root of its tree, or −1 where its stratum needs none."""
        from pyspark.sql import functions as f
        from pyspark.sql import types as t

        if not strata.records:
            return records.withColumn("root", f.lit(-1))
        if not self.by:
            return records.withColumn("root", f.lit(0))
        keys = [f"s{place}" for place in range(len(self.by))]
        kinds = [records.schema[name].dataType for name in self.by]
        schema = t.StructType(
            [
                *(t.StructField(key, kind) for key, kind in zip(keys, kinds, strict=True)),
                t.StructField("root", t.IntegerType()),
            ]
        )
        roots = records.sparkSession.createDataFrame(strata.keys.rename_columns([*keys, "root"]), schema)
        joined = records.join(f.broadcast(roots), same(self.by, keys), "left").drop(*keys)
        return joined.withColumn("root", f.coalesce("root", f.lit(-1)))

    def _grouped(self, records: Records, plan: LeafPlan, known: Overview) -> "DataFrame":
        """The released numbers of all records, with the error and the size of each one's group."""
        from pyspark.sql import functions as f
        from pyspark.sql import types as t

        work = LeafWork.of(self.request, plan, known.records)
        tables = LeafTables(work, self.numbers, self.rest, self.unit)
        routed = records.routed(plan.leaf_of, "leaf")
        rest = [routed.schema[name] for name in self.rest]
        numbers = [t.StructField(name, t.DoubleType()) for name in self.numbers]
        counts = [t.StructField("error", t.DoubleType()), t.StructField("members", t.LongType())]
        final = t.StructType([*rest, *numbers, *counts])
        crowds = bool(plan.leaves.together)
        searched = routed.where(f.col("leaf") >= 0) if crowds else routed

        # Spark counts the parameters of what it is given, and takes that of a method for two.
        def group(table: Any) -> Any:
            return tables.grouped(table)

        def improve(table: Any) -> Any:
            return tables.improved(table)

        if plan.second is None:
            made = searched.groupBy(*self.by, "leaf").applyInArrow(group, final)
        else:
            between = t.StructType(
                [
                    *numbers,
                    *rest,
                    t.StructField("tie", t.LongType()),
                    t.StructField("team", t.LongType()),
                    t.StructField("shifted", t.IntegerType()),
                ]
            )
            grouped = searched.groupBy(*self.by, "leaf").applyInArrow(group, between)
            made = grouped.groupBy(*self.by, "shifted").applyInArrow(improve, final)
        return made.unionByName(self._crowded(routed, plan, known)) if crowds else made

    def _crowded(self, routed: "DataFrame", plan: LeafPlan, known: Overview) -> "DataFrame":
        """Points that very many records share: each is one group, and so are the few others that join it."""
        from pyspark.sql import functions as f

        points = (
            routed.where(f.col("leaf") < 0).groupBy("leaf", *self.numbers).agg(f.count("*").alias("weight"))
        )
        table = points.toArrow()
        leaf, weight = (table.column(name).to_numpy() for name in ("leaf", "weight"))
        values = np.column_stack([table.column(name).to_numpy() for name in self.numbers])
        rows = []
        for number in sorted(set(leaf.tolist())):
            own = np.lexsort(values[leaf == number].T)
            of, share = values[leaf == number][own], weight[leaf == number][own].astype(np.float64)
            middle = crowd_value(of, share, self.request.kinds, self.request.aggregate)
            sizes = groups_of_crowd(int(share.sum()), self.request.largest)
            if sum(sizes.values()) > 1 and len(of) > 1:
                raise InputError(
                    f"{parameter('largest')} cannot be held where more than {self.request.most:,} records share a point that "
                    "others must join; leave it out, or make option leaf larger"
                )
            # Of several groups at one point the same is released, so nobody need know which record is in which.
            self.at_points.update(sizes)
            rows.append((int(number), *middle.tolist(), 0))
        names = ["leaf", *(f"y{place}" for place in range(len(self.numbers))), "members"]
        kinds = ["int", *("double" for _ in self.numbers), "bigint"]
        schema = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
        values_of = f.broadcast(routed.sparkSession.createDataFrame(rows, schema))
        error: Column = f.lit(0.0)
        for place, name in enumerate(self.numbers):
            unit, factor = float(known.units[place]), float(plan.scaling.factors[place])
            gone = (f.col(name) - f.col(f"y{place}")) / unit * factor
            error = error + gone * gone
        joined = routed.where(f.col("leaf") < 0).join(values_of, "leaf").withColumn("error", error)
        return joined.select(
            *self.rest,
            *(f.col(f"y{place}").alias(name) for place, name in enumerate(self.numbers)),
            "error",
            "members",
        )

    def _result(
        self, grouped: "DataFrame", known: Overview, plan: LeafPlan, strata: Strata, before: Moments
    ) -> LargeMicroaggregation:
        from pyspark.sql import functions as f
        from pyspark.storagelevel import StorageLevel

        request = self.request
        # In a leaf records stand by their true values, in a crowd as they came: now by what is released of them alone.
        shown = [f.xxhash64(*self.kept.values())] if self.kept else []
        grouped = grouped.sortWithinPartitions(*self.numbers, *shown).persist(StorageLevel.DISK_ONLY)
        try:
            groups = (
                grouped.groupBy("members")
                .agg(
                    f.count("*").alias("records"),
                    f.sum("error").alias("error"),
                    *sum_columns(self.numbers, known),
                    *fingerprint([self._shown(name) for name in self._names()]),
                )
                .collect()
            )
            self.steps.verification()
            released, with_unit = self._typed(grouped)
            own = Frame.of(released if with_unit is None else with_unit)
            measured = count_classes(own, request.quasi, request.unit)
            found = Counted(
                sizes=self.at_points
                + Counter({size: row["records"] // size for row in groups if (size := row["members"])}),
                sse=float(sum(row["error"] for row in groups)),
                measured=measured,
                protected=measured
                if set(request.quasi) == set(request.columns)
                else count_classes(own, request.columns, request.unit),
                before=before,
                after=moments_of_sums(groups, known),
                released_sums=(
                    reduce(xor, (row["mixed"] for row in groups)),
                    sum(row["added"] for row in groups),
                ),
            )
            claims = claims_of(request, list(self.kept), known, found)
            check = ReleaseCheck(claims, with_unit)
            result = conclude(
                request,
                "spark",
                self.frame.names,
                known,
                plan,
                strata.number - len(strata.records),
                found,
                claims.unchecked,
                self.steps.began,
                frame=released,
                check=check,
                stage=lambda result, folder, force: stage_parts(
                    released, folder, force, result.records, result.columns, check
                ),
                close=lambda: grouped.unpersist() and None,
            )
            self._verified(result, known)
        except BaseException:
            grouped.unpersist()
            raise
        return result

    def _verified(self, result: LargeMicroaggregation, known: Overview) -> None:
        """Check the release; if it fails because the records changed meanwhile, say that."""
        try:
            result.verify()
        except AssertionError:
            if self.frame.is_deterministic() and self._same_again(known):
                raise
            raise InputError(
                "the frame gave other records when it was read again (a limit, a sample or a random number?); "
                "write it or checkpoint it first"
            ) from None

    def _same_again(self, known: Overview) -> bool:
        """Whether a second look at the records finds what the first did."""
        again = overview(self._numbered(), self.numbers, self.kept, None, self.request)
        return (again.records, again.unchanged_sums, again.least, again.largest) == (
            *(known.records, known.unchanged_sums, known.least, known.largest),
        )

    def _typed(self, grouped: "DataFrame") -> "tuple[DataFrame, DataFrame | None]":
        """The released columns in their order, under their names, of their types; and with the unit, if it is dropped."""

        def readable(names: list[str]) -> "DataFrame":
            columns = [self._shown(name).alias(f"r{place}") for place, name in enumerate(names)]
            return grouped.select(*columns).toDF(*names)

        unit, names = self.request.unit, self._names()
        return readable(names), readable(
            [*names, unit]
        ) if unit is not None and unit in self.request.drop else None

    def _names(self) -> list[str]:
        """The columns that are released."""
        return [name for name in self.frame.names if name not in self.request.drop]

    def _shown(self, name: str) -> "Column":
        """A column as it is released, of its type."""
        from pyspark.sql import functions as f

        own, request = self.frame.own(name), self.request
        if name not in request.columns:
            return f.col(own)
        number = self.numbers[request.columns.index(name)]
        return from_number(
            number, self.frame.data.schema[own].dataType, whole=request.aggregate == "rounded-mean"
        )
