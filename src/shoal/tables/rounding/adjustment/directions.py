"""The programme of an adjustment: changes of all cells, and for each sensitive one whether it rises or falls."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.runtime.linear_programmes import LinearProgramme, is_optimal, programme, quiet_highs
from shoal.tables.rounding.adjustment.last_decimals import whole_units
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem

#: Changes of so many units of the last decimal are beyond what programmes with choices tell apart.
MANY_UNITS = 1e6
#: Large figures that cost little each are added up: proofs need more digits than a solver usually looks at.
CLOSELY = dict.fromkeys(
    ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance"), 1e-09
)


@dataclass(frozen=True, eq=False)
class Directions:
    """Columns: the rise and the fall of each movable cell in units, then for each sensitive cell whether it rises.

    What they cost is ``scale`` times what the programme says.

    Everything is in units of the last decimal, so that on networks corners of the programme are figures with as many
    decimals as the table has. Where that would be too many for a solver to tell apart, the unit is a share of a usual figure,
    and changes are brought to the last decimal afterwards.
    """

    problem: AdjustmentProblem
    cells: np.ndarray
    unit: float
    most: np.ndarray
    weight: np.ndarray
    scale: float
    up: np.ndarray
    down: np.ndarray

    @classmethod
    def of(cls, problem: AdjustmentProblem) -> "Directions":
        """The programme of a problem."""
        up, down = _needed(problem)
        return cls._within(problem, problem.room, up, down)

    @classmethod
    def both_ways(cls, problem: AdjustmentProblem) -> "Directions":
        """The same with changes from which no sensitive cell is known too well, by those who know no cell themselves."""
        protect = problem.protect
        up, down = _needed(problem)
        up, down = np.maximum(up, protect.lower), np.maximum(down, protect.upper)
        return cls._within(problem, problem.room_both_ways, up, down)

    @classmethod
    def _within(
        cls, problem: AdjustmentProblem, room: tuple[np.ndarray, np.ndarray], up: np.ndarray, down: np.ndarray
    ) -> "Directions":
        cells = np.flatnonzero(problem.movable)
        unit = problem.unit or _fair(problem)
        # Beyond this nothing is gained: all that must move, moved the whole way through every cell.
        far = 2.0 * float(up.sum() + down.sum()) + unit
        most = np.minimum(np.concatenate([room[1][cells], room[0][cells]]), far)
        if problem.unit is not None and float(most.max(initial=0.0)) > MANY_UNITS * unit:
            unit = max(unit, _fair(problem))
        most = most / unit
        if unit == problem.unit:
            most, up, down = np.floor(most + 1e-9), np.rint(up / unit), np.rint(down / unit)
        else:
            up, down = up / unit, down / unit
        weight = problem.weight[cells] * unit
        # What a solver takes for nothing is the same for all programmes: here a usual cell costs one a unit.
        scale = float(np.median(weight)) if weight.size else 1.0
        return cls(problem, cells, unit, most, np.tile(weight / scale, 2), scale, up, down)

    @property
    def position(self) -> np.ndarray:
        """Where each sensitive cell stands among the movable ones."""
        return np.searchsorted(self.cells, self.problem.protect.sensitive)

    @property
    def fine(self) -> bool:
        """Whether the unit is the last decimal of the table."""
        return self.unit == self.problem.unit

    def model(
        self, *, relaxed: bool, without: list[np.ndarray] | None = None, whole: bool = False
    ) -> LinearProgramme:
        """The programme; ``without`` are choices of directions that are not asked for again."""
        from scipy.sparse import csr_matrix, hstack, vstack

        problem, size, count = self.problem, self.cells.size, self.problem.size
        relations = problem.table.matrix[:, self.cells]
        sensitive = np.arange(count)
        up, down = self.up, self.down
        rises = csr_matrix((np.ones(count), (sensitive, self.position)), shape=(count, size))
        nothing = csr_matrix((count, size))

        def scaled(by: np.ndarray) -> Any:
            return csr_matrix((by, (sensitive, sensitive)), shape=(count, count))

        top, bottom = self.most[self.position], self.most[size + self.position]
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

    def feasible(self, rises: np.ndarray) -> np.ndarray:
        """These directions, turned where only the other one has room."""
        size, place = self.cells.size, self.position
        can_rise, can_fall = self.up <= self.most[place], self.down <= self.most[size + place]
        return np.where(can_rise & can_fall, rises, can_rise)

    def chosen(self, values: np.ndarray) -> np.ndarray:
        """Which sensitive cells rise."""
        return values[2 * self.cells.size :] > 0.5

    def bounds(self, rises: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of all changes with these directions."""
        size, place = self.cells.size, self.position
        up, down = self.up, self.down
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
        return quiet_highs(programme(self.weight, low, high, parts, right, right, whole=whole), **CLOSELY)

    def change(self, rises: np.ndarray) -> np.ndarray | None:
        """The cheapest change of every cell with these directions, in figures of the table; ``None`` if there is none."""
        solver = self.fixed(rises, whole=self.fine and self.problem.table.network is None)
        solver.run()
        if not is_optimal(solver):
            return None
        size = self.cells.size
        values = np.array(solver.getSolution().col_value)
        moved = values[:size] - values[size:]
        found = np.zeros(self.problem.table.cells)
        if self.problem.unit is None:
            found[self.cells] = moved * self.unit
            return found
        per_one = round(1.0 / self.problem.unit)
        if self.fine:
            found[self.cells] = np.rint(moved) / per_one
            return found
        low, high = self.bounds(rises)
        ends = (
            (low[:size] - high[size:]) * self.unit * per_one,
            (high[:size] - low[size:]) * self.unit * per_one,
        )
        near = whole_units(
            self.problem.table.matrix[:, self.cells],
            moved * self.unit * per_one,
            (np.ceil(ends[0] - 1e-3), np.floor(ends[1] + 1e-3)),
            self.problem.weight[self.cells],
            network=self.problem.table.network is not None,
        )
        if near is None:
            return None
        found[self.cells] = near / per_one
        return found


def _needed(problem: AdjustmentProblem) -> tuple[np.ndarray, np.ndarray]:
    """How far sensitive cells must move at least; what cannot move so is kept from it by its direction."""
    up, down = problem.least_moves
    return np.where(problem.can_rise, up, problem.up), np.where(problem.can_fall, down, problem.down)


def _fair(problem: AdjustmentProblem) -> float:
    sizes = np.abs(problem.table.values[problem.table.values != 0])
    return float(np.median(sizes)) / 1024.0 if sizes.size else 1.0
