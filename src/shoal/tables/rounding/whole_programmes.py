"""Integer programmes as the methods of this folder run them: with a bound, within the budget, and ready to be broken off."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import Infeasible
from shoal.runtime.linear_programmes import LinearProgramme, quiet_highs, run_until, solve_within
from shoal.tables.safety.watching import LAST_SECONDS

if TYPE_CHECKING:
    from shoal.runtime.budget import Run

# What a search does once its budget is spent and it still has nothing to show: so many nodes at a time.
_IN_NEED = 500


@dataclass(frozen=True)
class Answer:
    """What a run of the solver found: the best values (``None`` if none), a bound on all, and the nodes it
    looked at beyond the first.
    """

    values: np.ndarray | None
    bound: float
    optimal: bool
    infeasible: bool
    nodes: int


def answer(model: LinearProgramme, run: "Run", *, needed: bool, share: float = 1.0, **options: Any) -> Answer:
    """Solve the programme within what is left of the budget, or a share of the seconds that are left, with options of the solver.

    With ``needed`` the work only says when to stop improving: it goes on until there is something, or surely nothing. When the
    time is over and there is nothing, or somebody ended it, a last few seconds are given to the first answer there is.
    """
    if model.cost.size == 0:
        holds = bool((model.row_lower <= 1e-9).all() and (model.row_upper >= -1e-9).all())
        return Answer(np.zeros(0) if holds else None, 0.0, holds, not holds, 0)
    found = _once(model, run, options, nodes=_nodes_left(run), share=share)
    nodes, last = found.nodes, False
    while needed and not last and found.values is None and not found.infeasible:
        last = run.out_of_time
        nodes_now = max(_IN_NEED, 2 * found.nodes)
        found = _once(model, run, options, nodes=nodes_now, first=True, last=last)
        nodes += found.nodes
    return Answer(found.values, found.bound, found.optimal, found.infeasible, nodes)


def ended(run: "Run", without: str) -> BaseException:
    """What ends a search that has nothing to show: the time, or somebody who did not want to wait."""
    if run.budget.control.cancelled:
        return KeyboardInterrupt()
    return Infeasible(
        f"the search ended before it found {without} from which no sensitive cell can be computed too closely, so that nothing "
        "is known of one; give it more time"
    )


def _nodes_left(run: "Run") -> int | None:
    budget = run.budget
    return None if budget.iterations is None else max(1, budget.iterations - run.work)


def _once(
    model: LinearProgramme,
    run: "Run",
    more: dict[str, Any],
    *,
    nodes: int | None,
    share: float = 1.0,
    first: bool = False,
    last: bool = False,
) -> Answer:
    import highspy

    options: dict[str, Any] = {"mip_rel_gap": 0.0, "mip_abs_gap": 1e-6, **more}
    if nodes is not None:
        options["mip_max_nodes"] = nodes
    if first:
        options["mip_max_improving_sols"] = 1
    budget = run.budget
    solver = quiet_highs(model, **options)
    if last:
        solver.setOptionValue("time_limit", LAST_SECONDS)
        run_until(solver, lambda: False)
    else:
        seconds = None if budget.seconds is None else max(0.05, share * (budget.seconds - run.seconds))
        solve_within(solver, run, seconds)
    info, status = solver.getInfo(), solver.getModelStatus()
    statuses = highspy.HighsModelStatus
    values = None
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values = np.array(solver.getSolution().col_value)
    whole = bool(model.whole.any())
    optimal = status == statuses.kOptimal
    bound = float(info.mip_dual_bound) if whole else float(info.objective_function_value)
    return Answer(
        values,
        bound if whole or optimal else -np.inf,
        optimal,
        status in (statuses.kInfeasible, statuses.kUnboundedOrInfeasible),
        max(0, int(info.mip_node_count) - 1) if whole else 0,
    )
