"""One pattern for several figures: the same cells are hidden in the table of each.

A pattern for each figure alone costs no more than a common one, so its bound holds here, too. A common one is the union, without
the cells it can do without; for tables with few cells the cheapest one is proved by implicit hitting sets: of every set of cells
that is not enough some cell outside must be hidden.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shoal.runtime.budget import Run
from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs, solve_within
from shoal.tables.model.figures import cells_of_all
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import failing, failing_insiders
from shoal.tables.safety.sums import add_for_sums, failing_sums
from shoal.tables.solution import Pattern

# Cells that could be hidden, up to which a proof is tried, and how many sets that are not enough it may take.
LARGEST_PROOF, MOST_SETS = 150, 400


def tied(problem: Problem) -> Problem:
    """The problem in which every cell that may or must be hidden in one figure may be hidden in all."""
    groups = cells_of_all(problem.table)
    allowed = problem.is_sensitive[groups].any(axis=0) | problem.candidates[groups].any(axis=0)
    candidates = problem.candidates.copy()
    candidates[groups[:, allowed].ravel()] = True
    return problem.with_changes(candidates=candidates & ~problem.is_sensitive)


def solve_common(problem: Problem, solve: Callable[[Problem], Pattern], run: Run) -> Pattern:
    """The cheapest common pattern that was found, with a bound; ``problem`` is tied, ``solve`` searches for each figure.

    Once the time of ``run`` is over no cell is tried that the pattern may do without, and nothing more is proved.
    """
    groups = cells_of_all(problem.table)
    forced = problem.is_sensitive[groups].any(axis=0)
    # What must be hidden anyway, since it is sensitive in some figure, is a free choice for the others.
    cost = problem.cost.copy()
    cost[groups[:, forced].ravel()] = 0.0
    anyway = problem.total_cost(np.setdiff1d(groups[:, forced].ravel(), problem.sensitive).astype(np.int64))
    found = solve(problem.with_changes(cost=cost))
    price = cost[groups].sum(axis=0)
    allowed = problem.candidates[groups].any(axis=0) & ~forced
    chosen = forced | np.isin(groups, found.complementary).any(axis=0)
    chosen = _with_sums(problem, groups, chosen, price, allowed)
    chosen = _without_spare(problem, groups, chosen, forced, price, run)
    bound = found.bound
    proved = _proved(problem, groups, forced, allowed, price, run)
    if proved is not None:
        best, least = proved
        bound = least if bound is None else max(bound, least)
        if best is not None and _enough(problem, groups, best):
            chosen = best
    cells = np.setdiff1d(groups[:, chosen].ravel(), problem.sensitive).astype(np.int64)
    value = problem.total_cost(cells)
    bound = None if bound is None else min(bound + anyway, value)
    optimal = bound is not None and value - bound <= 1e-6 * max(1.0, value)
    return replace(
        found,
        complementary=cells,
        value=value,
        bound=value if optimal else bound,
        optimal=optimal,
        stopped_by=run.closing()["stopped_by"] if run.out_of_time and not optimal else found.stopped_by,
        record={**found.record, "common": 1.0},
    )


def _mask(problem: Problem, groups: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    mask = np.zeros(problem.table.cells, dtype=bool)
    mask[groups[:, chosen].ravel()] = True
    return mask


def _intervals_hold(problem: Problem, groups: np.ndarray, chosen: np.ndarray) -> bool:
    """Whether all intervals are wide enough, for everybody who looks: hiding more never makes one narrower."""
    mask = _mask(problem, groups, chosen)
    if failing(problem, mask, problem.requirements).size:
        return False
    return failing_insiders(problem, mask).size == 0


def _enough(problem: Problem, groups: np.ndarray, chosen: np.ndarray) -> bool:
    return _intervals_hold(problem, groups, chosen) and not failing_sums(
        problem, _mask(problem, groups, chosen)
    )


def _with_sums(
    problem: Problem, groups: np.ndarray, chosen: np.ndarray, price: np.ndarray, allowed: np.ndarray
) -> np.ndarray:
    """The pattern with further cells for sums that must not be known, in all figures, until none is known."""
    every = np.zeros(problem.table.cells)
    every[groups] = price
    while True:
        cells = np.setdiff1d(groups[:, chosen].ravel(), problem.sensitive)
        more = add_for_sums(problem, cells, every)
        if more is None:
            return chosen | allowed
        wider = chosen | np.isin(groups, more).any(axis=0)
        if (wider == chosen).all():
            return chosen
        chosen = wider


def _without_spare(
    problem: Problem, groups: np.ndarray, chosen: np.ndarray, forced: np.ndarray, price: np.ndarray, run: Run
) -> np.ndarray:
    """The pattern without cells it can do without, dearest first, as far as there is time."""
    chosen = chosen.copy()
    spare = np.flatnonzero(chosen & ~forced)
    for place in spare[np.argsort(-price[spare], kind="stable")]:
        if run.out_of_time:
            break
        chosen[place] = False
        if not _enough(problem, groups, chosen):
            chosen[place] = True
    return chosen


def _proved(
    problem: Problem,
    groups: np.ndarray,
    forced: np.ndarray,
    allowed: np.ndarray,
    price: np.ndarray,
    run: Run,
) -> tuple[np.ndarray | None, float] | None:
    """The cheapest pattern that makes all intervals wide enough, and its cost; the cost so far if the proof takes too long."""
    free = np.flatnonzero(allowed)
    if free.size > LARGEST_PROOF:
        return None
    sets: list[np.ndarray] = []
    least = 0.0
    for _ in range(MOST_SETS):
        hit = None if run.out_of_time else _cheapest_hit(price[free], sets, run)
        if hit is None:
            break
        trial = forced.copy()
        trial[free[hit]] = True
        least = float(price[free[hit]].sum())
        if _intervals_hold(problem, groups, trial):
            return trial, least
        # The largest set around it that is still not enough: some cell outside must be hidden.
        for place in free[np.argsort(price[free], kind="stable")]:
            if run.out_of_time:
                return None, least
            if not trial[place]:
                trial[place] = True
                if _intervals_hold(problem, groups, trial):
                    trial[place] = False
        sets.append(np.flatnonzero(~trial[free]))
    return None, least


def _cheapest_hit(price: np.ndarray, sets: list[np.ndarray], run: Run) -> np.ndarray | None:
    """The cheapest choice that has a member of every set; none if there is no time to find it."""
    if not sets:
        return np.empty(0, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([own.size for own in sets])])
    matrix = (starts, np.concatenate(sets), np.ones(starts[-1]))
    rows = np.ones(len(sets)), np.full(len(sets), np.inf)
    model = programme(price, np.zeros(price.size), np.ones(price.size), matrix, *rows, whole=True)
    solver = quiet_highs(model, mip_rel_gap=0.0, mip_abs_gap=0.0)
    solve_within(solver, run, run.remaining().seconds)
    if run.out_of_time:
        return None
    assert is_optimal(solver)
    found: np.ndarray = np.flatnonzero(np.array(solver.getSolution().col_value) > 0.5)
    return found
