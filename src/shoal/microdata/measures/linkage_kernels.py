"""Boxes of near records, and who is linked: the search leaves out every box that is farther than a record's own."""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel

# Sums of squares that differ by less than this count as equal: the order of summing must not decide a tie.
TIE = 1e-10
TINY = 1e-20
_LEAF = 12


class Boxes(NamedTuple):
    """A tree of boxes over points in ``order``: where each begins and ends, its corners, and its first half (0: it has none).

    The second half of a box comes right after the first.
    """

    order: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    half: np.ndarray
    low: np.ndarray
    high: np.ndarray


@kernel
def squared_distance(one, other):  # type: ignore[no-untyped-def]
    """The squared Euclidean distance of two records."""
    total = 0.0
    for column in range(one.shape[0]):
        difference = one[column] - other[column]
        total += difference * difference
    return total


@kernel
def boxed(points):  # type: ignore[no-untyped-def]
    """Halve the points at the median of the widest column, again and again."""
    n, columns = points.shape
    most = 4 * (n // _LEAF + 1)
    order = np.arange(n)
    begin, end = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    half = np.zeros(most, dtype=np.int64)
    low, high = np.empty((most, columns)), np.empty((most, columns))
    end[0] = n
    made, box = 1, 0
    while box < made:
        first, last = begin[box], end[box]
        low[box] = points[order[first]]
        high[box] = points[order[first]]
        for place in range(first + 1, last):
            for column in range(columns):
                value = points[order[place], column]
                low[box, column] = min(low[box, column], value)
                high[box, column] = max(high[box, column], value)
        widest = np.argmax(high[box] - low[box])
        if last - first > _LEAF and high[box, widest] > low[box, widest]:
            middle = (first + last) // 2
            _part(points[:, widest], order, first, last, middle)
            half[box] = made
            begin[made], end[made] = first, middle
            begin[made + 1], end[made + 1] = middle, last
            made += 2
        box += 1
    return order, begin[:made], end[:made], half[:made], low[:made], high[:made]


@kernel
def _part(values, order, first, last, middle):  # type: ignore[no-untyped-def]
    """Put the smaller values before ``middle`` (quickselect; equal values on either side)."""
    left, right = first, last - 1
    while left < right:
        pivot = values[order[(left + right) // 2]]
        i, j = left, right
        while i <= j:
            while values[order[i]] < pivot:
                i += 1
            while values[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@kernel
def _gap(record, low, high, most):  # type: ignore[no-untyped-def]
    """The squared distance of a record from a box; never more than that from a point in it, since rounding is monotone."""
    total = 0.0
    for column in range(record.shape[0]):
        apart = max(low[column] - record[column], record[column] - high[column], 0.0)
        total += apart * apart
        if total > most:
            break
    return total


@kernel
def link(points, targets, counts, own, boxes, beaten, tied, first, last):  # type: ignore[no-untyped-def]
    """For some records: whether a target is nearer than their ``own``, and if none is, how many are as near.

    ``targets`` and ``counts`` (how many released records each stands for) are in the order of the boxes, and ``own`` are
    places in it.
    """
    waiting = np.empty(128, dtype=np.int64)
    for i in range(first, last):
        record = points[i]
        mine = squared_distance(record, targets[own[i]])
        slack = mine * TIE + TINY
        reach = mine + slack
        ties, lost, held = 0, False, 1
        waiting[0] = 0
        while held and not lost:
            held -= 1
            box = waiting[held]
            if _gap(record, boxes.low[box], boxes.high[box], reach) > reach:
                continue
            half = boxes.half[box]
            if half:
                # The nearer half is looked at first: that is where a nearer record is.
                near, far = half, half + 1
                one = _gap(record, boxes.low[near], boxes.high[near], reach)
                other = _gap(record, boxes.low[far], boxes.high[far], reach)
                if other < one:
                    near, far, one, other = far, near, other, one
                if other <= reach:
                    waiting[held] = far
                    held += 1
                if one <= reach:
                    waiting[held] = near
                    held += 1
                continue
            for j in range(boxes.begin[box], boxes.end[box]):
                distance = squared_distance(record, targets[j])
                if distance < mine - slack:
                    lost = True
                    break
                if distance <= reach:
                    ties += counts[j]
        beaten[i] = lost
        tied[i] = max(ties, 1)


def warm_up() -> None:
    """Compile the kernels."""
    points = np.arange(80.0).reshape(40, 2)
    boxes = Boxes(*boxed(points))
    ordered = np.ascontiguousarray(points[boxes.order])
    place = np.argsort(boxes.order)
    link(
        points,
        ordered,
        np.ones(40, dtype=np.int64),
        place,
        boxes,
        np.zeros(40, dtype=np.bool_),
        np.ones(40, dtype=np.int64),
        0,
        40,
    )
