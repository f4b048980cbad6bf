"""Bringing given groups within the sizes a problem allows."""

import numpy as np

from shoal.errors import InputError
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import group_means, numbered_by_appearance


def within_largest(problem: Problem, labels: np.ndarray) -> np.ndarray:
    """The groups, with the outermost records of too large ones moved to the nearest groups that have room.

    >>> problem = Problem([[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]], k=2, largest=3)
    >>> within_largest(problem, np.array([0, 0, 0, 0, 1, 1])).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    largest = problem.largest
    sizes = np.bincount(labels)
    if largest is None or sizes.max() <= largest:
        return labels
    labels = labels.copy()
    means = group_means(problem.points, labels)
    for group in np.flatnonzero(sizes > largest):
        members = np.flatnonzero(labels == group)
        away = np.square(problem.points[members] - means[group]).sum(axis=1)
        for record in members[np.argsort(-away, kind="stable")][: len(members) - largest]:
            distance = np.square(means - problem.points[record]).sum(axis=1)
            distance[sizes >= largest] = np.inf
            to = int(distance.argmin())
            labels[record] = to
            sizes[group] -= 1
            sizes[to] += 1
    return labels


def checked_start(problem: Problem, start: np.ndarray | None) -> np.ndarray | None:
    """Labels to begin from, if there are any, numbered 0, 1, …; an ``InputError`` if they do not fit the problem."""
    if start is None:
        return None
    labels = np.asarray(start)
    if labels.shape != (problem.n,):
        raise InputError(f"the start has {labels.size} labels, but there are {problem.n} records")
    if not np.issubdtype(labels.dtype, np.integer):
        raise InputError("the labels of the start must be whole numbers")
    labels = numbered_by_appearance(labels)
    sizes = np.bincount(labels)
    if sizes.min() < problem.k:
        raise InputError(f"a group of the start has {sizes.min()} records, fewer than k = {problem.k}")
    if problem.largest is not None and sizes.max() > problem.largest:
        raise InputError(f"a group of the start has {sizes.max()} records, more than {problem.largest}")
    return labels
