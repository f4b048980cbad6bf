"""What is said of a table of which nothing but totals is left: a rule may be stricter than anybody meant."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from shoal.tables.model.table import Table

# Of four cells with two totals each, all are hidden as soon as one is.
_FEW = 4


def nothing_left(table: "Table", sensitive: np.ndarray, hidden: np.ndarray | None = None) -> list[str]:
    """A warning if all cells are sensitive, or hidden, that are neither totals nor empty."""
    inner = table.internal & (table.values != 0)
    every = int(inner.sum())
    if every and np.isin(np.flatnonzero(inner), sensitive).all():
        return [
            f"all {every:,} cells that are neither totals nor empty are sensitive: are the rules as they are meant?"
        ]
    if every > _FEW and hidden is not None and hidden[inner].all():
        return [
            f"all {every:,} cells that are neither totals nor empty are hidden: nothing but totals is published"
        ]
    return []
