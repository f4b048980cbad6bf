"""``shoal.spark.recode``: whole columns made coarser, searched on the classes and applied where the records are."""

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.microdata.columns.inputs import as_names
from shoal.microdata.columns.orders import Orders, read_orders
from shoal.microdata.columns.units import unit_column, unit_remarks
from shoal.microdata.microaggregation.leaves.steps import Steps
from shoal.microdata.recoding.all_losses import measured_losses
from shoal.microdata.recoding.large_result import LargeRecoded
from shoal.microdata.recoding.problem import Measure
from shoal.microdata.recoding.recode_counts import RecodedTuples, recode_tuples
from shoal.microdata.recoding.remarks import hierarchy_remark, remarks_on_release
from shoal.numbers import number, whole
from shoal.remarks import Remark
from shoal.runtime import Budget
from shoal.runtime.observer import Observer, silent
from shoal.spark.anonymity import count_classes
from shoal.spark.arguments import on_cluster
from shoal.spark.failures import in_one_line
from shoal.spark.frames import Frame, plain, same
from shoal.spark.key_tuples import key_tuples, tuple_members
from shoal.spark.look import guessed, some_records
from shoal.spark.recoding_check import RecodingCheck
from shoal.spark.writing import stage_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@on_cluster
def recode(
    frame: "DataFrame",
    quasi: Sequence[str],
    k: int = 5,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    ordinal: Sequence[str] | Orders = (),
    suppress: float = 0.0,
    measure: Measure = "loss",
    weights: Mapping[str, float] | None = None,
    stay: Sequence[str] = (),
    levels: Mapping[str, int] | None = None,
    drop: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    unit: str | None = None,
    budget: Budget | None = None,
    observer: Observer = silent,
) -> LargeRecoded:
    """Make whole columns coarser until every class has at least k records, or units; as ``shoal.recode`` does.

    The combinations of keys are counted on the cluster; the levels that lose least are found on the driver with proof, and
    applied where the records are. Records are counted, unless ``unit`` says whose they are: then k distinct units are held,
    and of those with records of several combinations it comes to the driver which these are.

    >>> safe = shoal.spark.recode(spark.read.parquet("people"), ["age", "zip"], k=5)   # doctest: +SKIP
    >>> safe.levels, safe.k_release, safe.optimal                                     # doctest: +SKIP
    ({'age': 2, 'zip': 1}, 5, True)
    """
    began = monotonic()
    names, drop = as_names(quasi), as_names(drop)
    own = Frame.of(frame)
    declared, unit = unit, unit_column(unit, own.names)
    own.check([*names, *drop, *stay, *(hierarchies or {}), unit])
    if not names:
        raise InputError("name at least one key")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"column '{name}' is named twice among the keys")
        if name in drop:
            raise InputError(f"column '{name}' is a key, so it cannot be dropped")
        if name == unit:
            raise InputError(f"column '{name}' is a key, so it cannot say whose records these are")
    k = whole(k, "k", least=1)
    number(suppress, "suppress", least=0.0, most=1.0)
    own.check_carried([name for name in own.names if name not in drop or name == unit])
    steps = Steps(observer, began)
    with in_one_line("the records cannot be recoded"):
        steps.reading()
        tuples, counts = key_tuples(own, names)
        members = None if unit is None else tuple_members(own, names, unit, tuples)
        steps.search()
        found = recode_tuples(
            tuples,
            counts,
            k,
            hierarchies=hierarchies or {},
            orders=read_orders(ordinal),
            suppress=suppress,
            measure=measure,
            weights=weights,
            stay=as_names(stay),
            levels=levels,
            budget=budget,
            members=members,
        )
        with_unit = None
        if unit in drop:
            with_unit = _released(own, names, [name for name in drop if name != unit], tuples, found)
        released = _released(own, names, drop, tuples, found)
        counted = released if with_unit is None else with_unit
        steps.verification()
        measured = count_classes(Frame.of(counted), tuple(names), unit)
        check = RecodingCheck(tuple(names), _expected(tuples, counts, found), k, unit, with_unit)
        kept = int(counts[found.released].sum())
        result = LargeRecoded(
            frame=released,
            quasi=tuple(names),
            k=k,
            k_release=measured.k,
            anonymity=measured,
            engine="spark",
            records=kept,
            suppressed_records=int(counts.sum()) - kept,
            suppressed_people=found.suppressed_people,
            limit=found.problem.limit,
            levels=found.levels,
            proposals=found.keys.proposals,
            measure=measure,
            loss=float(found.solution.value),
            bound=None if found.solution.bound is None else float(found.solution.bound),
            optimal=found.solution.optimal,
            losses=measured_losses(found.problem, found.solution),
            mapping=found.mapping(k),
            tuples=len(counts),
            nodes=found.problem.nodes,
            stopped_by=found.solution.stopped_by,
            seconds=monotonic() - began,
            remarks=(
                *_remarks(own, names, drop, roles, unit, declared, found),
                *map(hierarchy_remark, found.keys.proposals),
            ),
            _check=check,
            _stage=lambda folder, force: stage_parts(
                released, folder, force, max(1, kept), tuple(names), check
            ),
        )
        result.verify()
    return result


def _remarks(
    frame: Frame,
    names: Sequence[str],
    drop: Sequence[str],
    roles: Mapping[str, str] | None,
    unit: str | None,
    declared: str | None,
    recoded: RecodedTuples,
) -> list[Remark]:
    """Those of one machine, by the look of some records."""
    looked_at = some_records(frame)
    guesses = guessed(frame, looked_at, roles)
    return unit_remarks(looked_at, declared, guesses, names) + remarks_on_release(
        nw.from_native(looked_at, eager_only=True),
        guesses,
        names,
        [name for name in frame.names if name not in drop],
        [name for name, level in recoded.levels.items() if level],
        (unit,),
        (),
    )


def _expected(
    tuples: pl.DataFrame, counts: np.ndarray, recoded: RecodedTuples
) -> dict[tuple[str | None, ...], int]:
    """How many records each released combination must have; keys that stay as they are, as they are written."""
    shown = [tuples[name] if level == 0 else recoded.labels[name] for name, level in recoded.levels.items()]
    expected: dict[tuple[str | None, ...], int] = {}
    for row, count, kept in zip(
        zip(*shown, strict=True), counts.tolist(), recoded.released.tolist(), strict=True
    ):
        if kept:
            key = tuple(None if item is None else str(item) for item in row)
            expected[key] = expected.get(key, 0) + count
    return expected


def _released(
    frame: Frame, names: Sequence[str], drop: Sequence[str], tuples: pl.DataFrame, recoded: RecodedTuples
) -> "DataFrame":
    """The records with their keys at the levels chosen; those of combinations that are left out are not there."""
    from pyspark.sql import functions as f

    spark, data = frame.data.sparkSession, frame.data
    columns = {name: frame.own(name) for name in frame.names}
    for place, (name, level) in enumerate(recoded.levels.items()):
        own = frame.own(name)
        data = data.withColumn(own, plain(f.col(own), data.schema[own].dataType))
        if level == 0:
            continue
        pairs = pl.DataFrame({f"v{place}": tuples[name], f"l{place}": recoded.labels[name]}).unique()
        told_ = f.broadcast(spark.createDataFrame(pairs.to_arrow()))
        data = data.join(told_, same([own], [f"v{place}"]), "left").drop(f"v{place}")
        columns[name] = f"l{place}"
    if not recoded.released.all():
        shown = [
            (tuples[name] if level == 0 else recoded.labels[name]).alias(f"o{place}")
            for place, (name, level) in enumerate(recoded.levels.items())
        ]
        out = pl.DataFrame(shown).filter(~pl.Series(recoded.released)).unique()
        keys = [columns[name] for name in names]
        left_out = f.broadcast(spark.createDataFrame(out.to_arrow()))
        data = data.join(left_out, same(keys, [f"o{place}" for place in range(len(names))]), "left_anti")
    shown_names = [name for name in frame.names if name not in drop]
    return data.select(
        *(f.col(columns[name]).alias(f"r{place}") for place, name in enumerate(shown_names))
    ).toDF(*shown_names)
