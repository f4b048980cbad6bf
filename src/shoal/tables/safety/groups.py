"""Whole groups in one cell: where a total is hidden as well, a cell may fall and its group still be known to be in it.

What counts is how many others of the group there may be: how far the cells beside can rise together.
"""

import numpy as np

from shoal.tables.problem import Problem

# So much work for each group; one that no whole table was found for by then counts as known.
_NODES = 2_000


def known_groups(problem: Problem, hidden: np.ndarray) -> np.ndarray:
    """The cells that everybody knows to have all of a group, but for fewer than there should be others."""
    doubtful = [group for group in problem.groups if hidden[group.total] and hidden[group.cell]]
    if not doubtful:
        return np.empty(0, dtype=np.int64)
    from scipy.optimize import Bounds, LinearConstraint, milp

    cells = np.flatnonzero(hidden)
    column = {int(cell): place for place, cell in enumerate(cells)}
    matrix = problem.table.matrix[:, cells]
    bounds = Bounds(np.ceil(-problem.down[cells] - 1e-9), np.floor(np.minimum(problem.up[cells], 1e9) + 1e-9))
    found = set()
    for group in doubtful:
        goal = np.zeros(cells.size)
        goal[column[group.total]], goal[column[group.cell]] = -1.0, 1.0
        solved = milp(
            goal,
            constraints=LinearConstraint(matrix, 0.0, 0.0),
            bounds=bounds,
            integrality=np.ones(cells.size),
            options={"node_limit": _NODES},
        )
        values = problem.table.values
        beside = float(values[group.total] - values[group.cell])
        if solved.x is None or beside - float(goal @ solved.x) < group.others - 1e-6:
            found.add(group.cell)
    return np.array(sorted(found), dtype=np.int64)
