"""CP-SAT with a budget of work: the same seed gives the same answer on every machine.

One worker, a fixed seed and limits in the solver's own deterministic time; wall time only when the budget has it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ortools.sat.python import cp_model

from shoal.search import Run, Seeds

# One unit of work is a thousandth of the solver's deterministic second.
UNIT = 0.001

OPTIMAL, FEASIBLE, INFEASIBLE, UNKNOWN = "optimal", "feasible", "infeasible", "unknown"

_NAMES = {
    cp_model.OPTIMAL: OPTIMAL,
    cp_model.FEASIBLE: FEASIBLE,
    cp_model.INFEASIBLE: INFEASIBLE,
}


def run_model(
    model: cp_model.CpModel, run: Run, seeds: Seeds, *, most: int | None = None, linear: int = 1
) -> tuple[str, cp_model.CpSolver]:
    """Solve a model with what is left of the budget, or ``most`` units of it; spends what was used."""
    solver = cp_model.CpSolver()
    if run.stopped:
        return UNKNOWN, solver
    budget = run.remaining(iterations=most)
    parameters = solver.parameters
    parameters.num_workers = 1
    parameters.random_seed = seeds.integer() % (2**31 - 1)
    parameters.linearization_level = linear
    if budget.iterations is not None:
        if budget.iterations == 0:
            return UNKNOWN, solver
        parameters.max_deterministic_time = budget.iterations * UNIT
    if budget.seconds is not None:
        parameters.max_time_in_seconds = budget.seconds
    with stopping(solver, run):
        status = solver.solve(model)
    spent = max(1, round(solver.response_proto.deterministic_time / UNIT))
    run.spend(spent if budget.iterations is None else min(spent, budget.iterations))
    return _NAMES.get(status, UNKNOWN), solver


@contextmanager
def stopping(solver: cp_model.CpSolver, run: Run) -> Iterator[None]:
    """Within this block a cancellation reaches the solver."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            if run.budget.control.cancelled:
                solver.stop_search()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def values(solver: cp_model.CpSolver, variables: Any) -> list[int]:
    """What the solver found for some variables."""
    return [int(solver.value(variable)) for variable in variables]
