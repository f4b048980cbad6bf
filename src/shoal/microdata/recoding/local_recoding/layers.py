"""Layers: levels in the order of their loss, and at each the classes of what remains that have enough people.

The cheapest levels come first, so that every record is released about as fine as there are k to share it with. What remains
at the highest levels are too few people to be released by themselves.
"""

from collections.abc import Callable

import numpy as np

from shoal.microdata.recoding.local_recoding.items import Items
from shoal.microdata.recoding.local_recoding.layer_kernels import layered
from shoal.microdata.recoding.problem import Problem
from shoal.runtime import Seeds

# Vectors of levels that are tried; of a larger lattice a sample is.
_VECTORS = 200_000
# Items that are looked at before only the coarsest levels are left to try.
_WORK = 2_000_000_000


def layers(items: Items, k: int, *, vectors: int = _VECTORS, work: int = _WORK) -> np.ndarray:
    """The group of each item, or −1 for those too few even at the highest levels.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> ages = Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49"), ("48", "40-49")])
    >>> layers(Items.of(Problem.of([np.array([0, 0, 1, 2, 3])], [ages], k=2)), 2).tolist()
    [0, -1, 1, 1]
    """
    problem = items.problem
    order = levels_by_loss(items, vectors)
    marks, offsets = _marks(problem)
    groups = np.full(items.size, -1, dtype=np.int64)
    relative = order - np.array(problem.lowest)
    taken, _, left = layered(items.keys, items.people, marks, offsets, relative, k, groups, 0, work)
    if left <= 0:
        # The work is spent: whoever remains is tried at the highest levels alone.
        layered(items.keys, items.people, marks, offsets, relative[-1:], k, groups, taken, items.size + 1)
    return groups


def layers_under(
    items: Items, k: int, fails: Callable[[np.ndarray, int], np.ndarray], *, vectors: int = 3000
) -> np.ndarray:
    """The same where a class must also hold under models: ``fails`` says which of so many groups do not."""
    problem = items.problem
    marks, offsets = _marks(problem)
    groups = np.full(items.size, -1, dtype=np.int64)
    taken = 0
    for levels in _thinned(levels_by_loss(items, _VECTORS), vectors) - np.array(problem.lowest):
        tried = np.full(items.size, -1, dtype=np.int64)
        rest = np.flatnonzero(groups < 0)
        own = np.full(rest.size, -1, dtype=np.int64)
        new, _, _ = layered(
            items.keys[rest], items.people[rest], marks, offsets, levels[None], k, own, 0, rest.size + 1
        )
        if new == 0:
            continue
        tried[rest] = own
        holds = np.append(~fails(tried, new), False)
        numbers = np.cumsum(holds) - 1 + taken
        groups[rest] = np.where(holds[own], numbers[own], -1)
        taken += int(holds.sum())
        if not (groups < 0).any():
            break
    return groups


def _thinned(levels: np.ndarray, most: int) -> np.ndarray:
    """Every so manieth row, so that no more are left, and the last."""
    step = max(1, -(-levels.shape[0] // most))
    return np.concatenate([levels[:-1:step], levels[-1:]])


def levels_by_loss(items: Items, most: int) -> np.ndarray:
    """Vectors of levels in the order of what they lose when all records are released at them; the highest come last."""
    problem = items.problem
    spans = [np.arange(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    if problem.nodes <= most:
        levels = np.stack(np.meshgrid(*spans, indexing="ij"), axis=-1).reshape(-1, len(spans))
    else:
        rng = Seeds(0).child("levels").generator()
        drawn = np.stack([rng.choice(span, most) for span in spans], axis=1)
        ends = np.array([problem.lowest, problem.highest])
        levels = np.unique(np.concatenate([drawn, ends]), axis=0)
    lost = np.zeros(levels.shape[0])
    for column, own in enumerate(items.loss.by_level):
        lost += own[levels[:, column]]
    lost[(levels == np.array(problem.highest)).all(axis=1)] = np.inf
    return np.ascontiguousarray(levels[np.lexsort([*levels.T[::-1], lost])], dtype=np.int64)


def _marks(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """A random number for every node, by level above the lowest and value there."""
    rng = Seeds(0).child("marks").generator()
    depth = max(high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True))
    offsets = np.zeros((len(problem.hierarchies), depth), dtype=np.int64)
    marks: list[np.ndarray] = []
    filled = 0
    for column, hierarchy in enumerate(problem.hierarchies):
        low, high = problem.lowest[column], problem.highest[column]
        for level in range(low, high + 1):
            own = rng.integers(0, 2**64, len(hierarchy.labels[level]), dtype=np.uint64)
            offsets[column, level - low] = filled
            marks.append(own[hierarchy.up(low, level)])
            filled += marks[-1].size
    return np.concatenate(marks), offsets
