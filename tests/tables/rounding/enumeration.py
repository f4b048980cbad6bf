"""Small tables tried one by one: all roundings there are, and all true tables that somebody could hold possible."""

import numpy as np

from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem


def small_table(rng: np.random.Generator, kind: str, most: int = 9) -> Table:
    """A table of small counts: plain, with a subtotal, or of three dimensions."""
    if kind == "plane":
        rows, columns = ((2, 2), (2, 3))[int(rng.integers(2))]
        return Table.from_matrix(rng.integers(0, most, (rows, columns)).astype(float))
    if kind == "tree":
        # a + b = s, s + c = t: one dimension with a subtotal.
        a, b, c = rng.integers(0, most, 3).tolist()
        values = np.array([a, b, a + b, c, a + b + c], dtype=float)
        relations = [[(0, 1.0), (1, 1.0), (2, -1.0)], [(2, 1.0), (3, 1.0), (4, -1.0)]]
        return Table.from_relations(values, relations, {"cell": np.arange(5).astype(object)})
    full = rng.integers(0, most, (2, 2, 2)).astype(float)
    for axis in range(3):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    index = np.arange(27).reshape(3, 3, 3)
    relations = []
    for axis in range(3):
        for line in np.moveaxis(index, axis, -1).reshape(-1, 3):
            relations.append([(int(line[0]), 1.0), (int(line[1]), 1.0), (int(line[2]), -1.0)])
    return Table.from_relations(full.ravel(), relations, {"cell": np.arange(27).astype(object)})


def free_cells(table: Table) -> np.ndarray:
    """The cells from which all others follow."""
    return np.flatnonzero(table.internal)


def completed(table: Table, inner: np.ndarray) -> np.ndarray:
    """All cells of the tables whose inner cells are the rows of ``inner``."""
    known, values = set(free_cells(table).tolist()), np.zeros((inner.shape[0], table.cells))
    values[:, free_cells(table)] = inner
    while len(known) < table.cells:
        for place in range(table.relations):
            cells, signs = table.relation(place), table.signs_of(place)
            open_ = [i for i, cell in enumerate(cells.tolist()) if cell not in known]
            if len(open_) == 1:
                rest = [i for i in range(cells.size) if i != open_[0]]
                values[:, cells[open_[0]]] = -(values[:, cells[rest]] @ signs[rest]) / signs[open_[0]]
                known.add(int(cells[open_[0]]))
    return values


def boxed(table: Table, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Every table of whole numbers between the bounds, one in each row."""
    cells = free_cells(table)
    ranges = [np.arange(int(np.ceil(low[c])), int(np.floor(high[c])) + 1) for c in cells]
    inner = np.stack([grid.ravel() for grid in np.meshgrid(*ranges, indexing="ij")], axis=1).astype(float)
    every = completed(table, inner)
    return every[((every >= low - 1e-9) & (every <= high + 1e-9)).all(axis=1)]


def all_roundings(problem: RoundingProblem) -> np.ndarray:
    """Every table of multiples of the base within the steps, in multiples, one in each row."""
    values, base, steps = problem.table.values, problem.base, problem.steps
    least = np.floor(values / base) - (steps - 1)
    most = np.ceil(values / base) + (steps - 1)
    return boxed(problem.table, np.maximum(least, 0), most)


def possible(problem: RoundingProblem, multiples: np.ndarray) -> np.ndarray:
    """Every true table for somebody who sees the multiples, knows base and steps, and that counts are whole numbers."""
    seen, away = multiples * problem.base, problem.steps * problem.base - 1
    low = np.maximum(seen - away, problem.protect.low)
    return boxed(problem.table, low, np.minimum(seen + away, problem.protect.high))


def is_safe(protect: Problem, tables: np.ndarray) -> bool:
    """Whether the possible tables leave every sensitive cell as uncertain as its levels ask, for whoever knows some cells."""
    levels = list(zip(protect.sensitive, protect.lower, protect.upper, protect.sliding, strict=True))
    for known in (np.empty(0, dtype=int), *protect.insiders):
        left = tables[(tables[:, known] == protect.table.values[known]).all(axis=1)]
        for cell, lower, upper, width in levels:
            if cell in known:
                continue
            low, high, true = left[:, cell].min(), left[:, cell].max(), protect.table.values[cell]
            if low > true - lower + 1e-9 or high < true + upper - 1e-9 or high - low < max(width, 1.0) - 1e-9:
                return False
    return True


def best_rounding(problem: RoundingProblem) -> float | None:
    """The least cost of a safe rounding; ``None`` if there is none."""
    costs = [
        problem.cost(row)
        for row in all_roundings(problem)
        if is_safe(problem.protect, possible(problem, row))
    ]
    return min(costs, default=None)
