"""The proof: an integer programme over all patterns and records that a better release could use.

The relaxation tells for every pattern, and for every record under it, how much dearer than the bound a release is that uses
it. What is dearer than the best release known is left aside; if the programme finds nothing better in the rest, that release
is optimal. Only the use of patterns need be decided: with it given, records are a flow, whose corners are whole numbers.
"""

from dataclasses import dataclass, replace

import numpy as np

from shoal.microdata.recoding.local_suppression.assignment import LEFT_OUT, Assignment
from shoal.microdata.recoding.local_suppression.instance import Instance
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.patterns import Patterns
from shoal.microdata.recoding.local_suppression.relaxation import Relaxation
from shoal.microdata.recoding.local_suppression.relaxation_kernels import near_pairs
from shoal.runtime import Run
from shoal.runtime.linear_programmes import LinearProgramme, is_optimal, programme, quiet_highs, solve_within


@dataclass(frozen=True, eq=False)
class Pairs:
    """Combinations with patterns that they may use; ``all`` says that no better release uses others."""

    rows: np.ndarray
    patterns: np.ndarray
    all: bool


def pairs_within(relaxation: Relaxation, most: float, capacity: int) -> Pairs:
    """The pairs that a release can have which costs at most so much more than the bound, if they are not too many."""
    rows = np.empty(capacity, dtype=np.int64)
    patterns = np.empty(capacity, dtype=np.int64)
    found = near_pairs(relaxation.pricing, relaxation.prizes, relaxation.worth, most, rows, patterns)
    size = min(found, capacity)
    return Pairs(rows[:size], patterns[:size], found <= capacity)


def cheapest_pairs(relaxation: Relaxation, most: float, count: int) -> Pairs:
    """About so many pairs, those that are the least above the bound; none that is above it by more than ``most``."""
    nothing = np.empty(0, dtype=np.int64)

    def pairs_above(above: float) -> int:
        return int(
            near_pairs(relaxation.pricing, relaxation.prizes, relaxation.worth, above, nothing, nothing)
        )

    low, high = 0.0, most
    while pairs_above(high / 4.0) > count and high > 1e-6 * most:
        high /= 4.0
    for _ in range(6):
        middle = (low + high) / 2.0
        low, high = (middle, high) if pairs_above(middle) <= count else (low, middle)
    return replace(pairs_within(relaxation, low, 2 * count), all=False)


def with_release(patterns: Patterns, pairs: Pairs, release: Assignment) -> Pairs:
    """The pairs together with those of a release."""
    kept = release.masks != LEFT_OUT
    rows = np.concatenate([pairs.rows, release.rows[kept]])
    used = np.concatenate([pairs.patterns, patterns.numbers[release.rows[kept], release.masks[kept]]])
    both = np.unique(np.stack([used, rows], axis=1), axis=0)
    return Pairs(np.ascontiguousarray(both[:, 1]), np.ascontiguousarray(both[:, 0]), pairs.all)


def best_of_pairs(
    masks: Masks,
    patterns: Patterns,
    pairs: Pairs,
    incumbent: Assignment,
    run: Run,
    *,
    nodes: int,
    seconds: float | None,
) -> tuple[Assignment | None, float, int]:
    """The cheapest release that uses these pairs alone, a bound on all such, and how many iterations that took.

    The release is ``None`` if nothing better was found.
    """
    import highspy

    instance = masks.instance
    k = instance.problem.k
    known, number = np.unique(pairs.patterns, return_inverse=True)
    size, used = pairs.rows.size, known.size
    costs = masks.costs[instance.prices[1][pairs.rows], patterns.places[pairs.patterns]]
    records = instance.records[pairs.rows].astype(float)
    gone = instance.size if instance.limit else 0
    # Columns: a pair's records, then whether each pattern is used, then the records left out of each combination.
    links = np.arange(size)
    row_of = [pairs.rows, number + instance.size, links + instance.size + used]
    col_of = [links, links, links]
    entries = [np.ones(size), np.ones(size), np.ones(size)]
    row_of += [np.arange(used) + instance.size, links + instance.size + used]
    col_of += [size + np.arange(used), size + number]
    entries += [np.full(used, -float(k)), -records]
    lower = [instance.records.astype(float), np.zeros(used), np.full(size, -np.inf)]
    upper = [instance.records.astype(float), np.full(used, np.inf), np.zeros(size)]
    if gone:
        row_of += [np.arange(gone), np.full(gone, instance.size + used + size)]
        col_of += [size + used + np.arange(gone)] * 2
        entries += [np.ones(gone)] * 2
        lower.append(np.zeros(1))
        upper.append(np.array([float(instance.limit)]))
    index, column, value = np.concatenate(row_of), np.concatenate(col_of), np.concatenate(entries)
    order = np.lexsort((index, column))
    total = size + used + gone
    starts = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=total))]).astype(np.int32)
    model = programme(
        np.concatenate([costs, np.zeros(used), instance.leave[:gone]]),
        np.zeros(total),
        np.concatenate([records, np.ones(used), instance.records[:gone].astype(float)]),
        (starts, index[order].astype(np.int32), value[order]),
        np.concatenate(lower),
        np.concatenate(upper),
        by="columns",
        whole=np.repeat([False, True, False], [size, used, gone]),
    )
    gap = 0.999 if instance.whole else 1e-9
    solver = quiet_highs(model, mip_max_nodes=nodes, mip_rel_gap=0.0, mip_abs_gap=gap)
    start = _start(patterns, pairs, known, number, incumbent, gone)
    if start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = start
        solver.setSolution(solution)
    solve_within(solver, run, None if seconds is None else max(0.05, seconds))
    info = solver.getInfo()
    bound, iterations = float(info.mip_dual_bound), max(0, int(info.simplex_iteration_count))
    if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None, np.inf, iterations
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None, bound, iterations
    values = np.array(solver.getSolution().col_value)
    if np.abs(values - np.rint(values)).max(initial=0.0) > 1e-6:
        values = _corner(model, values, size, used)
    amounts = np.rint(np.concatenate([values[:size], values[size + used :]])).astype(np.int64)
    found = Assignment.of(
        np.concatenate([pairs.rows, np.arange(gone)]),
        np.concatenate([patterns.places[pairs.patterns], np.full(gone, LEFT_OUT)]),
        amounts,
    )
    # The solver knows numbers only to some digits.
    return (found if _is_release(instance, patterns, found) else None), bound, iterations


def _is_release(instance: Instance, patterns: Patterns, assignment: Assignment) -> bool:
    kept = assignment.masks != LEFT_OUT
    used = patterns.numbers[assignment.rows[kept], assignment.masks[kept]]
    people = np.bincount(used, weights=assignment.records[kept])
    given = np.bincount(assignment.rows, weights=assignment.records, minlength=instance.size)
    return bool(
        (people[people > 0] >= instance.problem.k).all()
        and (given == instance.records).all()
        and assignment.people_left_out(instance) <= instance.limit
    )


def _start(
    patterns: Patterns,
    pairs: Pairs,
    known: np.ndarray,
    number: np.ndarray,
    incumbent: Assignment,
    gone: int,
) -> np.ndarray | None:
    """The best release known as a point of the programme; ``None`` if it uses other pairs."""
    place_of = {
        pair: at for at, pair in enumerate(zip(pairs.rows.tolist(), pairs.patterns.tolist(), strict=True))
    }
    size, used = pairs.rows.size, known.size
    point = np.zeros(size + used + gone)
    for row, place, records in zip(incumbent.rows, incumbent.masks, incumbent.records, strict=True):
        if place == LEFT_OUT:
            point[size + used + row] += records
            continue
        at = place_of.get((int(row), int(patterns.numbers[row, place])))
        if at is None:
            return None
        point[at] += records
        point[size + number[at]] = 1.0
    return point


def _corner(model: LinearProgramme, values: np.ndarray, size: int, used: int) -> np.ndarray:
    """The same use of patterns with whole numbers of records."""
    lower, upper = model.lower.copy(), model.upper.copy()
    lower[size : size + used] = upper[size : size + used] = np.rint(values[size : size + used])
    fixed = model._replace(lower=lower, upper=upper, whole=np.zeros_like(model.whole))
    solver = quiet_highs(fixed, solver="simplex")
    solver.run()
    return np.array(solver.getSolution().col_value) if is_optimal(solver) else values
