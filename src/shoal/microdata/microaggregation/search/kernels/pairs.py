"""Local search over pairs of groups: the two moves, their exact gains, and what spares testing them.

Laszlo and Mukherjee, Iterated local search for microaggregation, Journal of Systems and Software 100 (2015), and
Bierman, Improvements to Iterated Local Search for Microaggregation, Nova Southeastern University (2020). Every test
that spares work is safe: it passes over no move that gains.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.microaggregation.search.kernels.groups import HEAD, RADIUS, REACH, refresh
from shoal.microdata.microaggregation.search.kernels.vectors import squared_distance, swap_gain, towards
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import shuffle

# What a search counts, by place in ``Search.counts``.
PAIRS, OPENED, TESTED, SWAPS, SHIFTS, PASSES, CALLS = range(7)
COUNTED = ("pairs", "opened", "tested", "swaps", "shifts", "passes", "searches")
# Where a local search stands, by place in ``Search.standing``.
TARGETS, NEXT, MOVED, STEP = range(4)
PASSES_KEPT = 64
# Only rounding could keep a search going that long.
MOST_PASSES = 10_000


class Search(NamedTuple):
    """What a local search knows besides the groups.

    ``changed`` marks the groups to test, ``dirty`` those that differ from a copy somebody keeps. ``counts`` and
    ``lists`` (pairs by number of the pass) only ever grow. ``random`` is the state of its randomness. The rest is
    scratch, but must be kept while a search is under way.
    """

    changed: np.ndarray
    dirty: np.ndarray
    done: np.ndarray
    targets: np.ndarray
    slack: np.ndarray
    near: np.ndarray
    spare: np.ndarray
    owner: np.ndarray
    standing: np.ndarray
    counts: np.ndarray
    lists: np.ndarray
    random: np.ndarray


def new_search(most: int, n: int, random: np.ndarray) -> Search:
    """The arrays of a search over at most ``most`` groups of n records."""
    return Search(
        changed=np.zeros(most, dtype=np.bool_),
        dirty=np.zeros(most, dtype=np.bool_),
        done=np.zeros(most, dtype=np.bool_),
        targets=np.zeros(most, dtype=np.int64),
        slack=np.zeros(most),
        near=np.zeros(most + 1, dtype=np.int64),
        spare=np.zeros(n, dtype=np.int64),
        owner=np.zeros(n, dtype=np.int64),
        standing=np.zeros(4, dtype=np.int64),
        counts=np.zeros(7, dtype=np.int64),
        lists=np.zeros(PASSES_KEPT, dtype=np.int64),
        random=random,
    )


@kernel(error_model="numpy", inline="always")
def _aside(away, towards, inverse):  # type: ignore[no-untyped-def]
    # How far a member is from the line of the centres; ``inverse`` is 1/D².
    return np.sqrt(max(0.0, away * away - towards * towards * inverse))


@kernel(error_model="numpy", inline="always")
def _look_over(points, sizes, members, away, centres, i, j, inverse):  # type: ignore[no-untyped-def]
    # Of each member of j: how far it leans towards i, and its distance from the line of the centres.
    leaning, aside = away.shape[0] - 2, away.shape[0] - 1
    for o in range(sizes[j]):
        q = towards(points, members[j, o], centres, j, i)
        away[leaning, o] = q
        away[aside, o] = _aside(away[j, o], q, inverse)


@kernel(error_model="numpy", inline="always")
def _swaps(points, k, eps, sizes, members, away, centres, facts, i, j, distance, counts):  # type: ignore[no-untyped-def]
    """Commit every improving swap of the pair, in order of places; whether there was one.

    With u, v the distances of x, y to their centres, D that of the centres and p = (x−ci)·(cj−ci), a swap gains at
    most f(u+v)² + (2−2f)(p+vD) − (2−f)D², and nothing when u+v ≤ D: tested for all y at once. Then for each y, with
    q = (y−cj)·(ci−cj) and s, t the distances of x, y from the line of the centres: a swap gains
    f|(x−ci)−(y−cj)|² + (2−2f)(p+q) − (2−f)D², and that difference is at most ((p+q)/D)² + (s+t)².
    """
    f = 1.0 / sizes[i] + 1.0 / sizes[j]
    changed = False
    known = False
    leaning, aside = away.shape[0] - 2, away.shape[0] - 1
    square = distance * distance
    inverse = 1.0 / square
    far = (2.0 - f) * square
    for m in range(sizes[i]):
        u = away[i, m]
        radius = facts[RADIUS, j]
        if u + radius <= distance:
            continue
        x = members[i, m]
        p = towards(points, x, centres, i, j)
        if f * (u + radius) ** 2 + (2.0 - 2.0 * f) * (p + radius * distance) - far <= 0.0:
            continue
        if not known:
            _look_over(points, sizes, members, away, centres, i, j, inverse)
            known = True
        s = _aside(u, p, inverse)
        for o in range(sizes[j]):
            both = p + away[leaning, o]
            apart = s + away[aside, o]
            if f * (both * both * inverse + apart * apart) + (2.0 - 2.0 * f) * both - far <= 0.0:
                continue
            y = members[j, o]
            counts[TESTED] += 1
            if swap_gain(points, x, y, centres, i, j, f) > eps:
                members[i, m] = y
                members[j, o] = x
                refresh(points, k, sizes, members, away, centres, facts, i)
                refresh(points, k, sizes, members, away, centres, facts, j)
                counts[SWAPS] += 1
                changed = True
                x = y
                u = away[i, m]
                square = squared_distance(centres, i, centres, j)
                distance = np.sqrt(square)
                inverse = 1.0 / square
                far = (2.0 - f) * square
                p = towards(points, x, centres, i, j)
                s = _aside(u, p, inverse)
                _look_over(points, sizes, members, away, centres, i, j, inverse)
    return changed


@kernel(error_model="numpy", inline="always")
def _shifts(points, k, eps, sizes, members, away, centres, facts, i, j, distance, counts):  # type: ignore[no-untyped-def]
    """Commit every improving shift from i to j while i has more than k members; whether there was one."""
    capacity = members.shape[1]
    changed = False
    m = 0
    while sizes[i] > k and m < sizes[i] and sizes[j] < capacity:
        leave = sizes[i] / (sizes[i] - 1.0)
        enter = sizes[j] / (sizes[j] + 1.0)
        u = away[i, m]
        lost = leave * u * u
        if distance > u and lost <= enter * (distance - u) ** 2:
            m += 1
            continue
        x = members[i, m]
        counts[TESTED] += 1
        if lost - enter * squared_distance(points, x, centres, j) > eps:
            sizes[i] -= 1
            members[i, m] = members[i, sizes[i]]
            members[j, sizes[j]] = x
            sizes[j] += 1
            refresh(points, k, sizes, members, away, centres, facts, i)
            refresh(points, k, sizes, members, away, centres, facts, j)
            counts[SHIFTS] += 1
            changed = True
            distance = np.sqrt(squared_distance(centres, i, centres, j))
        else:
            m += 1
    return changed


@kernel(error_model="numpy", inline="always")
def _may_shift(k, sizes, facts, i, j, distance):  # type: ignore[no-untyped-def]
    size = sizes[i]
    if size <= k:
        return False
    radius = facts[RADIUS, i]
    leave = size / (size - 1.0)
    enter = sizes[j] / (sizes[j] + 1.0)
    return leave * radius * radius > enter * (distance - radius) ** 2


@kernel(error_model="numpy", inline="always")
def visit(points, k, eps, sizes, members, away, centres, facts, i, j, square, counts):  # type: ignore[no-untyped-def]
    """Commit what improves the pair: swaps, then shifts from i to j, then from j to i; whether anything did.

    ``square`` is the squared distance of the two centres.
    """
    changed = False
    opened = 0
    distance = np.sqrt(square)
    if facts[RADIUS, i] + facts[RADIUS, j] > distance:
        opened = 1
        if _swaps(points, k, eps, sizes, members, away, centres, facts, i, j, distance, counts):
            changed = True
            distance = np.sqrt(squared_distance(centres, i, centres, j))
    if _may_shift(k, sizes, facts, i, j, distance):
        opened = 1
        if _shifts(points, k, eps, sizes, members, away, centres, facts, i, j, distance, counts):
            changed = True
            distance = np.sqrt(squared_distance(centres, i, centres, j))
    if _may_shift(k, sizes, facts, j, i, distance):
        opened = 1
        if _shifts(points, k, eps, sizes, members, away, centres, facts, j, i, distance, counts):
            changed = True
    counts[OPENED] += opened
    return changed


@kernel(error_model="numpy", inline="always")
def screen(facts, i, begin, count, share, slack, near):  # type: ignore[no-untyped-def]
    """The groups from ``begin`` on that are not surely out of reach of i, judged by four coordinates; their number.

    With a ``share`` below 1, of the squared distance at which they surely are, some that are in reach are left out.
    """
    # Named one by one, so that the loop below runs on vectors.
    a0, a1, a2, a3 = facts[HEAD, i], facts[HEAD + 1, i], facts[HEAD + 2, i], facts[HEAD + 3, i]
    radius = facts[RADIUS, i]
    reach = facts[REACH, i]
    for j in range(begin, count):
        t0 = facts[HEAD, j] - a0
        t1 = facts[HEAD + 1, j] - a1
        t2 = facts[HEAD + 2, j] - a2
        t3 = facts[HEAD + 3, j] - a3
        limit = max(radius + facts[RADIUS, j], reach, facts[REACH, j])
        slack[j] = share * limit * limit - ((t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3))
    found = 0
    for j in range(begin, count):
        near[found] = j
        found += 1 if slack[j] > 0.0 else 0
    return found


@kernel(error_model="numpy", inline="always")
def _try_target(space, groups, search, i):  # type: ignore[no-untyped-def]
    # All pairs of group i with groups that are not done, in the order of their numbers; whether anything moved.
    points, k, eps, _ = space
    number, sizes, members, away, centres, facts = groups
    done, slack, near, counts = search.done, search.slack, search.near, search.counts
    count = number[0]
    any_change = False
    begin = 0
    while begin < count:
        found = screen(facts, i, begin, count, 1.0, slack, near)
        begin = count
        for c in range(found):
            j = near[c]
            if j == i or done[j]:
                continue
            limit = max(facts[RADIUS, i] + facts[RADIUS, j], facts[REACH, i], facts[REACH, j])
            square = squared_distance(centres, i, centres, j)
            if square >= limit * limit:
                continue
            if visit(points, k, eps, sizes, members, away, centres, facts, i, j, square, counts):
                search.changed[i] = search.changed[j] = True
                search.dirty[i] = search.dirty[j] = True
                any_change = True
                # Group i is another one now: judge anew which of the groups still to come are in its reach.
                begin = j + 1
                break
    return any_change


@kernel(error_model="numpy")
def _next_pass(groups, search, everything):  # type: ignore[no-untyped-def]
    # Ends the pass before and chooses the targets of the next; their number.
    place, targets = search.standing, search.targets
    for t in range(place[TARGETS]):
        search.done[targets[t]] = False
    again = place[STEP] == 0 or (place[MOVED] > 0 and place[STEP] < MOST_PASSES)
    chosen = 0
    for g in range(groups.number[0]):
        if search.changed[g] or everything:
            targets[chosen] = g
            chosen += 1
        search.changed[g] = False
    if not again:
        return 0
    shuffle(search.random, targets[:chosen])
    pairs = chosen * groups.number[0] - chosen * (chosen + 1) // 2
    search.counts[PAIRS] += pairs
    search.counts[PASSES] += 1
    search.lists[min(place[STEP], PASSES_KEPT - 1)] += pairs
    place[STEP] += 1
    return chosen


@kernel(error_model="numpy")
def descend(space, groups, search, everything, limit):  # type: ignore[no-untyped-def]
    """Local search: passes over pairs of a target and any other group until a pass moves nothing.

    The first targets are the groups marked in ``search.changed``; later ones those that changed in the pass before
    (LSC), or always all (LS, with ``everything``). A pass takes its targets in random order, the other groups of a
    target in the order of their numbers, and meets each pair once. Handles at most ``limit`` targets and says whether
    it is done; call again to go on from there.
    """
    place = search.standing
    for _ in range(limit):
        if place[NEXT] == place[TARGETS]:
            place[TARGETS] = _next_pass(groups, search, everything)
            place[NEXT] = place[MOVED] = 0
            if place[TARGETS] == 0:
                place[STEP] = 0
                search.counts[CALLS] += 1
                return True
        i = search.targets[place[NEXT]]
        place[NEXT] += 1
        if _try_target(space, groups, search, i):
            place[MOVED] = 1
        search.done[i] = True
    return False
