"""What is said of a table of which nothing but totals is left: a rule may be stricter than anybody meant."""

from typing import TYPE_CHECKING

import numpy as np

from shoal.remarks import Remark, warning

if TYPE_CHECKING:
    from shoal.tables.model.table import Table

# Of four cells with two totals each, all are hidden as soon as one is.
_FEW = 4


def nothing_left(
    table: "Table", sensitive: np.ndarray, hidden: np.ndarray | None = None
) -> tuple[Remark, ...]:
    """A warning if all cells are sensitive, or hidden, that are neither totals nor empty."""
    inner = table.internal & (table.values != 0)
    every = int(inner.sum())
    if every and np.isin(np.flatnonzero(inner), sensitive).all():
        text = f"all {every:,} cells that are neither totals nor empty are sensitive: are the rules as they are meant?"
        return (warning("all-sensitive", text),)
    if every > _FEW and hidden is not None and hidden[inner].all():
        text = f"all {every:,} cells that are neither totals nor empty are hidden: nothing but totals is published"
        return (warning("all-hidden", text),)
    return ()
