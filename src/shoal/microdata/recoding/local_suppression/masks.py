"""Sets of keys to blank, as bits: which are tried, in which order, and who looks alike under each."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from shoal.microdata.recoding.class_kernels import grouped
from shoal.microdata.recoding.local_suppression.instance import Instance

# With more sets of keys than this, only those are tried that blank few keys of a record.
_MOST = 1024


@dataclass(frozen=True, eq=False)
class Masks:
    """Sets of columns to blank; bit i stands for ``instance.columns[i]``. The cheapest come first, the last blanks all.

    All sets of at most ``blanks`` columns are there. ``costs`` has a row for each row of ``instance.prices``.
    """

    instance: Instance
    bits: np.ndarray
    blanks: int
    costs: np.ndarray

    @classmethod
    def of(cls, instance: Instance, blanks: int | None = None) -> "Masks":
        """All sets of columns, or where there are too many the small ones, and a chain that leads to all columns.

        With ``blanks`` sets of at most so many columns are enough.

        >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
        >>> from shoal.microdata.recoding.problem import Problem
        >>> sexes = Hierarchy([("f",), ("m",)])
        >>> problem = Problem.of([np.array([0, 0, 1])] * 2, [sexes] * 2, k=2, measure="cells")
        >>> Masks.of(Instance.of(problem)).bits.tolist()
        [0, 1, 2, 3]
        """
        size = len(instance.columns)
        blanks = size if blanks is None else min(blanks, size)
        while blanks > 1 and sum(comb(size, count) for count in range(blanks + 1)) > _MOST:
            blanks -= 1
        found = [mask for mask, _ in _tree(size, blanks)]
        # The columns with the most values are blanked first: that joins the most records.
        found += [(1 << size) - (1 << size - count) for count in range(blanks + 1, size + 1)]
        bits = np.array(found, dtype=np.int64)
        chosen = (bits[:, None] >> np.arange(size)) & 1
        typical = instance.blank.mean(axis=0)
        order = np.lexsort((bits, chosen.sum(axis=1), _dots(chosen, typical)))
        # What blanks all may cost no more than others, but nothing can come after it.
        order = np.concatenate([order[bits[order] != (1 << size) - 1], order[bits[order] == (1 << size) - 1]])
        rows, _ = instance.prices
        costs = np.stack([_dots(chosen[order], row) for row in rows])
        return cls(instance, bits[order], blanks, costs)

    @property
    def size(self) -> int:
        """How many sets there are."""
        return int(self.bits.size)

    @property
    def complete(self) -> bool:
        """Whether all sets are there."""
        return self.blanks == len(self.instance.columns)

    def columns(self, mask: int) -> list[int]:
        """The columns that a set of bits blanks."""
        return [column for bit, column in enumerate(self.instance.columns) if mask >> bit & 1]

    def groups(self, mask: int, rows: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Groups of combinations that look alike under the mask, and the first of each."""
        instance = self.instance
        nodes = instance.nodes if rows is None else np.ascontiguousarray(instance.nodes[rows])
        return _alike(nodes, instance.cards, self.columns(mask))

    def walk(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For each mask its place in the order, the groups of all combinations, and the first of each.

        Groups under a mask are made from those under a smaller one, of which there are fewer than combinations.
        """
        instance = self.instance
        place = {int(mask): number for number, mask in enumerate(self.bits)}
        known: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for mask, depth in _tree(len(instance.columns), self.blanks):
            if mask == 0:
                groups, first = self.groups(0)
            else:
                finer, firsts = known[depth - 1]
                joined, of = _alike(
                    np.ascontiguousarray(instance.nodes[firsts]), instance.cards, self.columns(mask)
                )
                groups, first = joined[finer], firsts[of]
            known[depth] = groups, first
            yield place.pop(mask), groups, first
        for mask, number in place.items():
            groups, first = self.groups(mask)
            yield number, groups, first


def _tree(size: int, blanks: int) -> Iterator[tuple[int, int]]:
    """All sets of at most ``blanks`` columns, each right below the one without its lowest bit, with the number of its columns."""
    stack = [(0, size, 0)]
    while stack:
        mask, lowest, depth = stack.pop()
        yield mask, depth
        if depth < blanks:
            stack.extend((mask | 1 << bit, bit, depth + 1) for bit in range(lowest))


def _alike(nodes: np.ndarray, cards: np.ndarray, blanked: list[int]) -> tuple[np.ndarray, np.ndarray]:
    own = cards.copy()
    own[blanked] = 1
    maps = np.concatenate([np.arange(card, dtype=np.int32) for card in cards])
    offsets = np.concatenate([[0], np.cumsum(cards)[:-1]])
    groups, first = grouped(nodes, maps, offsets, own)
    return groups, first


def _dots(chosen: np.ndarray, costs: np.ndarray) -> np.ndarray:
    total = np.zeros(chosen.shape[0])
    for bit in range(chosen.shape[1]):
        total += chosen[:, bit] * costs[bit]
    return total
