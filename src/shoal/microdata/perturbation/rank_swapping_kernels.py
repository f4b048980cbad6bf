"""The heart of rank swapping: every value in turn finds a partner a few ranks above."""

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.secret_kernels import below

# So many draws meet a free partner but in one of a million cases where half of the window is free; then free ones are counted.
_DRAWS = 20


@kernel
def partners(key: np.ndarray, who: np.ndarray, starts: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """For each rank the rank it exchanges values with, or its own.

    ``who`` holds identities by rank, ``starts`` where each stratum begins, ``widths`` how many ranks a value may move in
    each. A partner is uniform among the ranks within reach above that have none yet.
    """
    found = np.full(who.size, -1, dtype=np.int64)
    for stratum in range(starts.size - 1):
        end, width = starts[stratum + 1], widths[stratum]
        # How many of the ranks in reach have a partner already: nobody has to look for a free one that is not there.
        taken = 0
        for rank in range(starts[stratum], end):
            if found[rank] >= 0:
                taken -= 1
                continue
            reach = min(width, end - 1 - rank)
            if reach <= taken:
                found[rank] = rank
                continue
            partner = _free(key, who[rank], found, rank, reach, taken)
            found[rank], found[partner] = partner, rank
            taken += 1
    return found


@kernel
def _free(key: np.ndarray, who: np.uint64, partners: np.ndarray, rank: int, reach: int, taken: int) -> int:
    for draw in range(_DRAWS):
        partner = rank + 1 + below(key, who, np.uint64(draw), reach)
        if partners[partner] < 0:
            return partner
    left = below(key, who, np.uint64(_DRAWS), reach - taken)
    for partner in range(rank + 1, rank + 1 + reach):
        if partners[partner] < 0:
            if left == 0:
                return partner
            left -= 1
    return rank


def warm_up() -> None:
    """Compile the kernel."""
    who = np.zeros(2, dtype=np.uint64)
    partners(who, who, np.array([0, 2]), np.ones(1, dtype=np.int64))
