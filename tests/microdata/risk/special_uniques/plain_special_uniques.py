"""Special uniques by looking at all sets of keys and all pairs of records, as the definition says."""

from itertools import combinations
from math import prod

import numpy as np


def minimal_uniques(codes: np.ndarray, largest: int) -> list[list[frozenset[int]]]:
    """The minimal uniques of every record, in no order."""
    records, keys = codes.shape
    found: list[list[frozenset[int]]] = []
    for one in range(records):
        own: list[frozenset[int]] = []
        for size in range(1, largest + 1):
            for chosen in combinations(range(keys), size):
                if any(codes[one, key] < 0 for key in chosen) or any(known <= set(chosen) for known in own):
                    continue
                others = (other for other in range(records) if other != one)
                if not any(all(codes[one, key] == codes[other, key] for key in chosen) for other in others):
                    own.append(frozenset(chosen))
        found.append(own)
    return found


def weight(keys: int, largest: int, size: int) -> int:
    """What a minimal unique adds to a score."""
    return prod(keys - step for step in range(size, largest))


def pairs(codes: np.ndarray) -> int:
    """Records that share all keys with exactly one other; a missing value matches nothing."""
    whole = [tuple(row) for row in codes if (row >= 0).all()]
    return sum(whole.count(row) == 2 for row in whole)
