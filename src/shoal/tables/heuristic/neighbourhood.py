"""The cheapest change of cells that moves one cell far enough, as a small linear programme over its neighbourhood.

Cells hidden already move for (almost) nothing, others at a price per unit that makes full use cost as much as
hiding the cell (Robertson 1993; Sande 1984). The neighbourhood is grown from the cell along relations, cheap cells first.
"""

import heapq
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs
from shoal.tables.model.table import Table
from shoal.tables.problem import UP, Problem

# Rooms beyond this are no limit in practice; the solver likes moderate numbers.
_FAR = 1e15


@dataclass(frozen=True, eq=False)
class Change:
    """How much which cells move (so that all relations hold), and the price of those not free."""

    cells: np.ndarray
    amounts: np.ndarray
    cost: float


class Incidence(NamedTuple):
    """Which cells are in which relations, both ways round, with their coefficients."""

    starts: np.ndarray
    members: np.ndarray
    signs: np.ndarray
    of_starts: np.ndarray
    of_cell: np.ndarray
    of_signs: np.ndarray

    @classmethod
    def of(cls, table: Table) -> "Incidence":
        """The relations of a table."""
        columns = table.rows.transposed()
        return cls(
            table.starts,
            table.members.astype(np.int64),
            table.signs,
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int64),
            columns.data.astype(np.float64),
        )


@kernel
def nearest(
    relations: Incidence, cell: int, step: np.ndarray, limit: int, distance: np.ndarray, reached: np.ndarray
) -> Any:
    """The ``limit`` cells nearest to a cell, and whether these are all; a cell of infinite ``step`` is not entered.

    Going from a cell to another one of the same relation costs the ``step`` of the latter. ``distance`` (all infinite) and
    ``reached`` (all false) are work space and are left as they were found.
    """
    chosen = np.empty(limit, dtype=np.int64)
    count = 0
    distance[cell] = 0.0
    heap = [(0.0, cell)]
    touched = [cell]
    passed = [0]
    passed.pop()
    while len(heap) > 0 and count < limit:
        far, here = heapq.heappop(heap)
        if far > distance[here]:
            continue
        chosen[count] = here
        count += 1
        for i in range(relations.of_starts[here], relations.of_starts[here + 1]):
            relation = relations.of_cell[i]
            if reached[relation]:
                continue
            reached[relation] = True
            passed.append(relation)
            for j in range(relations.starts[relation], relations.starts[relation + 1]):
                other = relations.members[j]
                there = far + step[other]
                if there < distance[other]:
                    if distance[other] == np.inf:
                        touched.append(other)
                    distance[other] = there
                    heapq.heappush(heap, (there, other))
    whole = True
    for far, here in heap:
        if far <= distance[here] and count == limit:
            whole = False
    for other in touched:
        distance[other] = np.inf
    for relation in passed:
        reached[relation] = False
    return chosen[:count], whole


@kernel
def submatrix(relations: Incidence, cells: np.ndarray, local: np.ndarray) -> Any:
    """The relations of some cells, without cells that are alone in one: kept places, starts, rows, signs, row count.

    ``local`` (all −1, one entry per relation) is work space and is left as it was found.
    """
    of_starts = relations.of_starts
    count = cells.shape[0]
    first = np.zeros(count + 1, dtype=np.int64)
    for c in range(count):
        first[c + 1] = first[c] + of_starts[cells[c] + 1] - of_starts[cells[c]]
    row_of = np.empty(first[count], dtype=np.int64)
    rows = 0
    for c in range(count):
        for k in range(first[c], first[c + 1]):
            relation = relations.of_cell[of_starts[cells[c]] + k - first[c]]
            if local[relation] < 0:
                local[relation] = rows
                rows += 1
            row_of[k] = local[relation]
    for c in range(count):
        for i in range(of_starts[cells[c]], of_starts[cells[c] + 1]):
            local[relations.of_cell[i]] = -1
    # How many cells are left in each row and the sum of their places, which of a single one is its place.
    left = np.zeros(rows, dtype=np.int64)
    total = np.zeros(rows, dtype=np.int64)
    for c in range(count):
        for k in range(first[c], first[c + 1]):
            left[row_of[k]] += 1
            total[row_of[k]] += c
    queue = np.empty(rows, dtype=np.int64)
    size = 0
    for r in range(rows):
        if left[r] == 1:
            queue[size] = r
            size += 1
    # A cell that is left alone cannot move; without it, others may be left alone.
    kept = np.ones(count, dtype=np.bool_)
    head = 0
    while head < size:
        alone = left[queue[head]] == 1
        c = total[queue[head]]
        head += 1
        if not alone:
            continue
        kept[c] = False
        for k in range(first[c], first[c + 1]):
            left[row_of[k]] -= 1
            total[row_of[k]] -= c
            if left[row_of[k]] == 1:
                queue[size] = row_of[k]
                size += 1
    renumber = np.cumsum(left > 0) - 1
    places = np.flatnonzero(kept)
    starts = np.zeros(places.shape[0] + 1, dtype=np.int32)
    for i in range(places.shape[0]):
        starts[i + 1] = starts[i] + first[places[i] + 1] - first[places[i]]
    row_index = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1])
    for i in range(places.shape[0]):
        c = places[i]
        for k in range(first[c + 1] - first[c]):
            row_index[starts[i] + k] = renumber[row_of[first[c] + k]]
            values[starts[i] + k] = relations.of_signs[of_starts[cells[c]] + k]
    return places, starts, row_index, values, (left > 0).sum()


@kernel
def around(
    incidence: Incidence, cell: int, open_: np.ndarray, most: int, column: np.ndarray, reached: np.ndarray
) -> Any:
    """Up to ``most`` relations around a cell that open cells connect: the relations, their open cells, and the rows.

    Relations further away are left out, so that the open cells at the border are freer than they are in truth. Also
    returns whether nothing was left out. ``column`` (all −1) and ``reached`` (all false) are left as they were found.
    """
    starts, members = incidence.starts, incidence.members
    of_starts, of_cell = incidence.of_starts, incidence.of_cell
    relations = np.empty(most, dtype=np.int64)
    count = 0
    cells = [cell]
    column[cell] = 0
    head = 0
    complete = True
    while head < len(cells):
        here = cells[head]
        head += 1
        for i in range(of_starts[here], of_starts[here + 1]):
            relation = of_cell[i]
            if reached[relation]:
                continue
            if count == most:
                complete = False
                continue
            reached[relation] = True
            relations[count] = relation
            count += 1
            for j in range(starts[relation], starts[relation + 1]):
                other = members[j]
                if open_[other] and column[other] < 0:
                    column[other] = len(cells)
                    cells.append(other)
    entries = 0
    for r in range(count):
        for j in range(starts[relations[r]], starts[relations[r] + 1]):
            entries += column[members[j]] >= 0
    row_starts = np.zeros(count + 1, dtype=np.int32)
    columns = np.empty(entries, dtype=np.int32)
    values = np.empty(entries)
    entries = 0
    for r in range(count):
        for j in range(starts[relations[r]], starts[relations[r] + 1]):
            if column[members[j]] >= 0:
                columns[entries] = column[members[j]]
                values[entries] = incidence.signs[j]
                entries += 1
        row_starts[r + 1] = entries
    found = np.empty(len(cells), dtype=np.int64)
    for c in range(len(cells)):
        found[c] = cells[c]
        column[cells[c]] = -1
    for r in range(count):
        reached[relations[r]] = False
    return relations[:count], found, row_starts, columns, values, complete


class Local(NamedTuple):
    """The relations between a few cells, by cell: starts, numbers and coefficients; and how many relations there are."""

    starts: np.ndarray
    numbers: np.ndarray
    values: np.ndarray
    relations: int


class Neighbourhoods:
    """Finds neighbourhoods in one table and solves the programmes over them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        table = problem.table
        self._incidence = Incidence.of(table)
        self._distance = np.full(table.cells, np.inf)
        self._reached = np.zeros(table.relations, dtype=bool)
        self._local = np.full(table.relations, -1, dtype=np.int64)
        self._up = np.minimum(problem.up, _FAR)
        self._down = np.minimum(problem.down, _FAR)
        # The programmes are so small that preparing them takes longer than solving them.
        self._solver = quiet_highs(presolve="off")
        self.solved = 0

    def near(self, cell: int, step: np.ndarray, limit: int) -> tuple[np.ndarray, bool]:
        """The nearest cells, sorted, and whether these are all that can be reached."""
        found, whole = nearest(self._incidence, cell, step, limit, self._distance, self._reached)
        return np.sort(found), bool(whole)

    def cheapest(
        self, cell: int, direction: int, need: float, near: np.ndarray, free: np.ndarray, price: np.ndarray
    ) -> Change | None:
        """The cheapest change within ``near`` that moves the cell by ``need``; ``None`` if there is none."""
        own = self._up[cell] if direction == UP else self._down[cell]
        if own < need * (1.0 - 1e-9):
            return None
        local = self._relations(near, cell)
        if local is None:
            return None
        near, at, rows = local
        # In units of the need all numbers of the programme have about the same size.
        rise, fall = self._up[near] / need, self._down[near] / need
        base = np.where(free[near], 0.0, price[near])
        cost_up = base / np.maximum(np.minimum(rise, 1.0), 1e-12) + 1e-7
        cost_down = base / np.maximum(np.minimum(fall, 1.0), 1e-12) + 1e-7
        least_up, least_down = np.zeros(near.size), np.zeros(near.size)
        rise[at], fall[at] = (1.0, 0.0) if direction == UP else (0.0, 1.0)
        least_up[at], least_down[at] = rise[at], fall[at]
        amounts = self._solve(
            np.concatenate([cost_up, cost_down]),
            np.concatenate([least_up, least_down]),
            np.concatenate([rise, fall]),
            rows,
        )
        if amounts is None:
            return None
        moved = np.abs(amounts) > 1e-7
        cells = near[moved]
        return Change(cells, amounts[moved] * need, float(price[cells[~free[cells]]].sum()))

    def furthest(self, cell: int, direction: int, near: np.ndarray) -> float:
        """How far a cell can move in one direction by a change within ``near``."""
        local = self._relations(near, cell)
        if local is None:
            return 0.0
        near, at, rows = local
        cost = np.zeros(2 * near.size)
        cost[at], cost[at + near.size] = (-1.0, 1.0) if direction == UP else (1.0, -1.0)
        high = np.concatenate([self._up[near], self._down[near]])
        amounts = self._solve(cost, np.zeros(2 * near.size), high, rows)
        return 0.0 if amounts is None else abs(float(amounts[at]))

    def _relations(self, near: np.ndarray, cell: int) -> tuple[np.ndarray, int, Local] | None:
        """The cells of the neighbourhood that can move, where the cell is among them, and their relations."""
        places, *rows = submatrix(self._incidence, near, self._local)
        near = near[places]
        at = int(np.searchsorted(near, cell))
        if at >= near.size or near[at] != cell:
            return None
        return near, at, Local(*rows)

    def _solve(self, cost: np.ndarray, low: np.ndarray, high: np.ndarray, rows: Local) -> np.ndarray | None:
        """Rises less falls at the optimum; ``None`` if there is no feasible change."""
        starts, index, values, count = rows
        # Each cell once for its rise and once for its fall.
        matrix = (
            np.concatenate([starts, starts[1:] + starts[-1]]),
            np.concatenate([index, index]),
            np.concatenate([values, -values]),
        )
        model = programme(cost, low, high, matrix, np.zeros(count), np.zeros(count), by="columns")
        solver = self._solver
        solver.clearModel()
        model.hand_to(solver)
        solver.run()
        self.solved += 1
        if not is_optimal(solver):
            return None
        value = np.array(solver.getSolution().col_value)
        half = cost.size // 2
        return value[:half] - value[half:]
