"""Households: what their members share is told of all alike, and whole households are counted beside people."""

from collections.abc import Sequence

import numpy as np

from shoal.microdata.columns.hierarchies.hierarchy import Values

# A key that so many of the households with several members agree in is one of the household; an error in one changes nothing.
_SHARED = 0.8


def read_households(values: Values) -> np.ndarray:
    """The household of each record; one that is not known is a household of its own."""
    households: np.ndarray = values.codes.astype(np.int64)
    if values.has_missing:
        alone = np.flatnonzero(households == values.texts.index(None))
        households = households.copy()
        households[alone] = len(values.texts) + np.arange(alone.size)
    return households


def shared_keys(leaves: Sequence[np.ndarray], households: np.ndarray) -> tuple[int, ...]:
    """The keys in which the members of households agree; none if every household has one member.

    >>> shared_keys([np.array([3, 3, 1]), np.array([0, 1, 1])], np.array([7, 7, 8]))
    (0,)
    """
    order = np.argsort(households, kind="stable")
    same = np.diff(households[order]) == 0
    if not same.any():
        return ()
    several = np.unique(households[order][1:][same])
    return tuple(
        place
        for place, own in enumerate(leaves)
        if _differing(own[order].astype(np.int64), households[order], same) <= (1 - _SHARED) * several.size
    )


def _differing(own: np.ndarray, households: np.ndarray, same: np.ndarray) -> int:
    """How many households have members who differ in a key."""
    return int(np.unique(households[1:][same & (np.diff(own) != 0)]).size)


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
