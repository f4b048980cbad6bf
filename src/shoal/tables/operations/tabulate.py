"""``tabulate`` as an operation: from records to a table with totals and its sensitive cells."""

from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.operation import Engine, Operation, Product, Workplace
from shoal.operation_release import TableRelease, Written
from shoal.tables.settings import TableSettings, TabulateSettings, TabulationSettings

if TYPE_CHECKING:
    from shoal.tables.model.tabulated import Tabulation


def run(settings: TabulateSettings, workplace: Workplace) -> "Tabulation":
    """Build the table and find its sensitive cells."""
    from shoal.tables.table_to_protect import table_to_protect

    if settings.source in ("matrix", "jj"):
        raise InputError("only records, ready-made tables and lists of cells are tabulated")
    if settings.source != "cells" and not settings.dimensions and settings.described is None:
        raise InputError(f"name at least one dimension with {parameter('dimensions')}")
    workplace.say("building the table")
    made = table_to_protect(settings, workplace, settings.cost).tabulation
    assert made is not None
    return made


def _cells(tabulation: "Tabulation", settings: TabulateSettings) -> Any:
    from shoal.sources.internal import marked

    return marked(tabulation.frame)


def _structure(tabulation: "Tabulation", settings: TabulateSettings) -> str:
    from shoal.tables.files.loading import structure

    return structure(tabulation)


def _contributions(tabulation: "Tabulation", settings: TabulateSettings) -> Any:
    from shoal.sources.internal import marked
    from shoal.tables.files.loading import contributions_frame

    return None if tabulation.contributions is None else marked(contributions_frame(tabulation))


_PRODUCTS = (
    Product(
        "output",
        "The list of cells (internal).",
        _cells,
        short="-o",
        metavar="TABLE",
        internal=True,
        files=(("cells.csv", "List of cells, internal (CSV)"),),
        subject="the cells",
    ),
    Product(
        "structure",
        "Its hierarchies and rules.",
        _structure,
        form="text",
        beside="structure.json",
        internal=True,
        files=(("cells.structure.json", "Its hierarchies and rules, internal"),),
    ),
    Product(
        "contributions",
        "Who contributes how much.",
        _contributions,
        beside="contributions.csv",
        internal=True,
        files=(("cells.contributions.csv", "Its contributions, internal (CSV)"),),
    ),
)

OPERATION = Operation(
    name="tabulate",
    title="Build a table",
    summary="Build a table with all totals from records and find its sensitive cells by rule.",
    description="Beside TABLE go NAME.structure.json (hierarchies, rules) and NAME.contributions.csv (who contributes how much, "
    "under numbers), which suppress and audit read. All three are internal.",
    examples=(
        "shoal tabulate firms.csv --dimensions region,sector --value turnover --contributor firm -o cells.csv",
    ),
    settings=TabulateSettings,
    run=run,
    columns_in=lambda settings: settings.columns_in,
    reads=lambda settings: settings.read,
    reads_beside=lambda settings: settings.read_beside,
    titled=lambda settings: f"Table of {settings.named()}",
    products=_PRODUCTS,
    reporter="shoal.tables.reports.tabulation",
    function="shoal.tables.model.tabulation:tabulate",
    release=TableRelease(
        passes_on="cells.csv",
        recounts="shoal.tables.recount:tabulated",
        written=Written(writes="{result}.frame", passes_on="{result}"),
        sums="shoal.tables.recount_sums:check_sums",
    ),
    # The page asks for all of it at once: what is built here can be changed by hand and audited.
    only_in_workbench=frozenset(TableSettings.model_fields) - {*TabulationSettings.model_fields, "data"},
    engines={
        "spark": Engine(
            "shoal.spark.operations:run_tabulate",
            reporter="shoal.tables.reports.tabulation",
            takes=frozenset(
                {
                    *("dimensions", "hierarchy", "value", "rules", "apriori", "zeros", "cost"),
                    *("contributor", "holding", "weight", "weights_public"),
                    *("engine", "master", "spark_conf"),
                }
            ),
            products=_PRODUCTS,
        )
    },
    # A list of cells needs no dimensions to be named.
    apart=frozenset({"dimensions", "hierarchy", "hierarchies", "metadata"})
    | frozenset(TableSettings.model_fields) - {*TabulationSettings.model_fields},
)
