"""What ``vector_code`` does, in plain Python and in the same order, so that the sums are the same to the bit."""

from typing import Any

import numpy as np

_LANES = 4


def _sum(terms: np.ndarray) -> float:
    lanes = [0.0] * _LANES
    values = terms.tolist()
    for at in range(0, len(values) - _LANES + 1, _LANES):
        for lane in range(_LANES):
            lanes[lane] += values[at + lane]
    return float((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))


def squared_distance(one: np.ndarray, i: int, other: np.ndarray, j: int) -> float:
    """Squared distance of row i of one array and row j of another."""
    t = one[i] - other[j]
    return _sum(t * t)


def towards(points: np.ndarray, x: int, centres: np.ndarray, i: int, j: int) -> float:
    """The product of (x − centre i) and (centre j − centre i)."""
    return _sum((points[x] - centres[i]) * (centres[j] - centres[i]))


def swap_gain(points: np.ndarray, x: int, y: int, centres: np.ndarray, i: int, j: int, f: float) -> float:
    """By how much the error falls when x of group i and y of group j change places."""
    t = points[x] - points[y]
    return f * _sum(t * t) - 2.0 * _sum(t * (centres[i] - centres[j]))


def set_mean(points: np.ndarray, members: np.ndarray, g: int, size: int, centres: np.ndarray) -> None:
    """Write the mean of the first ``size`` members of group g into its row of the centres."""
    total = np.zeros(centres.shape[1])
    for m in range(size):
        total += points[members[g, m]]
    centres[g] = total * (1.0 / float(size))


def lent(array: Any) -> Any:
    """The array itself, whose references nobody counts here but Python."""
    return array
