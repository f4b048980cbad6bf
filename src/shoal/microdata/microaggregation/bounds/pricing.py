"""Groups that are worth more than they cost, by an exact search: the pricing problem of column generation.

Every record has a price. A group C of m records is worth Σ π(x) − SSE(C) = Σ π(x) − Σ pairs D/m. Each group is
looked for once, from its dearest record: so outliers, which are dear and whose groups reach far, see only what is
cheaper, and cheap records in dense regions see only their like. Records that are the same in every column are one *kind*
with one price, and a group holds so many of each kind.

Members are chosen one after the other. A record still to be chosen adds at most its price less its distances to those
chosen, and half of those to its nearest others for those that are not, all divided by m; the records that can still
be chosen are few, and their nearest others among themselves are far. A branch ends when its best additions cannot lift
it above what is wanted.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.kd_tree import nearest, tree_of
from shoal.runtime.kernels import kernel

# Lists of candidates up to so long have their nearest others looked for among themselves.
_MEASURED = 500


class Kinds(NamedTuple):
    """The different records: where they lie, how many there are of each, and the sums of the squared distances to
    their 0, 1, … nearest other records; ``of`` is the kind of each record.
    """

    points: np.ndarray
    counts: np.ndarray
    near: np.ndarray
    of: np.ndarray


def kinds_of(problem: Problem, points: np.ndarray, largest: int) -> Kinds:
    """The kinds of a problem's records, which lie at ``points`` and form groups of up to ``largest``."""
    _, first, of, counts = np.unique(
        problem.points, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    tree = tree_of(points)
    distances = np.empty((problem.n, largest - 1))
    nearest(tree, 0, problem.n, largest - 1, distances, np.empty((problem.n, largest - 1), dtype=np.int32))
    sums = np.zeros((problem.n, largest))
    # A little less than the sums, so that rounding never ends a branch too early.
    sums[tree.order, 1:] = np.cumsum(distances, axis=1) * (1.0 - 1e-13)
    return Kinds(
        np.ascontiguousarray(points[first]),
        counts.astype(np.int64),
        sums[first],
        of.reshape(-1).astype(np.int64),
    )


class Wanted(NamedTuple):
    """Which groups are wanted: their sizes, what they must be worth, and how hard to look.

    After every ``patience`` branches for one record, what its groups must be worth rises: at first to ``step`` of
    its price, then by half each time. With ``every`` all groups are wanted that are worth so much, else the best; then
    the search ends when there are more of them than there is room for, or more branches.
    """

    smallest: int
    largest: int
    least: float
    patience: int
    step: float
    every: bool


@kernel(error_model="numpy")
def dearest_groups(kinds, prices, order, first, last, wanted, excess, totals, groups, sizes):  # type: ignore[no-untyped-def]
    """The groups whose dearest records are the kinds at places ``first`` … ``last`` of the order of falling prices.

    For each of these places ``excess`` becomes the most that such a group is worth (if that is more than wanted; or
    the worth below which it was given up looking), ``totals`` the number of groups (with ``every`` one more than there
    is room for if it was given up), ``groups`` and ``sizes`` their kinds. The result is the number of branches.
    """
    points, counts = kinds.points, kinds.counts
    d = points.shape[1]
    largest = wanted.largest
    room = sizes.shape[1]
    length = 0
    for place in range(first, order.shape[0]):
        length += min(counts[order[place]], largest)
    all_who = np.empty(length, dtype=np.int64)
    all_gaps = np.empty(length)
    chosen = np.empty(largest, dtype=np.int64)
    # By number of records chosen: who can follow, their distances to the chosen ones, and the most they can add.
    who = np.empty((largest + 1, length), dtype=np.int64)
    gaps = np.empty((largest + 1, length))
    gain = np.empty((largest + 1, length))
    count = np.zeros(largest + 1, dtype=np.int64)
    at = np.zeros(largest + 1, dtype=np.int64)
    value = np.zeros(largest + 1)
    # The last branch in which a kind was tried, and the branch that is being looked at.
    tried = np.zeros((largest + 1, counts.shape[0]), dtype=np.int64)
    branch = np.zeros(largest + 1, dtype=np.int64)
    few = np.empty(largest + 1)
    worth = np.empty(room)
    branches = 0
    for place in range(first, last):
        x = order[place]
        mine = place - first
        excess[mine] = 0.0
        totals[mine] = 0
        sizes[mine] = 0
        least = wanted.least
        patience = branches + wanted.patience
        beat = least
        total = 0
        for other in range(place, order.shape[0]):
            z = order[other]
            gap = 0.0
            for a in range(d):
                gap += (points[z, a] - points[x, a]) * (points[z, a] - points[x, a])
            for _ in range(min(counts[z], largest) - (1 if z == x else 0)):
                all_who[total] = z
                all_gaps[total] = gap
                total += 1
        chosen[0] = x
        for m in range(wanted.smallest, largest + 1):
            for c in range(total):
                who[1, c] = all_who[c]
                gaps[1, c] = all_gaps[c]
            value[1] = prices[x]
            count[1] = _promising(
                kinds, prices, who[1], gaps[1], gain[1], total, m - 1, m, prices[x], beat, few
            )
            at[1] = 0
            branches += 1
            branch[1] = branches
            size = 1
            while size >= 1:
                c = at[size]
                missing = m - size
                bound = -np.inf
                if c + missing <= count[size]:
                    bound = value[size]
                    for t in range(c, c + missing):
                        bound += gain[size, t]
                if not bound > beat:
                    size -= 1
                    continue
                y = who[size, c]
                at[size] += 1
                # Without the first of a kind there is no second one.
                if tried[size, y] == branch[size]:
                    continue
                tried[size, y] = branch[size]
                chosen[size] = y
                reached = value[size] + prices[y] - gaps[size, c] / m
                if missing == 1:
                    if wanted.every:
                        totals[mine] += 1
                        if totals[mine] > room:
                            return branches
                        sizes[mine, totals[mine] - 1] = m
                        for t in range(m):
                            groups[mine, totals[mine] - 1, t] = chosen[t]
                        continue
                    spot = min(totals[mine], room - 1)
                    while spot > 0 and worth[spot - 1] < reached:
                        worth[spot] = worth[spot - 1]
                        sizes[mine, spot] = sizes[mine, spot - 1]
                        groups[mine, spot] = groups[mine, spot - 1]
                        spot -= 1
                    worth[spot] = reached
                    sizes[mine, spot] = m
                    for t in range(m):
                        groups[mine, spot, t] = chosen[t]
                    totals[mine] = min(totals[mine] + 1, room)
                    if totals[mine] == room:
                        beat = max(beat, worth[room - 1])
                    continue
                branches += 1
                if branches > patience:
                    if wanted.every:
                        totals[mine] = room + 1
                        return branches
                    # Too hard: only what is worth more is still looked for.
                    least = max(1.5 * least, wanted.step * prices[x])
                    beat = max(beat, least)
                    patience = branches + wanted.patience
                following = 0
                for later in range(c + 1, count[size]):
                    z = who[size, later]
                    if z != y and tried[size, z] == branch[size]:
                        continue
                    gap = gaps[size, later]
                    for a in range(d):
                        gap += (points[z, a] - points[y, a]) * (points[z, a] - points[y, a])
                    who[size + 1, following] = z
                    gaps[size + 1, following] = gap
                    following += 1
                size += 1
                count[size] = _promising(
                    kinds,
                    prices,
                    who[size],
                    gaps[size],
                    gain[size],
                    following,
                    m - size,
                    m,
                    reached,
                    beat,
                    few,
                )
                value[size] = reached
                branch[size] = branches
                at[size] = 0
        if not wanted.every:
            if least > wanted.least:
                excess[mine] = least
            if totals[mine] > 0:
                excess[mine] = max(excess[mine], worth[0])
    return branches


@kernel(error_model="numpy")
def _promising(kinds, prices, who, gaps, gain, length, missing, m, reached, beat, few):  # type: ignore[no-untyped-def]
    """Keep the candidates with which a branch could still be worth enough, those that add most first; how many they are."""
    near = kinds.near
    for c in range(length):
        gain[c] = prices[who[c]] - (gaps[c] + 0.5 * near[who[c], missing - 1]) / m
    length = _pruned(who, gaps, gain, length, missing, reached, beat, few)
    if missing < 2:
        _sort(who, gaps, gain, length)
        return length
    points = kinds.points
    d = points.shape[1]
    while missing <= length <= _MEASURED:
        # How far are the nearest of those that are left?
        for c in range(length):
            y = who[c]
            for t in range(missing - 1):
                few[t] = np.inf
            for e in range(length):
                if e == c:
                    continue
                gap = 0.0
                for a in range(d):
                    gap += (points[who[e], a] - points[y, a]) * (points[who[e], a] - points[y, a])
                if gap < few[missing - 2]:
                    t = missing - 2
                    while t > 0 and few[t - 1] > gap:
                        few[t] = few[t - 1]
                        t -= 1
                    few[t] = gap
            total = 0.0
            for t in range(missing - 1):
                total += few[t]
            gain[c] = prices[y] - (gaps[c] + 0.5 * total) / m
        before = length
        length = _pruned(who, gaps, gain, length, missing, reached, beat, few)
        if length > 0.8 * before:
            break
    _sort(who, gaps, gain, length)
    return length


@kernel(error_model="numpy")
def _pruned(who, gaps, gain, length, missing, reached, beat, few):  # type: ignore[no-untyped-def]
    """Drop the candidates with which even the best others would not reach enough; how many are left."""
    if length < missing:
        return 0
    # The largest gains, falling.
    for t in range(missing):
        few[t] = -np.inf
    for c in range(length):
        if gain[c] > few[missing - 1]:
            t = missing - 1
            while t > 0 and few[t - 1] < gain[c]:
                few[t] = few[t - 1]
                t -= 1
            few[t] = gain[c]
    others = 0.0
    for t in range(missing - 1):
        others += few[t]
    kept = 0
    for c in range(length):
        # One of the best itself has one more of the best beside it.
        best = reached + others
        best += few[missing - 1] if gain[c] >= few[missing - 1] else gain[c]
        if best > beat:
            who[kept] = who[c]
            gaps[kept] = gaps[c]
            gain[kept] = gain[c]
            kept += 1
    return kept


@kernel(error_model="numpy")
def _sort(who, gaps, gain, length):  # type: ignore[no-untyped-def]
    """Put the candidates that add most first."""
    step = 1
    while step < length // 3:
        step = 3 * step + 1
    while step > 0:
        for c in range(step, length):
            one, away, most = who[c], gaps[c], gain[c]
            e = c
            while e >= step and gain[e - step] < most:
                who[e], gaps[e], gain[e] = who[e - step], gaps[e - step], gain[e - step]
                e -= step
            who[e], gaps[e], gain[e] = one, away, most
        step //= 3
