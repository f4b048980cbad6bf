"""Answers in whole numbers made to meet further inequalities.

What refuses an answer shows more when the answer is mended and refused again: inequalities that no answer of a whole
programme would show for many rounds, at a fraction of their work. Mending at once takes the cells that meet most for their
cost; mending well solves small programmes over the cells of the inequalities that are not met and hidden ones that could be
given up for them, which leads to good patterns.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.runtime import Run
from shoal.runtime.kernels import kernel
from shoal.runtime.linear_programmes import programme, quiet_highs, solve_within
from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.model.sparse_rows import SparseRows, components
from shoal.tables.problem import Problem

# A part is solved to this share of its cost, with so many nodes at most.
_NEAR, _NODES = 0.005, 20
# What lacks less counts as met, as for the solver.
_MET = 1e-7
# So many steps of the simplex method are one unit of work.
PER_UNIT = 50
# Cells that are taken together meet at least this share of what the best one meets for its cost.
_NEARLY_BEST = 0.6


class _Entries(NamedTuple):
    """A sparse matrix by rows or by columns."""

    starts: np.ndarray
    places: np.ndarray
    values: np.ndarray


@kernel
def cover(
    rows: _Entries,
    columns: _Entries,
    lacking: np.ndarray,
    price: np.ndarray,
    dearest: np.ndarray,
    chosen: np.ndarray,
) -> Any:
    """Choose further cells until no row lacks anything (or no cell helps), then give up the dearest that are not needed.

    ``lacking`` is what each row lacks with the cells ``chosen`` so far, both brought up to date. In a pass the cell that meets
    most for its price is taken, and others nearly as good that share no row with those taken in it. ``dearest`` is the order in
    which cells are given up.
    """
    cells, count = price.shape[0], lacking.shape[0]
    score = np.zeros(cells)
    touched = np.empty(cells, dtype=np.int64)
    taken = np.zeros(count, dtype=np.int64)
    number = 0
    while True:
        number += 1
        size = 0
        for r in range(count):
            if lacking[r] <= _MET:
                continue
            for k in range(rows.starts[r], rows.starts[r + 1]):
                j = rows.places[k]
                if chosen[j] == 0 and rows.values[k] > 0.0:
                    if score[j] == 0.0:
                        touched[size] = j
                        size += 1
                    score[j] += min(rows.values[k], lacking[r])
        if size == 0:
            break
        best = 0.0
        for i in range(size):
            best = max(best, score[touched[i]] / price[touched[i]])
        for least in (best, _NEARLY_BEST * best):
            for i in range(size):
                j = touched[i]
                if chosen[j] != 0 or score[j] / price[j] < least:
                    continue
                alone = True
                for k in range(columns.starts[j], columns.starts[j + 1]):
                    if taken[columns.places[k]] == number:
                        alone = False
                        break
                if alone:
                    chosen[j] = 1
                    for k in range(columns.starts[j], columns.starts[j + 1]):
                        lacking[columns.places[k]] -= columns.values[k]
                        taken[columns.places[k]] = number
        for i in range(size):
            score[touched[i]] = 0.0
    for j in dearest:
        if chosen[j] == 0:
            continue
        needed = False
        for k in range(columns.starts[j], columns.starts[j + 1]):
            if columns.values[k] > 0.0 and lacking[columns.places[k]] + columns.values[k] > _MET:
                needed = True
                break
        if not needed:
            chosen[j] = 0
            for k in range(columns.starts[j], columns.starts[j + 1]):
                lacking[columns.places[k]] += columns.values[k]


class KnownRows:
    """All inequalities found so far over some columns; ``work`` is what the last mending took."""

    def __init__(self, problem: Problem, columns: np.ndarray) -> None:
        self.problem = problem
        self.columns = columns
        self.work = 0
        self._place = np.full(problem.table.cells, -1, dtype=np.int64)
        self._place[columns] = np.arange(columns.size)
        none = np.empty(0, dtype=np.int64)
        self._matrix = SparseRows(np.zeros(1, dtype=np.int64), none, np.empty(0), columns.size)
        self._rhs = np.empty(0)

    def add(self, rows: Inequalities) -> None:
        """Append inequalities over the columns."""
        if not len(rows):
            return
        starts = np.concatenate([[0], np.cumsum([cells.size for cells in rows.cells])]).astype(np.int64)
        index, values = self._place[np.concatenate(rows.cells)], np.concatenate(rows.values)
        self._matrix = self._matrix.above(SparseRows(starts, index, values, self.columns.size))
        self._rhs = np.concatenate([self._rhs, np.array(rows.rhs, dtype=float)])

    def covered(self, pattern: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The pattern with cells added at once until it meets all that can be met, and without those not needed then.

        Cells that the point ``x`` chooses are preferred.
        """
        self.work = 1
        chosen = np.zeros(self.columns.size, dtype=np.uint8)
        chosen[self._place[pattern]] = 1
        matrix = self._matrix
        by_column = matrix.transposed()
        lacking = self._rhs - matrix @ chosen.astype(float)
        price = self.problem.cost[self.columns] * (1.05 - x[self.columns]) + 1e-9
        cover(
            _Entries(matrix.indptr, matrix.indices, matrix.data),
            _Entries(by_column.indptr, by_column.indices, by_column.data),
            lacking,
            price,
            np.argsort(-price, kind="stable"),
            chosen,
        )
        return self.columns[chosen != 0]

    def mended(self, pattern: np.ndarray, run: Run) -> np.ndarray | None:
        """The pattern changed around the inequalities that it does not meet, at little cost, so that it meets all of them.

        ``None`` if that takes cells further away, or the run stopped.
        """
        self.work = 1
        chosen = np.zeros(self.columns.size, dtype=bool)
        chosen[self._place[pattern]] = True
        broken = np.flatnonzero(self._rhs - self._matrix @ chosen.astype(float) > _MET)
        if broken.size == 0:
            return pattern
        free = self._around(broken, chosen)
        fixed = np.where(free, 0.0, chosen)
        left = self._rhs - self._matrix @ fixed
        # A row can be broken by the free cells only if the least they give is not enough.
        of_free = free[self._matrix.indices].astype(float)
        at = self._matrix.at
        least = np.bincount(at, np.minimum(self._matrix.data, 0.0) * of_free, self._rhs.size)
        places = np.flatnonzero(left - least > _MET)
        matrix, left = self._matrix.of_rows(places), left[places]
        for part in _parts(matrix, free):
            if run.stopped:
                return None
            values = self._solve(matrix, left, part, run)
            if values is None:
                return None
            chosen[part] = values
        return self.columns[chosen]

    def _around(self, broken: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The cells of broken rows, and chosen ones that share a row with them."""
        matrix = self._matrix
        free = np.zeros(self.columns.size, dtype=bool)
        free[matrix.of_rows(broken).indices] = True
        touched = np.zeros(matrix.shape[0])
        touched[matrix.at[free[matrix.indices]]] = 1.0
        near = matrix.indices[touched[matrix.at] > 0]
        free[near[chosen[near]]] = True
        return free

    def _solve(self, matrix: SparseRows, left: np.ndarray, part: np.ndarray, run: Run) -> np.ndarray | None:
        inside = np.zeros(self.columns.size, dtype=bool)
        inside[part] = True
        rows = np.unique(matrix.at[inside[matrix.indices]])
        own = matrix.of_rows(rows).of_columns(part)
        model = programme(
            self.problem.cost[self.columns[part]],
            np.zeros(part.size),
            np.ones(part.size),
            (own.indptr, own.indices, own.data),
            left[rows],
            np.full(rows.size, np.inf),
            whole=True,
        )
        solver = quiet_highs(model, mip_max_nodes=_NODES, mip_rel_gap=_NEAR, mip_heuristic_effort=0.02)
        solve_within(solver, run, run.remaining().seconds)
        info = solver.getInfo()
        self.work += max(0, int(info.simplex_iteration_count)) // PER_UNIT
        values = np.array(solver.getSolution().col_value)
        if values.size != part.size or not np.isfinite(info.objective_function_value):
            return None
        made: np.ndarray = values > 0.5
        # A solver may stop with what meets no row.
        return made if (left[rows] - own @ made.astype(float) <= 1e-6).all() else None


def _parts(matrix: SparseRows, free: np.ndarray) -> list[np.ndarray]:
    """The free cells that rows have, in parts that share no row."""
    kept = free[matrix.indices]
    at, cells = matrix.at[kept], matrix.indices[kept]
    cells, place = np.unique(cells, return_inverse=True)
    root = components(place, cells.size + at, cells.size + matrix.shape[0])[: cells.size]
    order = np.argsort(root, kind="stable")
    cuts = np.flatnonzero(np.diff(root[order])) + 1
    return [np.sort(part) for part in np.split(cells[order], cuts)] if cells.size else []
