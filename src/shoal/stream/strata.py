"""Strata of files: how many records each has, and in which tree its records begin."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.exact_names import exactly
from shoal.microdata.microaggregation.leaves.overview import check_strata
from shoal.microdata.microaggregation.leaves.request import Request
from shoal.stream.records import Source, as_unchanged, numbers_of, unit_hash

#: The values of a stratum.
Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Roots:
    """Which tree a record begins in: by its stratum, or the only one there is; −1 where none is needed.

    ``columns`` is what must be read for that; ``small`` are the strata that need none, in an order of their own.
    """

    columns: Sequence[pl.Expr]
    numbers: Mapping[Key, int]
    sizes: Mapping[int, int]
    small: Sequence[Key]
    otherwise: int

    @property
    def names(self) -> list[str]:
        """What that is called."""
        return [f"by{place}" for place in range(len(self.columns))]

    def of(self, frame: pl.DataFrame, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The values of complete records, their roots, and which records are complete."""
        values, keep = numbers_of(frame, width)
        roots = np.full(frame.height, self.otherwise, dtype=np.int32)
        if self.numbers:
            roots = self.looked_up(frame, self.numbers, roots)
        return values[keep], roots[keep], keep

    def looked_up(self, frame: pl.DataFrame, numbers: Mapping[Key, int], otherwise: np.ndarray) -> np.ndarray:
        """A number of each record by its stratum."""
        keys = frame.select(self.names).iter_rows()
        return np.fromiter(
            (numbers.get(key, other) for key, other in zip(keys, otherwise.tolist(), strict=True)),
            dtype=np.int64,
            count=frame.height,
        ).astype(otherwise.dtype)


def find_roots(
    source: Source, size: int, columns: Sequence[pl.Expr], request: Request, records: int
) -> Roots:
    """Count the strata; an ``InputError`` if some have fewer than k records, or units."""
    if not request.by:
        large = records > request.most
        return Roots((), {}, {0: records} if large else {}, () if large else ((),), 0 if large else -1)
    keys = [_key(source, name).alias(f"by{place}") for place, name in enumerate(request.by)]
    strata = _strata(source, size, columns, keys, request)
    # An order of their own, whatever the order they were found in: randomness goes by it.
    large_ones = sorted((count, repr(key), key) for key, count in strata.items() if count > request.most)
    return Roots(
        keys,
        {key: place for place, (_, _, key) in enumerate(large_ones)},
        {place: count for place, (count, _, _) in enumerate(large_ones)},
        [
            key
            for _, key in sorted((repr(key), key) for key, count in strata.items() if count <= request.most)
        ],
        -1,
    )


def _key(source: Source, name: str) -> pl.Expr:
    """A value that names a stratum: a number that is none is missing, as everywhere.

    Moments are told by whole numbers: as objects of Python they lose what is finer than a microsecond, and the second of two
    hours of one name is equal to the first.
    """
    kind = source.schema[name]
    if kind.is_nested() or kind == pl.Object:
        raise InputError(f"column '{name}' is of type {kind}, which cannot name strata")
    if kind.is_temporal():
        return exactly(name).to_physical()
    return as_unchanged(name, kind)


def _strata(
    source: Source, size: int, columns: Sequence[pl.Expr], keys: Sequence[pl.Expr], request: Request
) -> dict[Key, int]:
    names = [f"by{place}" for place in range(len(request.by))]
    unit = [] if request.unit is None else [unit_hash(request.unit, source.schema[request.unit])]
    # Of units it is enough to know k.
    some = [pl.col("unit").unique().head(request.k)] if unit else []
    found: Counter[Key] = Counter()
    units: dict[Key, set[int]] = {}
    for frame in source.slices(size, *columns, *keys, *unit):
        whole = frame.filter(pl.Series(numbers_of(frame, len(columns))[1]))
        for row in whole.group_by(names).agg(pl.len().alias("n"), *some).iter_rows():
            key = row[: len(names)]
            found[key] += row[len(names)]
            if unit and len(held := units.setdefault(key, set())) < request.k:
                held.update(row[-1])
    counts = {key: len(held) for key, held in units.items()} if unit else found
    small = [count for count in counts.values() if count < request.k]
    check_strata(request, len(found), len(small), min(small, default=0))
    return dict(found)
