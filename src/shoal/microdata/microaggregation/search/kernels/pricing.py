"""Looking for groups that a linear programme over groups would like to have."""

import numpy as np

from shoal.microdata.microaggregation.search.kernels.vectors import squared_distance
from shoal.runtime.kernels import kernel


@kernel(error_model="numpy")
def nearest_neighbours(points, out):  # type: ignore[no-untyped-def]
    """For each record the nearest others, nearest first."""
    n, wanted = out.shape
    away = np.empty(wanted)
    for x in range(n):
        found = 0
        for y in range(n):
            if y == x:
                continue
            q = squared_distance(points, x, points, y)
            if found == wanted and q >= away[wanted - 1]:
                continue
            place = found if found < wanted else wanted - 1
            while place > 0 and away[place - 1] > q:
                away[place] = away[place - 1]
                out[x, place] = out[x, place - 1]
                place -= 1
            away[place] = q
            out[x, place] = y
            found = min(found + 1, wanted)


@kernel(error_model="numpy")
def group_error(points, members, size):  # type: ignore[no-untyped-def]
    """The squared error of a group."""
    centre = np.zeros((1, points.shape[1]))
    for m in range(size):
        for a in range(points.shape[1]):
            centre[0, a] += points[members[m], a]
    for a in range(points.shape[1]):
        centre[0, a] /= size
    error = 0.0
    for m in range(size):
        error += squared_distance(points, members[m], centre, 0)
    return error


@kernel(error_model="numpy")
def improve_groups(space, prices, neighbours, largest, steps, members, sizes, reduced):  # type: ignore[no-untyped-def]
    """Change each group, one record at a time, so that its error less the prices of its members falls most.

    A step adds a record, drops one, or exchanges one, of those near the members. ``members`` (one row per group),
    ``sizes`` and ``reduced`` are overwritten with where at most ``steps`` steps lead.
    """
    points, k = space.points, space.k
    width = points.shape[1]
    # Row 0 is the centre, row 1 the centre without one member.
    centre = np.zeros((2, width))
    mark = np.zeros(points.shape[0], dtype=np.int64)
    near = np.empty(neighbours.shape[1] * members.shape[1], dtype=np.int64)
    stamp = 0
    for g in range(members.shape[0]):
        row = members[g]
        for _ in range(steps):
            size = sizes[g]
            centre[0, :] = 0.0
            for m in range(size):
                for a in range(width):
                    centre[0, a] += points[row[m], a]
            for a in range(width):
                centre[0, a] /= size
            stamp += 1
            for m in range(size):
                mark[row[m]] = stamp
            found = 0
            for m in range(size):
                for o in range(neighbours.shape[1]):
                    y = neighbours[row[m], o]
                    if mark[y] != stamp:
                        mark[y] = stamp
                        near[found] = y
                        found += 1
            best = -1e-9
            out = -1
            into = -1
            if size < largest:
                for c in range(found):
                    y = near[c]
                    change = size / (size + 1.0) * squared_distance(points, y, centre, 0) - prices[y]
                    if change < best:
                        best, out, into = change, -1, y
            for m in range(size):
                x = row[m]
                gone = prices[x] - size / (size - 1.0) * squared_distance(points, x, centre, 0)
                if size > k and gone < best:
                    best, out, into = gone, m, -1
                for a in range(width):
                    centre[1, a] = (size * centre[0, a] - points[x, a]) / (size - 1.0)
                ratio = (size - 1.0) / size
                for c in range(found):
                    y = near[c]
                    change = gone + ratio * squared_distance(points, y, centre, 1) - prices[y]
                    if change < best:
                        best, out, into = change, m, y
            if out < 0 and into < 0:
                break
            if out < 0:
                row[size] = into
                sizes[g] = size + 1
            elif into < 0:
                row[out] = row[size - 1]
                sizes[g] = size - 1
            else:
                row[out] = into
        reduced[g] = group_error(points, row, sizes[g])
        for m in range(sizes[g]):
            reduced[g] -= prices[row[m]]
