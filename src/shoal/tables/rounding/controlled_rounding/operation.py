"""``round`` as an operation: from a table by its name to one whose figures are multiples of a base."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from shoal.errors import parameter
from shoal.operation import Operation, Product, Workplace
from shoal.tables.rounding.changed_operation import APART, Changed, change_table, intervals_product
from shoal.tables.rounding.controlled_rounding.settings import RoundSettings
from shoal.tables.rounding.randomness import check_secret, reads, secret_product

if TYPE_CHECKING:
    from shoal.tables.rounding.controlled_rounding.api import RoundedTable


def run(settings: RoundSettings, place: Workplace) -> Changed:
    """Build the table, change it, and have it checked."""
    from shoal.tables.rounding.controlled_rounding.api import round_table

    return change_table(round_table, settings, place, "rounding")


def _check_published(result: Changed, settings: RoundSettings) -> Any:
    return partial(check_rounded, result.found)


def check_rounded(found: "RoundedTable", frame: Any) -> None:
    """Raise ``AssertionError`` unless a table, as it was read back, is the rounding, cell by cell."""
    import numpy as np

    from shoal.tables.rounding.changed_tables import figures_of
    from shoal.tables.rounding.controlled_rounding.verify import verify

    read = figures_of(found.problem.table, frame)
    multiples = np.rint(read / found.problem.base).astype(np.int64)
    assert np.abs(read - multiples * found.problem.base).max() <= 1e-9 * max(1.0, float(np.abs(read).max()))
    verify(found.problem, replace(found.solution, multiples=multiples))


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
    check=check_secret,
    titled=lambda settings: settings.named(f"base {settings.base:g}"),
    products=(
        Product(
            "output",
            "The rounded table, to publish.",
            lambda result, settings: result.found.published,
            short="-o",
            metavar="TABLE",
            check=_check_published,
            like_input=False,
            files=(("rounded.csv", "Rounded table (CSV)"), ("rounded.xlsx", "Rounded table (Excel)")),
            subject="the rounded table",
        ),
        intervals_product("every cell"),
        secret_product(),
    ),
    methods="shoal.tables.rounding.controlled_rounding.methods:METHODS",
    telling="shoal.tables.rounding.controlled_rounding.report",
    function="shoal.tables.rounding.controlled_rounding.api:round_table",
    apart=APART,
)
