"""Whole groups in one cell, as the check of a pattern finds them: by linear programmes over all hidden cells."""

import numpy as np

from shoal.tables.problem import Problem
from shoal.tables.verify_unknowns import hidden_cells


def groups_disclosed(problem: Problem, complementary: np.ndarray) -> int:
    """Of how many groups everybody knows that nearly all are in one cell, though its total is hidden as well."""
    cells = hidden_cells(problem, complementary)
    gone = set(cells.tolist())
    doubtful = [group for group in problem.groups if group.total in gone and group.cell in gone]
    if not doubtful:
        return 0
    from scipy.optimize import linprog

    values, known = problem.table.values, 0
    for group in doubtful:
        beside = np.isin(cells, group.beside)
        found = linprog(
            -beside.astype(float),
            A_eq=problem.table.matrix[:, cells],
            b_eq=problem.table.matrix[:, cells] @ values[cells],
            bounds=np.stack([problem.low[cells], problem.high[cells]], axis=1),
        )
        shown = float(values[[cell for cell in group.beside if cell not in gone]].sum())
        unlimited = found.status == 3
        known += not unlimited and shown - float(found.fun) < group.others - 1e-6
    return known
