"""Groupings that need no search: one group, singletons, and groups built from correlations.

Correlated attributes in one group lose little but let records be linked; spread over different groups they make the groups'
clusterings agree, which loses more and links less (Nin, Herranz and Torra, 2008).
"""

from collections.abc import Callable, Iterable

import numpy as np
from pydantic import Field

from shoal.microdata.grouping.bounds import lower_bound
from shoal.microdata.grouping.evaluator import Evaluator
from shoal.microdata.grouping.problem import GroupingProblem, Partition, canonical
from shoal.microdata.grouping.solution import Grouping
from shoal.runtime import StopReason
from shoal.runtime.solver import NoOptions, Options, SearchContext, solver


class SizeOptions(Options):
    """Options of ``correlated`` and ``uncorrelated``."""

    size: int | None = Field(
        default=None, ge=1, description="attributes in a group; none tries all sizes and takes the best score"
    )


def correlations(points: np.ndarray) -> np.ndarray:
    """Absolute correlations of the columns; 0 with a constant one."""
    centred = points - points.mean(axis=0)
    spread = np.sqrt(np.square(centred).sum(axis=0))
    varying = spread > 1e-12 * max(1.0, float(np.abs(points).max()))
    unit = np.where(varying, centred / np.where(varying, spread, 1.0), 0.0)
    matrix: np.ndarray = np.abs(unit.T @ unit)
    return matrix


def correlated_groups(points: np.ndarray, size: int) -> list[list[int]]:
    """Groups of this size (the last may be smaller), each begun by the closest pair left and grown by correlation.

    >>> generator = np.random.default_rng(0)
    >>> a, b = generator.normal(size=(2, 50))
    >>> correlated_groups(np.column_stack([a, b, a + 0.1 * b, b - 0.1 * a]), 2)
    [[1, 3], [0, 2]]
    """
    matrix = correlations(points)
    left = list(range(points.shape[1]))
    groups = []
    while left:
        if size == 1 or len(left) == 1:
            group = [left[0]]
        else:
            pairs = [(-matrix[a, b], a, b) for i, a in enumerate(left) for b in left[i + 1 :]]
            group = list(min(pairs)[1:])
        while len(group) < min(size, len(left)):
            others = [attribute for attribute in left if attribute not in group]
            group.append(min(others, key=lambda other: (-float(matrix[other, group].mean()), other)))
        groups.append(sorted(group))
        left = [attribute for attribute in left if attribute not in group]
    return groups


def uncorrelated_groups(points: np.ndarray, size: int) -> list[list[int]]:
    """Groups of about this size, over which blocks of correlated attributes are dealt out one by one.

    >>> generator = np.random.default_rng(0)
    >>> a, b = generator.normal(size=(2, 50))
    >>> uncorrelated_groups(np.column_stack([a, b, a + 0.1 * b, b - 0.1 * a]), 2)
    [[0, 1], [2, 3]]
    """
    number = -(-points.shape[1] // size)
    groups: list[list[int]] = [[] for _ in range(number)]
    for block in correlated_groups(points, number):
        for place, attribute in enumerate(block):
            groups[place].append(attribute)
    return [sorted(group) for group in groups if group]


@solver(NoOptions)
def solve_single(problem: GroupingProblem, options: NoOptions, context: SearchContext) -> Grouping:
    """All attributes together: classic microaggregation, for which k holds."""
    return _best_of(problem, [[list(range(problem.n))]], context)


@solver(NoOptions)
def solve_univariate(problem: GroupingProblem, options: NoOptions, context: SearchContext) -> Grouping:
    """Every attribute on its own: the least loss and the least protection."""
    return _best_of(problem, [[[attribute] for attribute in range(problem.n)]], context)


@solver(SizeOptions)
def solve_correlated(problem: GroupingProblem, options: SizeOptions, context: SearchContext) -> Grouping:
    """Highly correlated attributes together."""
    return _best_of(problem, _by_size(problem, options, correlated_groups), context)


@solver(SizeOptions)
def solve_uncorrelated(problem: GroupingProblem, options: SizeOptions, context: SearchContext) -> Grouping:
    """Highly correlated attributes in different groups."""
    return _best_of(problem, _by_size(problem, options, uncorrelated_groups), context)


def _by_size(
    problem: GroupingProblem, options: SizeOptions, build: Callable[[np.ndarray, int], list[list[int]]]
) -> list[list[list[int]]]:
    n = problem.n
    least = min(2, n)
    sizes = range(least, max(least + 1, n)) if options.size is None else [min(options.size, n)]
    return [build(problem.points, size) for size in sizes]


def _best_of(
    problem: GroupingProblem, groupings: Iterable[list[list[int]]], context: SearchContext
) -> Grouping:
    run = context.run()
    partitions: list[Partition] = list(dict.fromkeys(canonical(groups) for groups in groupings))
    with Evaluator(problem, threads=context.threads) as evaluator:
        values = [score.value for score in evaluator.scores(partitions)]
        value, optimal = min(values), problem.n == 1
        run.spend(len(partitions))
        run.report(value, bound=value if optimal else min(value, lower_bound(problem)))
        run.finish(StopReason.OPTIMAL if optimal else StopReason.ITERATIONS)
        best = partitions[values.index(value)]
        return evaluator.grouping(best, run, optimal=optimal, evaluations=len(partitions))
