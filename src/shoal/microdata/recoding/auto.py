"""The method that chooses: a light recoding of whole columns, and single values blanked where it does not suffice.

How light is best depends on the data: the best levels for several shares of people left out are candidates, and for each of
them the values that would have to be blanked are counted. The one with the least total loss is worked out in full.
"""

from dataclasses import replace

import numpy as np
from pydantic import Field

from shoal.errors import Infeasible, parameter
from shoal.microdata.models.model import PopulationModel
from shoal.microdata.recoding.classes import Levels
from shoal.microdata.recoding.lattice import solve as best_levels
from shoal.microdata.recoding.local_recoding.bound import lower_bound
from shoal.microdata.recoding.local_recoding.items import Items
from shoal.microdata.recoding.local_suppression.solve import LocalSuppressionOptions
from shoal.microdata.recoding.local_suppression.solve import solve as blank_values
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding
from shoal.runtime import Budget, Observer, Run, StopReason
from shoal.runtime.solver import Options, SearchContext, solver

# Shares of people who would be left out at the levels that are tried as a beginning.
_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Boxes of the lattice for each of them.
_BOXES = 20_000
_BLANKED = ("loss", "cells", "entropy")
# Changes that the search for blanks tries where nothing is said of it.
_CHANGES = 20_000
# The bound of all recodings is another one; that of the blanks alone would not be shown.
_UNPROVED = LocalSuppressionOptions(rounds=0)


class AutoOptions(Options):
    """Options of ``auto``."""

    candidates: int = Field(
        default=8, ge=1, le=100, description="most recodings of columns that are tried as a beginning"
    )


@solver(AutoOptions)
def solve(problem: Problem, options: AutoOptions, context: SearchContext) -> Recoding:
    """Recode columns lightly, then blank what is still unsafe; whole columns alone where that loses less.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> ages = Hierarchy([(str(age), f"{age // 10}0-{age // 10}9") for age in range(30, 50)])
    >>> found = solve(Problem.of([np.array([0, 0, 0, 1, 12, 12, 12])], [ages], k=2))
    >>> found.chosen, found.levels.ravel().tolist()
    ('local-suppression', [0, 2, 2, 0])
    """
    run = context.run()
    if context.start is not None:
        problem = replace(problem, lowest=context.start)
    whole = _whole_columns(problem, run, context.start)
    best = whole
    # Blanking a million values has steps that cannot be broken off: without time for one it is left out.
    if (
        (best is None or not run.out_of_time)
        and problem.measure in _BLANKED
        and not any(isinstance(model, PopulationModel) for model in problem.models)
    ):
        blanked = _blanked(problem, options, run, context)
        if blanked is not None and (best is None or blanked.value < best.value):
            best = blanked
    if best is None:
        # Neither way meets the demands; the search over whole columns says how near one can get.
        best_levels(problem, budget=Budget(iterations=_BOXES))
        raise Infeasible("no recoding was found that meets these demands")
    return _told(problem, best, whole, run)


def _whole_columns(problem: Problem, run: Run, levels: Levels | None) -> Recoding | None:
    """The best levels for whole columns, or the ones that were said."""
    asked = problem if levels is None else replace(problem, lowest=levels, highest=levels)
    try:
        return best_levels(
            asked, budget=run.remaining(iterations=_BOXES), observer=run.nested("recoding columns")
        )
    except Infeasible:
        return None


def _blanked(problem: Problem, options: AutoOptions, run: Run, context: SearchContext) -> Recoding | None:
    """The best of several beginnings, worked out in full."""
    tried: list[tuple[float, Levels, Recoding]] = []
    begin = [context.start] if context.start is not None else _beginnings(problem, run)[: options.candidates]
    longest = 0.0
    for levels in begin:
        before = run.seconds
        # A few iterations are enough to compare beginnings.
        found = _from(
            problem, levels, run.remaining(iterations=0), context, run.nested("comparing beginnings")
        )
        if found is not None:
            tried.append((found.value, levels, found))
        longest = max(longest, run.seconds - before)
        if run.stopped or _too_late(run, longest):
            break
    if not tried:
        return None
    _, levels, first = min(tried, key=lambda item: item[:2])
    if _too_late(run, longest):
        return first
    left = run.remaining().or_iterations(_CHANGES)
    return _from(problem, levels, left, context, run.nested("blanking values"))


def _too_late(run: Run, needed: float) -> bool:
    """Whether a time limit leaves less than is needed."""
    limit = run.budget.seconds
    return limit is not None and run.seconds + needed > limit


def _beginnings(problem: Problem, run: Run) -> list[Levels]:
    """The lowest levels, and those that are best when some people may be left out."""
    found = [problem.lowest]
    for share in reversed(_SHARES):
        if run.stopped:
            break
        limit = max(problem.limit, int(share * problem.units))
        try:
            solved = best_levels(
                replace(problem, limit=limit, keep_suppressed=False), budget=run.remaining(iterations=_BOXES)
            )
        except Infeasible:
            continue
        if solved.uniform is not None and solved.uniform not in found:
            found.append(solved.uniform)
    return found


def _from(
    problem: Problem, levels: Levels, budget: Budget, context: SearchContext, observer: Observer
) -> Recoding | None:
    highest = tuple(
        low if column in problem.alike else high
        for column, (low, high) in enumerate(zip(levels, problem.highest, strict=True))
    )
    begun = replace(problem, lowest=levels, highest=highest)
    try:
        found = blank_values(
            begun, _UNPROVED, budget=budget, seeds=context.seeds, threads=context.threads, observer=observer
        )
    except Infeasible:
        return None
    return found if found.kept.any() else None


def _told(problem: Problem, best: Recoding, whole: Recoding | None, run: Run) -> Recoding:
    """The choice with its reason, and a bound that holds for every recoding of single records."""
    items = Items.of(problem)
    bound = (
        lower_bound(items, np.full(items.size, Loss(problem).full))
        if problem.measure in _BLANKED
        else best.bound
    )
    run.report(best.value, bound=bound)
    if problem.measure not in _BLANKED:
        chosen, reason = "lattice", "by this measure whole columns are recoded; single values were not tried"
    elif best is whole:
        chosen = "lattice"
        reason = "of recoding whole columns and blanking single values, the first loses least"
    else:
        chosen = "local-suppression"
        reason = f"columns are recoded lightly, and {_blanks(problem, best):,} single values blanked: {best.value:.6g} is lost"
        reason += f", {whole.value:.6g} if whole columns were recoded alone" if whole is not None else ""
    optimal = bound is not None and bound >= best.value * (1.0 - 1e-9)
    if not run.stopped:
        # What was chosen may be the best of its kind; that of all kinds is proved by the bound alone.
        proved = best.stopped_by is StopReason.OPTIMAL and not optimal
        run.finish(StopReason.ITERATIONS if proved else best.stopped_by)
    run.spend(best.work)
    reason += f"; {parameter('method', 'local')} may lose far less, with values at mixed levels"
    return replace(
        best,
        bound=None if bound is None else min(bound, best.value),
        optimal=optimal,
        chosen=chosen,
        reason=reason,
        **run.closing(),
    )


def _blanks(problem: Problem, found: Recoding) -> int:
    heights = np.array(problem.heights)
    everywhere = (found.levels[found.kept] == heights).all(axis=0)
    blank = (found.levels == heights) & ~everywhere & found.kept[:, None]
    return int((blank * found.records[:, None]).sum())
