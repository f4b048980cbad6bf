"""A lower bound on the score of every grouping, for any number of attributes.

Information loss and interval disclosure pull apart: a value close to its original is disclosed, one far from it is lost.
Whatever group a column is in, each of its values must pay one or the other, and the column as a whole loses at least
what the best univariate microaggregation loses. Linkage is taken to be 0.
"""

import numpy as np

from shoal.microdata.grouping.problem import GroupingProblem

# How the squared error is split between the two arguments; the best split of each column counts.
_SPLITS = np.linspace(0.0, 1.0, 11)


def lower_bound(problem: GroupingProblem) -> float:
    """What no grouping of the attributes can score below.

    >>> problem = GroupingProblem.of(np.array([[0.0], [1.0], [4.0], [9.0]]), k=2)
    >>> round(float(lower_bound(problem)), 2)
    13.27
    """
    weights = problem.scoring
    loss = 100.0 * weights.loss_weight / problem.sst if problem.sst > 0 else 0.0
    disclosure = 100.0 * weights.risk_weight / (problem.m * problem.n * len(problem.scoring.widths))
    total = 0.0
    for column in problem.points.T:
        together = loss * _least_error(column, min(problem.sizes))
        total += max(
            split * together + _cells(problem, column, (1.0 - split) * loss, disclosure) for split in _SPLITS
        )
    return total * (1.0 - 1e-9)


def _cells(problem: GroupingProblem, column: np.ndarray, loss: float, disclosure: float) -> float:
    """Each value on its own: how cheaply it can get out of how many intervals."""
    widths = np.array([0.0, *sorted(problem.scoring.widths)])
    # The nearest value outside an interval of width p around itself is r/(1+p); around the original, r ± p·r.
    reach = widths / (1.0 + widths) if problem.scoring.around == "protected" else widths
    distances = np.abs(column)[:, None] * reach
    inside = np.arange(widths.size - 1, -1, -1)
    return float((loss * np.square(distances) + disclosure * inside).min(axis=1).sum())


def _least_error(column: np.ndarray, smallest: int) -> float:
    """The squared error of the best clustering of one column into clusters of at least this size."""
    from shoal.microdata.microaggregation.construct.univariate import optimal_error

    if smallest < 2 or column.size < 2 * smallest:
        return 0.0 if smallest < 2 else float(np.square(column - column.mean()).sum())
    return float(optimal_error(column, smallest))
