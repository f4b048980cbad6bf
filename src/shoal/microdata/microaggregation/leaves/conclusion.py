"""The result of a microaggregation of records in many places, put together from what was counted there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any

from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.microaggregation.aggregate import Aggregate
from shoal.microdata.microaggregation.large_claims import Claims, ColumnClaim
from shoal.microdata.microaggregation.leaves.leaf_search import DAY
from shoal.microdata.microaggregation.leaves.moments import Moments, changes
from shoal.microdata.microaggregation.leaves.overview import Overview
from shoal.microdata.microaggregation.leaves.plan import LeafPlan
from shoal.microdata.microaggregation.leaves.request import Request
from shoal.microdata.microaggregation.leaves.result import LargeMicroaggregation
from shoal.microdata.microaggregation.remarks import (
    warnings_on_identity,
    warnings_on_k,
    warnings_on_unchanged,
)
from shoal.numbers import counted
from shoal.remarks import Remark, note


@dataclass(frozen=True, eq=False)
class Counted:
    """What was counted of a release: sizes of its groups, their squared error, K, and the moments on both sides.

    ``released_sums`` are sums over the hashes of the released records as they left their groups.
    """

    sizes: Mapping[int, int]
    sse: float
    measured: Anonymity
    protected: Anonymity
    before: Moments
    after: Moments
    released_sums: tuple[int, int]


def total_variance(request: Request, records: int, before: Moments) -> float:
    """The squared error of a single group; constant columns have no part in it."""
    varying = (before.deviations > 0).tolist()
    return float(sum(w for w, v in zip(request.weights, varying, strict=True) if v)) * (records - 1)


def claims_of(request: Request, unchanged: Sequence[str], known: Overview, counted: Counted) -> Claims:
    """What is claimed of a release in which this was counted."""
    columns = [
        ColumnClaim(
            name,
            request.weights[place],
            float(counted.before.means[place]),
            float(counted.before.deviations[place]),
            known.least[place],
            known.largest[place],
            *_rounding(request.kinds[place], request.aggregate),
        )
        for place, name in enumerate(request.columns)
    ]
    return Claims(
        columns=tuple(columns),
        unchanged=tuple(unchanged),
        quasi=request.quasi,
        unit=request.unit,
        records=known.records,
        k=request.k,
        k_release=counted.measured.k,
        unchanged_sums=known.unchanged_sums,
        released_sums=counted.released_sums,
        sse=counted.sse,
        sst=total_variance(request, known.records, counted.before),
    )


def _rounding(kind: str, how: Aggregate) -> tuple[float, float]:
    """How far below and above the mean of its group a value may be released."""
    if how == "median":
        return inf, inf
    if kind == "date":
        return DAY, 0.0
    # Moments are whole microseconds.
    return (0.5, 0.5) if kind == "time" or (kind == "integer" and how == "rounded-mean") else (0.0, 0.0)


def conclude(
    request: Request,
    engine: str,
    names: Sequence[str],
    known: Overview,
    plan: LeafPlan,
    small_strata: int,
    counted: Counted,
    unchecked: Sequence[str],
    began: float,
    *,
    frame: Any,
    check: Callable[[Any], None],
    stage: Callable[[LargeMicroaggregation, str, bool], Any],
    close: Callable[[], None],
) -> LargeMicroaggregation:
    """All that is known of a release; ``small_strata`` is how many strata were a leaf of their own."""
    searched = plan.searched
    return LargeMicroaggregation(
        frame=frame,
        columns=request.columns,
        k=request.k,
        k_release=counted.measured.k,
        k_protected=counted.protected.k,
        anonymity=counted.measured,
        quasi=request.quasi,
        quasi_guessed=request.quasi_guessed,
        engine=engine,
        method="blocks",
        records=known.records,
        set_aside=known.set_aside,
        sizes=dict(sorted(counted.sizes.items())),
        sse=counted.sse,
        sst=total_variance(request, known.records, counted.before),
        leaves=max(1, len(searched) + small_strata),
        shifted_leaves=plan.shifted_leaves,
        leaf=request.options.leaf,
        largest_leaf=max(searched.values(), default=known.records),
        rounds=sum(request.rounds(known.records)),
        seconds=monotonic() - began,
        changes=changes(request, counted.before, counted.after),
        remarks=(*_notes(request, known, plan), *_warnings(request, names, known, counted)),
        settings=request.in_words(),
        unchecked=tuple(unchecked),
        _check=check,
        _stage=stage,
        _close=close,
    )


def _notes(request: Request, known: Overview, plan: LeafPlan) -> list[Remark]:
    remarks = list(request.remarks)
    if known.set_aside:
        aside = counted(known.set_aside, "record with missing values is", "records with missing values are")
        remarks.append(note("missing-values", f"{aside} set aside and not released"))
    if plan.leaves.together:
        each = counted(len(plan.leaves.together), "point is a group", "points are groups")
        text = f"{each} of their own, since more than {request.most:,} records share each"
        remarks.append(note("shared-point", text))
    return remarks


def _warnings(request: Request, names: Sequence[str], known: Overview, counted: Counted) -> list[Remark]:
    """Those of one machine; what needs pairs of columns is judged by the records that were looked at."""
    kept = request.unchanged(names)
    return [
        *warnings_on_identity(request.guesses, kept, request.unit),
        *warnings_on_k(counted.measured, request.k, counted.protected.k, kept),
        *request.unit_remarks,
        *warnings_on_unchanged(
            request.looked_at,
            request.guesses,
            [read_attribute(request.looked_at, name) for name in request.columns],
            [name for name in kept if name not in request.by],
            unit=request.unit,
            quasi=() if request.quasi_guessed else request.quasi,
            shared={name: known.records / max(1, count) for name, count in known.values.items()},
        ),
    ]
