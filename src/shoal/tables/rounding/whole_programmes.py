"""Integer programmes as the methods of this folder run them: with a bound, within the budget, and ready to be broken off."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.search.linear_programmes import LinearProgramme, quiet_highs, solve_within

if TYPE_CHECKING:
    from shoal.search.budget import Run

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

    With ``needed`` the budget only says when to stop improving: it goes on until there is something, or surely nothing.
    """
    if model.cost.size == 0:
        holds = bool((model.row_lower <= 1e-9).all() and (model.row_upper >= -1e-9).all())
        return Answer(np.zeros(0) if holds else None, 0.0, holds, not holds, 0)
    found = _once(model, run, options, nodes=_nodes_left(run), patient=needed, share=share)
    nodes = found.nodes
    while needed and found.values is None and not found.infeasible:
        nodes_now = max(_IN_NEED, 2 * found.nodes)
        found = _once(model, run, options, nodes=nodes_now, patient=True, first=True)
        nodes += found.nodes
    return Answer(found.values, found.bound, found.optimal, found.infeasible, nodes)


def _nodes_left(run: "Run") -> int | None:
    budget = run.budget
    return None if budget.iterations is None else max(1, budget.iterations - run.work)


def _once(
    model: LinearProgramme,
    run: "Run",
    more: dict[str, Any],
    *,
    nodes: int | None,
    patient: bool,
    share: float = 1.0,
    first: bool = False,
) -> Answer:
    import highspy

    options: dict[str, Any] = {"mip_rel_gap": 0.0, "mip_abs_gap": 1e-6, **more}
    if nodes is not None:
        options["mip_max_nodes"] = nodes
    if first:
        options["mip_max_improving_sols"] = 1
    budget = run.budget
    seconds = None
    if budget.seconds is not None and not first:
        seconds = max(0.05, share * (budget.seconds - run.seconds))
    solver = quiet_highs(model, **options)
    solve_within(solver, run, seconds, interruptible=not patient)
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
