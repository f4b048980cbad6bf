"""The same problem with fewer cells: what must move together is one cell, what cannot move is left out.

A relation with a single cell that may be hidden gives that cell away, so hiding it is of no use; one with two ties them
together, so that hiding one without the other is of no use either. In sparse hierarchical tables, where a total often
has a single part, little more than a third of the cells is left. A pattern of the small problem is one of the
large problem at the same cost (plus that of cells tied to sensitive ones), and the cheapest corresponds to the cheapest.
"""

from dataclasses import dataclass, replace

import numpy as np

from shoal.tables.model.distinct import distinct
from shoal.tables.model.sparse_rows import SparseRows, components
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern


@dataclass(frozen=True, eq=False)
class Ties:
    """Which cells move together: cell ``c`` changes by ``sign[c]`` times what its group changes by.

    ``group`` is −1 for cells that cannot move at all. ``matrix`` holds the relations between the groups.
    """

    group: np.ndarray
    sign: np.ndarray
    matrix: SparseRows

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.matrix.shape[1])

    def room(self, up: np.ndarray, down: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far each group can rise and fall, given the room of the cells."""
        rise, fall = np.full(self.groups, np.inf), np.full(self.groups, np.inf)
        for sign, above, below in ((1.0, up, down), (-1.0, down, up)):
            cells = np.flatnonzero((self.group >= 0) & (self.sign == sign))
            np.minimum.at(rise, self.group[cells], above[cells])
            np.minimum.at(fall, self.group[cells], below[cells])
        return rise, fall


def ties(matrix: SparseRows, movable: np.ndarray) -> Ties:
    """Find what moves together when only the ``movable`` cells can change.

    >>> rows = SparseRows(np.array([0, 3, 5]), np.array([0, 1, 2, 2, 3]), np.array([1.0, 1.0, -1.0, 1.0, 1.0]), 4)
    >>> found = ties(rows, np.array([True, False, True, True]))
    >>> found.group.tolist(), found.sign.tolist()
    ([0, -1, 0, 0], [1.0, 0.0, 1.0, -1.0])
    """
    cells = np.flatnonzero(movable)
    group, sign = np.arange(cells.size), np.ones(cells.size)
    chosen = matrix.of_columns(cells)
    rows = SparseRows.of_entries(chosen.at, chosen.indices, chosen.data, chosen.shape)
    while True:
        rows = rows.without_empty()
        step = _contract(rows)
        if step is None:
            break
        label, turn, count = step
        # Groups that cannot move have the turn 0 and drop out.
        sign, group = sign * turn[group], label[group]
        merged = rows.data * turn[rows.indices]
        rows = SparseRows.of_entries(rows.at, label[rows.indices], merged, (rows.shape[0], count))
    whole = np.full(movable.size, -1, dtype=np.int64)
    turns = np.zeros(movable.size)
    moving = sign != 0.0
    present, group[moving] = np.unique(group[moving], return_inverse=True)
    whole[cells[moving]] = group[moving]
    turns[cells] = sign
    return Ties(whole, turns, _distinct(rows.of_columns(present)))


def _contract(rows: SparseRows) -> tuple[np.ndarray, np.ndarray, int] | None:
    """One step: new label and sign of every column (sign 0: cannot move), or ``None`` if nothing is tied."""
    count = rows.shape[1]
    lengths = np.diff(rows.indptr)
    alone = distinct(rows.indices[rows.indptr[:-1][lengths == 1]])
    at = rows.indptr[:-1][lengths == 2]
    at = at[np.abs(rows.data[at]) == np.abs(rows.data[at + 1])]
    if alone.size == 0 and at.size == 0:
        return None
    # Every column has two faces, as it is and turned round; tied faces are connected. Faces of fixed columns are too.
    one, two = rows.indices[at], rows.indices[at + 1]
    same = rows.data[at] * rows.data[at + 1] < 0
    back = np.where(same, two, two + count), np.where(same, two + count, two)
    tails = np.concatenate([one, one + count, alone])
    heads = np.concatenate([*back, alone + count])
    face = components(tails, heads, 2 * count)
    plain, turned = face[:count], face[count:]
    turn = np.where(plain == turned, 0.0, np.where(plain < turned, 1.0, -1.0))
    named, label = np.unique(np.minimum(plain, turned), return_inverse=True)
    return label, turn, int(named.size)


def _distinct(rows: SparseRows) -> SparseRows:
    """The rows without those that say the same again."""
    seen: set[tuple[bytes, bytes]] = set()
    kept = []
    for place in range(rows.shape[0]):
        part = slice(rows.indptr[place], rows.indptr[place + 1])
        values = rows.data[part] * np.sign(rows.data[part.start])
        key = (rows.indices[part].tobytes(), values.tobytes())
        if key not in seen:
            seen.add(key)
            kept.append(place)
    return rows.of_rows(np.array(kept, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Reduction:
    """A smaller problem, and how its patterns become patterns of the original one."""

    original: Problem
    problem: Problem
    group: np.ndarray
    forced: np.ndarray

    @property
    def constant(self) -> float:
        """What is to be paid in any case: the cells tied to sensitive ones."""
        return self.original.total_cost(self.forced)

    def lift(self, complementary: np.ndarray) -> np.ndarray:
        """The original cells that a pattern of the small problem hides."""
        chosen = np.zeros(self.problem.table.cells, dtype=bool)
        chosen[complementary] = True
        mask = (self.group >= 0) & chosen[self.group] & self.original.candidates
        mask[self.forced] = True
        return np.flatnonzero(mask)

    def lower(self, complementary: np.ndarray) -> np.ndarray:
        """A pattern of the original problem as one of the small problem."""
        groups = np.unique(self.group[complementary])
        groups = groups[groups >= 0]
        return groups[self.problem.candidates[groups]]

    def lifted(self, solution: Pattern) -> Pattern:
        """A solution of the small problem as one of the original problem."""
        pattern = self.lift(solution.complementary)
        value = self.original.total_cost(pattern)
        bound = min(value, (solution.bound or 0.0) + self.constant)
        return replace(
            solution, value=value, bound=value if solution.optimal else bound, complementary=pattern
        )


def reduce(problem: Problem) -> Reduction | None:
    """The smaller problem, or ``None`` if there is none (nothing is tied, or a sensitive cell cannot move)."""
    table = problem.table
    movable = problem.candidates | problem.is_sensitive
    if table.shape is not None and bool(problem.candidates[table.internal].all()):
        return None
    found = ties(_relations(table), movable)
    if found.groups >= int(movable.sum()) or (found.group[problem.sensitive] < 0).any():
        return None
    if any(cells.size for cells in problem.conceded):
        # Tied cells share their requirements, but not what is conceded to an insider.
        return None
    known = tuple(np.unique(found.group[cells]) for cells in problem.insiders)
    for cells, groups in zip(problem.insiders, known, strict=True):
        # An insider of one tied cell knows the others too; if one of them must be protected from him, it cannot be.
        others = problem.sensitive[~np.isin(problem.sensitive, cells)]
        if np.isin(found.group[others], groups).any():
            return None
    small = _small_problem(problem, found, tuple(groups[groups >= 0] for groups in known))
    tied = found.group >= 0
    tied[tied] = small.is_sensitive[found.group[tied]]
    return Reduction(problem, small, found.group, np.flatnonzero(tied & problem.candidates))


def _relations(table: Table) -> SparseRows:
    """All relations, or those of the network if the table is one, so that the smaller table is one as well."""
    network = table.network
    if network is None:
        return table.rows

    proper = np.flatnonzero(network.tail != network.head)
    ends = np.concatenate([network.tail[proper], network.head[proper]])
    signs = np.repeat([1.0, -1.0], proper.size)
    shape = (network.nodes, table.cells)
    whole = SparseRows.of_entries(ends, np.concatenate([proper, proper]), signs, shape)
    # The last node stands for what is outside of the table and balances nothing.
    return whole.of_rows(np.arange(min(table.relations, network.nodes)))


def small_table(table: Table, ties: Ties) -> Table:
    """The groups as cells of a table; each has the value and the name of its smallest cell."""
    rows = ties.matrix
    moving = np.flatnonzero(ties.group >= 0)
    # Rounding errors are judged by the value of a cell, so the smallest one stands for its group.
    moving = moving[np.lexsort((moving, np.abs(table.values[moving])))][::-1]
    first = np.full(ties.groups, -1, dtype=np.int64)
    first[ties.group[moving]] = moving
    values = table.values[first]
    keys = {name: column[first] for name, column in table.keys.items()}
    return Table(
        values, rows.indptr, rows.indices, rows.data, keys, rhs=rows @ values, numbers=table.numbered[first]
    )


def _small_problem(problem: Problem, ties: Ties, insiders: tuple[np.ndarray, ...]) -> Problem:
    moving = np.flatnonzero(ties.group >= 0)
    rise, fall = ties.room(problem.up, problem.down)
    cost = np.bincount(ties.group[moving], problem.cost[moving], ties.groups)
    table = small_table(problem.table, ties)
    values = table.values
    at, sign = ties.group[problem.sensitive], ties.sign[problem.sensitive]
    sensitive = distinct(at)
    place = np.searchsorted(sensitive, at)
    upper, lower, sliding = (np.zeros(sensitive.size) for _ in range(3))
    np.maximum.at(upper, place, np.where(sign > 0, problem.upper, problem.lower))
    np.maximum.at(lower, place, np.where(sign > 0, problem.lower, problem.upper))
    np.maximum.at(sliding, place, problem.required_width)
    return Problem(
        table,
        sensitive,
        lower=lower,
        upper=upper,
        sliding=sliding,
        cost=cost,
        candidates=np.ones(ties.groups, dtype=bool),
        low=values - fall,
        high=values + rise,
        insiders=insiders,
    )
