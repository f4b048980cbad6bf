"""Iterated local search that cools: worse partitions are kept at a rate that falls in the course of a cycle.

What is kept is compared with the partition before the perturbation, not with the best. The temperature is found while
searching, so that a given share of the worse partitions is kept, whatever the scale of the data.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.microaggregation.search.kernels.groups import refresh, total_error
from shoal.microdata.microaggregation.search.kernels.iterated import ENDLESS, copy_dirty, perturb
from shoal.microdata.microaggregation.search.kernels.pairs import descend
from shoal.microdata.microaggregation.search.kernels.vectors import squared_distance
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import uniform

# What a cooling search remembers, by place in its array of numbers.
HERE, BEST, TEMPERATURE = range(3)
NUMBERS = 3
# How quickly the temperature follows the share of partitions that are kept.
_PACE = 0.05
# A descent tries only pairs with a group that changed.
ALL_PAIRS = False


class Cooling(NamedTuple):
    """A cycle: its length, the shares of worse partitions kept at its begin and its end, what is dissolved and distilled.

    The number of groups stays between ``fewest`` and ``most``; the lossiest group of a ``sample`` is dissolved.
    """

    length: int
    warm: float
    cold: float
    fewest: int
    most: int
    sample: int


@kernel(error_model="numpy")
def split(space, groups, search, g):  # type: ignore[no-untyped-def]
    """Make a group of the outermost member of g and the k−1 nearest to it; g must have 2k members or more."""
    points, k, _, _ = space
    number, sizes, members, away, centres, facts = groups
    new = number[0]
    number[0] = new + 1
    outer = 0
    for m in range(1, sizes[g]):
        if away[g, m] > away[g, outer]:
            outer = m
    x = members[g, outer]
    for size in range(k):
        pick = 0
        least = np.inf
        for m in range(sizes[g]):
            q = squared_distance(points, members[g, m], points, x)
            if q < least:
                least = q
                pick = m
        members[new, size] = members[g, pick]
        sizes[g] -= 1
        members[g, pick] = members[g, sizes[g]]
    sizes[new] = k
    refresh(points, k, sizes, members, away, centres, facts, g)
    refresh(points, k, sizes, members, away, centres, facts, new)
    search.changed[g] = search.changed[new] = True
    search.dirty[g] = search.dirty[new] = True


@kernel(error_model="numpy")
def split_large(space, groups, search):  # type: ignore[no-untyped-def]
    """Split groups of 2k members or more, and search on, until there are none."""
    while True:
        found = False
        for g in range(groups.number[0]):
            if groups.sizes[g] >= 2 * space.k:
                split(space, groups, search, g)
                found = True
        if not found:
            return
        descend(space, groups, search, ALL_PAIRS, ENDLESS)


@kernel(error_model="numpy")
def anneal(space, groups, search, home, best, stale, numbers, cooling, first, iterations):  # type: ignore[no-untyped-def]
    """Iterations ``first`` and following of a cycle; returns how many improved the best.

    ``home`` is the partition kept last and differs from ``groups`` in the dirty groups only; ``best`` differs from
    ``home`` in the stale ones.
    """
    improved = 0
    for step in range(first, first + iterations):
        share = cooling.warm * (cooling.cold / cooling.warm) ** (step / cooling.length)
        perturb(space, groups, search, cooling.fewest, cooling.most, cooling.sample)
        descend(space, groups, search, ALL_PAIRS, ENDLESS)
        split_large(space, groups, search)
        error = total_error(groups)
        excess = error - numbers[HERE]
        kept = excess <= 0.0
        if excess > 0.0:
            kept = uniform(search.random) < np.exp(-excess / max(numbers[TEMPERATURE], 1e-300))
            if kept:
                numbers[TEMPERATURE] *= np.exp(-_PACE * (1.0 - share))
            else:
                numbers[TEMPERATURE] *= np.exp(_PACE * share)
        if not kept:
            copy_dirty(home, groups, search.dirty)
            continue
        for g in range(stale.shape[0]):
            stale[g] |= search.dirty[g]
        copy_dirty(groups, home, search.dirty)
        numbers[HERE] = error
        if error < numbers[BEST] - space.tolerance:
            copy_dirty(groups, best, stale)
            numbers[BEST] = error
            improved += 1
    return improved
