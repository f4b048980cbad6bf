"""The deepest inequality that one cut gives: over few cells, all 0-1 ways to carry what it must are looked at.

A cut says Σ a·y ≥ 1 over 0-1 variables, a being the capacity as a share of what is needed. Over a few cells of the support the
most violated inequality Σ w·y ≥ 1 is a small linear programme with one row for each smallest set of them that carries enough.
What carries a share d costs at least F(d) = min w·y; another cell of capacity c must then count for at least
g(c) = 1 − F(1 − c), and several at once for no less than any function above g that is subadditive
(Gu, Nemhauser and Savelsbergh 2000): here c times the largest g(t) / t of all t from c on.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel

# Most cells over which all ways are looked at.
MOST_CELLS = 12
# What carries all but this share is taken to carry enough.
_NEARLY = 1e-9
# Most steps of the simplex method for one cut.
_STEPS = 200


class Weights(NamedTuple):
    """Weights of a few cells; and of others: ``heights`` from each of ``steps`` on, or its share times what ``slopes`` says."""

    own: np.ndarray
    steps: np.ndarray
    heights: np.ndarray
    slopes: np.ndarray

    @classmethod
    def none(cls, own: np.ndarray) -> "Weights":
        """Nothing for others."""
        return cls(own, np.empty(0), np.zeros(1), np.zeros(1))

    def of_others(self, shares: np.ndarray) -> np.ndarray:
        """What cells of these capacities, as shares of the need, count for."""
        place = np.searchsorted(self.steps, shares, side="right")
        made: np.ndarray = np.maximum(self.heights[place], shares * self.slopes[place])
        return np.minimum(made, 1.0)


@kernel
def _smallest_sets(shares: np.ndarray, sets: np.ndarray) -> Any:
    # The sets that carry enough, and no longer do so without any one of their cells; as bits, the smallest shares first.
    carried = np.zeros(2 ** shares.shape[0])
    count = 0
    for cells in range(1, carried.shape[0]):
        first = 0
        while (cells >> first) & 1 == 0:
            first += 1
        without = carried[cells & (cells - 1)]
        carried[cells] = without + shares[first]
        if carried[cells] >= 1.0 - _NEARLY and without < 1.0 - _NEARLY:
            sets[count] = cells
            count += 1
    return count


@kernel
def lightest(shares: np.ndarray, x: np.ndarray, below: float, weights: np.ndarray) -> Any:
    """Weights of which each set that carries enough has 1, and the point ``x`` as little as possible; returns how much.

    The shares are in ascending order. If it is not below the given number, the search ends and the weights mean nothing. The
    dual is solved: sets, with shares that add up to as much as possible, are packed into the point.
    """
    size = shares.shape[0]
    sets = np.empty(2**size, dtype=np.int64)
    count = _smallest_sets(shares, sets)
    inverse = np.eye(size)
    held = x.copy()
    packed = np.zeros(size)
    column = np.empty(size)
    weights[:] = 0.0
    for _ in range(_STEPS):
        total = 0.0
        for i in range(size):
            total += packed[i] * held[i]
        if total >= below:
            return total
        # The set of the least weight; or a place in which less was packed than there is room.
        least, enters, slack = 1.0 - 1e-9, -1, -1
        for s in range(count):
            weight = 0.0
            for j in range(size):
                if (sets[s] >> j) & 1:
                    weight += weights[j]
            if weight < least:
                least, enters = weight, s
        for j in range(size):
            if 1.0 + weights[j] < least:
                least, slack = 1.0 + weights[j], j
        if enters < 0 and slack < 0:
            return total
        for i in range(size):
            column[i] = 0.0
            for j in range(size):
                if j == slack or (slack < 0 and (sets[enters] >> j) & 1):
                    column[i] += inverse[i, j]
        leaves, most = -1, np.inf
        for i in range(size):
            if column[i] > 1e-9 and held[i] / column[i] < most:
                leaves, most = i, held[i] / column[i]
        if leaves < 0:
            return below
        pivot = column[leaves]
        for j in range(size):
            inverse[leaves, j] /= pivot
        held[leaves] = most
        for i in range(size):
            if i != leaves and column[i] != 0.0:
                held[i] = max(0.0, held[i] - column[i] * most)
                for j in range(size):
                    inverse[i, j] -= column[i] * inverse[leaves, j]
        packed[leaves] = 0.0 if slack >= 0 else 1.0
        for j in range(size):
            weights[j] = 0.0
            for i in range(size):
                weights[j] += packed[i] * inverse[i, j]
    return below


@cache
def _subsets(size: int) -> np.ndarray:
    """All 0-1 rows of this many columns."""
    return ((np.arange(2**size)[:, None] >> np.arange(size)) & 1).astype(float)


def lifted(shares: np.ndarray, weights: np.ndarray) -> Weights | None:
    """The inequality with these weights of a few cells, for all others, too; ``None`` if too little is left of the weights.

    Whatever the weights are, it holds: they are divided by what the lightest set that carries enough has of them.
    """
    subsets = _subsets(shares.size)
    weights, carried = np.clip(weights, 0.0, 1.0), subsets @ shares
    enough = carried >= 1.0 - _NEARLY
    scale = float((subsets[enough] @ weights).min(initial=1.0))
    if scale < 0.5:
        return None
    weights = np.minimum(weights / scale, 1.0)
    costs = subsets @ weights
    order = np.lexsort((-carried, costs))
    costs, reach = costs[order], np.maximum.accumulate(carried[order])
    # The cheapest set of each reach; those that carry enough alone leave nothing to others.
    better = (np.diff(reach, prepend=-1.0) > 0.0) & (costs < 1.0) & (reach < 1.0 - _NEARLY)
    steps = np.maximum(1.0 - reach[better] - _NEARLY, 1e-12)[::-1]
    gains = (1.0 - costs[better])[::-1]
    slopes = np.maximum.accumulate((gains / steps)[::-1])[::-1]
    return Weights(weights, steps, np.append(0.0, gains), np.append(slopes, 0.0))
