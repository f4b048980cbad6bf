"""Sums over the coordinates of two or three rows, as kernels call them.

The compiler may not reorder a floating-point sum, so it would add one coordinate after the other. Here the order is
laid down instead: four running sums, added at the end as (s0 + s1) + (s2 + s3). That is the same on every machine,
whatever the width of its vectors. Rows must be contiguous, their length a multiple of four. Indices are without a sign,
so that none has to be looked at for counting from the end.
"""

import numpy as np

from shoal.runtime.kernels import kernel

_1, _2, _3, _4 = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)


@kernel(inline="always")
def squared_distance(one: np.ndarray, i: int, other: np.ndarray, j: int) -> float:
    """Squared distance of row i of one array and row j of another."""
    x, y = one[i], other[j]
    s0 = s1 = s2 = s3 = 0.0
    for block in range(x.size // _4):
        at = np.uintp(block) * _4
        t0, t1 = x[at] - y[at], x[at + _1] - y[at + _1]
        t2, t3 = x[at + _2] - y[at + _2], x[at + _3] - y[at + _3]
        s0 += t0 * t0
        s1 += t1 * t1
        s2 += t2 * t2
        s3 += t3 * t3
    return (s0 + s1) + (s2 + s3)


@kernel(inline="always")
def towards(points: np.ndarray, x: int, centres: np.ndarray, i: int, j: int) -> float:
    """The product of (x − centre i) and (centre j − centre i)."""
    p, u, v = points[x], centres[i], centres[j]
    s0 = s1 = s2 = s3 = 0.0
    for block in range(p.size // _4):
        at = np.uintp(block) * _4
        s0 += (p[at] - u[at]) * (v[at] - u[at])
        s1 += (p[at + _1] - u[at + _1]) * (v[at + _1] - u[at + _1])
        s2 += (p[at + _2] - u[at + _2]) * (v[at + _2] - u[at + _2])
        s3 += (p[at + _3] - u[at + _3]) * (v[at + _3] - u[at + _3])
    return (s0 + s1) + (s2 + s3)


@kernel(inline="always")
def swap_gain(points: np.ndarray, x: int, y: int, centres: np.ndarray, i: int, j: int, f: float) -> float:
    """By how much the error falls when x of group i and y of group j change places; f = 1/size(i) + 1/size(j).

    f·|x−y|² − 2 (x−y)·(centre i − centre j)
    """
    p, q, u, v = points[x], points[y], centres[i], centres[j]
    a0 = a1 = a2 = a3 = 0.0
    b0 = b1 = b2 = b3 = 0.0
    for block in range(p.size // _4):
        at = np.uintp(block) * _4
        t0, t1 = p[at] - q[at], p[at + _1] - q[at + _1]
        t2, t3 = p[at + _2] - q[at + _2], p[at + _3] - q[at + _3]
        a0 += t0 * t0
        a1 += t1 * t1
        a2 += t2 * t2
        a3 += t3 * t3
        b0 += t0 * (u[at] - v[at])
        b1 += t1 * (u[at + _1] - v[at + _1])
        b2 += t2 * (u[at + _2] - v[at + _2])
        b3 += t3 * (u[at + _3] - v[at + _3])
    return f * ((a0 + a1) + (a2 + a3)) - 2.0 * ((b0 + b1) + (b2 + b3))


@kernel
def set_mean(points: np.ndarray, members: np.ndarray, g: int, size: int, centres: np.ndarray) -> None:
    """Write the mean of the first ``size`` members of group g into its row of the centres."""
    share = 1.0 / size
    mean = centres[g]
    for block in range(mean.size // _4):
        at = np.uintp(block) * _4
        s0 = s1 = s2 = s3 = 0.0
        for i in range(size):
            row = points[members[g, i]]
            s0 += row[at]
            s1 += row[at + _1]
            s2 += row[at + _2]
            s3 += row[at + _3]
        mean[at], mean[at + _1], mean[at + _2], mean[at + _3] = s0 * share, s1 * share, s2 * share, s3 * share
