"""All cells of a table over the codes of its dimensions, and the relations between them."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.tables.model.table import Table
from shoal.tables.model.trees import Tree

LARGEST = 2_000_000


def cells_of(dimensions: Sequence[str], trees: Mapping[str, Tree]) -> tuple[Table, tuple[int, ...]]:
    """The cells (every combination of codes) with all relations; values come later."""
    shape = tuple(trees[name].size for name in dimensions)
    count = int(np.prod(shape, dtype=np.float64))
    if count > LARGEST:
        raise InputError(f"the table would have {count:,} cells; take fewer dimensions or codes")
    index = np.arange(count).reshape(shape)
    # Deepest dimension first: relations of later ones at subtotals of earlier ones follow from the rest.
    order = sorted(range(len(dimensions)), key=lambda d: (-trees[dimensions[d]].depth, d))
    members: list[np.ndarray] = []
    signs: list[np.ndarray] = []
    lengths: list[int] = []
    basis: list[bool] = []
    for axis in range(len(dimensions)):
        tree = trees[dimensions[axis]]
        others = [range(size) if d != axis else (0,) for d, size in enumerate(shape)]
        earlier = order[: order.index(axis)]
        for spot in product(*others):
            leaf = all(trees[dimensions[d]].leaves[spot[d]] for d in earlier)
            place: list[Any] = list(spot)
            place[axis] = slice(None)
            line = index[tuple(place)]
            for parent, children in tree.children.items():
                members.append(np.concatenate([line[children], line[[parent]]]))
                signs.append(np.append(np.ones(len(children)), -1.0))
                lengths.append(len(children) + 1)
                basis.append(leaf)
    grids = np.meshgrid(*[np.array(trees[name].codes, dtype=object) for name in dimensions], indexing="ij")
    keys = {name: grid.ravel() for name, grid in zip(dimensions, grids, strict=True)}
    table = Table(
        np.zeros(count),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate(members),
        np.concatenate(signs),
        keys,
        basis=np.array(basis),
    )
    return table, shape
