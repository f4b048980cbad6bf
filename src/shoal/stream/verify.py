"""The independent check of a release that was written in parts: its records are counted again, slice by slice.

Nothing here is shared with what splits, groups or releases.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from shoal.exact_names import exactly
from shoal.microdata.microaggregation.large_claims import Claims

_SLICE = 100_000


def _hash_sums(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[int, int]:
    """Sums over the hashes of records, which are the same for the same records in any order."""
    if not columns:
        return 0, 0
    hashed = frame.select(exactly(*columns)).hash_rows(seed=7)
    mixed: Any = hashed.bitwise_xor()
    return int(mixed or 0), int((hashed % 2**32).sum())


def _numbers(column: pl.Series) -> np.ndarray:
    """Values as numbers, moments in microseconds."""
    if column.dtype.is_temporal():
        column = column.cast(pl.Datetime("us", getattr(column.dtype, "time_zone", None))).dt.epoch("us")
    return column.cast(pl.Float64).to_numpy()


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """What a release claims; ``with_unit`` is the release with whose record each is, where that is not released.

    ``size`` is how many records are read at a time, ``at_once`` how many classes fit into memory.
    """

    claims: Claims
    at_once: int
    size: int = _SLICE
    with_unit: pl.LazyFrame | None = None

    def __call__(self, released: Any) -> None:
        """Raise ``AssertionError`` unless the parts hold what the result says."""
        plan: pl.LazyFrame = released
        self._expect_sums(plan)
        counted = plan
        if self.with_unit is not None:
            # Units are counted where they are known, and what is released must be that but for them.
            counted, names = self.with_unit, plan.collect_schema().names()
            theirs = counted.select(exactly(*names))
            assert self._hashes(plan, names) == self._hashes(theirs, names), "it is not what was counted"
        self.claims.expect_k(
            self._smallest_class(counted, self.claims.names),
            self._smallest_class(counted, self.claims.quasi),
        )

    def _slices(self, plan: pl.LazyFrame) -> Any:
        size = int(plan.select(pl.len()).collect(engine="streaming").item())
        for first in range(0, size, self.size):
            yield plan.slice(first, self.size).collect(engine="streaming")

    def _hashes(self, plan: pl.LazyFrame, names: Sequence[str]) -> tuple[int, int]:
        mixed = added = 0
        for frame in self._slices(plan):
            own_mixed, own_added = _hash_sums(frame, names)
            mixed, added = mixed ^ own_mixed, added + own_added
        return mixed, added

    def _expect_sums(self, plan: pl.LazyFrame) -> None:
        claims, names = self.claims, plan.collect_schema().names()
        centres, units = (np.array(part) for part in zip(*claims.centres, strict=True))
        records, kept, made = 0, (0, 0), (0, 0)
        total, squares = np.zeros(len(centres)), np.zeros(len(centres))
        least, largest = np.full(len(centres), np.inf), np.full(len(centres), -np.inf)
        for frame in self._slices(plan):
            records += frame.height
            kept, made = (
                (mixed ^ own[0], added + own[1])
                for (mixed, added), own in (
                    (kept, _hash_sums(frame, claims.unchanged)),
                    (made, _hash_sums(frame, names)),
                )
            )
            values = np.column_stack([_numbers(frame[name]) for name in claims.names])
            least, largest = np.minimum(least, values.min(axis=0)), np.maximum(largest, values.max(axis=0))
            near = (values - centres) / units
            total += near.sum(axis=0)
            squares += np.square(near).sum(axis=0)
        claims.expect_records(records, kept, made)
        moved = total / records
        variances = (squares - records * np.square(moved)) / max(1, records - 1)
        ranges = list(zip(least.tolist(), largest.tolist(), strict=True))
        claims.expect_moments(moved.tolist(), variances.tolist(), ranges)

    def _smallest_class(self, plan: pl.LazyFrame, columns: Sequence[str]) -> int:
        """The fewest records that agree in all columns; or the fewest distinct units, where the unit is known."""
        unit = self.claims.unit
        turns = max(1, -(-(1 if unit is None else 2) * self.claims.records // self.at_once))
        names = [f"q{place}" for place in range(len(columns))]
        keys = plan.select(
            *(exactly(name).alias(own) for name, own in zip(columns, names, strict=True)),
            *([] if unit is None else [exactly(unit).alias("unit")]),
        ).with_columns(cs.float().fill_nan(None))
        if unit is not None:
            keys = keys.with_columns(pl.col("unit").hash(23))
        least = self.claims.records
        for turn in range(turns):
            mine = keys if turns < 2 else keys.filter(pl.struct(names).hash(3) % turns == turn)
            if unit is not None:
                mine = mine.unique()
            sizes = mine.group_by(names).agg(pl.len().alias("size"))
            found = sizes.select(pl.col("size").min()).collect(engine="streaming").item()
            least = least if found is None else min(least, int(found))
        return least
