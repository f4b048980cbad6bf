"""Counts are whole numbers: an attacker who knows that can exclude more than a linear programme shows.

On networks nothing changes, since all corners of the attacker's polytope are whole there (Hoffman and Kruskal 1956).
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.runtime.linear_programmes import best_values, whole_numbers
from shoal.tables.model.table import Table
from shoal.tables.problem import DOWN, UP, WIDTH, Problem
from shoal.tables.safety.watching import Watch, unwatched

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    Rows = tuple[csr_matrix, np.ndarray | float, np.ndarray | float]

# So much work for each requirement; one that no whole table was found for by then counts as failed, on every machine alike.
_NODES = 2_000
# The first whole table of all is worth more.
_MOST_NODES = 100_000


def refuse_fractions(table: Table, hidden: np.ndarray | None = None) -> None:
    """Refuse figures that are no counts, but for those of ``hidden`` cells, which may be any that fit."""
    broken = table.values != np.rint(table.values)
    if hidden is not None:
        broken[hidden] = False
    if broken.any():
        raise InputError(
            f"the cell {table.name(int(np.flatnonzero(broken)[0]))} is no whole number, so these are no counts; leave out "
            f"{parameter('counts')}"
        )


def with_whole_figures(table: Table, hidden: np.ndarray, least: float, slack: float) -> Table:
    """The table with whole numbers of at least ``least`` in its hidden cells that fit what is shown.

    Sums may be off by ``slack`` for every figure that is shown.
    """
    refuse_fractions(table, hidden)
    if not hidden.size:
        return table
    shown = np.ones(table.cells, dtype=bool)
    shown[hidden] = False
    right = -(table.matrix[:, shown] @ table.values[shown])
    off = slack * (abs(table.matrix[:, shown]) @ np.ones(int(shown.sum()))) + 1e-6
    solver = whole_numbers(
        np.zeros(hidden.size),
        np.full(hidden.size, least),
        np.full(hidden.size, np.inf),
        (table.matrix[:, hidden].tocsr(), right - off, right + off),
        mip_max_nodes=_MOST_NODES,
    )
    found = best_values(solver)
    if found is None:
        raise InputError(
            "no whole numbers were found that fit what the published table shows; if these are no counts, leave out "
            f"{parameter('counts')}"
        )
    values = table.values.copy()
    values[hidden] = np.rint(found)
    return replace(table, values=values)


def known_as_whole(problem: Problem, cells: np.ndarray, watch: Watch = unwatched) -> tuple[int, ...]:
    """Which of these cells, the hidden ones of a published table, can be only one whole number.

    ``TimeIsOver`` if there is no time for all of them.
    """
    nothing = np.zeros(cells.size)
    asked = problem.with_changes(sensitive=cells, lower=nothing, upper=nothing, sliding=nothing)
    return integer_failures(asked, np.empty(0, dtype=np.int64), watch)


def integer_failures(
    problem: Problem,
    complementary: np.ndarray,
    watch: Watch = unwatched,
    *,
    gaps: Mapping[int, np.ndarray] = MappingProxyType({}),
) -> tuple[int, ...]:
    """Sensitive cells whose requirement no whole-number table meets; only the outsider is asked.

    ``gaps`` are whole numbers within its bounds that a cell is known not to be. ``TimeIsOver`` if there is no time for all of
    them.
    """
    if problem.table.network is not None and not gaps:
        return ()
    hidden = np.flatnonzero(problem.hidden_mask(complementary))
    column = {int(cell): place for place, cell in enumerate(hidden)}
    rows, low, high = _whole_tables(problem, hidden, gaps)
    wanted = problem.requirements
    columns = np.array([column[int(cell)] for cell in wanted.cell], dtype=np.int64)
    # Another whole number is at least 1 away, however little is asked for.
    needs = np.maximum(1.0, np.ceil(wanted.need - 1e-6))
    shown = np.zeros(wanted.size, dtype=bool)
    failures = set()
    for place in range(wanted.size):
        if shown[place]:
            continue
        cell, kind = int(wanted.cell[place]), int(wanted.kind[place])
        need = needs[place]
        reached = 0.0
        for direction in (UP, DOWN) if kind == WIDTH else (kind,):
            if reached >= need - 1e-6:
                continue
            sign = 1.0 if direction == UP else -1.0
            # Whether it can be so far away is answered by any table that is; of those, one that shows much of other cells.
            goal, ends = _towards(columns[~shown], wanted.kind[~shown], low.size), (low.copy(), high.copy())
            at, enough = column[cell], need if kind != WIDTH else 0.0
            ends[sign < 0][at] = sign * max(enough, sign * ends[sign < 0][at])
            if kind == WIDTH:
                goal = np.zeros(low.size)
                goal[at] = -sign
            watch.look()
            if ends[0][at] > ends[1][at]:
                continue
            first = {} if kind == WIDTH else {"mip_max_improving_sols": 1}
            limits: dict[str, Any] = {"mip_max_nodes": _NODES, **first, **watch.seconds_left()}
            solver = whole_numbers(goal, *ends, rows, stop=watch.late, **limits)
            watch.look()
            found = best_values(solver)
            if found is None:
                continue
            reached += abs(found[at])
            # What one table shows of other cells need not be asked again.
            shown |= wanted.reached_by(found[columns]) >= needs - 1e-6
        if reached < need - 1e-6:
            failures.add(cell)
    return tuple(sorted(failures))


def _towards(columns: np.ndarray, kinds: np.ndarray, size: int) -> np.ndarray:
    """A cost that moves these columns the way their requirements go."""
    goal = np.zeros(size)
    np.add.at(goal, columns, np.where(kinds == DOWN, 1.0, -1.0))
    return goal


def whole_ends(
    problem: Problem,
    complementary: np.ndarray,
    cells: np.ndarray,
    outer: tuple[np.ndarray, np.ndarray],
    *,
    gaps: Mapping[int, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most that hidden cells are in any whole-number table, within ``outer`` ends of each that are proved.

    Where the work for an end is spent, what is proved by then.
    """
    hidden = np.flatnonzero(problem.hidden_mask(complementary))
    columns = np.searchsorted(hidden, cells)
    rows, low, high = _whole_tables(problem, hidden, gaps)
    values = problem.table.values[cells]
    # As changes of the true table, which is one of them.
    proved = [outer[0] - values, values - outer[1]]
    shown = [np.zeros(cells.size), np.zeros(cells.size)]
    for end, sign in enumerate((1.0, -1.0)):
        for place in range(cells.size):
            # What one table shows of other cells need not be asked again.
            if shown[end][place] <= proved[end][place] + 1e-6:
                continue
            goal = np.zeros(low.size)
            goal[columns[place]] = sign
            solver = whole_numbers(goal, low, high, rows, mip_max_nodes=_NODES)
            least = float(solver.getInfo().mip_dual_bound)
            if np.isfinite(least):
                proved[end][place] = max(proved[end][place], np.ceil(least - 1e-6))
            found = best_values(solver)
            if found is not None:
                change = np.rint(found[columns])
                shown = [np.minimum(shown[0], change), np.minimum(shown[1], -change)]
    return values + proved[0], values - proved[1]


def _whole_tables(
    problem: Problem, hidden: np.ndarray, gaps: Mapping[int, np.ndarray]
) -> "tuple[Rows, np.ndarray, np.ndarray]":
    """How the hidden cells may change, one column each; where a cell has gaps a switch follows for each run between them."""
    from scipy.sparse import csr_matrix, hstack, vstack

    low = np.ceil(-problem.down[hidden] - 1e-9)
    high = np.floor(np.minimum(problem.up[hidden], 1e9) + 1e-9)
    entries: list[tuple[int, int, float]] = []
    ends: list[tuple[float, float]] = []
    size = hidden.size
    for place, cell in enumerate(hidden.tolist()):
        if cell not in gaps:
            continue
        able = np.setdiff1d(
            np.arange(low[place], high[place] + 1), np.rint(gaps[cell] - problem.table.values[cell])
        )
        runs = np.split(able, np.flatnonzero(np.diff(able) > 1) + 1)
        first = len(ends)
        ends += [(1.0, 1.0), (0.0, np.inf), (-np.inf, 0.0)]
        entries += [(first + 1, place, 1.0), (first + 2, place, 1.0)]
        for run in runs:
            entries += [
                (first, size, 1.0),
                (first + 1, size, -float(run[0])),
                (first + 2, size, -float(run[-1])),
            ]
            size += 1
    switches = size - hidden.size
    matrix = problem.table.matrix[:, hidden]
    low, high = np.concatenate([low, np.zeros(switches)]), np.concatenate([high, np.ones(switches)])
    if not switches:
        return (matrix.tocsr(), 0.0, 0.0), low, high
    wide = hstack([matrix, csr_matrix((matrix.shape[0], switches))], format="csr")
    rows, columns, factors = zip(*entries, strict=True)
    chosen = csr_matrix((factors, (rows, columns)), shape=(len(ends), size))
    least, most = np.array(ends).T
    nothing = np.zeros(wide.shape[0])
    rows_of_both = vstack([wide, chosen], format="csr")
    return (rows_of_both, np.concatenate([nothing, least]), np.concatenate([nothing, most])), low, high
