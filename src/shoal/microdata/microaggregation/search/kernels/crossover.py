"""The best of two partitions, part by part.

Records whose groups overlap in either partition belong to one part; parts have nothing to do with each other, so each is
taken from the partition that is better there. The idea is Whitley's, for tours (Whitley, Hains and Howe, Tunneling between
optima: partition crossover for the traveling salesman problem, GECCO 2009).
"""

import numpy as np

from shoal.microdata.microaggregation.search.kernels.vectors import squared_distance
from shoal.runtime.kernels import kernel


@kernel(error_model="numpy")
def errors_of(points, labels, out):  # type: ignore[no-untyped-def]
    """The squared error of each group."""
    count = out.shape[0]
    centres = np.zeros((count, points.shape[1]))
    sizes = np.zeros(count)
    for x in range(labels.shape[0]):
        sizes[labels[x]] += 1.0
        for a in range(points.shape[1]):
            centres[labels[x], a] += points[x, a]
    for g in range(count):
        out[g] = 0.0
        for a in range(points.shape[1]):
            centres[g, a] /= sizes[g]
    for x in range(labels.shape[0]):
        out[labels[x]] += squared_distance(points, x, centres, labels[x])


@kernel(error_model="numpy")
def _root(parent, g):  # type: ignore[no-untyped-def]
    while parent[g] != g:
        parent[g] = parent[parent[g]]
        g = parent[g]
    return g


@kernel(error_model="numpy")
def take_better_parts(points, tolerance, labels, other, count, other_count):  # type: ignore[no-untyped-def]
    """Change ``labels`` in every part where the other partition is better; by how much that lowers the error.

    Groups taken from the other partition are numbered from ``count`` on, so that numbers are left out.
    """
    gain = np.empty(count + other_count)
    errors_of(points, labels, gain[:count])
    errors_of(points, other, gain[count:])
    for g in range(count, count + other_count):
        gain[g] = -gain[g]
    parent = np.arange(count + other_count)
    for x in range(labels.shape[0]):
        one, two = _root(parent, labels[x]), _root(parent, count + other[x])
        if one != two:
            parent[two] = one
            gain[one] += gain[two]
    lower = 0.0
    for g in range(count + other_count):
        if parent[g] == g and gain[g] > tolerance:
            lower += gain[g]
    for x in range(labels.shape[0]):
        if gain[_root(parent, labels[x])] > tolerance:
            other[x] += count
        else:
            other[x] = -1
    for x in range(labels.shape[0]):
        if other[x] >= 0:
            labels[x] = other[x]
    return lower
