"""Changes brought to whole units of the last decimal, where these are too many for the programme that found the changes."""

from typing import Any

import numpy as np

from shoal.runtime.linear_programmes import programme, quiet_highs

# Rounded changes are off by a few units in each relation: cells move by so many more, or else by more.
_STEPS = (3.0, 30.0, 1000.0)


def whole_units(
    relations: Any,
    changes: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    weight: np.ndarray,
    *,
    network: bool,
) -> np.ndarray | None:
    """Whole numbers near these changes, between their ends, of which every relation is 0; ``None`` if none are found.

    >>> from scipy.sparse import csr_matrix
    >>> one = csr_matrix([[1.0, 1.0, -1.0]])
    >>> least, most = np.zeros(3), np.full(3, 9.0)
    >>> whole_units(one, np.array([1.4, 1.4, 2.8]), (least, most), np.array([1.0, 2.0, 9.0]), network=True).tolist()
    [2.0, 1.0, 3.0]
    """
    from scipy.sparse import hstack

    low, high = ends
    if (low > high).any():
        return None
    near = np.clip(np.rint(changes), low, high)
    off = relations @ near
    if not off.any():
        return near
    matrix = hstack([relations, -relations], format="csr")
    parts = (matrix.indptr, matrix.indices, matrix.data)
    for step in _STEPS:
        most = np.concatenate([np.minimum(high - near, step), np.minimum(near - low, step)])
        # What is cheap moves; how cheap matters little for so small steps, so that any sizes of weights will do.
        cost = np.tile(weight / max(float(weight.max(initial=0.0)), 1e-300), 2) + 1e-3
        model = programme(cost, np.zeros(most.size), most, parts, -off, -off, whole=not network)
        solver = quiet_highs(model, mip_rel_gap=0.1)
        solver.run()
        values = np.array(solver.getSolution().col_value)
        if values.size:
            moved = np.rint(values[: near.size] - values[near.size :])
            if not (relations @ (near + moved)).any() and (np.abs(moved) <= step).all():
                return np.asarray(near + moved)
    return None
