"""The least a record can lose: a walk over all labels, key after key, that at least k people could share."""

import numpy as np

from shoal.microdata.recoding.local_recoding.spans import Spans
from shoal.runtime.kernels import kernel

# Fewer items than this are put in order by insertion.
_FEW = 24


@kernel
def _sorted_by(order: np.ndarray, begin: int, end: int, values: np.ndarray, other: np.ndarray) -> None:
    """Put a stretch of items in the order of their values, which are whole numbers."""
    if end - begin <= _FEW:
        for place in range(begin + 1, end):
            item = order[place]
            earlier = place - 1
            while earlier >= begin and values[order[earlier]] > values[item]:
                order[earlier + 1] = order[earlier]
                earlier -= 1
            order[earlier + 1] = item
        return
    least, most = values[order[begin]], values[order[begin]]
    for place in range(begin, end):
        least = min(least, values[order[place]])
        most = max(most, values[order[place]])
    starts = np.zeros(most - least + 2, dtype=np.int64)
    for place in range(begin, end):
        starts[values[order[place]] - least + 1] += 1
    for value in range(most - least + 1):
        starts[value + 1] += starts[value]
    for place in range(begin, end):
        other[place] = order[place]
    for place in range(begin, end):
        value = values[other[place]] - least
        order[begin + starts[value]] = other[place]
        starts[value] += 1


@kernel
def lowered(
    keys: np.ndarray,
    people: np.ndarray,
    spans: Spans,
    columns: np.ndarray,
    k: int,
    least: np.ndarray,
    work: int,
) -> int:
    """Lower ``least``, what a record of each item loses, to the best label over these columns that k people could share.

    ``keys[j]`` holds the values of key j. Items that share the labels of the first keys are a stretch; within it, items are
    sorted by the next key, where every node is a shorter stretch. One of too few people, or in which nobody could gain, is
    passed over. What is left of ``work``, the number of items looked at, is returned; if nothing is left, the walk has ended
    early and ``least`` says nothing.
    """
    size, d = least.size, columns.size
    order = np.empty((d + 1, size), dtype=np.int64)
    other = np.empty(size, dtype=np.int64)
    # What a record loses at least in the keys from each depth on.
    beyond = np.zeros((d + 1, size))
    for depth in range(d - 1, -1, -1):
        column = columns[depth]
        for item in range(size):
            own = spans.rates[spans.trees[column] + keys[column, item]]
            beyond[depth, item] = beyond[depth + 1, item] + own
    begins = np.zeros(d + 1, dtype=np.int64)
    level = np.zeros(d + 1, dtype=np.int64)
    lost = np.zeros(d + 1)
    for item in range(size):
        order[0, item] = item
    _sorted_by(order[0], 0, size, keys[columns[0]], other)
    # At each depth: the stretch order[depth, 0:sizes], the level that is tried, and where its next part begins.
    sizes = np.zeros(d + 1, dtype=np.int64)
    sizes[0] = size
    depth = 0
    while depth >= 0:
        column = columns[depth]
        if begins[depth] >= sizes[depth]:
            level[depth] += 1
            begins[depth] = 0
            if level[depth] >= spans.heights[column]:
                depth -= 1
                continue
        begin = begins[depth]
        tree = spans.trees[column] + level[depth] * spans.cards[column]
        row = order[depth]
        values = keys[column]
        node = spans.nodes[tree + values[row[begin]]]
        rate = lost[depth] + spans.rates[tree + values[row[begin]]]
        end = begin
        persons = 0
        gain = False
        while end < sizes[depth] and spans.nodes[tree + values[row[end]]] == node:
            item = row[end]
            persons += people[item]
            if rate + beyond[depth + 1, item] < least[item]:
                gain = True
            end += 1
        begins[depth] = end
        work -= end - begin
        if work <= 0:
            return 0
        if persons < k or not gain:
            continue
        if depth + 1 == d:
            for place in range(begin, end):
                item = row[place]
                if rate < least[item]:
                    least[item] = rate
            continue
        below = order[depth + 1]
        for place in range(begin, end):
            below[place - begin] = row[place]
        depth += 1
        sizes[depth] = end - begin
        begins[depth] = 0
        level[depth] = 0
        lost[depth] = rate
        _sorted_by(below, 0, sizes[depth], keys[columns[depth]], other)
    return work


def warm_up() -> None:
    """Compile the kernel."""
    one, zero = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    spans = Spans(one, one, zero, np.zeros(1, dtype=np.int32), np.zeros(1), zero, np.zeros(1))
    lowered(np.zeros((1, 1), dtype=np.int32), one, spans, zero, 1, np.ones(1), 10)
