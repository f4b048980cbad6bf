"""Whole groups in one cell: where a total is hidden as well, a cell may fall and its group still be known to be in it.

What counts is how many others of the group there may be: how far the cells beside can rise together.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.runtime.linear_programmes import best_values, whole_numbers
from shoal.tables.model.count_rules import InOneCell
from shoal.tables.problem import Problem
from shoal.tables.safety.watching import Watch, unwatched

# So much work for each programme; a group that no whole table was found for by then counts as known.
_NODES = 2_000
_NEARLY = 1e-6


def known_groups(problem: Problem, hidden: np.ndarray, watch: Watch = unwatched) -> np.ndarray:
    """The cells that everybody knows to have all of a group, but for fewer than there should be others.

    ``TimeIsOver`` if there is no time for all of them.
    """
    doubtful = [group for group in problem.groups if hidden[group.total] and hidden[group.cell]]
    if not doubtful:
        return np.empty(0, dtype=np.int64)
    changes = _Changes(problem, hidden, watch)
    total, cell = (
        changes.columns([getattr(group, name) for group in doubtful]) for name in ("total", "cell")
    )
    values = problem.table.values
    need = np.array([group.others - values[group.total] + values[group.cell] for group in doubtful])
    known, shown = np.zeros(need.size, dtype=bool), need <= _NEARLY

    def look(goal: np.ndarray, *, whole: bool) -> np.ndarray:
        """How far there may be others in each group at once, and note of which groups that is enough."""
        change = changes.furthest(goal, whole=whole)
        if change is None:
            return np.full(need.size, -np.inf)
        others = change[total] - change[cell]
        if np.abs(change - np.rint(change)).max() <= _NEARLY:
            shown[others >= need - _NEARLY] = True
        return others

    for place in range(need.size):
        if shown[place]:
            continue
        goal = np.zeros(changes.size)
        goal[total[place]], goal[cell[place]] = 1.0, -1.0
        # In fractions more is possible than in whole numbers.
        known[place] = look(goal, whole=False)[place] < need[place] - _NEARLY
        if not known[place] and not shown[place]:
            known[place] = look(goal, whole=True)[place] < need[place] - _NEARLY
    return np.unique([group.cell for group, gone in zip(doubtful, known, strict=True) if gone]).astype(
        np.int64
    )


class _Changes:
    """How the hidden cells may change, for all that is known."""

    def __init__(self, problem: Problem, hidden: np.ndarray, watch: Watch) -> None:
        cells = np.flatnonzero(hidden)
        self.size = cells.size
        self._watch = watch
        self._column = np.full(hidden.size, -1, dtype=np.int64)
        self._column[cells] = np.arange(cells.size)
        self._rows = (problem.table.matrix[:, cells].tocsr(), 0.0, 0.0)
        self._low = np.ceil(-problem.down[cells] - 1e-9)
        self._high = np.floor(np.minimum(problem.up[cells], 1e9) + 1e-9)

    def columns(self, cells: list[int]) -> np.ndarray:
        """Where these hidden cells stand in a change."""
        return self._column[cells]

    def furthest(self, goal: np.ndarray, *, whole: bool) -> np.ndarray | None:
        """A change that reaches most of a goal; ``None`` if none was found in time."""
        self._watch.look()
        limits: dict[str, Any] = {"mip_max_nodes": _NODES, **self._watch.seconds_left()}
        ends = (self._low, self._high)
        solver = whole_numbers(-goal, *ends, self._rows, whole=whole, stop=self._watch.late, **limits)
        self._watch.look()
        return best_values(solver)


def with_room_beside(problem: Problem, groups: Sequence[InOneCell]) -> Problem:
    """The problem in which a cell beside each of these groups, or several, are sensitive, too, and must be able to rise.

    Whatever becomes of the total, there may be others then.
    """
    table = problem.table
    usable = problem.candidates | problem.is_sensitive
    # What lies in an empty total can hardly rise.
    empty = np.zeros(table.cells, dtype=bool)
    for place in range(table.relations):
        cells, signs = table.relation(place), table.signs_of(place)
        empty[cells] |= not table.values[cells[signs < 0]].any()
    upper = dict(zip(problem.sensitive.tolist(), problem.upper.tolist(), strict=True))
    for group in groups:
        able = [cell for cell in group.beside if usable[cell]]
        missing = float(group.others)
        for cell in sorted(able, key=lambda one: (bool(empty[one]), one not in upper, table.values[one])):
            # One cell if it can rise so far, else several together.
            rise = min(missing - float(table.values[cell]), float(problem.up[cell]))
            upper[cell] = max(upper.get(cell, 0.0), rise)
            missing -= float(table.values[cell]) + rise
            if missing <= _NEARLY:
                break
    more = np.array([cell for cell in upper if not problem.is_sensitive[cell]], dtype=np.int64)
    nothing = np.zeros(more.size)
    sensitive = np.concatenate([problem.sensitive, more])
    return problem.with_changes(
        sensitive=sensitive,
        lower=np.concatenate([problem.lower, nothing]),
        upper=np.array([upper[cell] for cell in sensitive.tolist()], dtype=np.float64),
        sliding=np.concatenate([problem.sliding, nothing]),
    )
