"""The optimum of tiny problems, by dynamic programming over all sets of records."""

from itertools import combinations

import numpy as np

from shoal.microdata.microaggregation.problem import Problem


def least_error(problem: Problem) -> float:
    """The least squared error over all partitions the problem allows, whatever the sizes of their groups."""
    n = problem.n
    errors = {}
    for size in range(problem.k, min(n, problem.largest or n) + 1):
        for members in combinations(range(n), size):
            records = problem.points[list(members)]
            errors[sum(1 << i for i in members)] = float(np.square(records - records.mean(axis=0)).sum())
    best = {0: 0.0}
    for covered in range(1, 1 << n):
        lowest = covered & -covered
        choices = [
            error + best[covered ^ group]
            for group, error in errors.items()
            if group & lowest and group & covered == group and covered ^ group in best
        ]
        if choices:
            best[covered] = min(choices)
    return best[(1 << n) - 1]
