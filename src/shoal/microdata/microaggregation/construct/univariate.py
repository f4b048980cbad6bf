"""Optimal microaggregation of one attribute (Hansen and Mukherjee, IEEE TKDE 15(4), 2003).

In one dimension some best partition consists of runs of the sorted values; with both a smallest and a
largest group size this still holds (Barnes, Hoffman and Rothblum, Mathematical Programming 54, 1992). So
the best cut of the sorted values is the optimum.
"""

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.microaggregation.construct.row_cuts import best_cut
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import Partition, numbered_by_appearance
from shoal.runtime.solver import NoOptions, SearchContext, solver


def optimal_labels(column: np.ndarray, k: int, largest: int | None = None) -> np.ndarray:
    """The groups of an optimal partition of one column, one label per record.

    >>> optimal_labels(np.array([1.0, 9.0, 2.0, 8.0, 1.5]), k=2).tolist()
    [0, 1, 0, 1, 0]
    """
    labels, _ = best_cut(column.reshape(-1, 1), np.argsort(column, kind="stable"), k, largest)
    return numbered_by_appearance(labels)


def optimal_error(column: np.ndarray, k: int, largest: int | None = None) -> float:
    """The least squared error with which one column can be microaggregated."""
    _, error = best_cut(column.reshape(-1, 1), np.argsort(column, kind="stable"), k, largest)
    return error


@solver(NoOptions)
def solve(problem: Problem, options: NoOptions, context: SearchContext) -> Partition:
    """Find the optimum; the problem may have one attribute that varies, not more.

    >>> solution = solve(Problem(np.array([[1.0], [9.0], [2.0], [8.0], [1.5]]), k=2))
    >>> solution.labels.tolist(), solution.value, solution.optimal
    ([0, 1, 0, 1, 0], 1.0, True)
    """
    varying = np.flatnonzero((problem.points != problem.points[0]).any(axis=0))
    if varying.size > 1:
        raise InputError(
            f"method 'univariate' takes one column and there are {varying.size}; give each its own group "
            f"with {parameter('groups')}, or use method 'projection'"
        )
    run = context.run()
    column = problem.points[:, varying[0] if varying.size else 0]
    labels = optimal_labels(column, problem.k, problem.largest)
    return Partition.constructed(problem, labels, run, optimal=True)
