"""Directions in which all sensitive cells can move as far as they must at once, by a feasibility pump (M. Fischetti, F. Glover
and A. Lodi, Mathematical Programming 104, 2005).

Cells that move only together, such as one and the total of which it is all, must go the same way; which do is seen from a change
that falls short of as little as possible.
"""

from typing import Any

import numpy as np

from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs
from shoal.tables.rounding.adjustment.directions import Directions

# What changes cost counts for so much less than what cells fall short of what they must.
_COST = 0.01
_SHORT = 1e-6
# Where it goes round in circles, such a share of the cells beside those that fall short is turned.
_TURNED = 0.2


def feasible_directions(
    directions: Directions, rises: np.ndarray, random: np.random.Generator, rounds: int
) -> np.ndarray | None:
    """Which sensitive cells rise, beginning with these; ``None`` if that is not found in so many rounds."""
    solver, count = _elastic(directions), rises.size
    first = directions.problem.table.relations
    rows = np.arange(first, first + count, dtype=np.int32)
    seen: set[bytes] = set()
    for _ in range(rounds):
        low = np.where(rises, directions.up, -np.inf)
        high = np.where(rises, np.inf, -directions.down)
        solver.changeRowsBounds(count, rows, low, high)
        solver.run()
        if not is_optimal(solver):
            return None
        values = np.array(solver.getSolution().col_value)
        size = directions.cells.size
        moved = (values[:size] - values[size : 2 * size])[directions.position]
        needed = np.where(rises, directions.up, directions.down)
        short = 1.0 - np.where(rises, moved, -moved) / np.maximum(needed, 1e-300)
        lacking = np.flatnonzero((short > _SHORT) & (needed > 0.0))
        if not lacking.size:
            return rises
        seen.add(rises.tobytes())
        # A cell that went the other way leads; one that did not move at all is as well off there.
        turned = rises.copy()
        turned[lacking] = moved[lacking] > 0.0
        turned = directions.feasible(turned)
        if turned.tobytes() in seen:
            near = _beside(directions, lacking)
            some = near[random.random(near.size) < _TURNED]
            turned[some] = ~turned[some]
            turned = directions.feasible(turned)
        rises = turned
    return None


def _beside(directions: Directions, places: np.ndarray) -> np.ndarray:
    """The sensitive cells in relations with some of them."""
    matrix = directions.problem.table.matrix[:, directions.problem.protect.sensitive]
    return np.unique(matrix[matrix[:, places].getnnz(axis=1) > 0].indices)


def _elastic(directions: Directions) -> Any:
    """The least that sensitive cells fall short of what they must, as shares of it."""
    from scipy.sparse import csr_matrix, hstack, vstack

    problem, size, count = directions.problem, directions.cells.size, directions.up.size
    relations = problem.table.matrix[:, directions.cells]
    own = csr_matrix((np.ones(count), (np.arange(count), directions.position)), shape=(count, size))
    lack = csr_matrix((np.ones(count), (np.arange(count), np.arange(count))), shape=(count, count))
    none = csr_matrix((relations.shape[0], count))
    matrix = vstack(
        [hstack([relations, -relations, none, none]), hstack([own, -own, lack, -lack])], format="csr"
    )
    cost = np.concatenate(
        [
            _COST * directions.scale * directions.weight,
            1.0 / np.maximum(directions.up, 1e-9),
            1.0 / np.maximum(directions.down, 1e-9),
        ]
    )
    high = np.concatenate([directions.most, np.full(2 * count, np.inf)])
    zero = np.zeros(relations.shape[0])
    model = programme(
        cost,
        np.zeros(cost.size),
        high,
        (matrix.indptr, matrix.indices, matrix.data),
        np.concatenate([zero, np.full(count, -np.inf)]),
        np.concatenate([zero, np.full(count, np.inf)]),
    )
    return quiet_highs(model)
