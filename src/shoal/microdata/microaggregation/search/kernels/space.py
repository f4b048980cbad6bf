"""The space in which the kernels work: centred, scaled, turned onto its principal axes, padded to whole vectors.

Distances keep their proportions, but the first coordinates carry most of them, so that a distance that is too large is
usually known after four coordinates. The axes come from a cyclic Jacobi iteration in plain arithmetic, not from
LAPACK, whose last digits depend on the machine: the course of a search must not.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.runtime.in_rows import in_rows
from shoal.runtime.kernels import kernel

if TYPE_CHECKING:
    from concurrent.futures import Executor

LANES = 4
MOST_TURNED = 128
_SLICE = 65_536


class Space(NamedTuple):
    """A problem for the kernels: points, k, and the gain below which a move is rounding.

    A squared error there times ``unit`` is one of the problem.
    """

    points: np.ndarray
    k: int
    tolerance: float
    unit: float


def working_space(points: np.ndarray, k: int, executor: "Executor | None" = None) -> Space:
    """The points of a problem as the kernels want them; threads of the executor share the work on very many."""
    n, d = points.shape
    padded = np.zeros((n, -(-d // LANES) * LANES))
    centred = points - points.mean(axis=0)
    # In place and in slices, so that a million records need no third copy of themselves.
    spread = float(np.square(centred, out=padded.reshape(-1)[: n * d].reshape(n, d)).sum())
    unit = spread / (n * d) if spread > 0 else 1.0
    scale = np.sqrt(unit)
    in_rows(executor, n, lambda part: np.divide(centred[part], scale, out=centred[part]), _SLICE)
    if 1 < d <= MOST_TURNED:
        _turn(centred, padded, executor)
    else:
        padded[:] = 0.0
        padded[:, :d] = centred
    far = in_rows(executor, n, lambda part: float(np.square(padded[part]).sum(axis=1).max()), _SLICE)
    return Space(padded, k, max(1e-11, 1e-14 * max(far)), unit)


def _turn(points: np.ndarray, turned: np.ndarray, executor: "Executor | None") -> None:
    scatter = np.empty((points.shape[1], points.shape[1]))
    axes = np.eye(points.shape[1])
    _scatter(points, scatter)
    _principal_axes(scatter, axes)
    order = np.argsort(-np.diag(scatter), kind="stable")
    turn = np.ascontiguousarray(axes[:, order])
    in_rows(executor, len(points), lambda part: project(points[part], turn, turned[part]), _SLICE)


@kernel
def _scatter(points, out):  # type: ignore[no-untyped-def]
    n, d = points.shape
    out[:] = 0.0
    for i in range(n):
        for a in range(d):
            x = points[i, a]
            for b in range(d):
                out[a, b] += x * points[i, b]


@kernel
def project(points, axes, out):  # type: ignore[no-untyped-def]
    """The points in terms of other axes; ``out`` may have more columns, which become 0."""
    n, d = points.shape
    out[:] = 0.0
    for i in range(n):
        for a in range(d):
            x = points[i, a]
            for b in range(d):
                out[i, b] += x * axes[a, b]


@kernel
def _principal_axes(matrix, axes):  # type: ignore[no-untyped-def]
    # Cyclic Jacobi: turns the symmetric matrix towards a diagonal one and collects the turns in ``axes``.
    d = matrix.shape[0]
    total = 0.0
    for a in range(d):
        for b in range(d):
            total += matrix[a, b] * matrix[a, b]
    for _sweep in range(30):
        off = 0.0
        for a in range(d):
            for b in range(a + 1, d):
                off += matrix[a, b] * matrix[a, b]
        if off <= 1e-24 * total:
            return
        for p in range(d - 1):
            for q in range(p + 1, d):
                entry = matrix[p, q]
                if entry == 0.0:
                    continue
                ratio = (matrix[q, q] - matrix[p, p]) / (2.0 * entry)
                if ratio >= 0.0:
                    tangent = 1.0 / (ratio + np.sqrt(1.0 + ratio * ratio))
                else:
                    tangent = -1.0 / (-ratio + np.sqrt(1.0 + ratio * ratio))
                cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
                sine = tangent * cosine
                for c in range(d):
                    x, y = matrix[c, p], matrix[c, q]
                    matrix[c, p], matrix[c, q] = cosine * x - sine * y, sine * x + cosine * y
                for c in range(d):
                    x, y = matrix[p, c], matrix[q, c]
                    matrix[p, c], matrix[q, c] = cosine * x - sine * y, sine * x + cosine * y
                for c in range(d):
                    x, y = axes[c, p], axes[c, q]
                    axes[c, p], axes[c, q] = cosine * x - sine * y, sine * x + cosine * y


def warm_up() -> None:
    """Compile the kernels."""
    working_space(np.arange(12.0).reshape(4, 3) ** 2, 2)
