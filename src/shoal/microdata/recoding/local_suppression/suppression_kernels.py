"""Kernels of local suppression that go over combinations once."""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def count_once(people: np.ndarray, entries: np.ndarray, starts: np.ndarray) -> None:
    """Count each person at the one of their combinations that has the fewest people so far, the first of equal ones."""
    for person in range(starts.size - 1):
        least = entries[starts[person]]
        for item in range(starts[person] + 1, starts[person + 1]):
            if people[entries[item]] < people[least]:
                least = entries[item]
        people[least] += 1


@kernel
def cheapest_cover(
    groups: np.ndarray, people: np.ndarray, k: int, costs: np.ndarray, kinds: np.ndarray, least: np.ndarray
) -> None:
    """Lower ``least`` to the cost of a mask wherever a combination looks like k people or more under it."""
    for row in range(groups.size):
        if people[groups[row]] >= k and costs[kinds[row]] < least[row]:
            least[row] = costs[kinds[row]]


@kernel
def fill_groups(
    groups: np.ndarray,
    size: int,
    weights: np.ndarray,
    spare: np.ndarray,
    first_giver: int,
    k: int,
    most: int,
    taken: np.ndarray,
) -> np.ndarray:
    """Which groups come to k people if at most ``most`` are given to them, and who gives how many.

    Rows from ``first_giver`` on are those that can give what they can spare; ``taken`` is filled with what they gave.
    """
    total = np.zeros(size, dtype=np.int64)
    gifts = np.zeros(size, dtype=np.int64)
    rows = np.zeros(size, dtype=np.int64)
    for row in range(first_giver):
        total[groups[row]] += weights[row]
        rows[groups[row]] += 1
    for row in range(first_giver, groups.size):
        gifts[groups[row]] += spare[row - first_giver]
    chosen = np.zeros(size, dtype=np.bool_)
    for group in range(size):
        lacking = k - total[group]
        if rows[group] > 0 and (lacking <= 0 or (lacking <= most and gifts[group] >= lacking)):
            chosen[group] = True
    for row in range(first_giver, groups.size):
        group = groups[row]
        if chosen[group] and total[group] < k:
            taken[row - first_giver] = min(spare[row - first_giver], k - total[group])
            total[group] += taken[row - first_giver]
    return chosen


def warm_up() -> None:
    """Compile the kernels."""
    one = np.ones(1, dtype=np.int64)
    none = np.zeros(1, dtype=np.int64)
    count_once(one.copy(), none, np.array([0, 1]))
    cheapest_cover(none, one, 1, np.zeros(1), np.zeros(1, dtype=np.int32), np.ones(1))
    fill_groups(none, 1, one, one, 1, 1, 0, one.copy())
