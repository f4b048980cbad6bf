"""What is known of a set of attributes once it is clustered, and how groups of them are linked: kernels on arrays.

Everything a set contributes to a score is kept in one slot of a pool: the cluster of each record, the records of each
cluster, the means, each record's squared distance to its own mean, and the two sums that add up over groups (squared
error and values inside intervals). Linkage alone looks at several sets together.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.measures.linkage import TIE, TINY
from shoal.runtime.kernels import kernel


class Pool(NamedTuple):
    """Slots for clustered sets; all arrays have a row for each slot.

    ``columns`` and ``width`` are the attributes of a set and their number. ``means`` holds the means cluster by cluster,
    ``spread`` the same attribute by attribute, for distances to all of them at once.
    """

    columns: np.ndarray
    width: np.ndarray
    labels: np.ndarray
    members: np.ndarray
    starts: np.ndarray
    means: np.ndarray
    spread: np.ndarray
    own: np.ndarray
    sse: np.ndarray
    hits: np.ndarray

    @staticmethod
    def empty(slots: int, records: int, attributes: int, clusters: int) -> "Pool":
        """A pool with nothing in it."""
        return Pool(
            columns=np.zeros((slots, attributes), dtype=np.int64),
            width=np.zeros(slots, dtype=np.int64),
            labels=np.zeros((slots, records), dtype=np.int32),
            members=np.zeros((slots, records), dtype=np.int32),
            starts=np.zeros((slots, clusters + 1), dtype=np.int32),
            means=np.zeros((slots, clusters * attributes)),
            spread=np.zeros((slots, clusters * attributes)),
            own=np.zeros((slots, records)),
            sse=np.zeros(slots),
            hits=np.zeros(slots, dtype=np.int64),
        )

    @staticmethod
    def bytes_per_slot(records: int, attributes: int, clusters: int) -> int:
        """How much memory one slot takes."""
        return 8 * attributes + 16 * records + 4 * (clusters + 1) + 16 * clusters * attributes + 24

    @property
    def slots(self) -> int:
        """How many sets it can hold."""
        return int(self.width.size)

    def grown(self, slots: int) -> "Pool":
        """A larger pool with the same content."""
        larger = Pool.empty(slots, self.labels.shape[1], self.columns.shape[1], self.starts.shape[1] - 1)
        for new, old in zip(larger, self, strict=True):
            new[: old.shape[0]] = old
        return larger

    def fill(
        self,
        slot: int,
        points: np.ndarray,
        columns: np.ndarray,
        labels: np.ndarray,
        widths: np.ndarray,
        around: bool,
    ) -> None:
        """Enter a clustered set; ``around`` tells whether intervals lie around the protected value."""
        self.columns[slot, : columns.size] = columns
        self.width[slot] = columns.size
        self.labels[slot] = labels
        _describe(self, slot, points, widths, around)


@kernel
def _describe(pool, slot, points, widths, around):  # type: ignore[no-untyped-def]
    # Fills in what follows from the columns and the labels of a slot.
    columns, labels = pool.columns[slot, : pool.width[slot]], pool.labels[slot]
    members, starts, own = pool.members[slot], pool.starts[slot], pool.own[slot]
    means, spread = pool.means[slot], pool.spread[slot]
    m, d, clusters = points.shape[0], columns.shape[0], starts.shape[0] - 1
    starts[:] = 0
    for i in range(m):
        starts[labels[i] + 1] += 1
    for c in range(clusters):
        starts[c + 1] += starts[c]
    filled = starts.copy()
    means[: clusters * d] = 0.0
    for i in range(m):
        c = labels[i]
        members[filled[c]] = i
        filled[c] += 1
        for a in range(d):
            means[c * d + a] += points[i, columns[a]]
    for c in range(clusters):
        for a in range(d):
            means[c * d + a] /= starts[c + 1] - starts[c]
            spread[a * clusters + c] = means[c * d + a]
    sse = 0.0
    hits = 0
    for i in range(m):
        c = labels[i]
        own[i] = 0.0
        for a in range(d):
            value = points[i, columns[a]]
            mean = means[c * d + a]
            difference = value - mean
            own[i] += difference * difference
            unit = abs(mean) if around else abs(value)
            for w in range(widths.shape[0]):
                if abs(difference) <= widths[w] * unit:
                    hits += 1
        sse += own[i]
    pool.sse[slot], pool.hits[slot] = sse, hits


@kernel
def to_mean(record, columns, width, means, cluster):  # type: ignore[no-untyped-def]
    """The squared distance of a record to a cluster of a set, on the set's attributes."""
    total = 0.0
    for a in range(width):
        difference = record[columns[a]] - means[cluster * width + a]
        total += difference * difference
    return total


@kernel
def _to_all_means(record, columns, width, spread, clusters, row):  # type: ignore[no-untyped-def]
    # The same sums as ``to_mean``, in the same order, for all clusters side by side.
    for c in range(clusters):
        row[c] = 0.0
    for a in range(width):
        value = record[columns[a]]
        means = spread[a * clusters : (a + 1) * clusters]
        for c in range(clusters):
            difference = value - means[c]
            row[c] += difference * difference


@kernel
def is_beaten(points, pool, slots, i, allowance, killers, rows):  # type: ignore[no-untyped-def]
    """Whether another protected record is at least as near to record i as its own, or farther by at most an allowance.

    ``killers`` remembers which one.
    """
    columns, width, labels, starts = pool.columns, pool.width, pool.labels, pool.starts
    means, spread = pool.means, pool.spread
    groups, clusters = slots.shape[0], starts.shape[1] - 1
    mine = 0.0
    for g in range(groups):
        mine += pool.own[slots[g], i]
    limit = mine + allowance
    limit += limit * TIE + TINY
    record = points[i]
    j = killers[i]
    if j != i:
        total = 0.0
        for g in range(groups):
            s = slots[g]
            total += to_mean(record, columns[s], width[s], means[s], labels[s, j])
            if total > limit:
                break
        if total <= limit:
            return True
    # A record can only be near enough if its cluster is, in every group; the group with most attributes tells most.
    main = 0
    for g in range(1, groups):
        if width[slots[g]] > width[slots[main]]:
            main = g
    s = slots[main]
    candidates = 0
    _to_all_means(record, columns[s], width[s], spread[s], clusters, rows[main])
    for c in range(clusters):
        if rows[main, c] <= limit:
            candidates += starts[s, c + 1] - starts[s, c]
    # Distances to all means of the other groups pay off only where there are many candidates to look them up for.
    room = limit
    looked_up = candidates > clusters
    if looked_up:
        for g in range(groups):
            if g != main:
                t = slots[g]
                least = np.inf
                _to_all_means(record, columns[t], width[t], spread[t], clusters, rows[g])
                for c in range(clusters):
                    least = min(least, rows[g, c])
                room -= least * (1.0 - 1e-12)
    for c in range(clusters):
        if rows[main, c] > room:
            continue
        for place in range(starts[s, c], starts[s, c + 1]):
            j = pool.members[s, place]
            if j == i:
                continue
            total = rows[main, c]
            for g in range(groups):
                if g != main:
                    t = slots[g]
                    if looked_up:
                        total += rows[g, labels[t, j]]
                    else:
                        total += to_mean(record, columns[t], width[t], means[t], labels[t, j])
                    if total > limit:
                        break
            if total <= limit:
                killers[i] = j
                return True
    return False


@kernel
def count_links(points, pool, slots, killers, order, most):  # type: ignore[no-untyped-def]
    """How many records are strictly nearest to their own protected record; gives up once there are more than ``most``.

    ``slots`` are the groups of the partition. ``killers`` holds for each record another one that was nearer before: a
    good first guess that changes only the speed. Records are tried in the given ``order``.
    """
    rows = np.empty((slots.shape[0], pool.starts.shape[1] - 1))
    links = 0
    for place in range(order.shape[0]):
        if not is_beaten(points, pool, slots, order[place], 0.0, killers, rows):
            links += 1
            if links > most:
                break
    return links
