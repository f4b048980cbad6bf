"""The smallest adjustment, by an integer programme (R. A. Dandekar and L. H. Cox, 2002; J. Castro, European Journal of
Operational Research 171, 2006).

One variable of 0 or 1 for each sensitive cell says whether it rises or falls. If a sensitive cell could be computed too closely
from what it finds, it is solved within bounds that leave room on both sides of every figure; and directions from which that is so
are ruled out, and it is solved again.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import Infeasible
from shoal.runtime.budget import StopReason, TimeIsOver
from shoal.runtime.observer import CHECKING
from shoal.runtime.options import NoOptions
from shoal.runtime.solver import SearchContext, solver
from shoal.tables.rounding.adjustment import flips
from shoal.tables.rounding.adjustment.attack import too_well_known
from shoal.tables.rounding.adjustment.directions import CLOSELY, Directions
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.solution import Adjustment
from shoal.tables.rounding.whole_programmes import Answer, answer, ended
from shoal.tables.safety.watching import Afterwards

if TYPE_CHECKING:
    from shoal.runtime.budget import Run

# So many directions are ruled out where nothing safe was found, and so many where something was.
_MOST_ROUNDS, _FURTHER_ROUNDS = 40, 10
# Up to so many sensitive cells the exact method is the usual one.
_FEW = 500
# Beyond so many cells, or changes of so many units, whole changes of tables that are no networks are found after the
# directions, not with them: a solver may not even leave the first node of wide whole numbers, where no work is counted.
_WHOLE_AT_ONCE, _WIDE = 3000, 1000.0
# How much of its time the programme may take; the rest is for looking what can be computed from its answer.
_SHARE = 0.8


@solver(NoOptions)
def choose(problem: AdjustmentProblem, options: NoOptions, context: SearchContext) -> Adjustment:
    """The exact method where there are few sensitive cells, else the flips."""
    method = solve if problem.size <= _FEW else flips.solve
    return method(
        problem,
        budget=context.budget,
        seeds=context.seeds,
        threads=context.threads,
        observer=context.observer,
    )


@solver(NoOptions)
def solve(problem: AdjustmentProblem, options: NoOptions, context: SearchContext) -> Adjustment:
    """Solve, look what can be computed; if too much, keep to changes that leave enough, and rule directions out one by one."""
    run = context.run(flips.usual_work(problem.table.cells))
    directions = Directions.of(problem)
    without: list[np.ndarray] = []
    known = np.empty(0, dtype=np.int64)
    best: np.ndarray | None = None
    bound, held, looked, impossible = 0.0, np.inf, False, False
    watch = Afterwards(run)
    for turn in range(_MOST_ROUNDS):
        found = _answer(directions, run, without)
        run.spend(found.nodes)
        if found.values is None:
            impossible = found.infeasible and not without
            break
        bound = max(bound, found.bound)
        if best is not None and bound >= problem.cost(best):
            break
        rises = directions.chosen(found.values)
        change = directions.change(rises)
        if change is not None:
            run.report(phase=CHECKING)
            try:
                known = too_well_known(problem, change, watch)
            except TimeIsOver:
                if best is None:
                    raise ended(run, "an adjustment") from None
                break
            if not known.size:
                best = _better(problem, best, change)
                break
            if not looked and not run.budget.control.cancelled:
                best, looked = _both_ways(problem, run), True
        if change is not None or not directions.fine:
            # A dearer change in the same directions may be safe, and where units are coarse there may be a whole one that was
            # not found, so that nothing more than this is proved from now on.
            held = min(held, bound)
        without.append(rises)
        run.report(None if best is None else problem.cost(best), bound=min(bound, held))
        if run.out_of_time or (best is not None and (run.stopped or turn + 1 >= _FURTHER_ROUNDS)):
            break
    if best is None:
        if run.out_of_time and without:
            raise flips.nothing_to_show(problem, known, run)
        raise Infeasible(flips.why(problem, known, run, proved=impossible))
    cost = problem.cost(best)
    bound = min(bound, held)
    # Shares of large figures are small costs, so that what counts as nothing is a share of them, too.
    proved = bound >= cost * (1.0 - 1e-6)
    if proved:
        run.finish(StopReason.OPTIMAL)
    elif not run.stopped:
        # The programme ended with its share of the time, or of the work.
        run.finish(StopReason.ITERATIONS if run.budget.seconds is None else StopReason.TIME)
    bound = cost if proved else min(bound, cost)
    run.report(cost, bound=bound)
    return Adjustment(value=cost, bound=bound, optimal=proved, change=best, **run.closing())


def _answer(directions: Directions, run: "Run", without: list[np.ndarray] | None = None) -> Answer:
    few = directions.cells.size <= _WHOLE_AT_ONCE and directions.most.max(initial=0.0) <= _WIDE
    whole = directions.fine and directions.problem.table.network is None and few
    model = directions.model(relaxed=False, without=without, whole=whole)
    found = answer(model, run, needed=True, share=_SHARE, **CLOSELY)
    return replace(found, bound=found.bound * directions.scale)


def _better(problem: AdjustmentProblem, best: np.ndarray | None, other: np.ndarray) -> np.ndarray:
    return other if best is None or problem.cost(other) < problem.cost(best) else best


def _both_ways(problem: AdjustmentProblem, run: "Run") -> np.ndarray | None:
    """A safe change among those from which no sensitive cell is known too well by their size alone, if there is one."""
    directions = Directions.both_ways(problem)
    found = _answer(directions, run)
    run.spend(found.nodes)
    change = None if found.values is None else directions.change(directions.chosen(found.values))
    try:
        return None if change is None or too_well_known(problem, change, Afterwards(run)).size else change
    except TimeIsOver:
        return None
