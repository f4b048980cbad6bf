"""How operations that change figures run: build the table by its name, change it, and keep both."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shoal.operation import Product, Workplace, call
from shoal.remarks import Remark, Remarked, remarks_in_json
from shoal.tables.operations.products import INTERVALS_FILES, layout_of
from shoal.tables.rounding.changed_products import LAYOUT, refuse_unwritten
from shoal.tables.rounding.randomness import check_secret, read_secret

if TYPE_CHECKING:
    from shoal.tables.rounding.adjustment.settings import AdjustSettings
    from shoal.tables.rounding.changed_layout import ChangedLayout
    from shoal.tables.rounding.controlled_rounding.settings import RoundSettings
    from shoal.tables.table_to_protect import TableToProtect

#: Settings that are no parameters of the public functions, or have another form there.
APART = (
    LAYOUT
    | {"hierarchy", "hierarchies", "metadata", "zeros"}
    | {
        "table",
        "linked",
        "linked_tables",
        "sensitive_data",
        "contributions",
        "iterations",
        "time_limit",
    }
)


@dataclass(frozen=True)
class Changed(Remarked):
    """The changed table, the one it was made from, and what it is to look like."""

    changed: Any
    table: "TableToProtect"
    layout: "ChangedLayout"

    @property
    def remarks(self) -> tuple[Remark, ...]:  # type: ignore[override]
        """What is worth knowing of the table, and of its change."""
        return (*self.table.remarks, *self.changed.remarks)

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of the change, with what is worth knowing of the table it was made from."""
        from shoal.tables.reports.gap import gap

        return {**self.changed.to_dict(), **gap(self.table.base), **remarks_in_json(self.remarks)}


def change_table(
    function: Callable[..., Any], settings: "RoundSettings | AdjustSettings", workplace: Workplace, doing: str
) -> Changed:
    """Build the table, change it, and have it checked."""
    from shoal.runtime.threads import usable_threads
    from shoal.tables.files.layout import crosstabs
    from shoal.tables.rounding.changed_layout import ChangedLayout
    from shoal.tables.table_to_protect import table_to_protect

    workplace.say("building the table")
    table = table_to_protect(settings, workplace)
    layout = layout_of(settings, workplace.decimal)
    if layout.chosen:
        # What cannot be laid out is refused before the search.
        crosstabs(table.base, table.trees, layout)
    workplace.say(doing)
    found = call(
        function,
        settings,
        workplace,
        table.table,
        sensitive=table.sensitive,
        counts=table.is_counts(settings),
        secret=read_secret(settings, workplace),
        threads=usable_threads(workplace.threads),
    )
    laid_out = ChangedLayout(table.base, found.values, table.trees, layout, settings.dataflow)
    return Changed(replace(found, tabulation=table.tabulation), table, laid_out)


def check_changed(settings: Any, written: frozenset[str]) -> None:
    """A secret and a seed do not go together, and there must be something to lay out; before anything is read."""
    check_secret(settings, written)
    refuse_unwritten(settings, written)


def intervals_product(what: str) -> Product:
    """The file of intervals."""
    return Product(
        "intervals",
        f"What can be computed of {what} (internal).",
        lambda result, settings: marked_intervals(result),
        internal=True,
        files=INTERVALS_FILES,
    )


def marked_intervals(result: Any) -> Any:
    """What can be computed, marked as internal."""
    from shoal.sources.internal import marked

    return marked(result.changed.intervals)
