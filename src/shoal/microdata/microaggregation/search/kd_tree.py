"""Splitting points in half again and again: blocks of near points, and a tree to find neighbours in.

Bentley, Multidimensional binary search trees used for associative searching, Communications of the ACM 18(9),
1975. Every split is at the median of the coordinate in which the points are spread most.
"""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel

# Points of a node of a tree that tell which coordinate is the widest, or nearly so.
_LOOKED_AT = 64


# Coordinates after which most points are known to be too far away.
_HEAD = 4


class Tree(NamedTuple):
    """A tree over points that were put in its order; nodes are slices of them with tight boxes."""

    points: np.ndarray
    order: np.ndarray
    start: np.ndarray
    end: np.ndarray
    child: np.ndarray
    low: np.ndarray
    high: np.ndarray


@kernel
def _widest(points: np.ndarray, order: np.ndarray, first: int, last: int, looked_at: int) -> int:
    # Of very many points some tell which coordinate is the widest, or nearly so.
    d = points.shape[1]
    low = np.full(d, np.inf)
    high = np.full(d, -np.inf)
    for i in range(first, last, max(1, (last - first) // looked_at)):
        row = order[i]
        for a in range(d):
            x = points[row, a]
            low[a] = min(low[a], x)
            high[a] = max(high[a], x)
    best = 0
    for a in range(1, d):
        if high[a] - low[a] > high[best] - low[best]:
            best = a
    return best


@kernel
def _part(keys: np.ndarray, order: np.ndarray, first: int, last: int, middle: int) -> None:
    # Hoare's selection: afterwards keys[first:middle] <= keys[middle] <= keys[middle:last]; the order moves
    # along.
    low = first
    high = last - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i = low
        j = high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def split(
    points: np.ndarray, order: np.ndarray, first: int, last: int, leaf: int, multiple: int, ends: np.ndarray
) -> int:
    """Rearrange ``order[first:last]`` into blocks of at most ``leaf`` points (or fewer than two multiples).

    The ends of the blocks are written to ``ends``, and their number is returned. All blocks but the last of
    the range hold a whole multiple of ``multiple`` points.
    """
    keys = np.empty(last - first)
    starts = np.empty(128, dtype=np.int64)
    stops = np.empty(128, dtype=np.int64)
    starts[0] = first
    stops[0] = last
    depth = 1
    blocks = 0
    while depth > 0:
        depth -= 1
        start = starts[depth]
        stop = stops[depth]
        count = stop - start
        if count <= leaf or count < 2 * multiple:
            ends[blocks] = stop
            blocks += 1
            continue
        axis = _widest(points, order, start, stop, 16_384)
        for i in range(start, stop):
            keys[i - first] = points[order[i], axis]
        half = max(multiple, (count // 2) // multiple * multiple)
        _part(keys[start - first : stop - first], order[start:stop], 0, count, half)
        # The left half is done first, so that blocks come in the order of their places.
        starts[depth] = start + half
        stops[depth] = stop
        starts[depth + 1] = start
        stops[depth + 1] = start + half
        depth += 2
    return blocks


@kernel
def _grow(tree, leaf):  # type: ignore[no-untyped-def]
    points, order, start, end, child, low, high = tree
    n, d = points.shape
    keys = np.empty(n)
    stack = np.empty(128, dtype=np.int64)
    start[0] = 0
    end[0] = n
    nodes = 1
    stack[0] = 0
    depth = 1
    # One branch to its end before the next, so that what is worked on stays in the cache.
    while depth > 0:
        depth -= 1
        node = stack[depth]
        first = start[node]
        last = end[node]
        child[node] = -1
        if last - first > leaf:
            axis = _widest(points, order, first, last, _LOOKED_AT)
            for i in range(first, last):
                keys[i] = points[order[i], axis]
            half = (last - first) // 2
            _part(keys[first:last], order[first:last], 0, last - first, half)
            child[node] = nodes
            start[nodes] = first
            end[nodes] = first + half
            start[nodes + 1] = first + half
            end[nodes + 1] = last
            stack[depth] = nodes + 1
            stack[depth + 1] = nodes
            depth += 2
            nodes += 2
    # Children come after their parents: from the last to the first, their boxes are known.
    for node in range(nodes - 1, -1, -1):
        one = child[node]
        for a in range(d):
            low[node, a] = np.inf if one < 0 else min(low[one, a], low[one + 1, a])
            high[node, a] = -np.inf if one < 0 else max(high[one, a], high[one + 1, a])
        if one < 0:
            for i in range(start[node], end[node]):
                for a in range(d):
                    low[node, a] = min(low[node, a], points[order[i], a])
                    high[node, a] = max(high[node, a], points[order[i], a])
    return nodes


def tree_of(points: np.ndarray, leaf: int = 16) -> Tree:
    """A tree with at most ``leaf`` points in each leaf."""
    n, d = points.shape
    room = 2 * (2 * n // max(1, leaf) + 2)
    slices = (np.empty(room, dtype=np.int32) for _ in range(3))
    boxes = (np.empty((room, d)) for _ in range(2))
    tree = Tree(points, np.arange(n, dtype=np.int32), *slices, *boxes)
    nodes = _grow(tree, leaf)
    return Tree(points[tree.order], tree.order, *(part[:nodes] for part in tree[2:]))


@kernel(inline="always")
def box_distance(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """The squared distance of a point to a box, 0 inside."""
    total = 0.0
    for a in range(x.shape[0]):
        out = max(low[a] - x[a], x[a] - high[a], 0.0)
        total += out * out
    return total


@kernel
def nearest(tree: Tree, first: int, last: int, count: int, distances: np.ndarray, places: np.ndarray) -> None:
    """The ``count`` nearest others of the points at places ``first`` … ``last`` of the tree, nearest first.

    Row i − first of ``distances`` (squared) and ``places`` is filled for the point at place i. Rounding is
    monotone, so a box is never farther than a point in it and no neighbour is missed.
    """
    points = tree.points
    d = points.shape[1]
    head = min(d, _HEAD)
    stack = np.empty(128, dtype=np.int32)
    gaps = np.empty(128)
    for i in range(first, last):
        x = points[i]
        best = distances[i - first]
        who = places[i - first]
        found = 0
        best[count - 1] = np.inf
        stack[0] = 0
        gaps[0] = 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            if found == count and gaps[depth] >= best[count - 1]:
                continue
            node = stack[depth]
            if tree.child[node] >= 0:
                one = tree.child[node]
                other = one + 1
                gap = box_distance(x, tree.low[one], tree.high[one])
                far = box_distance(x, tree.low[other], tree.high[other])
                if far < gap:
                    one, other = other, one
                    gap, far = far, gap
                stack[depth] = other
                gaps[depth] = far
                stack[depth + 1] = one
                gaps[depth + 1] = gap
                depth += 2
                continue
            for j in range(tree.start[node], tree.end[node]):
                if j == i:
                    continue
                away = 0.0
                for a in range(head):
                    away += (points[j, a] - x[a]) * (points[j, a] - x[a])
                if found == count and away >= best[count - 1]:
                    continue
                for a in range(head, d):
                    away += (points[j, a] - x[a]) * (points[j, a] - x[a])
                if found == count and away >= best[count - 1]:
                    continue
                slot = found if found < count else count - 1
                while slot > 0 and best[slot - 1] > away:
                    best[slot] = best[slot - 1]
                    who[slot] = who[slot - 1]
                    slot -= 1
                best[slot] = away
                who[slot] = j
                if found < count:
                    found += 1


def warm_up() -> None:
    """Compile the kernels."""
    points = np.arange(40.0).reshape(20, 2)
    split(points, np.arange(20, dtype=np.int64), 0, 20, 4, 2, np.empty(20, dtype=np.int64))
    nearest(tree_of(points, 4), 0, 20, 2, np.empty((20, 2)), np.empty((20, 2), dtype=np.int32))
