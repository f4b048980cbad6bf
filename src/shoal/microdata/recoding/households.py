"""Households: what their members share is told of all alike, and whole households are counted beside people."""

from collections.abc import Sequence

import numpy as np


def shared_keys(leaves: Sequence[np.ndarray], households: np.ndarray) -> tuple[int, ...]:
    """The keys in which the members of every household agree; none if every household has one member.

    >>> shared_keys([np.array([3, 3, 1]), np.array([0, 1, 1])], np.array([7, 7, 8]))
    (0,)
    """
    order = np.argsort(households, kind="stable")
    same = np.diff(households[order]) == 0
    if not same.any():
        return ()
    return tuple(
        place
        for place, own in enumerate(leaves)
        if not (np.diff(own[order].astype(np.int64)) != 0)[same].any()
    )


def smallest_composition(classes: np.ndarray, households: np.ndarray) -> int:
    """How many households there are at least of the same composition: as many members of each class.

    >>> smallest_composition(np.array([0, 1, 1, 0, 2]), np.array([5, 5, 6, 6, 7]))
    1
    >>> smallest_composition(np.array([0, 1, 1, 0]), np.array([5, 5, 6, 6]))
    2
    """
    order = np.lexsort((classes, households))
    starts = np.flatnonzero(np.diff(households[order], prepend=households[order][0] - 1))
    members = np.split(classes[order], starts[1:])
    counts: dict[tuple[int, ...], int] = {}
    for own in members:
        composition = tuple(own.tolist())
        counts[composition] = counts.get(composition, 0) + 1
    return min(counts.values())
