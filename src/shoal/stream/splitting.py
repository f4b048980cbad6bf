"""Records of files, sampled and counted slice by slice without ever being in memory together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.microdata.microaggregation.leaves.leaf_search import canonical_order
from shoal.microdata.microaggregation.leaves.split_tree import LeafCount, Sample
from shoal.microdata.microaggregation.leaves.splitting import Choose, Router
from shoal.stream.records import Source, unit_hash
from shoal.stream.strata import Roots


@dataclass(frozen=True, eq=False)
class Numbered:
    """The columns to protect as numbers, with the root each record begins at.

    ``instead`` says of values and roots at which roots records begin, if not all do where their strata say. Where there is
    a ``unit``, at most k of each leaf are counted.
    """

    source: Source
    columns: tuple[pl.Expr, ...]
    size: int
    roots: Roots
    seed: int
    k: int
    unit: str | None
    instead: Choose | None = None

    def among(self, choose: Choose) -> "Numbered":
        """The same records beginning at other roots."""
        return replace(self, instead=choose)

    def _slices(self, *others: pl.Expr) -> Iterator[tuple[np.ndarray, np.ndarray, pl.DataFrame]]:
        """Values and roots of the records that are complete, and what else was read of them."""
        for frame in self.source.slices(self.size, *self.columns, *self.roots.columns, *others):
            values, roots, keep = self.roots.of(frame, len(self.columns))
            roots = roots if self.instead is None else self.instead(values, roots)
            yield values, roots, frame.filter(pl.Series(keep))

    def draw(
        self, router: Router, wanted: Mapping[int, int], known: Mapping[int, LeafCount]
    ) -> dict[int, Sample]:
        """The distinct points of some leaves with the smallest hashes, and how many records each stands for."""
        held: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for values, roots, _ in self._slices():
            nodes, hashes = router.nodes(values, roots), _hashed(values, self.seed)
            for node, number in wanted.items():
                rows = nodes == node
                if rows.any():
                    held[node] = _smallest(held.get(node), hashes[rows], values[rows], number)
        drawn = {}
        for node, (_, points, weights) in held.items():
            order = canonical_order(points)
            drawn[node] = Sample(points[order], weights[order].astype(np.float64))
        return drawn

    def count(self, router: Router, nodes: np.ndarray) -> dict[int, LeafCount]:
        """What the leaves among some nodes hold, counted on all records."""
        size, width = router.tree.child.size, len(self.columns)
        counts = np.zeros(size, dtype=np.int64)
        low, high = np.full((size, width), np.inf), np.full((size, width), -np.inf)
        units = _Units(size, self.k)
        unit = [] if self.unit is None else [unit_hash(self.unit, self.source.schema[self.unit])]
        for values, roots, frame in self._slices(*unit):
            found = router.nodes(values, roots)
            inside = found >= 0
            if unit:
                units.add(found[inside], frame["unit"].to_numpy()[inside])
            found = found[inside]
            # Whether they are one is asked of the points that are split, not of the values.
            points = router.turned(router.scaling.points(values[inside]))
            counts += np.bincount(found, minlength=size)
            np.minimum.at(low, found, points)
            np.maximum.at(high, found, points)
        return {
            int(node): LeafCount(
                int(counts[node]),
                int(counts[node]),
                bool((low[node] == high[node]).all()),
                units.of(int(node)) if unit else None,
            )
            for node in nodes
            if counts[node]
        }


class _Units:
    """Distinct units of leaves, up to as many as need to be known."""

    def __init__(self, leaves: int, most: int) -> None:
        self._most = most
        self._enough = np.zeros(leaves, dtype=bool)
        self._held: dict[int, set[int]] = {}

    def add(self, leaves: np.ndarray, units: np.ndarray) -> None:
        asked = ~self._enough[leaves]
        leaves, units = leaves[asked], units[asked]
        order = np.lexsort((units, leaves))
        leaves, units = leaves[order], units[order]
        new = np.ones(leaves.size, dtype=bool)
        new[1:] = (leaves[1:] != leaves[:-1]) | (units[1:] != units[:-1])
        leaves, units = leaves[new], units[new]
        found, starts, counts = np.unique(leaves, return_index=True, return_counts=True)
        for leaf, start, count in zip(found.tolist(), starts.tolist(), counts.tolist(), strict=True):
            held = self._held.setdefault(leaf, set())
            held.update(units[start : start + min(count, self._most)].tolist())
            self._enough[leaf] = len(held) >= self._most

    def of(self, leaf: int) -> int:
        return len(self._held.get(leaf, ()))


def _hashed(values: np.ndarray, seed: int) -> np.ndarray:
    """A number for each point that looks drawn by chance, the same for the same point."""
    mixed = np.full(len(values), np.uint64(seed & (2**63 - 1)))
    for column in values.T:
        bits = np.ascontiguousarray(column).view(np.uint64)
        # The finaliser of SplitMix64 (Steele and others, 2014), once for each column.
        mixed = mixed + np.uint64(0x9E3779B97F4A7C15) + bits
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed


def _smallest(
    held: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
    hashes: np.ndarray,
    values: np.ndarray,
    number: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """So many points with the smallest hashes, and how often each has been met."""
    found, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    points = values[first]
    if held is not None:
        joined = np.concatenate([held[0], found])
        together, first, place = np.unique(joined, return_index=True, return_inverse=True)
        weights = np.bincount(place.reshape(-1), weights=np.concatenate([held[2], counts]))
        points = np.concatenate([held[1], points])[first]
        found, counts = together, weights.astype(np.int64)
    # What was left out once has a larger hash than all that is kept, so what is kept was never left out.
    return found[:number], points[:number], counts[:number]
