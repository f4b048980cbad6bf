"""Risk: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.anonymity.operation import OPERATION
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import polars as pl

    from shoal.anonymity.operation import Measured
    from shoal.anonymity.settings import AnonymitySettings

ROWS_SHOWN = 50


def picture(measured: "Measured", settings: "AnonymitySettings", context: Context) -> dict[str, Any]:
    """The figures of every table, and the crowds of its first records for the page."""
    tables = []
    for place, (name, result) in enumerate(measured):
        figures = OPERATION.told.figures([(name, result)], settings)
        figures["below"] = {"2": result.below(2), **figures["below"]}
        tables.append({"data": name, **figures})
        wanted = [*settings.quasi, *([settings.unit] if settings.unit else [])]
        frame = context.datasets.frame(name, list(dict.fromkeys(wanted)))
        _crowds(frame, settings).write_parquet(context.keep(crowds_name(place)))
    ks = [table["k"] for table in tables]
    return {"tables": tables, "k_mean": sum(ks) / len(ks), "k_min": min(ks), "k_max": max(ks)}


def crowds_name(place: int) -> str:
    """The file with the crowd of the first records of one of the tables.

    >>> crowds_name(0)
    'crowds-0.parquet'
    """
    return f"crowds-{place}.parquet"


def _crowds(frame: "pl.DataFrame", settings: "AnonymitySettings") -> "pl.DataFrame":
    """The crowd of each of the first records: how many are like it, a missing value being a value of its own."""
    import polars as pl

    size = pl.col(settings.unit).n_unique() if settings.unit else pl.len()
    counted = frame.with_columns(size.over(settings.quasi).alias("crowd"))
    return counted.select("crowd").head(ROWS_SHOWN)


ACTIVITY = activity(OPERATION, picture)
