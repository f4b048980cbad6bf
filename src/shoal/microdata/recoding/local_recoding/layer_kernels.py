"""Layers of groups: at one vector of levels after the other, take every class with enough people of what remains."""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def layered(
    keys: np.ndarray,
    people: np.ndarray,
    marks: np.ndarray,
    offsets: np.ndarray,
    levels: np.ndarray,
    k: int,
    groups: np.ndarray,
    taken: int,
    work: int,
) -> tuple[int, int, int]:
    """Put items without a group (−1) into groups, numbered from ``taken`` on, in the order of the rows of ``levels``.

    ``marks[offsets[j, level] + value]`` is a random number for the node over a value: items whose sums agree are a class.
    Should sums of different classes agree by chance, a group is larger than need be, and nothing worse. Ends when ``work``
    items have been looked at; returns the number of groups, the rows done and the work left.
    """
    d = keys.shape[1]
    rest = np.flatnonzero(groups < 0)
    left = rest.size
    bits = 4
    while (1 << bits) < 2 * left:
        bits += 1
    seen = np.zeros(1 << bits, dtype=np.int64)
    sums = np.zeros(1 << bits, dtype=np.uint64)
    counts = np.zeros(1 << bits, dtype=np.int64)
    numbers = np.zeros(1 << bits, dtype=np.int64)
    slots = np.zeros(left, dtype=np.int64)
    at = np.zeros(d, dtype=np.int64)
    row = 0
    while row < levels.shape[0] and left > 0 and work > 0:
        for column in range(d):
            at[column] = offsets[column, levels[row, column]]
        row += 1
        bits = 4
        while (1 << bits) < 2 * left:
            bits += 1
        mask = (1 << bits) - 1
        work -= left
        enough = False
        for place in range(left):
            item = rest[place]
            mark = np.uint64(0)
            for column in range(d):
                mark += marks[at[column] + keys[item, column]]
            slot = np.int64(mark >> np.uint64(64 - bits)) & mask
            while seen[slot] == row and sums[slot] != mark:
                slot = (slot + 1) & mask
            if seen[slot] != row:
                seen[slot] = row
                sums[slot] = mark
                counts[slot] = 0
                numbers[slot] = -1
            counts[slot] += people[item]
            if counts[slot] >= k:
                enough = True
            slots[place] = slot
        if not enough:
            continue
        kept = 0
        for place in range(left):
            item, slot = rest[place], slots[place]
            if counts[slot] < k:
                rest[kept] = item
                kept += 1
                continue
            if numbers[slot] < 0:
                numbers[slot] = taken
                taken += 1
            groups[item] = numbers[slot]
        left = kept
    return taken, row, work


def warm_up() -> None:
    """Compile the kernel."""
    one = np.ones(1, dtype=np.int64)
    layered(
        np.zeros((1, 1), dtype=np.int32),
        one,
        np.ones(1, dtype=np.uint64),
        np.zeros((1, 1), dtype=np.int64),
        np.zeros((1, 1), dtype=np.int64),
        1,
        -one,
        0,
        1,
    )
