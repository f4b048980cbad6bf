"""The rounding of a large table that is a network, as a circulation of least cost: every step of a cell is an arc of its own."""

from typing import TYPE_CHECKING

import numpy as np

from shoal.tables.rounding.whole_programmes import Answer

if TYPE_CHECKING:
    from shoal.tables.model.network import Network
    from shoal.tables.rounding.controlled_rounding.exact import Steps

# Below so many steps a linear programme is as quick, and loads nothing more.
LARGE = 20_000
_MOST = 10**9


def by_flow(steps: "Steps", network: "Network") -> Answer | None:
    """The steps of least cost that hold every relation; ``None`` if their costs are no whole numbers of anything."""
    from ortools.graph.python import min_cost_flow

    unit = _unit(steps.slope, steps.problem.base)
    if unit is None or steps.problem.right.any():
        return None
    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(
        network.tail[steps.owner],
        network.head[steps.owner],
        np.ones(steps.owner.size, dtype=np.int64),
        np.rint(steps.slope * unit).astype(np.int64),
    )
    # What flows before any step has to be brought back by them.
    into = np.bincount(network.head, weights=steps.least, minlength=network.nodes)
    out = np.bincount(network.tail, weights=steps.least, minlength=network.nodes)
    solver.set_nodes_supplies(np.arange(network.nodes, dtype=np.int64), np.rint(into - out).astype(np.int64))
    if solver.solve() != solver.OPTIMAL:
        return Answer(None, -np.inf, optimal=False, infeasible=True, nodes=0)
    return Answer(
        np.asarray(solver.flows(arcs), dtype=np.float64),
        solver.optimal_cost() / unit,
        optimal=True,
        infeasible=False,
        nodes=0,
    )


def _unit(slope: np.ndarray, base: float) -> int | None:
    """How many of them make costs whole: 1 where chance was drawn, the base where figures are near to the true ones."""
    for unit in (1, round(base), round(100 * base)):
        if 0 < unit < _MOST and (np.abs(slope * unit - np.rint(slope * unit)) < 1e-7).all():
            return int(unit)
    return None
