"""From groups of pieces to a recoding of tuples, and what it loses."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.recoding.local_recoding.groups import Groups
from shoal.microdata.recoding.local_recoding.items import Items, Pieces
from shoal.microdata.recoding.local_recoding.spans import box_levels


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of every piece; −1 for those left out."""

    items: Items
    pieces: Pieces
    groups: np.ndarray

    @property
    def size(self) -> int:
        """How many numbers of groups there are, some of which may be empty."""
        return int(self.groups.max(initial=-1)) + 1

    def described(self) -> Groups:
        """The groups with their boxes and losses."""
        pieces = self.pieces
        return Groups.of(self.items.spans, pieces.keys, pieces.people, pieces.records, self.groups, self.size)

    @property
    def total(self) -> float:
        """What all records lose, those left out everything; before it is scaled."""
        out = int(self.pieces.records[self.groups < 0].sum())
        return self.described().total + out * self.items.loss.full

    @property
    def value(self) -> float:
        """The loss in the measure of the problem."""
        problem, loss = self.items.problem, self.items.loss
        if problem.measure == "entropy":
            return self.described().total - loss.nothing + self._bits_left_out()
        return self.total / problem.size if problem.measure == "loss" else self.total

    def _bits_left_out(self) -> float:
        """What those lose who are left out: bits from their labels, and to tell these from each other.

        The finer the labels are the fewer bits these are together, so the lowest levels are taken.
        """
        problem, out = self.items.problem, self.groups < 0
        records = self.pieces.records[out]
        gone = records.sum()
        bits = 0.0
        for column, low in enumerate(problem.lowest):
            nodes = self.pieces.keys[out, column]
            bits += float((records * self.items.loss.tables[column][low][nodes]).sum())
            counts = np.bincount(nodes, weights=records)
            counts = counts[counts > 0]
            bits -= float(problem.weights[column]) * float((counts * np.log2(counts / gone)).sum())
        return bits

    def rates(self) -> np.ndarray:
        """What a record of each item loses, at the piece that loses least."""
        described = self.described()
        full = self.items.loss.full
        own = np.full(self.groups.size, full)
        kept = self.groups >= 0
        own[kept] = described.rates[self.groups[kept]]
        least = np.full(self.items.size, full)
        np.minimum.at(least, self.pieces.items, own)
        return least

    def people(self, *, released: bool) -> int:
        """How many people have a record that is kept, or that is left out."""
        chosen = (self.groups >= 0) == released
        if self.items.divisible:
            return int(self.pieces.people[chosen].sum())
        return self.items.people_in(self.pieces.items[chosen])

    def in_tuples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for tuples: which, how many of its records, and their group."""
        items, pieces = self.items, self.pieces
        there = np.flatnonzero(items.problem.records > 0)
        tuples = there[np.argsort(items.base[there], kind="stable")]
        order = np.lexsort([self.groups, pieces.items])
        # Both lists go through all records item by item: a new piece begins wherever one of them has a border.
        by_tuple = np.cumsum(items.problem.records[tuples])
        by_piece = np.cumsum(pieces.records[order])
        new = np.append(
            np.diff(self.groups[order]).astype(bool) | np.diff(pieces.items[order]).astype(bool), True
        )
        ends = np.union1d(by_tuple, by_piece[new])
        counts = np.diff(ends, prepend=0)
        own = tuples[np.searchsorted(by_tuple, ends)]
        groups = self.groups[order][np.searchsorted(by_piece, ends)]
        first = np.argsort(own, kind="stable")
        return own[first], counts[first], groups[first]

    def levels(self) -> np.ndarray:
        """The levels of each group; the last row are those of what is left out."""
        problem, described = self.items.problem, self.described()
        levels = box_levels(
            np.minimum(described.firsts, self.items.spans.cards.astype(np.int32) - 1),
            np.maximum(described.lasts, 0),
            self.items.spans,
        )
        lowest = np.array(problem.lowest, dtype=np.int8)
        return np.concatenate([levels + lowest, lowest[None]])
