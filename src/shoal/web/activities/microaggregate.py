"""Protect records: what its page draws besides the figures."""

import math
from typing import TYPE_CHECKING, Any

from shoal.microdata.microaggregation.operation import OPERATION, removed
from shoal.operation import Records
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import polars as pl

    from shoal.microdata.microaggregation.result import Microaggregation
    from shoal.microdata.microaggregation.settings import MicroaggregateSettings

#: Beside the release of a run, for comparing it; nobody downloads it.
RECORD_LINKS = "record-links.csv"
_DRAWN = 12
#: What is told of each column before and after.
CHANGE = (
    "column",
    "mean_before",
    "mean_after",
    "deviation_before",
    "deviation_after",
    "variance_kept_percent",
)


def picture(
    result: "Microaggregation", settings: "MicroaggregateSettings", context: Context
) -> dict[str, Any]:
    """What the page draws of before and after; bins hold at least 10 records."""
    dataset, frame = context.datasets[settings.data], context.datasets.frame(settings.data)
    return {
        "changes": [dict(zip(CHANGE, change.row(), strict=True)) for change in result.changes.columns],
        "correlations": {
            "columns": [change.column for change in result.changes.columns],
            "before": _matrix(result.changes.correlations_before),
            "after": _matrix(result.changes.correlations_after),
            "largest_change": result.changes.largest_correlation_change,
        },
        "histograms": _histograms(result, frame),
        "dropped": removed(settings, Records(dataset.name, frame, dataset.roles)),
    }


def _matrix(values: Any) -> list[list[float | None]]:
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


ACTIVITY = activity(OPERATION, picture)
