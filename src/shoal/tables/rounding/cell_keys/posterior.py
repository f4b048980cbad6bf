"""What somebody learns from perturbed counts who knows the perturbation table, but neither keys nor records."""

from dataclasses import dataclass, replace

import numpy as np

from shoal.tables.problem import Problem
from shoal.tables.rounding.cell_keys.solution import PerturbationTable
from shoal.tables.safety.audit import Audit, audit
from shoal.tables.safety.whole_numbers import integer_failures

# Up to so many cells it is also looked at which whole numbers are possible; on networks that changes nothing.
_WHOLE_NUMBERS = 2000
# Nobody reckons with a change that is rarer: an interval that only such changes keep open protects nothing.
NEGLIGIBLE = 1e-5


def possible_counts(
    design: PerturbationTable, published: np.ndarray, least: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest true count behind each published one, by the table of chances alone.

    Changes with a chance of at most ``least`` are left out, unless there is no other.
    """
    wide, rows = design.deviation, design.chances.shape[0]
    low, high = np.empty(published.size), np.empty(published.size)
    for seen in np.unique(published):
        counts = np.arange(max(0, seen - wide), seen + wide + 1)
        change = seen - counts + wide
        chances = design.chances[np.minimum(counts, rows - 1), change]
        able = counts[chances > least] if (chances > least).any() else counts[chances > 0]
        low[published == seen], high[published == seen] = able.min(), able.max()
    return low, high


def seen_by_others(protect: Problem, design: PerturbationTable, published: np.ndarray) -> Problem:
    """The table as somebody sees it who also knows that the true counts add up."""
    low, high = possible_counts(design, published, NEGLIGIBLE)
    values = protect.table.values
    return replace(
        protect,
        low=np.minimum(np.maximum(low, protect.low), values),
        high=np.maximum(np.minimum(high, protect.high), values),
        candidates=np.ones(values.size, dtype=bool),
        insiders=(),
        conceded=(),
        left=(),
        sums=None,
        # Where the true count lies in its interval is chance, which nobody knows: only its width protects.
        lower=np.zeros(protect.sensitive.size),
        upper=np.zeros(protect.sensitive.size),
        sliding=np.maximum(protect.sliding, protect.lower + protect.upper),
    )


def conclusions(
    protect: Problem, design: PerturbationTable, published: np.ndarray, *, all_cells: bool
) -> Audit:
    """The intervals of the sensitive cells, or of all, for that person."""
    attack = seen_by_others(protect, design, published)
    others = np.flatnonzero(~attack.is_sensitive)
    found = audit(attack, others, all_cells=all_cells)
    if attack.table.cells <= _WHOLE_NUMBERS:
        found = replace(found, integer=integer_failures(attack, others))
    return found


@dataclass(frozen=True)
class Posterior:
    """How sure somebody is of the true counts of sensitive cells who knows chances and how many cells have which count."""

    mean: float
    largest: float


def posterior(
    design: PerturbationTable, counts: np.ndarray, published: np.ndarray, cells: np.ndarray
) -> Posterior | None:
    """By Bayes' rule for each cell by itself: the probability of its true count; ``None`` without cells."""
    if cells.size == 0:
        return None
    wide, rows = design.deviation, design.chances.shape[0]
    true, times = np.unique(counts, return_counts=True)
    sure = []
    for cell in cells.tolist():
        change = published[cell] - true + wide
        within = (change >= 0) & (change <= 2 * wide)
        likely = np.zeros(true.size)
        likely[within] = design.chances[np.minimum(true[within], rows - 1), change[within]]
        weight = likely * times
        sure.append(float(weight[true == counts[cell]][0] / weight.sum()))
    return Posterior(float(np.mean(sure)), float(np.max(sure)))
