"""MDAV, maximum distance to average vector: groups of k around the records farthest out.

Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, Data
Mining and Knowledge Discovery 11 (2005); first used by Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 14(1), 2002.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from shoal.errors import Infeasible
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.sizes import within_largest
from shoal.microdata.microaggregation.solution import Partition
from shoal.runtime import StopReason
from shoal.runtime.kernels import kernel
from shoal.runtime.solver import Options, SearchContext, solver

Bounds = Literal["strict", "compatible"]
Distance = Literal["euclidean", "manhattan"]


class MdavOptions(Options):
    """Options of ``mdav``."""

    bounds: Bounds = Field(
        default="strict",
        description="strict: every group has k to 2k−1 records; compatible: the bounds of an older "
        "implementation, whose last group can be smaller than k (the result is then refused)",
    )
    distance: Distance = Field(
        default="euclidean", description="the distance by which records are near or far"
    )


@solver(MdavOptions)
def solve(problem: Problem, options: MdavOptions, context: SearchContext) -> Partition:
    """Group the records by MDAV; budget, seeds, threads and start play no part.

    >>> import numpy as np
    >>> problem = Problem(np.array([[1.0], [3.0], [5.0], [8.0], [12.0], [13.0]]), k=2)
    >>> solve(problem).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    run = context.run()
    labels = mdav_labels(problem.points, problem.k, bounds=options.bounds, distance=options.distance)
    smallest = int(np.bincount(labels).min())
    if smallest < problem.k:
        raise Infeasible(
            f"the compatible bounds of mdav leave a group of {smallest} records, fewer than k = {problem.k}; "
            "use the strict bounds"
        )
    run.spend(1)
    run.finish(StopReason.ITERATIONS)
    return Partition.constructed(problem, within_largest(problem, labels), run)


def mdav_labels(
    points: np.ndarray, k: int, *, bounds: Bounds = "strict", distance: Distance = "euclidean"
) -> np.ndarray:
    """The group of each record by MDAV, numbered in the order in which the groups were formed.

    Two groups are formed per step: around the record r farthest from the mean of the records left, and around
    the one farthest from r. Ties go to the record that comes first.

    >>> mdav_labels(np.array([[2.0], [6.0], [3.0], [9.0], [8.0], [10.0]]), 2).tolist()
    [0, 2, 0, 1, 2, 1]
    """
    columns = np.array(np.asarray(points, dtype=np.float64).T, order="C")
    labels = np.empty(columns.shape[1], dtype=np.int32)
    centroids = np.empty((0, columns.shape[0]))
    _mdav(columns, k, 2 * k if bounds == "strict" else k + 1, distance == "manhattan", labels, centroids)
    return labels


@kernel
def _distances(columns, left, origin, manhattan, out):  # type: ignore[no-untyped-def]
    for j in range(left):
        out[j] = 0.0
    for a in range(columns.shape[0]):
        column = columns[a]
        at = origin[a]
        if manhattan:
            for j in range(left):
                out[j] += abs(column[j] - at)
        else:
            for j in range(left):
                difference = column[j] - at
                out[j] += difference * difference


@kernel
def _farthest(away, ids, left):  # type: ignore[no-untyped-def]
    best = 0
    for j in range(1, left):
        if away[j] > away[best] or (away[j] == away[best] and ids[j] < ids[best]):
            best = j
    return best


@kernel
def _is_farther(away, ids, one, other):  # type: ignore[no-untyped-def]
    return away[one] > away[other] or (away[one] == away[other] and ids[one] > ids[other])


@kernel
def _sift_down(heap, size, away, ids):  # type: ignore[no-untyped-def]
    top = 0
    while True:
        child = 2 * top + 1
        if child >= size:
            return
        if child + 1 < size and _is_farther(away, ids, heap[child + 1], heap[child]):
            child += 1
        if not _is_farther(away, ids, heap[child], heap[top]):
            return
        heap[top], heap[child] = heap[child], heap[top]
        top = child


@kernel
def _nearest(away, ids, left, count, heap):  # type: ignore[no-untyped-def]
    # Keeps the ``count`` nearest in a heap with the farthest of them on top.
    size = 0
    for j in range(left):
        if size < count:
            place = size
            size += 1
            while place > 0 and _is_farther(away, ids, j, heap[(place - 1) // 2]):
                heap[place] = heap[(place - 1) // 2]
                place = (place - 1) // 2
            heap[place] = j
        elif away[j] <= away[heap[0]] and _is_farther(away, ids, heap[0], j):
            heap[0] = j
            _sift_down(heap, size, away, ids)


@kernel
def _take(columns, left, ids, away, chosen, label, labels, total):  # type: ignore[no-untyped-def]
    # Labels the chosen records and fills their places from the end; ``total`` follows the records that stay.
    for c in range(1, chosen.shape[0]):
        j = chosen[c]
        place = c
        while place > 0 and chosen[place - 1] > j:
            chosen[place] = chosen[place - 1]
            place -= 1
        chosen[place] = j
    for c in range(chosen.shape[0] - 1, -1, -1):
        j = chosen[c]
        labels[ids[j]] = label
        left -= 1
        ids[j] = ids[left]
        away[j] = away[left]
        for a in range(columns.shape[0]):
            total[a] -= columns[a, j]
            columns[a, j] = columns[a, left]
    return left


@kernel
def _mdav(columns, k, enough_for_second, manhattan, labels, centroids):  # type: ignore[no-untyped-def]
    # ``columns`` is used up. The means of what is left are written to ``centroids`` as far as it has rows.
    d, left = columns.shape
    ids = np.arange(left)
    away = np.empty(left)
    heap = np.empty(k, dtype=np.int64)
    total = np.zeros(d)
    origin = np.empty(d)
    for a in range(d):
        for j in range(left):
            total[a] += columns[a, j]
    label = 0
    step = 0
    while left >= 2 * k:
        for a in range(d):
            origin[a] = total[a] / left
        if step < centroids.shape[0]:
            for a in range(d):
                centroids[step, a] = origin[a]
        step += 1
        _distances(columns, left, origin, manhattan, away)
        r = _farthest(away, ids, left)
        for a in range(d):
            origin[a] = columns[a, r]
        for second in range(2):
            if second == 1:
                if left < enough_for_second:
                    break
                s = _farthest(away, ids, left)
                for a in range(d):
                    origin[a] = columns[a, s]
            _distances(columns, left, origin, manhattan, away)
            # The centre comes first among the records at distance 0, so that it is always one of its group.
            away[s if second == 1 else r] = -1.0
            _nearest(away, ids, left, k, heap)
            left = _take(columns, left, ids, away, heap, label, labels, total)
            label += 1
    for j in range(left):
        labels[ids[j]] = label


def warm_up() -> None:
    """Compile the kernels."""
    mdav_labels(np.arange(14.0).reshape(7, 2), 2)
