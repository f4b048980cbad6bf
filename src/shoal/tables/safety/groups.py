"""Whole groups in one cell: where a total is hidden as well, a cell may fall and its group still be known to be in it.

What counts is how many others of the group there may be: how far the cells beside can rise together.
"""

from collections.abc import Sequence

import numpy as np

from shoal.tables.model.count_rules import InOneCell
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


def with_room_beside(problem: Problem, groups: Sequence[InOneCell]) -> Problem:
    """The problem in which one cell beside each of these groups is sensitive, too, and must be able to rise.

    Whatever becomes of the total, there may be others then.
    """
    table = problem.table
    usable = problem.candidates | problem.is_sensitive
    # What lies in an empty total can hardly rise.
    empty = np.zeros(table.cells, dtype=bool)
    for place in range(table.relations):
        cells, signs = table.relation(place), table.signs_of(place)
        empty[cells] |= not table.values[cells[signs < 0]].any()
    upper = dict(zip(problem.sensitive.tolist(), problem.upper.tolist(), strict=True))
    for group in groups:
        able = [cell for cell in group.beside if usable[cell]]
        if able:
            cell = min(able, key=lambda one: (bool(empty[one]), one not in upper, float(table.values[one])))
            upper[cell] = max(upper.get(cell, 0.0), group.others - float(table.values[cell]))
    more = np.array([cell for cell in upper if not problem.is_sensitive[cell]], dtype=np.int64)
    nothing = np.zeros(more.size)
    sensitive = np.concatenate([problem.sensitive, more])
    return problem.with_changes(
        sensitive=sensitive,
        lower=np.concatenate([problem.lower, nothing]),
        upper=np.array([upper[cell] for cell in sensitive.tolist()], dtype=np.float64),
        sliding=np.concatenate([problem.sliding, nothing]),
    )
