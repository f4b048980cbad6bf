"""What each model measures in a class, from a histogram of its confidential values."""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def distinct_values(starts: np.ndarray, values: np.ndarray, counts: np.ndarray, missing: int) -> np.ndarray:
    """How many different values each class has; the missing one says nothing."""
    found = np.zeros(starts.size - 1, dtype=np.int64)
    for number in range(found.size):
        for item in range(starts[number], starts[number + 1]):
            if values[item] != missing and counts[item] > 0:
                found[number] += 1
    return found


@kernel
def effective_values(starts: np.ndarray, values: np.ndarray, counts: np.ndarray, missing: int) -> np.ndarray:
    """The exponential of each class's entropy: as many equally frequent values would be as uncertain."""
    found = np.zeros(starts.size - 1)
    for number in range(found.size):
        total = 0
        for item in range(starts[number], starts[number + 1]):
            if values[item] != missing:
                total += counts[item]
        if total == 0:
            continue
        entropy = 0.0
        for item in range(starts[number], starts[number + 1]):
            if values[item] != missing and counts[item] > 0:
                share = counts[item] / total
                entropy -= share * np.log(share)
        found[number] = np.exp(entropy)
    return found


@kernel
def recursion_ratios(
    starts: np.ndarray, values: np.ndarray, counts: np.ndarray, missing: int, l: int
) -> np.ndarray:
    """The most frequent value's count over that of all from the l-th most frequent on; infinite where there are none."""
    found = np.full(starts.size - 1, np.inf)
    for number in range(found.size):
        known = counts[starts[number] : starts[number + 1]][
            values[starts[number] : starts[number + 1]] != missing
        ]
        if known.size < l:
            continue
        falling = np.sort(known)[::-1]
        rest = falling[l - 1 :].sum()
        if rest > 0:
            found[number] = falling[0] / rest
    return found


@kernel
def equal_distances(
    starts: np.ndarray, values: np.ndarray, counts: np.ndarray, whole: np.ndarray
) -> np.ndarray:
    """Half of the sum of differences between the shares in a class and in the whole."""
    found = np.zeros(starts.size - 1)
    for number in range(found.size):
        total = counts[starts[number] : starts[number + 1]].sum()
        if total == 0:
            continue
        above = 0.0
        for item in range(starts[number], starts[number + 1]):
            excess = counts[item] / total - whole[values[item]]
            if excess > 0:
                above += excess
        # What is above in some values is below in others.
        found[number] = above
    return found


@kernel
def ordered_distances(
    starts: np.ndarray, values: np.ndarray, counts: np.ndarray, whole: np.ndarray
) -> np.ndarray:
    """How far shares must be moved along the order of the values, in steps of 1/(m − 1)."""
    found = np.zeros(starts.size - 1)
    steps = max(1, whole.size - 1)
    for number in range(found.size):
        total = counts[starts[number] : starts[number + 1]].sum()
        if total == 0:
            continue
        item, carried, moved = starts[number], 0.0, 0.0
        for value in range(whole.size - 1):
            share = 0.0
            if item < starts[number + 1] and values[item] == value:
                share = counts[item] / total
                item += 1
            carried += share - whole[value]
            moved += abs(carried)
        found[number] = moved / steps
    return found


@kernel
def tree_distances(
    starts: np.ndarray, values: np.ndarray, counts: np.ndarray, whole: np.ndarray, nodes: np.ndarray
) -> np.ndarray:
    """Half of the differences of shares over all nodes but the root, divided by the height; nodes[level][value]."""
    height = nodes.shape[0]
    found = np.zeros(starts.size - 1)
    largest = nodes.max() + 1
    for number in range(found.size):
        total = counts[starts[number] : starts[number + 1]].sum()
        if total == 0:
            continue
        moved = 0.0
        for level in range(height):
            difference = np.zeros(largest)
            for value in range(whole.size):
                difference[nodes[level, value]] -= whole[value]
            for item in range(starts[number], starts[number + 1]):
                difference[nodes[level, values[item]]] += counts[item] / total
            moved += np.abs(difference).sum()
        found[number] = moved / (2 * height)
    return found


@kernel
def largest_gains(
    starts: np.ndarray, values: np.ndarray, counts: np.ndarray, whole: np.ndarray
) -> np.ndarray:
    """The largest relative gain of a value's share in each class over that in the whole."""
    found = np.zeros(starts.size - 1)
    for number in range(found.size):
        total = counts[starts[number] : starts[number + 1]].sum()
        for item in range(starts[number], starts[number + 1]):
            if counts[item] > 0:
                gain = (counts[item] / total - whole[values[item]]) / whole[values[item]]
                found[number] = max(found[number], gain)
    return found


@kernel
def excess_gains(starts: np.ndarray, values: np.ndarray, counts: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """By how much a value's relative gain exceeds −ln of its share in the whole, at most in each class."""
    found = np.full(starts.size - 1, -np.inf)
    for number in range(found.size):
        total = counts[starts[number] : starts[number + 1]].sum()
        for item in range(starts[number], starts[number + 1]):
            if counts[item] > 0:
                share = whole[values[item]]
                found[number] = max(found[number], (counts[item] / total - share) / share + np.log(share))
    return found


@kernel
def present_shares(
    starts: np.ndarray, values: np.ndarray, counts: np.ndarray, whole: np.ndarray
) -> np.ndarray:
    """Which share of the whole has one of the values that are in each class."""
    found = np.zeros(starts.size - 1)
    for number in range(found.size):
        for item in range(starts[number], starts[number + 1]):
            if counts[item] > 0:
                found[number] += whole[values[item]]
    return found


@kernel
def least_moves(starts: np.ndarray, values: np.ndarray, counts: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """What must be moved at least along the order: absent values come from the nearest present one."""
    found = np.zeros(starts.size - 1)
    steps = max(1, whole.size - 1)
    for number in range(found.size):
        before = -1
        for item in range(starts[number], starts[number + 1]):
            if counts[item] == 0:
                continue
            here = values[item]
            for value in range(before + 1, here):
                reach = here - value
                if before >= 0:
                    reach = min(reach, value - before)
                found[number] += whole[value] * reach
            before = here
        if before >= 0:
            for value in range(before + 1, whole.size):
                found[number] += whole[value] * (value - before)
        found[number] /= steps
    return found


def warm_up() -> None:
    """Compile the kernels."""
    starts, values = np.array([0, 1], dtype=np.int64), np.zeros(1, dtype=np.int32)
    counts, whole = np.ones(1, dtype=np.int64), np.ones(1)
    distinct_values(starts, values, counts, -1)
    effective_values(starts, values, counts, -1)
    recursion_ratios(starts, values, counts, -1, 2)
    for measure in (
        equal_distances,
        ordered_distances,
        largest_gains,
        excess_gains,
        present_shares,
        least_moves,
    ):
        measure(starts, values, counts, whole)
    tree_distances(starts, values, counts, whole, np.zeros((1, 1), dtype=np.int32))
