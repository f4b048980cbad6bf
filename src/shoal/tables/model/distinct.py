"""Different values of an array, without what NumPy loads to find them."""

import numpy as np


def distinct(values: np.ndarray) -> np.ndarray:
    """Every value once, in order; ``np.unique`` first loads masked arrays, which takes longer than to read a small table.

    >>> distinct(np.array([3, 1, 3, 2]))
    array([1, 2, 3])
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(ordered.size, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]
