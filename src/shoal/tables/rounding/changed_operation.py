"""How operations that change figures run: build the table by its name, change it, and keep both."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shoal.operation import Product, Workplace, call
from shoal.tables.operations.products import INTERVALS_FILES
from shoal.tables.rounding.randomness import read_secret
from shoal.tables.settings import TableSettings, TabulationSettings

if TYPE_CHECKING:
    from shoal.tables.table_to_protect import TableToProtect

#: Settings that are no parameters of the public functions, which take tables that are built already.
APART = frozenset(TabulationSettings.model_fields) | {
    "table",
    "source",
    "linked",
    "linked_tables",
    "sensitive_data",
    "contributions",
    "iterations",
    "time_limit",
}


@dataclass(frozen=True)
class Changed:
    """The changed table, and the one it was made from."""

    found: Any
    table: "TableToProtect"


def change_table(
    function: Callable[..., Any], settings: TableSettings, place: Workplace, doing: str
) -> Changed:
    """Build the table, change it, and have it checked."""
    from shoal.search.threads import usable_threads
    from shoal.tables.table_to_protect import table_to_protect

    place.say("building the table")
    table = table_to_protect(settings, place)
    place.say(doing)
    found = call(
        function,
        settings,
        place,
        table.table,
        sensitive=table.sensitive,
        counts=table.is_counts(settings),
        secret=read_secret(settings, place),
        threads=usable_threads(place.threads),
    )
    return Changed(replace(found, tabulation=table.tabulation), table)


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

    return marked(result.found.intervals)
