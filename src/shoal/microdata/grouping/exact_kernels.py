"""Branch and bound over the partitions of a set of attributes: kernels on arrays.

A branch is a list of groups that are settled and the set of attributes that are left. The next group always contains the
lowest attribute left, so that every partition is met once. ``cost`` holds the additive part of the score of each set,
``best`` the least additive cost of any partition of a set: together they bound every completion of a branch from below.
Linkage is bounded by records that are linked whatever becomes of the attributes left.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.grouping.evaluator_kernels import is_beaten, to_mean
from shoal.runtime.kernels import kernel

# Scores closer than this count as equal.
SAME = 1e-9


class Tree(NamedTuple):
    """The branches that the additive bound leaves, the most promising first, and what each set of attributes costs.

    A branch is a row of ``groups`` (0 where there is none) with the attributes ``left`` and the lower bound ``bounds``. By
    set: ``slot_of`` is its place in the pool, ``cost`` its additive cost, ``best`` the least of any partition of it.
    """

    slot_of: np.ndarray
    cost: np.ndarray
    best: np.ndarray
    groups: np.ndarray
    left: np.ndarray
    bounds: np.ndarray


class Tried(NamedTuple):
    """In which ``order`` records are tried, ``witnesses`` for whole branches with the ``gaps`` of each set.

    ``killers`` are guesses at who beats a record, for partitions and for branches; ``linked`` counts how often a record
    was linked. All of them change only the speed.
    """

    order: np.ndarray
    witnesses: np.ndarray
    gaps: np.ndarray
    killers: np.ndarray
    early_killers: np.ndarray
    linked: np.ndarray


@kernel
def cheapest_partitions(cost: np.ndarray) -> np.ndarray:
    """For every set the least sum of costs over a partition of it into groups.

    >>> cheapest_partitions(np.array([0.0, 3.0, 4.0, 6.0])).tolist()
    [0.0, 3.0, 4.0, 6.0]
    """
    best = np.full(cost.shape[0], np.inf)
    best[0] = 0.0
    for whole in range(1, cost.shape[0]):
        lowest = whole & -whole
        rest = whole ^ lowest
        part = rest
        while True:
            total = cost[lowest | part] + best[rest ^ part]
            best[whole] = min(best[whole], total)
            if part == 0:
                break
            part = (part - 1) & rest
    return best


@kernel
def widest_gaps(points, pool, slot_of, witnesses):  # type: ignore[no-untyped-def]
    """For every set and witness: by how much its distance can exceed that to the nearest means, over all partitions.

    A record whose rivals are farther off than this in the groups settled is linked in every completion.
    """
    columns, width, means = pool.columns, pool.width, pool.means
    sets, clusters = slot_of.shape[0], pool.starts.shape[1] - 1
    gaps = np.zeros((sets, witnesses.shape[0]))
    single = np.zeros((sets, witnesses.shape[0]))
    for mask in range(1, sets):
        s = slot_of[mask]
        for w in range(witnesses.shape[0]):
            i = witnesses[w]
            nearest = np.inf
            for c in range(clusters):
                nearest = min(nearest, to_mean(points[i], columns[s], width[s], means[s], c))
            single[mask, w] = pool.own[s, i] - nearest
    for whole in range(1, sets):
        lowest = whole & -whole
        rest = whole ^ lowest
        part = rest
        while True:
            for w in range(witnesses.shape[0]):
                gaps[whole, w] = max(gaps[whole, w], single[lowest | part, w] + gaps[rest ^ part, w])
            if part == 0:
                break
            part = (part - 1) & rest
    return gaps


@kernel
def _first_choice(whole):  # type: ignore[no-untyped-def]
    # What the lowest attribute of a set is first joined with: all the others. −1 if there is no attribute.
    return whole ^ (whole & -whole) if whole else -1


@kernel
def _next_choice(whole, part):  # type: ignore[no-untyped-def]
    # What comes after a part of the others; −1 after the empty one, the last.
    return -1 if part == 0 else (part - 1) & (whole ^ (whole & -whole))


@kernel
def _size(mask):  # type: ignore[no-untyped-def]
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel
def branches(cost, best, everything, small, limit, groups, left):  # type: ignore[no-untyped-def]
    """List the branches with at most ``small`` attributes left whose additive bound is below ``limit``.

    Their groups (0 where there is none) and attributes left are written to ``groups`` and ``left`` as far as these have
    rows; the number of all branches is returned.
    """
    depth = 0
    most = groups.shape[1]
    prefix = np.zeros(most, dtype=np.int64)
    remaining = np.zeros(most + 1, dtype=np.int64)
    choice = np.zeros(most + 1, dtype=np.int64)
    base = np.zeros(most + 1)
    remaining[0] = everything
    choice[0] = _first_choice(everything)
    count = 0
    fresh = True
    while depth >= 0:
        whole = remaining[depth]
        if fresh and _size(whole) <= small:
            if count < groups.shape[0]:
                for g in range(most):
                    groups[count, g] = prefix[g] if g < depth else 0
                left[count] = whole
            count += 1
            depth -= 1
            fresh = False
            continue
        fresh = False
        if choice[depth] < 0:
            depth -= 1
            continue
        group = (whole & -whole) | choice[depth]
        choice[depth] = _next_choice(whole, choice[depth])
        after = whole ^ group
        if base[depth] + cost[group] + best[after] >= limit:
            continue
        prefix[depth] = group
        base[depth + 1] = base[depth] + cost[group]
        depth += 1
        remaining[depth] = after
        choice[depth] = _first_choice(after)
        fresh = True
    return count


@kernel
def _sure_links(points, pool, tried, slots, left, rows, most):  # type: ignore[no-untyped-def]
    # How many witnesses are linked whatever becomes of the attributes left; gives up at more than ``most``.
    links = 0
    for w in range(tried.witnesses.shape[0]):
        allowance = tried.gaps[left, w]
        if not is_beaten(points, pool, slots, tried.witnesses[w], allowance, tried.early_killers, rows):
            links += 1
            if links > most:
                break
    return links


@kernel
def explore(points, pool, tree, tried, per_link, first, last, incumbent, groups):  # type: ignore[no-untyped-def]
    """Look through branches ``first`` to ``last`` for a partition better than the incumbent.

    Its groups are written to ``groups`` and its score is returned; the incumbent's if there is none.
    """
    n = tree.groups.shape[1]
    rows = np.empty((n, pool.starts.shape[1] - 1))
    slots = np.zeros(n, dtype=np.int64)
    prefix = np.zeros(n, dtype=np.int64)
    remaining = np.zeros(n + 1, dtype=np.int64)
    choice = np.zeros(n + 1, dtype=np.int64)
    base = np.zeros(n + 1)
    value = incumbent
    for b in range(first, last):
        depth = 0
        while depth < n and tree.groups[b, depth]:
            prefix[depth] = tree.groups[b, depth]
            slots[depth] = tree.slot_of[prefix[depth]]
            base[depth + 1] = base[depth] + tree.cost[prefix[depth]]
            depth += 1
        top = depth
        remaining[depth] = tree.left[b]
        choice[depth] = _first_choice(tree.left[b])
        fresh = True
        while depth >= top:
            whole = remaining[depth]
            if fresh:
                fresh = False
                room = value - SAME - base[depth] - tree.best[whole]
                if room < 0.0:
                    depth -= 1
                    continue
                most = int(room / per_link)
                if whole == 0:
                    links = 0
                    for place in range(tried.order.shape[0]):
                        i = tried.order[place]
                        if not is_beaten(points, pool, slots[:depth], i, 0.0, tried.killers, rows):
                            tried.linked[i] += 1
                            links += 1
                            if links > most:
                                break
                    if links <= most:
                        value = base[depth] + links * per_link
                        for g in range(n):
                            groups[g] = prefix[g] if g < depth else 0
                    depth -= 1
                    continue
                several = depth >= 2 and whole & (whole - 1) and most < tried.witnesses.shape[0]
                if several and _sure_links(points, pool, tried, slots[:depth], whole, rows, most) > most:
                    depth -= 1
                    continue
            if choice[depth] < 0:
                depth -= 1
                continue
            group = (whole & -whole) | choice[depth]
            choice[depth] = _next_choice(whole, choice[depth])
            after = whole ^ group
            if base[depth] + tree.cost[group] + tree.best[after] >= value - SAME:
                continue
            prefix[depth] = group
            slots[depth] = tree.slot_of[group]
            base[depth + 1] = base[depth] + tree.cost[group]
            depth += 1
            remaining[depth] = after
            choice[depth] = _first_choice(after)
            fresh = True
    return value
