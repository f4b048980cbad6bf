"""``round`` as an operation: from a table by its name to one whose figures are multiples of a base."""

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.errors import parameter
from shoal.operation import Operation, Workplace
from shoal.operation_release import ChangedTableRelease
from shoal.tables.rounding.changed_operation import (
    APART,
    Changed,
    change_table,
    check_changed,
    intervals_product,
)
from shoal.tables.rounding.changed_products import published_files, published_product
from shoal.tables.rounding.controlled_rounding.settings import RoundSettings
from shoal.tables.rounding.randomness import reads, secret_product

if TYPE_CHECKING:
    import numpy as np

    from shoal.tables.rounding.controlled_rounding.api import RoundedTable


def run(settings: RoundSettings, workplace: Workplace) -> Changed:
    """Build the table, change it, and have it checked."""
    from shoal.tables.rounding.controlled_rounding.api import round_table

    return change_table(round_table, settings, workplace, "rounding")


def check_rounded(rounded: "RoundedTable", read: "np.ndarray") -> None:
    """Raise ``AssertionError`` unless the figures of a table, as they were read back, are the rounding, cell by cell."""
    import numpy as np

    from shoal.tables.rounding.controlled_rounding.verify import verify

    multiples = np.rint(read / rounded.problem.base).astype(np.int64)
    assert np.abs(read - multiples * rounded.problem.base).max() <= 1e-9 * max(1.0, float(np.abs(read).max()))
    verify(rounded.problem, replace(rounded.solution, multiples=multiples))


OPERATION = Operation(
    name="round",
    title="Round a table",
    summary="Make every figure of a table a multiple of a base so that all totals still add up.",
    description="Figures stay less than one base from the true ones, and multiples of the base stay as they are, wherever such a "
    "table exists. No sensitive cell can be computed more closely than its levels allow by somebody who knows the base.\n\n"
    f"Where to round is drawn from a secret of the operating system; {parameter('secret')} keeps it, to repeat the table.",
    examples=(
        "shoal round counts.csv --base 5 --counts -o published.csv --secret secret.txt",
        "shoal round table.csv --base 100 --sensitive cells.csv -o published.csv --intervals intervals.csv",
    ),
    doing="rounding",
    settings=RoundSettings,
    run=run,
    columns_in=lambda settings: settings.columns_in,
    reads=reads,
    reads_beside=lambda settings: settings.read_beside,
    check=check_changed,
    titled=lambda settings: settings.named(f"base {settings.base:g}"),
    products=(
        published_product(
            "The rounded table",
            "the rounded table",
            published_files("rounded", "Rounded table"),
            check_rounded,
        ),
        intervals_product("every cell"),
        secret_product(),
    ),
    methods="shoal.tables.rounding.controlled_rounding.methods:METHODS",
    reporter="shoal.tables.rounding.controlled_rounding.report",
    function="shoal.tables.rounding.controlled_rounding.api:round_table",
    release=ChangedTableRelease(
        passes_on="rounded.csv",
        confirms="shoal.tables.rounding.controlled_rounding.confirm:confirm",
        written=replace(ChangedTableRelease.written, builds="tabulate"),
        known="shoal.tables.rounding.known_bounds:rounded",
    ),
    apart=APART,
)
