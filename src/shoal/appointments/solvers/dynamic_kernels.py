"""Kernels of the exact dynamic programme for anonymity vectors.

Groups are seated one after the other, largest first. What matters for the rest is only how many seats are left in each slot,
so the sorted seats left are the state, and for each state only the best vector so far is kept: the lexicographic order does
not change when the same is added on both sides. Numbers are bytes, which is why slots and groups must be small.
"""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel

PATIENCE = 5_000_000
#: Larger than any vector: no slot or group has that many people.
UNKNOWN = np.uint8(255)


@kernel
def _hash(key: np.ndarray) -> int:
    value = np.uint64(1469598103934665603)
    for byte in key:
        value = (value ^ np.uint64(byte)) * np.uint64(1099511628211)
    value ^= value >> np.uint64(29)
    return int(value >> np.uint64(1))


class Layer(NamedTuple):
    """The states after some groups, the best vector of each, how it came about, and a hash table of them."""

    keys: np.ndarray
    vectors: np.ndarray
    parents: np.ndarray
    pieces: np.ndarray
    number: np.ndarray
    table: np.ndarray


class Ahead(NamedTuple):
    """What is still to come: sizes of the groups, largest first, and their vector if none is split.

    Only what ends better than the ``incumbent`` is kept; it has no crowd below ``floor``.
    """

    rest: np.ndarray
    whole: np.ndarray
    people: int
    incumbent: np.ndarray
    floor: int


@kernel
def _hopeless(counts: np.ndarray, left: np.ndarray, ahead: Ahead, change: np.ndarray) -> bool:
    """Whether even the best thinkable seating of the remaining groups ends no better than the incumbent.

    ``left`` are the seats, most first; ``change`` is scratch. A group that fits nowhere has at least one piece no larger
    than its fewest pieces allow.
    """
    rest = ahead.rest
    usable = np.int64(0)
    for seats in left:
        if seats >= ahead.floor:
            usable += np.int64(seats)
    if usable < ahead.people:
        return True
    change[:] = 0
    for group in range(rest.size):
        if rest[group] <= left[0]:
            break
        x = np.int64(rest[group])
        covered, pieces = np.int64(0), 0
        while covered < x:
            covered += np.int64(left[pieces])
            pieces += 1
        change[x - 1] -= 1
        change[min(x // pieces, np.int64(left[pieces - 1])) - 1] += 1
    for size in range(counts.size):
        total = np.int64(counts[size]) + ahead.whole[size] + change[size]
        if total != ahead.incumbent[size]:
            return total > ahead.incumbent[size]
    return True


@kernel
def _same(one: np.ndarray, other: np.ndarray) -> bool:
    j = 0
    while j < one.size and one[j] == other[j]:
        j += 1
    return j == one.size


@kernel
def _slot_of(key: np.ndarray, layer: Layer) -> int:
    """Where a state is in the hash table, or where it would be entered."""
    mask = layer.table.size - 1
    place = _hash(key) & mask
    while layer.table[place] >= 0 and not _same(layer.keys[layer.table[place]], key):
        place = (place + 1) & mask
    return place


@kernel
def expand(old: Layer, new: Layer, first: int, last: int, size: int, ahead: Ahead) -> int:
    """Seat a group of ``size`` in every way from the states ``first`` to ``last``; returns the first not done.

    It stops early when there is no room for more states; the state it was at is then done again. A state with far too
    many ways to go on ends the attempt: −1.
    """
    slots, floor = old.keys.shape[1], ahead.floor
    piece = np.zeros(slots, np.int64)
    later = np.zeros(slots + 1, np.int64)
    left = np.empty(slots, np.uint8)
    counts = np.empty(old.vectors.shape[1], np.uint8)
    change = np.empty(counts.size, np.int64)
    for state in range(first, last):
        caps = old.keys[state]
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
            counts[:] = old.vectors[state]
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
            if not _hopeless(counts, left, ahead, change):
                place = _slot_of(left, new)
                known = new.table[place]
                if known < 0:
                    known = new.number[0]
                    if known >= new.keys.shape[0]:
                        return state
                    new.number[0] += 1
                    new.table[place] = known
                    new.keys[known] = left
                    new.vectors[known] = UNKNOWN
                if _smaller(counts, new.vectors[known]):
                    new.vectors[known] = counts
                    new.parents[known] = state
                    for j in range(slots):
                        new.pieces[known, j] = piece[j]
            need += x
            x -= 1
    return last


@kernel
def _smaller(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a vector comes before another."""
    for size in range(one.size):
        if one[size] != other[size]:
            return one[size] < other[size]
    return False


@kernel
def enter(layer: Layer) -> None:
    """Enter the states of a layer into its empty table."""
    for known in range(layer.number[0]):
        layer.table[_slot_of(layer.keys[known], layer)] = known
