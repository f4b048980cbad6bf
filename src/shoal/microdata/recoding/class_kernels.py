"""Kernels on classes of records: grouping by keys, counting people, rates of loss."""

import numpy as np

from shoal.runtime.kernels import kernel

# A table of all combinations is quicker than a hash up to this many entries for each row.
_DENSE = 8
_LARGEST = 2**62


@kernel
def _numbers_of(codes: np.ndarray, span: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers from 0 for different codes below ``span``, by first appearance, and where each appears first."""
    n = codes.size
    numbers = np.empty(n, dtype=np.int64)
    first = np.empty(n, dtype=np.int64)
    found = 0
    if span <= _DENSE * n + 1024:
        seen = np.full(span, -1, dtype=np.int64)
        for row in range(n):
            code = codes[row]
            if seen[code] < 0:
                seen[code] = found
                first[found] = row
                found += 1
            numbers[row] = seen[code]
        return numbers, first[:found].copy()
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    mask = (1 << bits) - 1
    slots = np.full(1 << bits, -1, dtype=np.int64)
    for row in range(n):
        code = codes[row]
        # Fibonacci hashing: the upper bits of the product depend on all of the code.
        mixed = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(mixed >> np.uint64(64 - bits)) & mask
        while slots[slot] >= 0 and codes[first[slots[slot]]] != code:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = found
            first[found] = row
            found += 1
        numbers[row] = slots[slot]
    return numbers, first[:found].copy()


@kernel
def numbered_rows(rows: np.ndarray, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row among the different ones, by first appearance, and where each appears first.

    Entries of column j are below ``cards[j]``. Codes too large for a machine word are renumbered on the way.
    """
    n, d = rows.shape
    codes = np.zeros(n, dtype=np.int64)
    span = np.int64(1)
    for column in range(d):
        card = cards[column]
        if span > _LARGEST // card:
            codes, first = _numbers_of(codes, span)
            span = np.int64(first.size)
        for row in range(n):
            codes[row] = codes[row] * card + rows[row, column]
        span *= card
    return _numbers_of(codes, span)


@kernel
def grouped(
    nodes: np.ndarray, maps: np.ndarray, offsets: np.ndarray, cards: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Classes joined at coarser levels: ``maps[offsets[j] + node]`` is the coarser node, one of ``cards[j]``."""
    m, d = nodes.shape
    codes = np.zeros(m, dtype=np.int64)
    span = np.int64(1)
    for column in range(d):
        card = cards[column]
        if card == 1:
            continue
        if span > _LARGEST // card:
            codes, first = _numbers_of(codes, span)
            span = np.int64(first.size)
        offset = offsets[column]
        for row in range(m):
            codes[row] = codes[row] * card + maps[offset + nodes[row, column]]
        span *= card
    return _numbers_of(codes, span)


@kernel
def added(groups: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Sums of whole numbers by group."""
    sums = np.zeros(size, dtype=np.int64)
    for row in range(groups.size):
        sums[groups[row]] += values[row]
    return sums


@kernel
def spread_people(groups: np.ndarray, starts: np.ndarray, size: int) -> np.ndarray:
    """In each group the people with a record there, of those who have records in several tuples; ``groups`` by record."""
    found = np.zeros(size, dtype=np.int64)
    for person in range(starts.size - 1):
        for item in range(starts[person], starts[person + 1]):
            new = True
            for earlier in range(starts[person], item):
                if groups[earlier] == groups[item]:
                    new = False
                    break
            if new:
                found[groups[item]] += 1
    return found


@kernel
def people_touched(groups: np.ndarray, starts: np.ndarray, chosen: np.ndarray) -> int:
    """How many of those people have a record in a chosen group."""
    found = 0
    for person in range(starts.size - 1):
        for item in range(starts[person], starts[person + 1]):
            if chosen[groups[item]]:
                found += 1
                break
    return found


@kernel
def added_rates(nodes: np.ndarray, rates: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The sum over columns of what each class loses: ``rates[offsets[j] + node]``."""
    m, d = nodes.shape
    sums = np.zeros(m)
    for column in range(d):
        offset = offsets[column]
        for row in range(m):
            sums[row] += rates[offset + nodes[row, column]]
    return sums


@kernel
def floored_rates(
    nodes: np.ndarray, rates: np.ndarray, offsets: np.ndarray, floors: np.ndarray
) -> np.ndarray:
    """The same, where no column counts for less than its floor."""
    m, d = nodes.shape
    sums = np.zeros(m)
    for column in range(d):
        offset = offsets[column]
        for row in range(m):
            sums[row] += max(floors[column], rates[offset + nodes[row, column]])
    return sums


@kernel
def total_loss(records: np.ndarray, rates: np.ndarray, left_out: np.ndarray, full: float) -> float:
    """What all records lose: those of each class its rate, those left out everything there is."""
    total = 0.0
    for row in range(records.size):
        total += records[row] * (full if left_out[row] else rates[row])
    return total


@kernel
def coarser(nodes: np.ndarray, first: np.ndarray, maps: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The nodes of joined classes, taken from the first class of each."""
    size, d = first.size, nodes.shape[1]
    found = np.empty((size, d), dtype=np.int32)
    for column in range(d):
        offset = offsets[column]
        for group in range(size):
            found[group, column] = maps[offset + nodes[first[group], column]]
    return found


def warm_up() -> None:
    """Compile the kernels."""
    rows, one = np.zeros((2, 1), dtype=np.int32), np.ones(1, dtype=np.int64)
    numbered_rows(rows, one)
    maps, offsets = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    groups, first = grouped(rows, maps, offsets, one)
    added(groups, np.ones(2, dtype=np.int64), 1)
    starts = np.array([0, 2], dtype=np.int64)
    spread_people(groups, starts, 1)
    people_touched(groups, starts, np.ones(1, dtype=bool))
    rates = added_rates(rows, np.zeros(1), offsets)
    floored_rates(rows, np.zeros(1), offsets, np.zeros(1))
    total_loss(np.ones(2, dtype=np.int64), rates, np.zeros(2, dtype=bool), 1.0)
    coarser(rows, first, maps, offsets)
