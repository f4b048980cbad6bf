"""What is released, on its way to the disk: by what is released of it, so that nothing tells where a record stood."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from shoal.exact_names import exactly
from shoal.microdata.microaggregation.leaves.leaf_work import LeafWork
from shoal.microdata.microaggregation.leaves.request import Request
from shoal.stream.records import fingerprint, from_number, joined, scan_parts
from shoal.stream.spill import Spill

#: What says whose record each is, where that is not released: no column of a user is called that.
_UNIT = "\0unit"


class PartedRelease:
    """Records in parts by a hash of what is released of them; ``sizes`` and ``sse`` are those of the groups so far.

    ``marks`` are sums over the hashes of what is released.
    """

    def __init__(
        self, schema: pl.Schema, request: Request, rest: Sequence[str], parts: int, scratch: Path
    ) -> None:
        self._schema, self._request, self._rest, self._parts = schema, request, rest, parts
        self._names = [name for name in schema.names() if name not in request.drop]
        self._unit = request.unit if request.unit in request.drop else None
        self._scratch = scratch
        self._spill = Spill(scratch / "final")
        self.sizes: Counter[int] = Counter()
        self.sse = 0.0
        self.marks = (0, 0)

    def put(self, frame: pl.DataFrame, values: np.ndarray, labels: np.ndarray, work: LeafWork) -> None:
        """Records of groups."""
        made, errors = work.released(values, labels)
        self.sse += float(errors.sum())
        self.sizes.update(np.bincount(labels).tolist())
        whole = self._request.aggregate == "rounded-mean"
        columns = {}
        for place, name in enumerate(self._request.columns):
            told = pl.Series(name, np.ascontiguousarray(made[:, place]))
            columns[name] = from_number(told, self._schema[name], whole=whole).alias(name)
        columns |= {name: frame[f"r{place}"].alias(name) for place, name in enumerate(self._rest)}
        protected = pl.DataFrame([columns[name] for name in self._request.columns])
        released = pl.DataFrame([columns[name] for name in self._names])
        self.marks = joined(self.marks, fingerprint(released, self._names))
        if self._unit is not None:
            released = released.with_columns(columns[self._unit].alias(_UNIT))
        where = protected.hash_rows(seed=1).to_numpy()
        self._spill.put(released, (where % np.uint64(self._parts)).astype(np.int64))

    def parts(self) -> Path:
        """The folder of the parts, each sorted by what is released."""
        folder = self._scratch / "parts"
        folder.mkdir(mode=0o700)
        if self._unit is not None:
            self._owners.mkdir(mode=0o700)
        for number in self._spill.numbers:
            frame = self._spill.take(number)
            plain = [name for name in self._names if not frame[name].dtype.is_nested()]
            keys = [exactly(name) for name in dict.fromkeys([*self._request.columns, *plain])]
            frame = frame.sort(keys, nulls_last=True)
            name = f"part-{number:05}.parquet"
            frame.select(exactly(*self._names)).write_parquet(folder / name)
            if self._unit is not None:
                frame.write_parquet(self._owners / name)
        self._spill.remove()
        return folder

    def with_unit(self) -> pl.LazyFrame | None:
        """What is released with whose record each is, if that is not released."""
        if self._unit is None:
            return None
        return scan_parts(self._owners).rename({_UNIT: self._unit})

    @property
    def _owners(self) -> Path:
        return self._scratch / "owners"
