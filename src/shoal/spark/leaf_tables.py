"""What an executor does with one leaf: tables of Arrow in, tables of Arrow out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.microdata.microaggregation.leaves.leaf_search import canonical_order
from shoal.microdata.microaggregation.leaves.leaf_work import LeafWork

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class LeafTables:
    """The work on leaves by the names of columns: ``columns`` are the numbers, ``rest`` what else a record has."""

    work: LeafWork
    columns: tuple[str, ...]
    rest: tuple[str, ...]
    unit: str | None

    def grouped(self, table: "pa.Table") -> "pa.Table":
        """The first pass: the records of a leaf with their group and the shifted leaf of it, or with what is released."""
        table, values = self._ordered(table, "tie")
        leaf = int(table.column("leaf")[0].as_py())
        labels = self.work.grouped(values, self._units(table), leaf)
        if self.work.shifted is None:
            return self._released(table, values, labels)
        roots = table.column("root").to_numpy()
        teams, shifted = self.work.sent_on(values, labels, leaf, roots)
        return _with(table.select([*self.columns, *self.rest, "tie"]), team=teams, shifted=shifted)

    def improved(self, table: "pa.Table") -> "pa.Table":
        """The second pass: the records of a shifted leaf with what is released."""
        table, values = self._ordered(table, "tie", "team")
        leaf = int(table.column("shifted")[0].as_py())
        teams = table.column("team").to_numpy()
        return self._released(table, values, self.work.improved(values, teams, self._units(table), leaf))

    def _ordered(self, table: "pa.Table", *ties: str) -> "tuple[pa.Table, np.ndarray]":
        values = np.column_stack([table.column(name).to_numpy() for name in self.columns])
        order = canonical_order(values, *(table.column(name).to_numpy() for name in ties))
        return table.take(order), values[order]

    def _units(self, table: "pa.Table") -> np.ndarray | None:
        """A number for each unit of the leaf; records without one are all of the same."""
        if self.unit is None:
            return None
        import pyarrow as pa
        import pyarrow.compute as pc

        whose = table.column(self.unit).combine_chunks()
        if pa.types.is_floating(whose.type):
            # A number that is none is missing, like null.
            whose = pc.if_else(pc.is_nan(whose), pa.scalar(None, whose.type), whose)
        coded = whose.dictionary_encode()
        codes: np.ndarray = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
        return codes.astype(np.int64)

    def _released(self, table: "pa.Table", values: np.ndarray, labels: np.ndarray) -> "pa.Table":
        made, errors = self.work.released(values, labels)
        sizes = np.bincount(labels)[labels]
        columns = {name: made[:, place] for place, name in enumerate(self.columns)}
        return _with(table.select(list(self.rest)), **columns, error=errors, members=sizes.astype(np.int64))


def _with(table: "pa.Table", **columns: np.ndarray) -> "pa.Table":
    import pyarrow as pa

    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table
