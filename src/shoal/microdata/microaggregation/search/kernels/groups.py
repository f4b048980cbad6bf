"""A partition as arrays: members, centres, radii and errors of the groups, kept current move by move.

Groups are numbered 0 … count−1 and stay where they are while records move; a group that disappears gives its number
to the last one. After every change a group is computed afresh from its members, so nothing drifts.
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.microaggregation.search.kernels.vectors import set_mean, squared_distance
from shoal.runtime.kernels import kernel

# The rows of ``Groups.facts``: the first four coordinates of the centre, the largest distance of a member to it, the
# distance of centres from which on a group surely gives no member away (0 if it has none to give), the squared error.
HEAD, RADIUS, REACH, ERROR = 0, 4, 5, 6


class Groups(NamedTuple):
    """The groups of one partition.

    ``members`` and ``away`` (the distance to the centre) have one row per group; ``facts`` one column per group, so that
    all groups can be looked over at once. Two more rows of ``away`` are room for what is found out about a pair.
    """

    number: np.ndarray
    sizes: np.ndarray
    members: np.ndarray
    away: np.ndarray
    centres: np.ndarray
    facts: np.ndarray


def empty_groups(most: int, capacity: int, width: int) -> Groups:
    """Room for ``most`` groups of at most ``capacity`` members."""
    return Groups(
        number=np.zeros(1, dtype=np.int64),
        sizes=np.zeros(most, dtype=np.int64),
        members=np.zeros((most, capacity), dtype=np.int64),
        away=np.zeros((most + 2, capacity)),
        centres=np.zeros((most, width)),
        facts=np.zeros((7, most)),
    )


# Arrays are handed to the innermost functions one by one: taking one out of a named tuple costs more there than the work.


@kernel(error_model="numpy")
def refresh(points, k, sizes, members, away, centres, facts, g):  # type: ignore[no-untyped-def]
    """Compute everything about group g from its members."""
    size = sizes[g]
    set_mean(points, members, g, size, centres)
    error = 0.0
    widest = 0.0
    for m in range(size):
        q = squared_distance(points, members[g, m], centres, g)
        error += q
        widest = max(widest, q)
        away[g, m] = np.sqrt(q)
    radius = np.sqrt(widest)
    facts[ERROR, g] = error
    facts[RADIUS, g] = radius
    facts[REACH, g] = radius * (1.0 + np.sqrt(size / (size - 1.0) * (k + 1.0) / k)) if size > k else 0.0
    for a in range(4):
        facts[HEAD + a, g] = centres[g, a]


@kernel(error_model="numpy")
def load(space, groups, labels, count):  # type: ignore[no-untyped-def]
    """Fill the groups from labels 0 … count−1; no group may exceed the capacity."""
    number, sizes, members, away, centres, facts = groups
    number[0] = count
    for g in range(count):
        sizes[g] = 0
    for i in range(labels.shape[0]):
        g = labels[i]
        members[g, sizes[g]] = i
        sizes[g] += 1
    for g in range(count):
        refresh(space.points, space.k, sizes, members, away, centres, facts, g)


@kernel(error_model="numpy")
def unload(groups, labels):  # type: ignore[no-untyped-def]
    """Write each record's group number."""
    for g in range(groups.number[0]):
        for m in range(groups.sizes[g]):
            labels[groups.members[g, m]] = g


@kernel(error_model="numpy")
def copy_group(source, target, g, to):  # type: ignore[no-untyped-def]
    """Make group ``to`` of one partition equal to group g of another (or the same)."""
    size = source.sizes[g]
    target.sizes[to] = size
    for m in range(size):
        target.members[to, m] = source.members[g, m]
        target.away[to, m] = source.away[g, m]
    for a in range(source.centres.shape[1]):
        target.centres[to, a] = source.centres[g, a]
    for a in range(source.facts.shape[0]):
        target.facts[a, to] = source.facts[a, g]


@kernel(error_model="numpy")
def total_error(groups):  # type: ignore[no-untyped-def]
    """The squared error of the whole partition."""
    s0 = s1 = s2 = s3 = 0.0
    error = groups.facts[ERROR]
    count = groups.number[0]
    whole = count - count % 4
    for g in range(0, whole, 4):
        s0 += error[g]
        s1 += error[g + 1]
        s2 += error[g + 2]
        s3 += error[g + 3]
    for g in range(whole, count):
        s0 += error[g]
    return (s0 + s1) + (s2 + s3)
