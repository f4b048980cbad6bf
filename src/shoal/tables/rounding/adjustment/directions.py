"""The programme of an adjustment: changes of all cells, and for each sensitive one whether it rises or falls."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.search.linear_programmes import LinearProgramme, is_optimal, programme, quiet_highs
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem


@dataclass(frozen=True, eq=False)
class Directions:
    """Columns: the rise and the fall of each movable cell in units, then for each sensitive cell whether it rises.

    Everything is in units of the last decimal, so that on networks corners of the programme are figures with as many
    decimals as the table has.
    """

    problem: AdjustmentProblem
    cells: np.ndarray
    unit: float
    most: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, problem: AdjustmentProblem) -> "Directions":
        """The programme of a problem."""
        cells = np.flatnonzero(problem.movable)
        unit = problem.unit or _fair(problem)
        fall, rise = (room[cells] / unit for room in problem.room)
        # Beyond this nothing is gained: all that must move, moved the whole way through every cell.
        far = 2.0 * float(problem.up.sum() + problem.down.sum()) / unit + 1.0
        most = np.minimum(np.concatenate([rise, fall]), far)
        if problem.unit is not None:
            most = np.floor(most + 1e-9)
        weight = problem.weight[cells]
        return cls(problem, cells, unit, most, np.concatenate([weight, weight]) * unit)

    @property
    def place(self) -> np.ndarray:
        """Where each sensitive cell stands among the movable ones."""
        return np.searchsorted(self.cells, self.problem.protect.sensitive)

    @property
    def needs(self) -> tuple[np.ndarray, np.ndarray]:
        """How far sensitive cells must rise or fall, in units."""
        up, down = self.problem.up / self.unit, self.problem.down / self.unit
        return (up, down) if self.problem.unit is None else (np.rint(up), np.rint(down))

    def model(
        self, *, relaxed: bool, without: list[np.ndarray] | None = None, whole: bool = False
    ) -> LinearProgramme:
        """The programme; ``without`` are choices of directions that are not asked for again."""
        from scipy.sparse import csr_matrix, hstack, vstack

        problem, size, count = self.problem, self.cells.size, self.problem.size
        relations = problem.table.matrix[:, self.cells]
        sensitive = np.arange(count)
        up, down = self.needs
        rises = csr_matrix((np.ones(count), (sensitive, self.place)), shape=(count, size))
        nothing = csr_matrix((count, size))

        def scaled(by: np.ndarray) -> Any:
            return csr_matrix((by, (sensitive, sensitive)), shape=(count, count))

        top, bottom = self.most[self.place], self.most[size + self.place]
        other = list(without or [])
        signs = np.array([np.where(choice, -1.0, 1.0) for choice in other]).reshape(len(other), count)
        rows = [
            hstack([relations, -relations, csr_matrix((relations.shape[0], count))]),
            # It rises by what it must, and by nothing if it does not rise; the same for falling.
            hstack([rises, nothing, scaled(-up)]),
            hstack([rises, nothing, scaled(-top)]),
            hstack([nothing, rises, scaled(down)]),
            hstack([nothing, rises, scaled(bottom)]),
            hstack([csr_matrix((len(other), 2 * size)), csr_matrix(signs)]),
        ]
        none, inf = np.zeros(count), np.full(count, np.inf)
        fixed = np.zeros(relations.shape[0])
        differ = 1.0 - np.array([choice.sum() for choice in other], dtype=float)
        matrix = vstack(rows, format="csr")
        low = np.where(problem.can_fall, 0.0, 1.0)
        high = np.where(problem.can_rise, 1.0, 0.0)
        kinds = np.repeat([whole and not relaxed, not relaxed], [2 * size, count])
        return programme(
            np.concatenate([self.weight, none]),
            np.concatenate([np.zeros(2 * size), low]),
            np.concatenate([self.most, high]),
            (matrix.indptr, matrix.indices, matrix.data),
            np.concatenate([fixed, none, -inf, down, -inf, differ]),
            np.concatenate([fixed, inf, none, inf, bottom, np.full(len(other), np.inf)]),
            whole=kinds,
        )

    def chosen(self, values: np.ndarray) -> np.ndarray:
        """Which sensitive cells rise."""
        return values[2 * self.cells.size :] > 0.5

    def bounds(self, rises: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of all changes with these directions."""
        size, place = self.cells.size, self.place
        up, down = self.needs
        low, high = np.zeros(2 * size), self.most.copy()
        low[place[rises]], high[size + place[rises]] = up[rises], 0.0
        low[size + place[~rises]], high[place[~rises]] = down[~rises], 0.0
        return low, high

    def fixed(self, rises: np.ndarray, *, whole: bool = False) -> Any:
        """A solver for the changes once the directions are chosen."""
        from scipy.sparse import hstack

        relations = self.problem.table.matrix[:, self.cells]
        matrix = hstack([relations, -relations], format="csr")
        right = np.zeros(relations.shape[0])
        low, high = self.bounds(rises)
        parts = (matrix.indptr, matrix.indices, matrix.data)
        return quiet_highs(programme(self.weight, low, high, parts, right, right, whole=whole))

    def change(self, rises: np.ndarray) -> np.ndarray | None:
        """The cheapest change of every cell with these directions, in figures of the table; ``None`` if there is none."""
        solver = self.fixed(rises, whole=self.problem.unit is not None and self.problem.table.network is None)
        solver.run()
        if not is_optimal(solver):
            return None
        return self.as_change(np.array(solver.getSolution().col_value))

    def as_change(self, values: np.ndarray) -> np.ndarray:
        """The change of every cell from the first columns of a programme."""
        size = self.cells.size
        moved = values[:size] - values[size : 2 * size]
        found = np.zeros(self.problem.table.cells)
        if self.problem.unit is None:
            found[self.cells] = moved * self.unit
            return found
        per_one = round(1.0 / self.unit)
        found[self.cells] = np.rint(moved) / per_one
        return found


def _fair(problem: AdjustmentProblem) -> float:
    sizes = np.abs(problem.table.values[problem.table.values != 0])
    return float(np.median(sizes)) / 1024.0 if sizes.size else 1.0
