"""Random moves that cool: a worse partition is kept by how much worse it is and how warm it is (simulated annealing).

Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 220 (1983). A move gives a record to the group
of a near record, exchanges it for one of that group, spreads a group over its neighbours, or makes a new one of near
records that can be spared. Each is tested where it is made, so that a million of them take a tenth of a second.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.microaggregation.search.kernels.groups import ERROR, copy_group, refresh
from shoal.microdata.microaggregation.search.kernels.vectors import squared_distance, swap_gain
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, uniform

# How often the number of groups is to change, of all moves.
_OTHER_NUMBER = 0.02
# Below this a move leads the other way: the near record comes to the group of the one that was drawn.
_TURNED = 0.5


class Nearness(NamedTuple):
    """The nearest others of each record, nearest first, and how far it is from as many as a group needs."""

    others: np.ndarray
    scales: np.ndarray


class Cooling(NamedTuple):
    """Which records move when, and how warm it is: one entry per stage.

    In stage s the records at places ``first[s]`` … ``last[s]`` of ``order`` move until ``ends[s]`` moves were made since
    the begin. Only records ``inside`` move, and they are all members of their groups.
    """

    order: np.ndarray
    inside: np.ndarray
    temperatures: np.ndarray
    first: np.ndarray
    last: np.ndarray
    ends: np.ndarray


@kernel(error_model="numpy")
def scales(points, others, count, out):  # type: ignore[no-untyped-def]
    """The mean squared distance of each record to its ``count`` nearest others."""
    for x in range(others.shape[0]):
        total = 0.0
        for o in range(count):
            total += squared_distance(points, x, points, others[x, o])
        out[x] = total / count


@kernel(error_model="numpy", inline="always")
def _accepted(delta, temperature, random):  # type: ignore[no-untyped-def]
    return delta <= 0.0 or uniform(random) < np.exp(-delta / temperature)


@kernel(error_model="numpy", inline="always")
def _position(members, g, x):  # type: ignore[no-untyped-def]
    m = 0
    while members[g, m] != x:
        m += 1
    return m


@kernel(error_model="numpy", inline="always")
def _take(sizes, members, g, x):  # type: ignore[no-untyped-def]
    m = _position(members, g, x)
    sizes[g] -= 1
    members[g, m] = members[g, sizes[g]]


@kernel(error_model="numpy", inline="always")
def _give(sizes, members, of, g, x):  # type: ignore[no-untyped-def]
    members[g, sizes[g]] = x
    sizes[g] += 1
    of[x] = g


@kernel(error_model="numpy")
def _dissolve(space, groups, of, others, inside, g, limit, temperature, random, loose, to):  # type: ignore[no-untyped-def]
    """Give each member of group g to the group of a near record where it costs least, unless that costs too much."""
    points, k, _, _ = space
    number, sizes, members, away, centres, facts = groups
    size = sizes[g]
    for m in range(size):
        loose[m] = members[g, m]
    delta = -facts[ERROR, g]
    moved = 0
    for m in range(size):
        x = loose[m]
        best = -1
        least = np.inf
        for o in range(others.shape[1]):
            y = others[x, o]
            j = of[y]
            # What moved before is in another group now, and may be joined there.
            if j == g or not inside[y] or sizes[j] >= limit:
                continue
            cost = sizes[j] / (sizes[j] + 1.0) * squared_distance(points, x, centres, j)
            if cost < least:
                least = cost
                best = j
        if best < 0:
            break
        delta += least
        to[m] = best
        _give(sizes, members, of, best, x)
        refresh(points, k, sizes, members, away, centres, facts, best)
        moved += 1
    if moved == size and _accepted(delta, temperature, random):
        last = number[0] - 1
        number[0] = last
        if g != last:
            copy_group(groups, groups, last, g)
            for m in range(sizes[g]):
                of[members[g, m]] = g
        return
    for m in range(moved - 1, -1, -1):
        _take(sizes, members, to[m], loose[m])
        of[loose[m]] = g
    for m in range(moved):
        refresh(points, k, sizes, members, away, centres, facts, to[m])


@kernel(error_model="numpy")
def _distil(space, groups, of, others, inside, x, temperature, random, loose, source):  # type: ignore[no-untyped-def]
    """Make a group of record x and the nearest records that can be spared, unless that costs too much."""
    points, k, _, _ = space
    number, sizes, members, away, centres, facts = groups
    new = number[0]
    sizes[new] = 0
    found = 0
    delta = 0.0
    for o in range(-1, others.shape[1]):
        y = x if o < 0 else others[x, o]
        j = of[y]
        if j == new or not inside[y] or sizes[j] <= k:
            continue
        first = True
        for c in range(found):
            if source[c] == j:
                first = False
        if first:
            delta -= facts[ERROR, j]
        loose[found] = y
        source[found] = j
        _take(sizes, members, j, y)
        _give(sizes, members, of, new, y)
        found += 1
        if found == k:
            break
    kept = False
    if found == k:
        refresh(points, k, sizes, members, away, centres, facts, new)
        delta += facts[ERROR, new]
        for c in range(found):
            refresh(points, k, sizes, members, away, centres, facts, source[c])
        for c in range(found):
            first = True
            for e in range(c):
                if source[e] == source[c]:
                    first = False
            if first:
                delta += facts[ERROR, source[c]]
        kept = _accepted(delta, temperature, random)
    if kept:
        number[0] = new + 1
        return
    for c in range(found - 1, -1, -1):
        _give(sizes, members, of, source[c], loose[c])
    for c in range(found):
        refresh(points, k, sizes, members, away, centres, facts, source[c])


@kernel(error_model="numpy")
def random_moves(space, groups, of, others, random, cooling, begin, count, limit):  # type: ignore[no-untyped-def]
    """Moves ``begin`` and following of a cooling, ``count`` of them.

    ``of`` is the group of each record; no group grows beyond ``limit`` members. There must be room for one group more
    than fit.
    """
    points, k, _, _ = space
    number, sizes, members, away, centres, facts = groups
    order, inside, temperatures, first, last, ends = cooling
    width = others.shape[1]
    most = sizes.shape[0] - 1
    loose = np.empty(members.shape[1], dtype=np.int64)
    other = np.empty(members.shape[1], dtype=np.int64)
    stage = 0
    for step in range(begin, begin + count):
        while step >= ends[stage]:
            stage += 1
        temperature = temperatures[stage]
        chance = uniform(random)
        x = order[first[stage] + below(random, last[stage] - first[stage])]
        i = of[x]
        if chance < _OTHER_NUMBER:
            if chance < _OTHER_NUMBER / 2:
                if number[0] > 1:
                    _dissolve(space, groups, of, others, inside, i, limit, temperature, random, loose, other)
            elif sizes[i] > k and number[0] < most:
                _distil(space, groups, of, others, inside, x, temperature, random, loose, other)
            continue
        # The nearer, the more often.
        u = uniform(random)
        y = others[x, np.int64(u * u * width)]
        j = of[y]
        if i == j or not inside[y]:
            continue
        # An outlier is near to nobody, though others are near to it: they come to it as it goes to them.
        if chance < _TURNED:
            x, y, i, j = y, x, j, i
        if sizes[i] > k and sizes[j] < limit and uniform(random) < 0.5:
            enter = sizes[j] / (sizes[j] + 1.0)
            leave = sizes[i] / (sizes[i] - 1.0)
            delta = enter * squared_distance(points, x, centres, j)
            delta -= leave * squared_distance(points, x, centres, i)
            if not _accepted(delta, temperature, random):
                continue
            _take(sizes, members, i, x)
            _give(sizes, members, of, j, x)
        else:
            o = below(random, sizes[j])
            z = members[j, o]
            f = 1.0 / sizes[i] + 1.0 / sizes[j]
            if not _accepted(-swap_gain(points, x, z, centres, i, j, f), temperature, random):
                continue
            members[i, _position(members, i, x)] = z
            members[j, o] = x
            of[x] = j
            of[z] = i
        refresh(points, k, sizes, members, away, centres, facts, i)
        refresh(points, k, sizes, members, away, centres, facts, j)
