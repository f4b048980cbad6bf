"""Slow, obvious truths about suppression patterns: linear programmes and an integer programme by SciPy."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import bmat, csr_matrix, eye

from shoal.tables.model.table import Table
from shoal.tables.problem import DOWN, UP, WIDTH, Problem


def interval(problem: Problem, hidden: np.ndarray, cell: int) -> tuple[float, float]:
    """What an attacker can compute for a cell, by two linear programmes in the values themselves."""
    table = problem.table
    cells = np.flatnonzero(hidden)
    matrix = table.matrix[:, cells]
    right = matrix @ table.values[cells]
    bounds = [(problem.low[c], None if np.isinf(problem.high[c]) else problem.high[c]) for c in cells]
    goal = np.zeros(cells.size)
    goal[np.searchsorted(cells, cell)] = 1.0
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(sign * goal, A_eq=matrix, b_eq=right, bounds=bounds, method="highs")
        if found.status == 3:
            ends.append(-sign * np.inf)
        else:
            assert found.status == 0, found.message
            ends.append(sign * found.fun)
    return ends[0], ends[1]


def optimum(problem: Problem) -> float:
    """The least cost of a safe pattern, by an integer programme with one change of the table per requirement."""
    table, wanted = problem.table, problem.requirements
    requirements = [
        (int(c), int(k), float(n), -1) for c, k, n in zip(wanted.cell, wanted.kind, wanted.need, strict=True)
    ]
    for number in range(len(problem.insiders)):
        more = problem.against_insider(number)
        requirements += [
            (int(c), int(k), float(n), number)
            for c, k, n in zip(more.cell, more.kind, more.need, strict=True)
        ]
    n = table.cells
    far = np.full(n, 4.0 * np.abs(table.values).sum())
    if table.internal[problem.candidates | problem.is_sensitive].all():
        # With published totals no cell can change by more than its row or column holds; small bounds keep the
        # integer programme honest.
        for place in range(table.relations):
            cells = table.relation(place)
            far[cells] = np.minimum(far[cells], np.abs(table.values[cells]).sum())
    blocks: list[tuple[csr_matrix, float, float]] = []
    copies = sum(2 if kind == WIDTH else 1 for _, kind, _, _ in requirements)
    columns = n * (1 + copies)
    low, high = np.zeros(columns), np.ones(columns)
    high[:n] = (problem.candidates | problem.is_sensitive).astype(float)
    low[:n] = problem.is_sensitive.astype(float)
    low[n:], high[n:] = -np.tile(far, copies), np.tile(far, copies)
    place = 0

    def at(copy: int) -> slice:
        return slice(n * (1 + copy), n * (2 + copy))

    for cell, kind, need, insider in requirements:
        goal = np.zeros(columns)
        for direction in (UP, DOWN) if kind == WIDTH else (kind,):
            part = at(place)
            low[part], high[part] = -np.minimum(problem.down, far), np.minimum(problem.up, far)
            if insider >= 0:
                low[part][problem.insiders[insider]] = 0.0
                high[part][problem.insiders[insider]] = 0.0
            pick = csr_matrix(
                (np.ones(n), (np.arange(n), np.arange(part.start, part.stop))), shape=(n, columns)
            )
            blocks.append((table.matrix @ pick, 0.0, 0.0))
            choose = csr_matrix((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, columns))
            up = csr_matrix(np.diag(np.minimum(problem.up, far)))
            down = csr_matrix(np.diag(np.minimum(problem.down, far)))
            blocks.append((pick - up @ choose, -np.inf, 0.0))
            blocks.append((pick + down @ choose, 0.0, np.inf))
            goal[part.start + cell] = 1.0 if direction == UP else -1.0
            place += 1
        blocks.append((csr_matrix(goal[None, :]), need, np.inf))
    matrix = bmat([[block] for block, _, _ in blocks], format="csr")
    lower = np.concatenate([np.full(block.shape[0], low_) for block, low_, _ in blocks])
    upper = np.concatenate([np.full(block.shape[0], high_) for block, _, high_ in blocks])
    cost = np.zeros(columns)
    cost[:n] = np.where(problem.is_sensitive, 0.0, problem.cost)
    whole = np.zeros(columns)
    whole[:n] = 1.0
    found = milp(
        cost,
        constraints=LinearConstraint(matrix, lower, upper),
        bounds=Bounds(low, high),
        integrality=whole,
        # With presolve this solver has been seen to return a pattern that is not the cheapest.
        options={"mip_rel_gap": 0.0, "presolve": False},
    )
    assert found.status in (0, 2), found.message
    if found.status == 2:
        return np.inf
    chosen = np.flatnonzero((found.x[:n] > 0.5) & problem.candidates)
    return problem.total_cost(chosen)


def random_plane(
    rng: np.random.Generator, rows: int, columns: int, sensitive: int, **settings: object
) -> Problem:
    """A plain two-dimensional problem with uniform values."""
    table = Table.from_matrix(rng.uniform(0.0, 1000.0, (rows, columns)))
    inside = np.flatnonzero(table.internal)
    cells = rng.choice(inside, sensitive, replace=False)
    return Problem.of(table, cells, **settings)  # type: ignore[arg-type]


def cube(rng: np.random.Generator, size: int = 3, sensitive: int = 2) -> Problem:
    """A three-dimensional problem: no network."""
    inner = rng.integers(1, 100, (size, size, size)).astype(float)
    full = inner
    for axis in range(3):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    index = np.arange(full.size).reshape(full.shape)
    relations = []
    for axis in range(3):
        lines = np.moveaxis(index, axis, -1).reshape(-1, size + 1)
        relations += [[(int(c), 1.0) for c in line[:-1]] + [(int(line[-1]), -1.0)] for line in lines]
    table = Table.from_relations(full.ravel(), relations, {"cell": np.arange(full.size).astype(object)})
    inside = np.flatnonzero(table.internal)
    return Problem.of(table, rng.choice(inside, sensitive, replace=False), protection=0.15)


def hierarchy(rng: np.random.Generator, sensitive: int = 3) -> Problem:
    """A two-dimensional problem with subtotal rows: a network although subtotals are in three relations."""
    leaves = rng.integers(1, 200, (6, 4)).astype(float)
    rows = [
        leaves[0:3].sum(0),
        leaves[0],
        leaves[1],
        leaves[2],
        leaves[3:6].sum(0),
        leaves[3],
        leaves[4],
        leaves[5],
    ]
    body = np.stack([*rows, leaves.sum(0)])
    full = np.concatenate([body, body.sum(axis=1, keepdims=True)], axis=1)
    index = np.arange(full.size).reshape(full.shape)
    relations = [[(int(c), 1.0) for c in line[:-1]] + [(int(line[-1]), -1.0)] for line in index]
    for j in range(5):
        relations.append([(int(index[0, j]), -1.0)] + [(int(index[i, j]), 1.0) for i in (1, 2, 3)])
        relations.append([(int(index[4, j]), -1.0)] + [(int(index[i, j]), 1.0) for i in (5, 6, 7)])
        relations.append([(int(index[8, j]), -1.0)] + [(int(index[i, j]), 1.0) for i in (0, 4)])
    table = Table.from_relations(full.ravel(), relations, {"cell": np.arange(full.size).astype(object)})
    inside = np.flatnonzero(table.internal)
    every = np.ones(table.cells, dtype=bool)
    return Problem.of(table, rng.choice(inside, sensitive, replace=False), protection=0.2, candidates=every)


__all__ = ["cube", "eye", "hierarchy", "interval", "optimum", "random_plane"]
