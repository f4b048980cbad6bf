"""Fitness as rows of numbers: compared column by column, and smaller is fitter.

One column is a cost; several are a lexicographic order, such as (rooms too full, groups wrong, −K). A population of
n members has an array ``keys`` of n rows. Only comparisons are made, so a key is never turned into one number.
"""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def fitter(key: np.ndarray, than: np.ndarray) -> bool:
    """Whether one key is strictly fitter than another.

    >>> bool(fitter(np.array([0, 1, -100]), np.array([1, 0, -1000])))
    True
    """
    for column in range(key.shape[0]):
        if key[column] != than[column]:
            return key[column] < than[column]
    return False


@kernel
def fittest(keys: np.ndarray) -> int:
    """The fittest member; the first of several.

    >>> int(fittest(np.array([[3.0], [1.0], [1.0]])))
    1
    """
    best = 0
    for member in range(1, keys.shape[0]):
        if fitter(keys[member], keys[best]):
            best = member
    return best


@kernel
def least_fit(keys: np.ndarray) -> int:
    """The least fit member; the first of several.

    >>> int(least_fit(np.array([[3.0], [1.0], [3.0]])))
    0
    """
    worst = 0
    for member in range(1, keys.shape[0]):
        if fitter(keys[worst], keys[member]):
            worst = member
    return worst


@kernel
def ranking(keys: np.ndarray) -> np.ndarray:
    """The members from the fittest to the least fit; equals stay in their order.

    >>> ranking(np.array([[2, 0], [1, 9], [1, 3], [2, 0]])).tolist()
    [2, 1, 0, 3]
    """
    size = keys.shape[0]
    order = np.arange(size)
    merged = np.empty_like(order)
    width = 1
    while width < size:
        for left in range(0, size, 2 * width):
            middle = min(left + width, size)
            right = min(left + 2 * width, size)
            one, two = left, middle
            for place in range(left, right):
                if one < middle and (two >= right or not fitter(keys[order[two]], keys[order[one]])):
                    merged[place] = order[one]
                    one += 1
                else:
                    merged[place] = order[two]
                    two += 1
        order, merged = merged, order
        width *= 2
    return order
