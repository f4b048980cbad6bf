"""Whether a pattern is safe, and the inequalities that refuse one that is not."""

import numpy as np

from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.exact.relaxation import Separator
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import failing, failing_insiders
from shoal.tables.safety.sums import failing_sums, movement, sensitive_sums

# Solvers take an inequality that lacks less for met; a pattern that lacks less is refused by a row of its own.
_TOLD_APART = 0.01
# How many requirements that failed last are looked at first.
_ASKED_FIRST = 16


def is_safe(problem: Problem, pattern: np.ndarray) -> bool:
    """Whether a pattern meets every requirement, the insiders' included."""
    mask = problem.hidden_mask(pattern)
    return (
        failing(problem, mask, problem.requirements).size == 0
        and failing_insiders(problem, mask).size == 0
        and not failing_sums(problem, mask)
    )


def violated(
    problem: Problem, separator: Separator, pattern: np.ndarray, columns: np.ndarray
) -> tuple[Inequalities, np.ndarray]:
    """Inequalities that cut off an unsafe pattern, none if it is safe; and the requirements that it fails."""
    mask = problem.hidden_mask(pattern)
    broken = failing_insiders(problem, mask)
    if broken.size:
        separator.require(broken)
    short = failing(problem, mask, separator.wanted)
    sums = sensitive_sums(problem, mask)
    if short.size == 0 and not sums:
        return Inequalities(), short
    x = np.zeros(problem.table.cells)
    x[mask] = 1.0
    rows = separator.refuse(x, columns, short, _TOLD_APART) if short.size else Inequalities()
    refused = any(
        rhs - float(values @ x[cells]) > _TOLD_APART
        for cells, values, rhs in zip(rows.cells, rows.values, rows.rhs, strict=True)
    )
    if short.size and not refused:
        # Hiding less never protects more, so at least one further cell is needed.
        others = np.setdiff1d(columns, pattern)
        rows.add(-1, others.astype(np.int32), np.ones(others.size), 1.0)
    others, moves = np.setdiff1d(columns, pattern), movement(problem, mask) if sums else np.empty(0)
    for known in sums:
        # A cheapest pattern hides no cell that is known; and as long as nothing else is hidden, what is known stays known.
        raw = problem.table.relation(known.relation)
        inside = raw[mask[raw] & ~problem.is_sensitive[raw] & (moves[raw] != 0)]
        more = np.intersect1d(raw[~mask[raw]], columns) if known.plain else others
        rows.add(
            -1,
            np.concatenate([more, inside]).astype(np.int32),
            np.concatenate([np.ones(more.size), -np.ones(inside.size)]),
            1.0 - inside.size,
        )
    if any(not known.plain for known in sums):
        _refuse_recomputable(problem, mask, columns, rows)
    return rows, short


def short_of(
    problem: Problem, separator: Separator, pattern: np.ndarray, columns: np.ndarray, places: np.ndarray
) -> tuple[Inequalities, np.ndarray]:
    """Inequalities that a pattern violates because it fails some of these requirements, and which it fails."""
    mask = problem.hidden_mask(pattern)
    short = places[failing(problem, mask, separator.wanted.at(places))]
    x = mask.astype(np.float64)
    return separator.refuse(x, columns, short, _TOLD_APART) if short.size else Inequalities(), short


def _refuse_recomputable(problem: Problem, mask: np.ndarray, columns: np.ndarray, rows: Inequalities) -> None:
    """A cell that is alone hidden in a relation is known and protects no sum: others of the relation must be hidden too."""
    table = problem.table
    for cells in map(table.relation, range(table.relations)):
        mine = cells[mask[cells]]
        if mine.size == 1 and problem.candidates[mine[0]]:
            more = np.intersect1d(np.setdiff1d(cells, mine), columns)
            rows.add(-1, np.append(more, mine).astype(np.int32), np.append(np.ones(more.size), -1.0), 0.0)


class Judge:
    """Judges pattern after pattern of a search, and learns from each where to look first.

    ``refusing`` are the numbers of all inequalities that refused a pattern: a relaxation may meet them where a tree will not.
    """

    def __init__(self, problem: Problem, separator: Separator) -> None:
        self.problem = problem
        self.separator = separator
        self.refusing: dict[int, None] = {}
        self._suspects = np.empty(0, dtype=np.int64)
        # The requirements that the last pattern failed.
        self._short = np.empty(0, dtype=np.int64)

    def safe(self, pattern: np.ndarray) -> bool:
        """Whether a pattern is safe; what failed in the patterns before is looked at first."""
        problem, wanted = self.problem, self.separator.wanted
        mask = problem.hidden_mask(pattern)
        if self._suspects.size and failing(problem, mask, wanted.at(self._suspects)).size:
            return False
        short = failing(problem, mask, wanted)
        if short.size:
            self._suspects = np.concatenate([short[: _ASKED_FIRST // 4], self._suspects])[:_ASKED_FIRST]
            return False
        return failing_insiders(problem, mask).size == 0 and not failing_sums(problem, mask)

    def violated(self, pattern: np.ndarray, columns: np.ndarray) -> Inequalities:
        """Inequalities that cut off an unsafe pattern, none if it is safe."""
        rows, self._short = violated(self.problem, self.separator, pattern, columns)
        self.refusing |= dict.fromkeys(number for number in rows.numbers if number >= 0)
        return rows

    def still_violated(self, pattern: np.ndarray, columns: np.ndarray) -> Inequalities:
        """Inequalities that a pattern violates because it fails requirements that the last one failed."""
        rows, self._short = short_of(self.problem, self.separator, pattern, columns, self._short)
        self.refusing |= dict.fromkeys(rows.numbers)
        return rows
