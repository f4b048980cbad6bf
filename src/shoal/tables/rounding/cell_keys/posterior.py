"""What somebody learns from perturbed counts who knows the perturbation table, but neither keys nor records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from shoal.tables.problem import Problem
from shoal.tables.rounding.cell_keys.same_records import with_others
from shoal.tables.rounding.cell_keys.solution import PerturbationTable
from shoal.tables.safety.audit import Audit, audit
from shoal.tables.safety.whole_numbers import integer_failures, whole_ends

# Up to so many cells it is also looked at which whole numbers are possible; on networks that changes nothing.
WHOLE_NUMBERS = 2000
# Up to so many cells the ends of all intervals are found among the counts that are possible, where a table has gaps.
_ENDS = 200
# Nobody reckons with a change that is rarer: an interval that only such changes keep open protects nothing.
NEGLIGIBLE = 1e-5


def counts_behind(design: PerturbationTable, seen: int, least: float = 0.0) -> np.ndarray:
    """The true counts that may be behind a published one, by the table of chances alone.

    Changes with a chance of at most ``least`` are left out, unless there is no other.
    """
    wide, rows = design.deviation, design.chances.shape[0]
    counts = np.arange(max(0, seen - wide), seen + wide + 1)
    chances = design.chances[np.minimum(counts, rows - 1), seen - counts + wide]
    found: np.ndarray = counts[chances > least] if (chances > least).any() else counts[chances > 0]
    return found


def possible_counts(
    design: PerturbationTable, published: np.ndarray, least: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest true count behind each published one."""
    low, high = np.empty(published.size), np.empty(published.size)
    for seen in np.unique(published):
        able = counts_behind(design, int(seen), least)
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
    """The intervals of the sensitive cells, or of all, for that person, who also knows that the same records have one figure."""
    attack = seen_by_others(protect, design, published)
    # A whole group in one cell has the key of its total, whatever the keys are: the same figure, and 0 beside it. Whether it
    # could be otherwise, which takes an integer programme for each, makes no difference then.
    whole = set(whole_groups(protect))
    wide = with_others(attack, published)
    wide = replace(wide, groups=tuple(group for group in wide.groups if group.cell not in whole))
    others = np.flatnonzero(~wide.is_sensitive)
    found = audit(wide, others, all_cells=all_cells)
    own = found.cells < attack.table.cells
    found = replace(
        found,
        problem=attack,
        cells=found.cells[own],
        low=found.low[own],
        high=found.high[own],
        disclosed=found.disclosed[found.disclosed < attack.table.cells],
    )
    told = [*whole, *empty_beside_groups(protect)]
    found = replace(found, unsafe=np.union1d(found.unsafe, told).astype(np.int64))
    gaps = _gaps(attack, design, published)
    found = _in_whole_numbers(found, wide, others, gaps)
    if attack.table.cells <= WHOLE_NUMBERS:
        return replace(found, integer=integer_failures(wide, others, gaps=gaps))
    return replace(found, integer=_held_by_gaps(found, gaps))


def _in_whole_numbers(
    audit: Audit, wide: Problem, others: np.ndarray, gaps: Mapping[int, np.ndarray]
) -> Audit:
    """The audit with intervals that end at counts: at whole numbers, and in small tables at those that are possible."""
    low, high = np.ceil(audit.low - 1e-6), np.floor(audit.high + 1e-6)
    if gaps and audit.problem.table.cells <= _ENDS:
        for place, cell in enumerate(audit.cells.tolist()):
            if cell in gaps:
                able = np.setdiff1d(np.arange(low[place], high[place] + 1), gaps[cell])
                low[place], high[place] = able.min(), able.max()
        low, high = whole_ends(wide, others, audit.cells, (low, high), gaps=gaps)
    return replace(audit, low=low, high=high)


def are_exact(attack: Problem, design: PerturbationTable, published: np.ndarray) -> bool:
    """Whether intervals count all that is known of single counts: in large tables not which of them are never published so."""
    return attack.table.cells <= _ENDS or not _gaps(attack, design, published)


def whole_groups(protect: Problem) -> list[int]:
    """The cells that a rule calls sensitive since they have all records of a total, which no keys hide."""
    values = protect.table.values
    return sorted({group.cell for group in protect.groups if values[group.cell] == values[group.total]})


def empty_beside_groups(protect: Problem) -> list[int]:
    """The empty cells that a rule calls sensitive and that stand beside a cell with all records of their total.

    That the one has all of them and that the others are empty is the same thing, so that no rule may judge it otherwise.
    """
    table, found = protect.table, set[int]()
    empty = protect.is_sensitive & (table.values == 0)
    for place in range(table.relations) if empty.any() else ():
        members, signs = table.relation(place), table.signs_of(place)
        total, parts = members[signs < 0], members[signs > 0]
        if (
            total.size == 1
            and table.values[total[0]] > 0
            and (table.values[parts] == table.values[total[0]]).any()
        ):
            found.update(parts[empty[parts]].tolist())
    return sorted(found)


def _gaps(attack: Problem, design: PerturbationTable, published: np.ndarray) -> dict[int, np.ndarray]:
    """The counts within its ends that a cell cannot have, since the perturbation table never changes them so; by cell."""
    found = {}
    by_figure = {
        int(seen): counts_behind(design, int(seen), NEGLIGIBLE) for seen in np.unique(published).tolist()
    }
    for cell, seen in enumerate(published.tolist()):
        able = np.append(by_figure[int(seen)], round(float(attack.table.values[cell])))
        ends = int(attack.low[cell]), int(attack.high[cell])
        lacking = np.setdiff1d(np.arange(ends[0], ends[1] + 1), able)
        if lacking.size:
            found[cell] = lacking
    return found


def _held_by_gaps(audit: Audit, gaps: Mapping[int, np.ndarray]) -> tuple[int, ...]:
    """The sensitive cells of a large table whose interval has too few counts that are possible, each by itself."""
    failing = []
    needs = dict(zip(audit.problem.sensitive.tolist(), audit.problem.sliding.tolist(), strict=True))
    for cell in sorted(gaps.keys() & needs.keys()):
        low, high = (float(end[0]) for end in audit.bounds(np.array([cell])))
        able = np.setdiff1d(np.arange(np.ceil(low - 1e-6), np.floor(high + 1e-6) + 1), gaps[cell])
        if able.max() - able.min() < max(1.0, np.ceil(needs[cell] - 1e-6)):
            failing.append(cell)
    return tuple(failing)


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
