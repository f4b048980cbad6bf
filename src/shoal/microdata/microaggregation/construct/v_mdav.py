"""V-MDAV: groups around the records farthest out, each as large as its surroundings suggest.

Solanas and Martínez-Ballesté, V-MDAV: a multivariate microaggregation with variable group size, COMPSTAT
2006.
"""

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import Partition
from shoal.runtime.kernels import kernel
from shoal.runtime.solver import Options, SearchContext, solver


class VMdavOptions(Options):
    """Options of ``v-mdav``."""

    gamma: float = Field(
        default=0.2,
        ge=0.0,
        description="how readily a group takes one more record: about 0.2 for scattered records, 1.1 for "
        "clustered ones, 0 for groups of exactly k",
    )


@kernel
def group_records(points: np.ndarray, k: int, largest: int, gamma: float, labels: np.ndarray) -> None:
    """Label every record; groups have k to ``largest`` members, of which 2k − 1 are reached by extension.

    While k records are left, the one farthest from the mean of all records starts a group with its k − 1
    nearest. The group then takes the free record nearest to any member, as long as that is nearer to the
    group than gamma times its distance to the nearest other free record. Records left over join the group
    with the nearest mean.
    """
    n, d = points.shape
    centre = np.zeros(d)
    for i in range(n):
        for a in range(d):
            centre[a] += points[i, a]
    for a in range(d):
        centre[a] /= n
    outwards = np.empty(n)
    for i in range(n):
        outwards[i] = _squared(points[i], centre)
    # Ties are broken by the record's place; sorting keeps it when stable.
    farthest_first = np.argsort(-outwards, kind="mergesort")
    free = np.arange(n)
    left = n
    place = np.arange(n)
    near = np.empty(n)
    limit = np.int64(2 * k - 1 if 2 * k - 1 < largest else largest)
    room = np.int64(0)
    groups = 0
    sizes = np.zeros(n // k, dtype=np.int64)
    means = np.zeros((n // k, d))
    labels[:] = -1
    nearest = np.empty(k, dtype=np.int64)
    distance = np.empty(k)
    next_seed = 0
    while left >= k:
        while labels[farthest_first[next_seed]] >= 0:
            next_seed += 1
        seed = farthest_first[next_seed]
        found = 0
        for f in range(left):
            y = free[f]
            away = -1.0 if y == seed else _squared(points[seed], points[y])
            if found == k and not (
                away < distance[k - 1] or (away == distance[k - 1] and y < nearest[k - 1])
            ):
                continue
            slot = found if found < k else k - 1
            while slot > 0 and (
                distance[slot - 1] > away or (distance[slot - 1] == away and nearest[slot - 1] > y)
            ):
                distance[slot] = distance[slot - 1]
                nearest[slot] = nearest[slot - 1]
                slot -= 1
            distance[slot] = away
            nearest[slot] = y
            if found < k:
                found += 1
        for j in range(k):
            y = nearest[j]
            left -= 1
            _take(free, place, left, y)
            labels[y] = groups
            for a in range(d):
                means[groups, a] += points[y, a]
        sizes[groups] = k
        room += largest - k
        if gamma > 0.0 and limit > k and left > 0:
            for f in range(left):
                y = free[f]
                near[y] = np.inf
                for j in range(k):
                    away = _squared(points[nearest[j]], points[y])
                    if away < near[y]:
                        near[y] = away
            while sizes[groups] < limit and left > 0:
                # The records that remain must still fit into the groups that can be made.
                if left - 1 > ((left - 1) // k) * largest + room - 1:
                    break
                best = free[0]
                for f in range(1, left):
                    y = free[f]
                    if near[y] < near[best] or (near[y] == near[best] and y < best):
                        best = y
                outside = np.inf
                for f in range(left):
                    y = free[f]
                    if y != best:
                        outside = min(outside, _squared(points[best], points[y]))
                if not np.sqrt(near[best]) < gamma * np.sqrt(outside):
                    break
                left -= 1
                _take(free, place, left, best)
                labels[best] = groups
                sizes[groups] += 1
                room -= 1
                for a in range(d):
                    means[groups, a] += points[best, a]
                for f in range(left):
                    y = free[f]
                    near[y] = min(near[y], _squared(points[best], points[y]))
        for a in range(d):
            means[groups, a] /= sizes[groups]
        groups += 1
    for i in range(n):
        if labels[i] < 0:
            best = -1
            shortest = np.inf
            for g in range(groups):
                away = _squared(points[i], means[g])
                if away < shortest and sizes[g] < largest:
                    shortest = away
                    best = g
            labels[i] = best
            sizes[best] += 1


@kernel(inline="always")
def _squared(x: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for a in range(x.shape[0]):
        total += (x[a] - y[a]) * (x[a] - y[a])
    return total


@kernel(inline="always")
def _take(free: np.ndarray, position: np.ndarray, left: int, record: int) -> None:
    last = free[left]
    free[position[record]] = last
    position[last] = position[record]


@solver(VMdavOptions)
def solve(problem: Problem, options: VMdavOptions, context: SearchContext) -> Partition:
    """Build the groups once; budget, seeds, threads and start play no part.

    >>> problem = Problem(np.array([[0.0], [1.0], [1.1], [7.0], [8.0], [8.1], [8.2]]), k=2)
    >>> solve(problem, VMdavOptions(gamma=1.1)).labels.tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    run = context.run()
    labels = np.empty(problem.n, dtype=np.int32)
    largest = problem.n if problem.largest is None else problem.largest
    group_records(problem.points, problem.k, largest, options.gamma, labels)
    return Partition.constructed(problem, labels, run)


def warm_up() -> None:
    """Compile the kernel."""
    points = np.arange(10.0).reshape(5, 2)
    points.setflags(write=False)
    group_records(points, 2, 5, 0.2, np.empty(5, dtype=np.int32))
