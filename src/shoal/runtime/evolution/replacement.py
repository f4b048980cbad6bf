"""Who makes room for a child: kernels that compare keys and return places.

A place of −1 means that the child is discarded.
"""

import numpy as np

from shoal.runtime.evolution.keys import fitter, least_fit, ranking
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below

DISCARDED = -1


@kernel
def steady_state(keys: np.ndarray, child: np.ndarray) -> int:
    """The first of the least fit members, if the child is strictly fitter.

    >>> keys = np.array([[4.0], [7.0], [7.0]])
    >>> int(steady_state(keys, np.array([5.0]))), int(steady_state(keys, np.array([7.0])))
    (1, -1)
    """
    worst = least_fit(keys)
    return worst if fitter(child, keys[worst]) else DISCARDED


@kernel
def elite_places(keys: np.ndarray, offspring: np.ndarray, count: int) -> np.ndarray:
    """A place for each child: the ``count`` fittest children against as many of the least fit members.

    The fittest child meets the least fit member, and so on; a child takes a place only if it is strictly fitter.

    >>> elite_places(np.array([[4.0], [9.0], [7.0]]), np.array([[8.0], [1.0], [3.0]]), 2).tolist()
    [-1, 1, 2]
    """
    places = np.full(offspring.shape[0], DISCARDED, dtype=np.int64)
    members, children = ranking(keys), ranking(offspring)
    for step in range(min(count, members.shape[0], children.shape[0])):
        child, member = children[step], members[members.shape[0] - 1 - step]
        if not fitter(offspring[child], keys[member]):
            break
        places[child] = member
    return places


@kernel
def kill_tournament(state: np.ndarray, keys: np.ndarray, child: np.ndarray, size: int) -> int:
    """The least fit of ``size`` members drawn uniformly, the first drawn of several, if the child is fitter."""
    victim = below(state, keys.shape[0])
    for _ in range(1, size):
        rival = below(state, keys.shape[0])
        if fitter(keys[victim], keys[rival]):
            victim = rival
    return victim if fitter(child, keys[victim]) else DISCARDED


@kernel
def hamming(one: np.ndarray, other: np.ndarray) -> int:
    """In how many places two strings of genes differ.

    >>> int(hamming(np.array([1, 0, 1]), np.array([1, 1, 0])))
    2
    """
    apart = 0
    for gene in range(one.shape[0]):
        if one[gene] != other[gene]:
            apart += 1
    return apart


@kernel
def similar(state: np.ndarray, genes: np.ndarray, child: np.ndarray, size: int) -> int:
    """The member most like the child, by Hamming distance, of ``size`` drawn uniformly; fitness plays no part."""
    victim = below(state, genes.shape[0])
    nearest = hamming(genes[victim], child)
    for _ in range(1, size):
        rival = below(state, genes.shape[0])
        distance = hamming(genes[rival], child)
        if distance < nearest:
            victim, nearest = rival, distance
    return victim


@kernel
def truncation_merge(keys: np.ndarray, offspring: np.ndarray) -> np.ndarray:
    """The fittest of members and children together, as many as there are members, in order.

    Both are given in order. A number below the number n of members is a member, n + j is child j; between equals
    the member stays.

    >>> truncation_merge(np.array([[1.0], [4.0], [6.0]]), np.array([[4.0], [5.0]])).tolist()
    [0, 1, 3]
    """
    size = keys.shape[0]
    chosen = np.empty(size, dtype=np.int64)
    member, child = 0, 0
    for place in range(size):
        if child < offspring.shape[0] and fitter(offspring[child], keys[member]):
            chosen[place] = size + child
            child += 1
        else:
            chosen[place] = member
            member += 1
    return chosen
