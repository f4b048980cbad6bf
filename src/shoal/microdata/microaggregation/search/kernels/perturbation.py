"""What takes a search out of a local optimum: dissolving a group, distilling a new one; and random beginnings.

Laszlo and Mukherjee (2015); the biased choice of the group to dissolve is Bierman's (2020).
"""

import numpy as np

from shoal.microdata.microaggregation.search.kernels.groups import ERROR, HEAD, copy_group, refresh
from shoal.microdata.microaggregation.search.kernels.vectors import squared_distance
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, shuffle


@kernel(error_model="numpy")
def random_labels(n, k, count, most, random, labels):  # type: ignore[no-untyped-def]
    """A random partition into ``count`` groups of k to ``most`` records."""
    order = np.arange(n)
    shuffle(random, order)
    sizes = np.full(count, k)
    for place in range(count * k):
        labels[order[place]] = place // k
    for place in range(count * k, n):
        g = below(random, count)
        while sizes[g] >= most:
            g = below(random, count)
        labels[order[place]] = g
        sizes[g] += 1


@kernel(error_model="numpy")
def pick_lossy(groups, sample, random):  # type: ignore[no-untyped-def]
    """The group with the largest error among ``sample`` drawn uniformly with replacement."""
    best = below(random, groups.number[0])
    for _ in range(1, sample):
        g = below(random, groups.number[0])
        if groups.facts[ERROR, g] > groups.facts[ERROR, best]:
            best = g
    return best


@kernel(error_model="numpy")
def _nearest_with_room(points, groups, x, slack):  # type: ignore[no-untyped-def]
    capacity = groups.members.shape[1]
    centres, facts, count = groups.centres, groups.facts, groups.number[0]
    a0, a1, a2, a3 = points[x, 0], points[x, 1], points[x, 2], points[x, 3]
    for j in range(count):
        t0 = facts[HEAD, j] - a0
        t1 = facts[HEAD + 1, j] - a1
        t2 = facts[HEAD + 2, j] - a2
        t3 = facts[HEAD + 3, j] - a3
        slack[j] = (t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3)
    best = -1
    least = np.inf
    for j in range(count):
        if slack[j] < least and groups.sizes[j] < capacity:
            q = squared_distance(points, x, centres, j)
            if q < least:
                least = q
                best = j
    return best


@kernel(error_model="numpy")
def dissolve(space, groups, search, g):  # type: ignore[no-untyped-def]
    """Give each member of group g to the group whose centre is nearest then; the last group takes the number g."""
    points, k, _, _ = space
    number, sizes, members, away, centres, facts = groups
    changed, dirty = search.changed, search.dirty
    size = sizes[g]
    loose = members[g, :size].copy()
    last = number[0] - 1
    number[0] = last
    if g != last:
        copy_group(groups, groups, last, g)
        dirty[g] = True
    dirty[last] = True
    for m in range(size):
        x = loose[m]
        to = _nearest_with_room(points, groups, x, search.slack)
        members[to, sizes[to]] = x
        sizes[to] += 1
        refresh(points, k, sizes, members, away, centres, facts, to)
        changed[to] = True
        dirty[to] = True


@kernel(error_model="numpy")
def _take_out(space, groups, g, x):  # type: ignore[no-untyped-def]
    _, sizes, members, away, centres, facts = groups
    last = sizes[g] - 1
    m = 0
    while members[g, m] != x:
        m += 1
    while m < last:
        members[g, m] = members[g, m + 1]
        m += 1
    sizes[g] = last
    refresh(space.points, space.k, sizes, members, away, centres, facts, g)


@kernel(error_model="numpy")
def excess(groups, k, spare, owner):  # type: ignore[no-untyped-def]
    """The members that groups of more than k could do without: all but the k nearest to the centre."""
    found = 0
    for g in range(groups.number[0]):
        size = groups.sizes[g]
        if size <= k:
            continue
        base = found
        for _ in range(size - k):
            far = -1
            for m in range(size):
                x = groups.members[g, m]
                taken = False
                for e in range(base, found):
                    if spare[e] == x:
                        taken = True
                if not taken and (far < 0 or groups.away[g, m] > groups.away[g, far]):
                    far = m
            spare[found] = groups.members[g, far]
            owner[found] = g
            found += 1
    return found


@kernel(error_model="numpy")
def distill(space, groups, search, sample=1):  # type: ignore[no-untyped-def]
    """Form a new group of k from records that oversized groups can spare, beginning with a random one.

    Of ``sample`` random ones it begins with the one farthest from the centre of its group.
    """
    points, k, _, _ = space
    number, sizes, members, away, centres, facts = groups
    changed, dirty, spare, owner = search.changed, search.dirty, search.spare, search.owner
    left = excess(groups, k, spare, owner)
    new = number[0]
    number[0] = new + 1
    sizes[new] = 0
    for size in range(k):
        pick = 0
        if size == 0:
            pick = below(search.random, left)
            for _ in range(1, sample):
                e = below(search.random, left)
                far = squared_distance(points, spare[e], centres, owner[e])
                if far > squared_distance(points, spare[pick], centres, owner[pick]):
                    pick = e
        else:
            least = np.inf
            for e in range(left):
                x = spare[e]
                t0 = points[x, 0] - centres[new, 0]
                t1 = points[x, 1] - centres[new, 1]
                t2 = points[x, 2] - centres[new, 2]
                t3 = points[x, 3] - centres[new, 3]
                if (t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3) < least:
                    q = squared_distance(points, x, centres, new)
                    if q < least:
                        least = q
                        pick = e
        x, donor = spare[pick], owner[pick]
        left -= 1
        spare[pick], owner[pick] = spare[left], owner[left]
        _take_out(space, groups, donor, x)
        changed[donor] = True
        dirty[donor] = True
        members[new, size] = x
        sizes[new] = size + 1
        refresh(points, k, sizes, members, away, centres, facts, new)
    changed[new] = True
    dirty[new] = True
