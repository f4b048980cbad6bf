"""Compiles the kernels of cell suppression on a tiny table."""

import numpy as np

from shoal.search import Budget, Seeds, silent
from shoal.tables.methods import METHODS
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import audit


def warm_up() -> None:
    """Run every method once, on a table that is audited too."""
    rng = np.random.default_rng(0)
    table = Table.from_matrix(rng.uniform(1.0, 100.0, (6, 6)))
    cells = np.flatnonzero(table.internal)[[0, 8, 16, 23]]
    problem = Problem.of(table, cells)
    for name, method in METHODS.items():
        options = {"patience": 3} if name in ("gensup", "heurgene") else None
        found = method.solve(problem, options, budget=Budget(iterations=40), seeds=Seeds(0), observer=silent)
        audit(problem, found.complementary)
