"""Kernels of the exact dynamic programme for anonymity vectors.

Groups are seated one after the other, largest first. What matters for the rest is only how many seats are left in each slot,
so the sorted seats left are the state, and for each state only the best vector so far is kept: the lexicographic order does
not change when the same is added on both sides. Numbers are bytes, which is why slots and groups must be small.
"""

import numpy as np

from shoal.search.kernels import kernel

PATIENCE = 5_000_000


@kernel
def _hash(key: np.ndarray) -> int:
    value = np.uint64(1469598103934665603)
    for byte in key:
        value = (value ^ np.uint64(byte)) * np.uint64(1099511628211)
    value ^= value >> np.uint64(29)
    return int(value >> np.uint64(1))


@kernel
def _hopeless(
    counts: np.ndarray,
    left: np.ndarray,
    rest: np.ndarray,
    whole: np.ndarray,
    people: int,
    incumbent: np.ndarray,
    floor: int,
) -> bool:
    """Whether even the best thinkable seating of the remaining groups ends no better than the incumbent.

    ``rest`` are their sizes, largest first, ``whole`` their vector if none is split, ``left`` the seats, most first.
    A group that fits nowhere has at least one piece no larger than its fewest pieces allow.
    """
    usable = np.int64(0)
    for seats in left:
        if seats >= floor:
            usable += np.int64(seats)
    if usable < people:
        return True
    split = 0
    while split < rest.size and rest[split] > left[0]:
        split += 1
    if split == 0:
        for size in range(counts.size):
            total = np.int64(counts[size]) + whole[size]
            if total != incumbent[size]:
                return total > incumbent[size]
        return True
    change = np.zeros(counts.size, np.int64)
    for group in range(split):
        x = np.int64(rest[group])
        covered, pieces = np.int64(0), 0
        while covered < x:
            covered += np.int64(left[pieces])
            pieces += 1
        change[x - 1] -= 1
        change[min(x // pieces, np.int64(left[pieces - 1])) - 1] += 1
    for size in range(counts.size):
        total = np.int64(counts[size]) + whole[size] + change[size]
        if total != incumbent[size]:
            return total > incumbent[size]
    return True


@kernel
def expand(
    keys: np.ndarray,
    vectors: np.ndarray,
    first: int,
    last: int,
    size: int,
    rest: np.ndarray,
    whole: np.ndarray,
    people: int,
    incumbent: np.ndarray,
    floor: int,
    table: np.ndarray,
    new_keys: np.ndarray,
    new_vectors: np.ndarray,
    parents: np.ndarray,
    pieces: np.ndarray,
    count: np.ndarray,
) -> int:
    """Seat a group of ``size`` in every way from the states ``first`` to ``last``; returns the first not done.

    It stops early when there is no room for more states; the state it was at is then done again. A state with far too
    many ways to go on ends the attempt: −1.
    """
    slots = keys.shape[1]
    mask = table.size - 1
    piece = np.zeros(slots, np.int64)
    later = np.zeros(slots + 1, np.int64)
    left = np.empty(slots, np.uint8)
    counts = np.empty(vectors.shape[1], np.uint8)
    for state in range(first, last):
        caps = keys[state]
        for j in range(slots - 1, -1, -1):
            later[j] = later[j + 1] + np.int64(caps[j])
        at, need = 0, np.int64(size)
        x = min(need, np.int64(caps[0]))
        steps = 0
        while at >= 0:
            steps += 1
            if steps > PATIENCE:
                return -1
            if 0 < x < floor:
                x = np.int64(0)
            if x < 0 or need - x > later[at + 1]:
                at -= 1
                if at >= 0:
                    need += piece[at]
                    x = piece[at] - 1
                continue
            piece[at] = x
            need -= x
            if need > 0:
                if need < floor or at == slots - 1:
                    need += x
                    x -= 1
                    continue
                at += 1
                x = min(need, np.int64(caps[at]))
                if caps[at] == caps[at - 1]:
                    x = min(x, piece[at - 1])
                continue
            for j in range(at + 1, slots):
                piece[j] = 0
            counts[:] = vectors[state]
            for j in range(slots):
                left[j] = np.uint8(np.int64(caps[j]) - piece[j])
                if piece[j] > 0:
                    counts[piece[j] - 1] += 1
            for j in range(1, slots):
                value, back = left[j], j
                while back > 0 and left[back - 1] < value:
                    left[back] = left[back - 1]
                    back -= 1
                left[back] = value
            if not _hopeless(counts, left, rest, whole, people, incumbent, floor):
                place = _hash(left) & mask
                while True:
                    known = table[place]
                    if known < 0:
                        if count[0] >= new_keys.shape[0]:
                            return state
                        known = count[0]
                        count[0] += 1
                        table[place] = known
                        new_keys[known] = left
                        new_vectors[known] = counts
                        parents[known] = state
                        for j in range(slots):
                            pieces[known, j] = piece[j]
                        break
                    same = True
                    for j in range(slots):
                        if new_keys[known, j] != left[j]:
                            same = False
                            break
                    if same:
                        for s in range(counts.size):
                            if counts[s] != new_vectors[known, s]:
                                if counts[s] < new_vectors[known, s]:
                                    new_vectors[known] = counts
                                    parents[known] = state
                                    for j in range(slots):
                                        pieces[known, j] = piece[j]
                                break
                        break
                    place = (place + 1) & mask
            need += x
            x -= 1
    return last


@kernel
def enter(keys: np.ndarray, number: int, table: np.ndarray) -> None:
    """Enter the first ``number`` states into an empty table."""
    mask = table.size - 1
    for known in range(number):
        place = _hash(keys[known]) & mask
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = known
