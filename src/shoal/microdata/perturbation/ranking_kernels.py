"""Kernels that put records in the order of their values, by stratum, with ties in the order of their hashes."""

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.secret_kernels import bits


@kernel
def ties_by_hash(by_value: np.ndarray, by_hash: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Records by value, and those of equal value by hash; both orders name places of ``values``."""
    n = by_value.size
    following = np.empty(n, dtype=np.int64)
    run_of = np.empty(n, dtype=np.int64)
    run = 0
    for rank in range(n):
        if rank > 0 and values[by_value[rank]] != values[by_value[rank - 1]]:
            run = rank
        run_of[by_value[rank]] = run
        following[rank] = rank
    order = np.empty(n, dtype=np.int64)
    for rank in range(n):
        place = by_hash[rank]
        order[following[run_of[place]]] = place
        following[run_of[place]] += 1
    return order


@kernel
def parted(order: np.ndarray, strata: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The same order within each stratum, the strata one after the other, and where each begins."""
    starts = np.zeros(count + 1, dtype=np.int64)
    for rank in range(order.size):
        starts[strata[order[rank]] + 1] += 1
    for stratum in range(count):
        starts[stratum + 1] += starts[stratum]
    following = starts.copy()
    found = np.empty(order.size, dtype=np.int64)
    for rank in range(order.size):
        stratum = strata[order[rank]]
        found[following[stratum]] = order[rank]
        following[stratum] += 1
    return found, starts


@kernel
def hashes(key: np.ndarray, who: np.ndarray) -> np.ndarray:
    """A random word for each of many."""
    found = np.empty(who.size, dtype=np.uint64)
    for item in range(who.size):
        found[item] = bits(key, who[item], np.uint64(0))
    return found


@kernel
def mid_ranks(order: np.ndarray, starts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The rank of each record in its stratum, from 1 on; those of equal value share the mean of their ranks."""
    ranks = np.full(values.size, np.nan)
    for stratum in range(starts.size - 1):
        begin, end = starts[stratum], starts[stratum + 1]
        first = begin
        for rank in range(begin, end):
            last = rank + 1 == end
            if last or values[order[rank + 1]] != values[order[rank]]:
                shared = 0.5 * (first + rank) - begin + 1.0
                for tied in range(first, rank + 1):
                    ranks[order[tied]] = shared
                first = rank + 1
    return ranks


def warm_up() -> None:
    """Compile the kernels."""
    places, who = np.arange(2), np.zeros(2, dtype=np.uint64)
    hashes(who, who)
    for values in (np.zeros(2), np.zeros(2, dtype=np.int64)):
        order, starts = parted(ties_by_hash(places, places, values), np.zeros(2, dtype=np.int64), 1)
        mid_ranks(order, starts, values)
