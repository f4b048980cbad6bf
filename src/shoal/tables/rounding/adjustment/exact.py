"""The smallest adjustment, by an integer programme (R. A. Dandekar and L. H. Cox, 2002; J. Castro, European Journal of
Operational Research 171, 2006).

One variable of 0 or 1 for each sensitive cell says whether it rises or falls. Directions from which a sensitive cell could be
computed too closely are ruled out, and the programme is solved again.
"""

import numpy as np

from shoal.errors import Infeasible
from shoal.search.budget import StopReason
from shoal.search.options import NoOptions
from shoal.search.solver import Given, solver
from shoal.tables.rounding.adjustment import flips
from shoal.tables.rounding.adjustment.attack import too_well_known
from shoal.tables.rounding.adjustment.directions import Directions
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.solution import Adjustment
from shoal.tables.rounding.whole_programmes import answer

_MOST_ROUNDS = 40
# Up to so many sensitive cells the exact method is the usual one.
_FEW = 300
# Beyond so many cells whole changes of tables that are no networks are found after the directions, not with them.
_WHOLE_AT_ONCE = 3000
# How much of its time the programme may take; the rest is for looking what can be computed from its answer.
_SHARE = 0.8


@solver(NoOptions)
def choose(problem: AdjustmentProblem, options: NoOptions, given: Given) -> Adjustment:
    """The exact method where there are few sensitive cells, else the flips."""
    method = solve if problem.size <= _FEW else flips.solve
    return method(
        problem, budget=given.budget, seeds=given.seeds, threads=given.threads, observer=given.observer
    )


@solver(NoOptions)
def solve(problem: AdjustmentProblem, options: NoOptions, given: Given) -> Adjustment:
    """Solve, look what can be computed, rule out those directions if need be, and solve again."""
    run = given.run(flips.usual_work(problem.table.cells))
    directions = Directions.of(problem)
    whole = (
        problem.unit is not None and problem.table.network is None and directions.cells.size <= _WHOLE_AT_ONCE
    )
    without: list[np.ndarray] = []
    known = np.empty(0, dtype=np.int64)
    bound, impossible = 0.0, False
    for _ in range(_MOST_ROUNDS):
        model = directions.model(relaxed=False, without=without, whole=whole)
        found = answer(model, run, needed=True, share=_SHARE)
        run.spend(found.nodes)
        if found.values is None:
            impossible = found.infeasible and not without
            break
        bound = max(bound, found.bound)
        rises = directions.chosen(found.values)
        change = directions.change(rises)
        if change is None:
            without.append(rises)
            continue
        known = too_well_known(problem, change)
        if not known.size:
            cost = problem.cost(change)
            proved = found.optimal and cost <= bound + 1e-6 * max(1.0, cost)
            if proved:
                run.finish(StopReason.OPTIMAL)
            bound = cost if proved else min(bound, cost)
            run.report(cost, bound=bound)
            return Adjustment(value=cost, bound=bound, optimal=proved, change=change, **run.closing())
        without.append(rises)
        run.report(bound=bound)
        if run.out_of_time:
            raise flips.given_up(problem, known, run)
    raise Infeasible(flips.why(problem, known, run, proved=impossible))
