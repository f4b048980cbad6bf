"""``adjust`` as an operation: from a table by its name to one whose sensitive cells show other figures."""

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.errors import parameter
from shoal.operation import Operation, Workplace
from shoal.operation_release import ChangedTableRelease
from shoal.tables.rounding.adjustment.settings import AdjustSettings
from shoal.tables.rounding.changed_operation import (
    APART,
    Changed,
    change_table,
    check_changed,
    intervals_product,
)
from shoal.tables.rounding.changed_products import published_files, published_product
from shoal.tables.rounding.randomness import reads, secret_product

if TYPE_CHECKING:
    import numpy as np

    from shoal.tables.rounding.adjustment.api import AdjustedTable


def run(settings: AdjustSettings, workplace: Workplace) -> Changed:
    """Build the table, change it, and have it checked."""
    from shoal.tables.rounding.adjustment.api import adjust_table

    return change_table(adjust_table, settings, workplace, "adjusting")


def check_adjusted(adjusted: "AdjustedTable", read: "np.ndarray") -> None:
    """Raise ``AssertionError`` unless the figures of a table, as they were read back, are an adjustment that passes the check."""
    from shoal.tables.rounding.adjustment.verify import verify

    verify(adjusted.problem, replace(adjusted.solution, change=read - adjusted.problem.table.values))


OPERATION = Operation(
    name="adjust",
    title="Adjust a table",
    summary="Move every sensitive cell away from its figure, and others as little as possible, so that totals add up.",
    description="Nothing is hidden: sensitive cells show figures outside of their protection intervals, and a few others move "
    "along. Prints the cost of all changes and a bound no adjustment can be below.\n\n"
    f"How far sensitive cells move is drawn from a secret of the operating system; {parameter('secret')} keeps it, to repeat the "
    "table.",
    examples=(
        "shoal adjust table.csv --sensitive cells.csv --protection 0.10 -o published.csv --secret secret.txt",
        "shoal adjust cells.csv --limit 0.3 -o published.csv --intervals intervals.csv",
    ),
    doing="adjusting",
    settings=AdjustSettings,
    run=run,
    columns_in=lambda settings: settings.columns_in,
    reads=reads,
    reads_beside=lambda settings: settings.read_beside,
    check=check_changed,
    titled=lambda settings: settings.named("adjusted"),
    products=(
        published_product(
            "The adjusted table",
            "the adjusted table",
            published_files("adjusted", "Adjusted table"),
            check_adjusted,
        ),
        intervals_product("the sensitive cells"),
        secret_product(),
    ),
    methods="shoal.tables.rounding.adjustment.methods:METHODS",
    reporter="shoal.tables.rounding.adjustment.report",
    function="shoal.tables.rounding.adjustment.api:adjust_table",
    release=ChangedTableRelease(
        passes_on="adjusted.csv",
        all_known=False,
        confirms="shoal.tables.rounding.adjustment.confirm:confirm",
        written=replace(ChangedTableRelease.written, builds="tabulate"),
        known="shoal.tables.rounding.known_bounds:adjusted",
    ),
    apart=APART,
)
