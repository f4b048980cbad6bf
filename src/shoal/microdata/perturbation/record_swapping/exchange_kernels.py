"""The heart of targeted record swapping: households at risk find a partner in another region."""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel


class Pools(NamedTuple):
    """Where households look for partners.

    ``pool`` numbers for each household those it may exchange regions with, −1 where it takes no part; ``cell`` those of them
    who live in the same region. ``order`` holds the households from the first to be drawn to the last. ``group`` is where a
    household counts, ``wanted`` how many of each group are still to be exchanged.
    """

    pool: np.ndarray
    cell: np.ndarray
    order: np.ndarray
    group: np.ndarray
    wanted: np.ndarray


@kernel
def exchange(wanting: np.ndarray, pools: Pools, partner: np.ndarray) -> int:
    """Find partners for the wanting in turn: the first of the pool who has none and lives in another region.

    ``partner`` is changed: for each household whom it exchanges with, −1 for nobody; and so is how many are wanted. Back
    comes the number of pairs.
    """
    count = pools.pool.max() + 1 if pools.pool.size else 0
    lined, starts = _lines(pools, partner, count)
    # How many are free in each pool and in each cell, so that nobody looks for somebody who is not there.
    free = np.diff(starts)
    at_home = _free_in_cells(pools, partner)
    after = np.arange(lined.size + 1)
    pairs = 0
    for item in range(wanting.size):
        household = wanting[item]
        pool = pools.pool[household]
        if partner[household] >= 0 or pool < 0 or pools.wanted[pools.group[household]] <= 0:
            continue
        home = pools.cell[household]
        if free[pool] <= at_home[home]:
            continue
        place = _next(after, starts[pool])
        while partner[lined[place]] >= 0 or pools.cell[lined[place]] == home:
            if partner[lined[place]] >= 0:
                after[place] = place + 1
            place = _next(after, place + 1)
        other = lined[place]
        partner[household], partner[other] = other, household
        pools.wanted[pools.group[household]] -= 1
        pools.wanted[pools.group[other]] -= 1
        free[pool] -= 2
        at_home[home] -= 1
        at_home[pools.cell[other]] -= 1
        pairs += 1
    return pairs


@kernel
def _next(after: np.ndarray, position: int) -> int:
    """The next place that was not passed for good, and the way there made shorter."""
    end = position
    while after[end] != end:
        end = after[end]
    while after[position] != position:
        following = after[position]
        after[position] = end
        position = following
    return end


@kernel
def _lines(pools: Pools, partner: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The free households of each pool, in their order, one pool after the other."""
    starts = np.zeros(count + 1, dtype=np.int64)
    for household in range(partner.size):
        if partner[household] < 0 and pools.pool[household] >= 0:
            starts[pools.pool[household] + 1] += 1
    for pool in range(count):
        starts[pool + 1] += starts[pool]
    following = starts.copy()
    lined = np.empty(starts[count], dtype=np.int64)
    for item in range(pools.order.size):
        household = pools.order[item]
        pool = pools.pool[household]
        if partner[household] < 0 and pool >= 0:
            lined[following[pool]] = household
            following[pool] += 1
    return lined, starts


@kernel
def _free_in_cells(pools: Pools, partner: np.ndarray) -> np.ndarray:
    found = np.zeros(pools.cell.max() + 1 if partner.size else 0, dtype=np.int64)
    for household in range(partner.size):
        if partner[household] < 0 and pools.pool[household] >= 0:
            found[pools.cell[household]] += 1
    return found


@kernel
def smallest_in_groups(groups: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """The smallest value in each group."""
    found = np.full(count, np.iinfo(np.int64).max)
    for item in range(groups.size):
        found[groups[item]] = min(found[groups[item]], values[item])
    return found


def warm_up() -> None:
    """Compile the kernels."""
    two, zeros = np.arange(2), np.zeros(2, dtype=np.int64)
    exchange(two, Pools(zeros, two, two, zeros, zeros), np.full(2, -1))
    smallest_in_groups(zeros, zeros, 1)
