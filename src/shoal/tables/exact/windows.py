"""Improving a pattern part by part: most of it stays, a window of it is solved again as a small integer programme.

A large neighbourhood search in the manner of local branching (Fischetti and Lodi 2003). The inequalities of the
relaxation, with the cells that stay moved to the right-hand side, leave a programme of a few hundred cells; what it returns
is audited, and inequalities that an unsafe answer violates are added until the answer is safe or no longer cheaper.
"""

from collections.abc import Callable

import numpy as np

from shoal.runtime import Run
from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs, solve_within
from shoal.runtime.randomness import below
from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.model.sparse_rows import SparseRows
from shoal.tables.problem import Problem

# Cells of the pattern that are solved again at once: fewest, at first, most.
_RELEASED = (15, 40, 70)
# Cells may come in whose reduced cost is at most this share of the mean cost in the pattern.
_NEAR = 0.06
_ROUNDS = 5
_NODES = 100
# A window counts as this many units of work.
WORK = 100


class Windows:
    """The inequalities over the cells that may be hidden here, and the way to solve a part of them."""

    def __init__(
        self,
        problem: Problem,
        rows: Callable[[np.ndarray], Inequalities],
        lacking: Callable[[np.ndarray, np.ndarray], Inequalities],
        mend: Callable[[np.ndarray], np.ndarray | None],
        x: np.ndarray,
        reduced: np.ndarray,
        pattern: np.ndarray,
    ) -> None:
        """``rows`` writes the known inequalities over given cells, ``lacking`` those that an unsafe pattern violates;
        ``mend`` makes a pattern safe.
        """
        typical = float(problem.cost[pattern].mean()) if pattern.size else 0.0
        near = problem.candidates & ((x > 1e-6) | (reduced <= _NEAR * typical))
        self.problem = problem
        self.cells = np.union1d(np.flatnonzero(near), pattern)
        self._lacking = lacking
        self._mend = mend
        self.size = _RELEASED[1]
        self._place = np.full(problem.table.cells, -1, dtype=np.int64)
        self._place[self.cells] = np.arange(self.cells.size)
        self._matrix, self._rhs = self._sparse(rows(self.cells))

    def _sparse(self, rows: Inequalities) -> tuple[SparseRows, np.ndarray]:
        starts = np.concatenate([[0], np.cumsum([cells.size for cells in rows.cells])]).astype(np.int64)
        index = np.concatenate(rows.cells) if len(rows) else np.empty(0, dtype=np.int64)
        values = np.concatenate(rows.values) if len(rows) else np.empty(0)
        return (
            SparseRows(starts, self._place[index], values, self.cells.size),
            np.array(rows.rhs, dtype=float),
        )

    def _add(self, rows: Inequalities) -> None:
        matrix, rhs = self._sparse(rows)
        self._matrix = self._matrix.above(matrix)
        self._rhs = np.concatenate([self._rhs, rhs])

    def release(self, pattern: np.ndarray, rng: np.ndarray) -> np.ndarray:
        """Cells of the pattern that hang together: grown from one of them along the relations they share."""
        size = self.size
        shared = abs(self.problem.table.rows.of_columns(pattern))
        sharing = shared.transposed()
        chosen = np.zeros(pattern.size, dtype=bool)
        chosen[below(rng, pattern.size)] = True
        while chosen.sum() < min(size, pattern.size):
            touched = shared @ chosen.astype(float) > 0
            near = np.flatnonzero((sharing @ touched.astype(float) > 0) & ~chosen)
            if near.size == 0:
                near = np.flatnonzero(~chosen)
            for _ in range(min(8, near.size, size - int(chosen.sum()))):
                chosen[near[below(rng, near.size)]] = True
        return pattern[chosen]

    def solve(self, pattern: np.ndarray, released: np.ndarray, run: Run) -> np.ndarray | None:
        """A cheaper safe pattern that keeps all but the released cells, or ``None`` if none is found."""
        problem = self.problem
        cost = problem.total_cost(pattern)
        stays = np.setdiff1d(pattern, released)
        kept = np.zeros(self.cells.size, dtype=bool)
        kept[self._place[stays]] = True
        found = pattern
        for _ in range(_ROUNDS):
            if run.stopped:
                return None
            chosen, solved = self._programme(kept, pattern, run)
            found = np.union1d(stays, chosen)
            if problem.total_cost(found) >= cost - 1e-9 * max(1.0, cost):
                self._resize(1.15 if solved else 0.8)
                return None
            rows = self._lacking(found, self.cells)
            if len(rows) == 0:
                self._resize(1.05 if solved else 0.9)
                return found
            self._add(rows)
        self._resize(0.9)
        return self._mend(found)

    def _resize(self, factor: float) -> None:
        self.size = int(min(_RELEASED[2], max(_RELEASED[0], round(factor * self.size))))

    def _programme(self, fixed: np.ndarray, pattern: np.ndarray, run: Run) -> tuple[np.ndarray, bool]:
        # The cells chosen besides those kept, and whether they are the best choice.
        import highspy

        rhs = self._rhs - self._matrix @ fixed.astype(float)
        open_ = np.flatnonzero(rhs > 1e-7)
        matrix = self._matrix.of_rows(open_).transposed()
        used = np.flatnonzero((np.diff(matrix.indptr) > 0) & ~fixed)
        if open_.size == 0 or used.size == 0:
            return np.empty(0, dtype=np.int64), True
        matrix = matrix.of_rows(used)
        model = programme(
            self.problem.cost[self.cells[used]],
            np.zeros(used.size),
            np.ones(used.size),
            (matrix.indptr, matrix.indices, matrix.data),
            rhs[open_],
            np.full(open_.size, np.inf),
            by="columns",
            whole=True,
        )
        left = run.remaining().seconds
        solver = quiet_highs(model, mip_max_nodes=_NODES, mip_rel_gap=1e-6)
        known = highspy.HighsSolution()
        known.col_value = list(np.isin(self.cells[used], pattern).astype(float))
        solver.setSolution(known)
        solve_within(solver, run, None if left is None else max(0.05, min(5.0, left)))
        values = np.array(solver.getSolution().col_value)
        if values.size != used.size:
            return np.setdiff1d(pattern, self.cells[fixed]), False
        return self.cells[used[values > 0.5]], is_optimal(solver)
