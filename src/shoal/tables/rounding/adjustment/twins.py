"""Sensitive cells that change by the same in every table, such as one and the total of which it is all."""

import numpy as np

from shoal.tables.model.reduction import ties
from shoal.tables.problem import Problem


def twins(problem: Problem, moves: np.ndarray) -> list[np.ndarray]:
    """The places of sensitive cells that change alike, if only the cells that ``moves`` says can change.

    >>> from shoal.tables.model.table import Table
    >>> table = Table.from_matrix([[5.0, 0.0, 0.0], [3.0, 7.0, 8.0], [2.0, 9.0, 4.0]])
    >>> problem = Problem.of(table, [table.find("1", "1"), table.find("2", "2"), table.find("1", "total")])
    >>> [group.tolist() for group in twins(problem, table.values != 0)]
    [[0, 2], [1]]
    """
    found = ties(problem.table.rows, moves)
    group, turned = found.group[problem.sensitive], found.sign[problem.sensitive] < 0
    names = np.where(group < 0, -1 - np.arange(group.size), 2 * group + turned)
    _, first, which = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(first[which], kind="stable")
    return np.split(order, np.flatnonzero(np.diff(first[which][order])) + 1) if order.size else []
