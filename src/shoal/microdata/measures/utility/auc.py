"""The area under the curve of hits against false alarms."""

import numpy as np


def area(scores: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive case has the higher score than a negative one, equal ones half; 0.5 without cases of both kinds.

    >>> area(np.array([0.9, 0.4, 0.4, 0.1]), np.array([True, True, False, False]))
    0.875
    """
    hits = int(positive.sum())
    misses = int(positive.size) - hits
    if hits == 0 or misses == 0:
        return 0.5
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_rank = last - (counts - 1) / 2.0
    ranks = float(mean_rank[place.reshape(-1)][positive].sum())
    return (ranks - hits * (hits + 1) / 2.0) / (hits * misses)
