"""Whom a pattern protects against, in words, and how many cells hang on what that attacker does not know."""

import numpy as np

from shoal.numbers import counted
from shoal.tables.model.distinct import distinct
from shoal.tables.model.units import ordinary
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import failing
from shoal.tables.safety.groups import known_groups


def describe_attacker(problem: Problem, *, counts: bool = False) -> str:
    """Whom the pattern protects against, in words."""
    low = _bound(problem.low, "at least", "no lower bound", "bounded below")
    high = _bound(problem.high, "at most", "no upper bound", "bounded above")
    text = f"an outsider who knows the published cells and of hidden ones: {low}, {high}"
    if problem.insiders:
        alone = ("sole contributor who knows its own cells", "sole contributors who know their own cells")
        text += f"; {counted(len(problem.insiders), *alone)}"
        conceded = sum(cells.size for cells in problem.conceded)
        if conceded:
            cases = "1 case" if conceded == 1 else f"{conceded} cases"
            text += f" (in {cases} one gives so much of a sensitive cell that it knows how far it can fall)"
    if problem.sums is not None:
        text += "; sums that one relation gives away pass the rules"
    if counts:
        text += "; counts are whole numbers"
    return text


def _bound(bounds: np.ndarray, one: str, none: str, several: str) -> str:
    if np.isinf(bounds).all():
        return none
    return f"{one} {bounds[0]:g}" if (bounds == bounds[0]).all() else several


def doubtful_if_bounded(problem: Problem, complementary: np.ndarray) -> int:
    """How many sensitive cells would be unsafe if the attacker knew every cell to twice its value."""
    values = np.abs(problem.table.values)
    narrow = problem.with_changes(
        high=np.minimum(problem.high, np.maximum(2.0 * values, problem.table.values)), insiders=(), sums=None
    )
    hidden, (scaled, _, _) = narrow.hidden_mask(complementary), ordinary(narrow)
    wanted = scaled.requirements
    # Whether the levels are met is asked, and not how far the cells go beyond: that takes less.
    short = wanted.cell[failing(scaled, hidden, wanted)]
    return int(distinct(np.concatenate([short, known_groups(narrow, hidden)])).size)
