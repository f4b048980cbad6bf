"""Protect records: microaggregation, with what a page needs to show it."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from shoal.errors import Infeasible
from shoal.microdata.methods import METHODS
from shoal.web.activities.activity import Activity, Request
from shoal.web.activities.overall import Overall
from shoal.web.datasets import Dataset
from shoal.web.jobs.context import Context
from shoal.web.words import page_words

if TYPE_CHECKING:
    import polars as pl

    from shoal.microdata.microaggregation import Microaggregation

#: Beside the release of a run, for comparing it; nobody downloads it.
RECORD_LINKS = "record-links.csv"
_DRAWN = 12
# Spreadsheets end here; larger releases are offered as CSV and Parquet.
_LARGEST_SHEET = 200_000


class Microaggregate(Request):
    """What to protect and how; the names are those of the command line."""

    data: str
    k: int = Field(5, ge=2, le=1_000_000)
    columns: list[str] | None = Field(
        None, description="columns to protect; all that measure something if not given"
    )
    groups: list[list[str]] | Literal["auto"] | None = Field(
        None, description="columns protected group by group; auto finds the groups"
    )
    method: str = Field("auto", max_length=40)
    options: dict[str, Any] = Field(default_factory=dict, description="options of the method")
    aggregate: Literal["mean", "median", "rounded-mean"] = "mean"
    ordinal: list[str] | dict[str, list[str] | None] = Field(
        default_factory=list,
        description="columns whose order counts, not their values; of texts each with its values, lowest first",
    )
    by: list[str] = Field(default_factory=list, description="strata no group may cross")
    missing: Literal["refuse", "aside", "impute"] = "refuse"
    attribute_weights: dict[str, Annotated[float, Field(gt=0, le=1e6)]] | None = Field(
        None, description="importance of columns in the distance"
    )
    sample_weights: str | None = Field(None, description="the column of how many people a record stands for")
    largest: int | None = Field(None, ge=2, le=10**9, description="most records in a group")
    drop: list[str] | None = Field(
        None, description="columns to remove; the identifiers if not given, none if it is empty"
    )
    order: Literal["keep", "sorted"] = "keep"
    quasi: list[str] | None = Field(
        None,
        description="columns over which K of the release is counted; all released ones that could be known, by the roles of "
        "the data, if not given; the protected ones if empty",
    )
    unit: str | None = Field(None, description="the column of whose record it is; K counts distinct units")
    require_k: int | None = Field(None, ge=1, le=10**9, description="release nothing if K is below this")
    target: float | None = Field(None, ge=0, le=100, description="stop at this loss, in percent")
    iterations: int | None = Field(None, ge=0, le=10**12)
    time_limit: float | None = Field(None, gt=0, le=7 * 86400)
    seed: int = Field(0, ge=0, le=2**53 - 1)

    @property
    def several(self) -> bool:
        """Whether there are several searches, one for each stratum or group of columns."""
        groups = self.groups == "auto" or (self.groups is not None and len(self.groups) > 1)
        return groups or bool(self.by)

    def removed(self, dataset: Dataset) -> list[str]:
        """The columns to remove: those named, or else the identifiers that the request does not ask for."""
        if self.drop is not None:
            return self.drop
        groups = self.groups if isinstance(self.groups, list) else []
        wanted = {*(self.columns or ()), *self.ordinal, *(self.quasi or ())}.union(*groups)
        return [name for name in dataset.with_role("identifier") if name not in wanted]


def run(request: Microaggregate, context: Context) -> dict[str, Any]:
    """Protect, verify, and write the release with its report."""
    import shoal

    context.say("reading")
    dataset, frame = context.datasets[request.data], context.datasets.frame(request.data)
    context.say("searching")
    result = shoal.microaggregate(
        frame,
        request.k,
        columns=request.columns,
        groups=request.groups,
        method=request.method,
        options=request.options,
        aggregate=request.aggregate,
        ordinal=request.ordinal,
        by=request.by,
        missing=request.missing,
        attribute_weights=request.attribute_weights,
        sample_weights=request.sample_weights,
        largest=request.largest,
        drop=request.removed(dataset),
        order=request.order,
        quasi=request.quasi,
        roles=dataset.roles,
        unit=request.unit,
        budget=context.budget(request.iterations, request.time_limit, request.target),
        seed=request.seed,
        # The curves of several searches would not make one picture.
        observer=Overall(context.observe) if request.several else context.observe,
    )
    context.flush()
    if request.require_k is not None and result.k_release < request.require_k:
        raise Infeasible(
            f"K of the release over {', '.join(result.quasi)} is {result.k_release}, below the required "
            f"{request.require_k}; nothing was released"
        )
    context.say("writing")
    _write(result.frame, context)
    result.record_links.write(context.keep(RECORD_LINKS), force=True)
    if len(result.parts) == 1:
        _write_labels(result.labels.tolist(), context)
    context.report(result.report())
    return {**summary(result, frame), "dropped": request.removed(dataset)}


def summary(result: "Microaggregation", frame: "pl.DataFrame") -> dict[str, Any]:
    """The figures of the command line, and what the page draws; bins hold at least 10 records."""
    sizes = [part.sizes for part in result.parts]
    return {
        "method": result.method,
        "k": result.k,
        "k_release": result.k_release,
        "k_protected": result.k_protected,
        "records": result.records,
        "set_aside": result.set_aside,
        "clusters": int(sum(size.size for size in sizes)),
        "min_cluster": int(min(size.min() for size in sizes)),
        "max_cluster": int(max(size.max() for size in sizes)),
        "sse": result.sse,
        "sst": result.sst,
        "loss_percent": result.loss,
        "bound_percent": result.bound,
        "optimal": result.optimal,
        "iterations": sum(part.iterations for part in result.parts),
        "stopped_by": str(result.stopped_by),
        "seconds": sum(part.seconds for part in result.parts),
        "columns": list(result.columns),
        "quasi": list(result.quasi),
        "quasi_guessed": result.quasi_guessed,
        "below": {str(limit): result.anonymity.below(limit) for limit in (3, 5, 10)},
        "maximum_risk": result.anonymity.maximum_risk,
        "average_risk": result.anonymity.average_risk,
        "notes": [page_words(note) for note in result.notes],
        "warnings": [page_words(warning) for warning in result.warnings],
        "changes": [
            dict(
                zip(
                    (
                        "column",
                        "mean_before",
                        "mean_after",
                        "deviation_before",
                        "deviation_after",
                        "variance_kept_percent",
                    ),
                    change.row(),
                    strict=True,
                )
            )
            for change in result.changes.columns
        ],
        "correlations": {
            "columns": [change.column for change in result.changes.columns],
            "before": _matrix(result.changes.correlations_before),
            "after": _matrix(result.changes.correlations_after),
            "largest_change": result.changes.largest_correlation_change,
        },
        "histograms": _histograms(result, frame),
    }


def _matrix(values: Any) -> list[list[float | None]]:
    import math

    return [[None if math.isnan(value) else round(float(value), 4) for value in row] for row in values]


def _histograms(result: "Microaggregation", frame: "pl.DataFrame") -> dict[str, Any]:
    from shoal.report.bins import histogram

    drawn = {}
    for name in result.columns[:_DRAWN]:
        if not (frame.schema[name].is_numeric() and result.frame.schema[name].is_numeric()):
            continue
        pair = {
            when: [(b.low, b.high, b.count) for b in histogram(values.drop_nulls().cast(float).to_numpy())]
            for when, values in (("before", frame[name]), ("after", result.frame[name]))
        }
        if all(len(bins) > 1 for bins in pair.values()):
            drawn[name] = pair
    return drawn


def _write(frame: "pl.DataFrame", context: Context) -> None:
    from shoal import sources

    sources.write(frame, context.file("release.csv", "Released records (CSV)"), force=True)
    sources.write(frame, context.file("release.parquet", "Released records (Parquet)"), force=True)
    if frame.height <= _LARGEST_SHEET:
        sources.write(frame, context.file("release.xlsx", "Released records (Excel)"), force=True)


def _write_labels(labels: list[int], context: Context) -> None:
    """The group of every record, as ``--labels`` writes it: it says who was made equal to whom."""
    from shoal.sources import atomically
    from shoal.sources.internal import marked_text

    place = context.file("labels.csv", "Groups of the records, internal")
    with atomically(place, force=True, internal=True) as unfinished:
        unfinished.write_text(marked_text("\n".join(str(label) for label in labels)), encoding="utf-8")


def _title(request: Microaggregate) -> str:
    return f"{request.data}: k = {request.k}, {request.method}"


ACTIVITY = Activity(
    "microaggregate", "Protect records", Microaggregate, run, _title, search=True, methods=METHODS
)
