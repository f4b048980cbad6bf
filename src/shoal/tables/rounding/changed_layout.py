"""Tables with changed figures as they are published: lists, matrices and crosstabs, laid out like tables with hidden cells."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError, parameter
from shoal.tables.files.layout import Layout

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.model.table import Table
    from shoal.tables.model.trees import Tree


@dataclass(frozen=True, eq=False)
class ChangedLayout:
    """The figures of a changed table, and what it is to look like."""

    table: "Table"
    values: np.ndarray
    trees: "Mapping[str, Tree]"
    layout: Layout
    dataflow: str = ""

    def __post_init__(self) -> None:
        shown = self.values
        if self.layout.decimals is not None:
            shown = np.round(shown, self.layout.decimals)
        if (np.abs(shown - self.values) > 1e-9 * np.maximum(1.0, np.abs(self.values))).any():
            raise InputError(
                f"figures have more decimals than {parameter('decimals')} says; cut off they would not be those that were checked"
            )

    @property
    def changed(self) -> "Table":
        """The table with the figures that are published."""
        return replace(self.table, values=self.values)

    @property
    def hidden(self) -> np.ndarray:
        """Nothing is."""
        return np.zeros(self.table.cells, dtype=bool)

    def frame(self) -> "pl.DataFrame":
        """A list of cells or a matrix; crosstabs in one frame if rows or columns were named."""
        from shoal.tables.files.layout import as_frame, crosstabs
        from shoal.tables.files.publishing import published_frame

        if not self.layout.chosen:
            return published_frame(self.changed, self.hidden, None, self.layout.decimals)
        return as_frame(
            crosstabs(self.changed, self.trees, self.layout), self.hidden, self.layout, numbers=True
        )

    def content(self, name: str) -> bytes:
        """What a file of this name holds, by its ending."""
        from shoal.tables.files.published_forms import published_as

        return published_as(name, self.changed, self.hidden, self.trees, self.layout, self.dataflow)

    def publish(self, path: str | Path) -> None:
        """Write it, whole or not at all."""
        from shoal.tables.files.published_forms import write_published

        write_published(path, self.changed, self.hidden, self.trees, self.layout, self.dataflow)
