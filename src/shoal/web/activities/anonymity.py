"""Risk: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.microdata.anonymity.operation import OPERATION
from shoal.web.activities.gates import gates
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import polars as pl

    from shoal.microdata.anonymity.operation import Measured
    from shoal.microdata.anonymity.settings import AnonymitySettings

ROWS_SHOWN = 50


def picture(measured: "Measured", settings: "AnonymitySettings", context: Context) -> dict[str, Any]:
    """The figures of every table, what was required, and the records in the smallest crowds for the page."""
    tables = []
    for place, (name, result) in enumerate(measured):
        figures = OPERATION.reporter_module.figures([(name, result)], settings)
        figures["below"] = {"2": result.below(2), **figures["below"]}
        tables.append({"data": name, **figures})
        frame = context.datasets.frame(name, list(settings.quasi))
        _crowds(frame, result.smallest(ROWS_SHOWN)).write_parquet(context.keep(crowds_name(place)))
    ks = [table["k"] for table in tables]
    required = gates(OPERATION, measured, settings, {"require_k": min(ks)})
    return {
        "tables": tables,
        "k_mean": sum(ks) / len(ks),
        "k_min": min(ks),
        "k_max": max(ks),
        "gates": required,
    }


def crowds_name(position: int) -> str:
    """The file with the records in the smallest crowds of one of the tables.

    >>> crowds_name(0)
    'crowds-0.parquet'
    """
    return f"crowds-{position}.parquet"


def _crowds(frame: "pl.DataFrame", smallest: "pl.DataFrame") -> "pl.DataFrame":
    """The records in the smallest classes, the smallest first, by number; as many classes hold at least as many records."""
    import polars as pl
    import polars.selectors as cs

    keys = [f"key {place}" for place in range(frame.width)]
    own = pl.DataFrame([column.alias(key) for key, column in zip(keys, frame.get_columns(), strict=True)])
    own = own.with_columns(cs.float().fill_nan(None), pl.lit(None, smallest.dtypes[-1]).alias("crowd"))
    named = zip([*keys, "crowd"], smallest.get_columns(), strict=True)
    classes = pl.DataFrame([column.alias(name) for name, column in named])
    # A group of its own is what a join would not make of missing values.
    crowd = pl.concat([own, classes]).select(pl.col("crowd").max().over(keys)).head(own.height)
    numbered = crowd.with_row_index("record", offset=1).filter(pl.col("crowd").is_not_null())
    return numbered.sort("crowd", "record").head(ROWS_SHOWN)


ACTIVITY = activity(OPERATION, picture)
