"""How far the totals of a table are from the sums of their parts, where that was allowed."""

from typing import TYPE_CHECKING

from shoal.tables.definitions import GAP

if TYPE_CHECKING:
    from shoal.tables.model.table import Table


def gap(table: "Table") -> dict[str, float]:
    """The largest gap, if there is any."""
    return {"largest_gap": table.largest_gap} if table.largest_gap > 0 else {}


def gap_in_words(table: "Table") -> list[tuple[str, str]]:
    """The same for people."""
    return [(GAP.name, GAP.text(value)) for value in gap(table).values()]
