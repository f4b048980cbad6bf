"""``adjust`` as an operation: from a table by its name to one whose sensitive cells show other figures."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from shoal.errors import parameter
from shoal.operation import Operation, Product, Workplace
from shoal.tables.rounding.adjustment.settings import AdjustSettings
from shoal.tables.rounding.changed_operation import APART, Changed, change_table, intervals_product
from shoal.tables.rounding.randomness import check_secret, reads, secret_product

if TYPE_CHECKING:
    from shoal.tables.rounding.adjustment.api import AdjustedTable


def run(settings: AdjustSettings, place: Workplace) -> Changed:
    """Build the table, change it, and have it checked."""
    from shoal.tables.rounding.adjustment.api import adjust_table

    return change_table(adjust_table, settings, place, "adjusting")


def check_adjusted(found: "AdjustedTable", frame: Any) -> None:
    """Raise ``AssertionError`` unless a table, as it was read back, is an adjustment that passes the check."""
    from shoal.tables.rounding.adjustment.verify import verify
    from shoal.tables.rounding.changed_tables import figures_of

    read = figures_of(found.problem.table, frame)
    verify(found.problem, replace(found.solution, change=read - found.problem.table.values))


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
    check=check_secret,
    titled=lambda settings: settings.named("adjusted"),
    products=(
        Product(
            "output",
            "The adjusted table, to publish.",
            lambda result, settings: result.found.published,
            short="-o",
            metavar="TABLE",
            check=lambda result, settings: partial(check_adjusted, result.found),
            like_input=False,
            files=(("adjusted.csv", "Adjusted table (CSV)"), ("adjusted.xlsx", "Adjusted table (Excel)")),
            subject="the adjusted table",
        ),
        intervals_product("the sensitive cells"),
        secret_product(),
    ),
    methods="shoal.tables.rounding.adjustment.methods:METHODS",
    telling="shoal.tables.rounding.adjustment.report",
    function="shoal.tables.rounding.adjustment.api:adjust_table",
    apart=APART,
)
