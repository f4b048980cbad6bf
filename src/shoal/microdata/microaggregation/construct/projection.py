"""Put the records in a row, then cut the row at its best places: the multivariate Hansen–Mukherjee family.

Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz and Sebé, Efficient multivariate data-oriented
microaggregation, VLDB Journal 15(4), 2006. Sorting on the first principal component is the classic row; a
Hilbert curve through the leading components (with the transform of Skilling, Programming the Hilbert curve,
AIP Conference Proceedings 707, 2004) keeps neighbours together in several dimensions at once, and going to
the nearest free record each time suits small data.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.construct.row_cuts import best_cut
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import Partition, numbered_by_appearance, squared_error
from shoal.runtime.kernels import kernel
from shoal.runtime.solver import Options, SearchContext, solver

Order = Literal["component", "curve", "nearest", "best"]

# Walking to the nearest free record takes n²/2 distances; "best" leaves it out above this many records.
_NEAREST_UP_TO = 10_000


class ProjectionOptions(Options):
    """Options of ``projection``."""

    order: Order = Field(
        default="best",
        description="component: sorted on the first principal component; curve: along a Hilbert curve; "
        "nearest: the nearest free record next; best: the best of these that are cheap at this size",
    )
    components: int = Field(
        default=6, ge=2, le=8, description="principal components the curve goes through, at most"
    )


def principal_axes(points: np.ndarray) -> np.ndarray:
    """The principal axes of the points as columns, the one of the widest spread first."""
    centred = points - points.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, np.argsort(-variances, kind="stable")]
    # Of the two directions of an axis, the one whose largest entry is positive: the same on every machine.
    largest = np.abs(axes).argmax(axis=0)
    turned: np.ndarray = axes * np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return turned


def principal_components(points: np.ndarray) -> np.ndarray:
    """The centred points turned to their principal axes; distances stay as they are.

    >>> turned = principal_components(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    >>> np.round(np.abs(turned), 6).tolist()
    [[1.414214, 0.0], [0.0, 0.0], [1.414214, 0.0]]
    """
    turned: np.ndarray = (points - points.mean(axis=0)) @ principal_axes(points)
    return turned


@kernel
def hilbert_keys(cells: np.ndarray, bits: int) -> np.ndarray:
    """The place of each row of whole numbers below 2^bits along the Hilbert curve; the rows are used up."""
    n, d = cells.shape
    keys = np.zeros(n, dtype=np.uint64)
    for i in range(n):
        x = cells[i]
        step = np.int64(1) << (bits - 1)
        while step > 1:
            below = step - 1
            for a in range(d):
                if x[a] & step:
                    x[0] ^= below
                else:
                    swap = (x[0] ^ x[a]) & below
                    x[0] ^= swap
                    x[a] ^= swap
            step >>= 1
        for a in range(1, d):
            x[a] ^= x[a - 1]
        flip = np.int64(0)
        step = np.int64(1) << (bits - 1)
        while step > 1:
            if x[d - 1] & step:
                flip ^= step - 1
            step >>= 1
        for a in range(d):
            x[a] ^= flip
        key = np.uint64(0)
        for b in range(bits - 1, -1, -1):
            for a in range(d):
                key = (key << np.uint64(1)) | np.uint64((x[a] >> b) & 1)
        keys[i] = key
    return keys


def along_a_curve(turned: np.ndarray, dimensions: int) -> np.ndarray:
    """The order in which a Hilbert curve through the first few coordinates meets the records."""
    d = max(1, min(dimensions, turned.shape[1]))
    if d == 1:
        return np.argsort(turned[:, 0], kind="stable")
    bits = min(31, 63 // d)
    # One scale for all coordinates, so that the curve's cells are cubes.
    low = turned[:, :d].min(axis=0)
    extent = float((turned[:, :d].max(axis=0) - low).max())
    if extent == 0.0:
        return np.arange(turned.shape[0])
    scaled = (turned[:, :d] - low) * ((2.0**bits - 1.0) / extent)
    cells = np.minimum(scaled, 2.0**bits - 1.0).astype(np.int64)
    return np.argsort(hilbert_keys(cells, bits), kind="stable")


@kernel
def nearest_next(points: np.ndarray) -> np.ndarray:
    """The order of a walk from the record farthest from the mean, each time to the nearest free record."""
    n, d = points.shape
    free = np.arange(n)
    order = np.empty(n, dtype=np.int64)
    here = np.zeros(d)
    for i in range(n):
        for a in range(d):
            here[a] += points[i, a] / n
    for step in range(n):
        best = 0
        least = np.inf
        for f in range(n - step):
            away = 0.0
            for a in range(d):
                away += (points[free[f], a] - here[a]) ** 2
            if step == 0:
                away = -away
            if away < least or (away == least and free[f] < free[best]):
                least = away
                best = f
        order[step] = free[best]
        here[:] = points[free[best]]
        free[best] = free[n - step - 1]
    return order


def orders(points: np.ndarray, options: ProjectionOptions) -> Iterator[np.ndarray]:
    """The rows to try, one after another."""
    turned = principal_components(points)
    if options.order in ("component", "best"):
        yield np.argsort(turned[:, 0], kind="stable")
    if options.order == "curve" or (options.order == "best" and points.shape[1] > 1):
        most = min(options.components, points.shape[1])
        for dimensions in range(min(2, most), most + 1):
            yield along_a_curve(turned, dimensions)
    if options.order == "nearest" or (options.order == "best" and points.shape[0] <= _NEAREST_UP_TO):
        yield nearest_next(turned)


@solver(ProjectionOptions)
def solve(problem: Problem, options: ProjectionOptions, context: SearchContext) -> Partition:
    """Cut each row where it is best and keep the best cut; with a single column that is the optimum.

    >>> problem = Problem(np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 1.0], [5.0, 6.0]]), k=2)
    >>> solve(problem).labels.tolist()
    [0, 1, 0, 1]
    """
    run = context.run()
    best: np.ndarray | None = None
    least = np.inf
    for order in orders(problem.points, options):
        labels, error = best_cut(problem.points, order, problem.k, problem.largest)
        if best is None or error < least:
            best, least = labels, error
            run.report(squared_error(problem.points, labels))
        if run.stopped:
            break
    assert best is not None
    labels = numbered_by_appearance(best)
    value = squared_error(problem.points, labels)
    exact = problem.d == 1
    if exact:
        run.finish()
    return Partition(
        value=value,
        bound=value if exact else None,
        optimal=exact,
        labels=labels,
        sst=problem.sst,
        **run.closing(),
    )


def warm_up() -> None:
    """Compile the kernels."""
    points = np.arange(10.0).reshape(5, 2)
    along_a_curve(points, 2)
    nearest_next(principal_components(points))
