"""Tables whose figures were changed, as frames: what is published, and for internal use what can be concluded from it."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.tables.files.layout import Layout, read_crosstab
from shoal.tables.files.publishing import hidden_frame, published_frame
from shoal.tables.model.table import Table

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.safety.audit import Audit


def changed_frame(table: Table, values: np.ndarray) -> "pl.DataFrame":
    """The table with other figures, in the form that suppressed tables are published in."""
    return published_frame(replace(table, values=values), np.zeros(table.cells, dtype=bool), None)


def intervals_frame(audit: "Audit", values: np.ndarray) -> "pl.DataFrame":
    """All audited cells with their true and their published figures, and what can be computed of them. Internal.

    What is required, and whether it holds, is stated for the sensitive ones.
    """
    import polars as pl

    cells = np.union1d(audit.cells, audit.problem.sensitive).astype(np.int64)
    return (
        hidden_frame(audit)
        .drop("kind")
        .insert_column(len(audit.problem.table.dimensions) + 1, pl.Series("published", values[cells]))
    )


def figures_of(table: Table, frame: "pl.DataFrame") -> np.ndarray:
    """The figures of a published table as somebody reads them back, in the order of the cells."""
    if table.shape is not None:
        return np.array([frame[name].to_list() for name in frame.columns[1:]], dtype=np.float64).T.ravel()
    return np.array(frame["value"].to_list(), dtype=np.float64)


def figures_by_name(table: Table, frame: "pl.DataFrame", layout: Layout | None = None) -> np.ndarray:
    """The same where somebody else may have written the file: raise ``AssertionError`` unless it names the cells of the table."""
    if layout is not None and layout.chosen:
        return read_crosstab(table, layout, frame)
    wanted = changed_frame(table, table.values)
    assert frame.columns == wanted.columns and frame.height == wanted.height, "it has other cells"
    names = (
        [name for name in wanted.columns if name != "value"] if table.shape is None else wanted.columns[:1]
    )
    for name in names:
        told = [str(item) for item in frame[name].to_list()]
        assert told == [str(item) for item in wanted[name].to_list()], "it has other cells"
    return figures_of(table, frame)
