"""Branch and bound over the partitions of a set of attributes: kernels on arrays.

A branch is a list of groups that are settled and the set of attributes that are left. The next group always contains the
lowest attribute left, so that every partition is met once. ``cost`` holds the additive part of the score of each set,
``best`` the least additive cost of any partition of a set: together they bound every completion of a branch from below.
Linkage is bounded by records that are linked whatever becomes of the attributes left.
"""

import numpy as np

from shoal.microdata.grouping.evaluator_kernels import is_beaten, to_mean
from shoal.search.kernels import kernel

# Scores closer than this count as equal.
SAME = 1e-9


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
def widest_gaps(points, columns, width, means, own, slot_of, witnesses, clusters):  # type: ignore[no-untyped-def]
    """For every set and witness: by how much its distance can exceed that to the nearest means, over all partitions.

    A record whose rivals are farther off than this in the groups settled is linked in every completion.
    """
    sets = slot_of.shape[0]
    gaps = np.zeros((sets, witnesses.shape[0]))
    single = np.zeros((sets, witnesses.shape[0]))
    for mask in range(1, sets):
        s = slot_of[mask]
        for w in range(witnesses.shape[0]):
            i = witnesses[w]
            nearest = np.inf
            for c in range(clusters):
                nearest = min(nearest, to_mean(points[i], columns[s], width[s], means[s], c))
            single[mask, w] = own[s, i] - nearest
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
    choice[0] = everything ^ (everything & -everything)
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
        lowest = whole & -whole
        rest = whole ^ lowest
        part = choice[depth]
        choice[depth] = -1 if part == 0 else (part - 1) & rest
        group = lowest | part
        after = whole ^ group
        if base[depth] + cost[group] + best[after] >= limit:
            continue
        prefix[depth] = group
        base[depth + 1] = base[depth] + cost[group]
        depth += 1
        remaining[depth] = after
        choice[depth] = after ^ (after & -after) if after else -1
        fresh = True
    return count


@kernel
def _sure_links(  # type: ignore[no-untyped-def]
    points,
    columns,
    width,
    labels,
    members,
    starts,
    means,
    spread,
    own,
    slots,
    killers,
    witnesses,
    gaps,
    rows,
    most,
):
    links = 0
    for w in range(witnesses.shape[0]):
        if not is_beaten(
            points,
            columns,
            width,
            labels,
            members,
            starts,
            means,
            spread,
            own,
            slots,
            witnesses[w],
            gaps[w],
            killers,
            rows,
        ):
            links += 1
            if links > most:
                break
    return links


@kernel
def explore(  # type: ignore[no-untyped-def]
    points,
    columns,
    width,
    labels,
    members,
    starts,
    means,
    spread,
    own,
    slot_of,
    cost,
    best,
    per_link,
    groups,
    left,
    first,
    last,
    incumbent,
    order,
    witnesses,
    gaps,
    killers,
    early_killers,
    linked,
    found,
):
    """Look through branches ``first`` to ``last`` for a partition better than the incumbent.

    Its groups are written to ``found`` and its score is returned; the incumbent's if there is none. ``linked`` counts how
    often a record was linked. Records are tried in the given ``order``, ``witnesses`` for whole branches.
    """
    n = groups.shape[1]
    rows = np.empty((n, starts.shape[1] - 1))
    slots = np.zeros(n, dtype=np.int64)
    prefix = np.zeros(n, dtype=np.int64)
    remaining = np.zeros(n + 1, dtype=np.int64)
    choice = np.zeros(n + 1, dtype=np.int64)
    base = np.zeros(n + 1)
    value = incumbent
    for b in range(first, last):
        depth = 0
        while depth < n and groups[b, depth]:
            prefix[depth] = groups[b, depth]
            slots[depth] = slot_of[prefix[depth]]
            base[depth + 1] = base[depth] + cost[prefix[depth]]
            depth += 1
        top = depth
        remaining[depth] = left[b]
        choice[depth] = left[b] ^ (left[b] & -left[b]) if left[b] else -1
        fresh = True
        while depth >= top:
            whole = remaining[depth]
            if fresh:
                fresh = False
                room = value - SAME - base[depth] - best[whole]
                if room < 0.0:
                    depth -= 1
                    continue
                most = int(room / per_link)
                if whole == 0:
                    links = 0
                    for place in range(order.shape[0]):
                        if not is_beaten(
                            points,
                            columns,
                            width,
                            labels,
                            members,
                            starts,
                            means,
                            spread,
                            own,
                            slots[:depth],
                            order[place],
                            0.0,
                            killers,
                            rows,
                        ):
                            linked[order[place]] += 1
                            links += 1
                            if links > most:
                                break
                    if links <= most:
                        value = base[depth] + links * per_link
                        for g in range(n):
                            found[g] = prefix[g] if g < depth else 0
                    depth -= 1
                    continue
                if depth >= 2 and whole & (whole - 1) and most < witnesses.shape[0]:
                    links = _sure_links(
                        points,
                        columns,
                        width,
                        labels,
                        members,
                        starts,
                        means,
                        spread,
                        own,
                        slots[:depth],
                        early_killers,
                        witnesses,
                        gaps[whole],
                        rows,
                        most,
                    )
                    if links > most:
                        depth -= 1
                        continue
            if choice[depth] < 0:
                depth -= 1
                continue
            lowest = whole & -whole
            rest = whole ^ lowest
            part = choice[depth]
            choice[depth] = -1 if part == 0 else (part - 1) & rest
            group = lowest | part
            after = whole ^ group
            if base[depth] + cost[group] + best[after] >= value - SAME:
                continue
            prefix[depth] = group
            slots[depth] = slot_of[group]
            base[depth + 1] = base[depth] + cost[group]
            depth += 1
            remaining[depth] = after
            choice[depth] = after ^ (after & -after) if after else -1
            fresh = True
    return value
