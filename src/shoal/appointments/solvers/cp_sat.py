"""CP-SAT with a budget of work: the same seed gives the same answer on every machine.

One worker, a fixed seed and limits in the solver's own deterministic time; wall time only when the budget has it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ortools.sat.python import cp_model

from shoal.search import Run, Seeds

# One unit of work is a thousandth of the solver's deterministic second.
UNIT = 0.001

#: A plan was found, there is none, or neither is known.
SOLVED, INFEASIBLE, UNKNOWN = (cp_model.OPTIMAL, cp_model.FEASIBLE), cp_model.INFEASIBLE, cp_model.UNKNOWN


def run_model(
    model: cp_model.CpModel, run: Run, seeds: Seeds, *, most: int | None = None
) -> tuple[int, cp_model.CpSolver]:
    """Solve a model with what is left of the budget, or ``most`` units of it; spends what was used."""
    budget = run.remaining(iterations=most)
    if run.stopped or budget.iterations == 0:
        return UNKNOWN, cp_model.CpSolver()
    status, solver = solve(model, run, seeds, budget.iterations)
    spent = max(1, round(solver.response_proto.deterministic_time / UNIT))
    run.spend(spent if budget.iterations is None else min(spent, budget.iterations))
    return status, solver


def solve(
    model: cp_model.CpModel, run: Run, seeds: Seeds, units: int | None
) -> tuple[int, cp_model.CpSolver]:
    """Solve a model within the time that a run has, and some units of work that are not spent."""
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = 1
    parameters.random_seed = seeds.integer() % (2**31 - 1)
    if units is not None:
        parameters.max_deterministic_time = units * UNIT
    seconds = run.remaining().seconds
    if seconds is not None:
        parameters.max_time_in_seconds = seconds
    with _stopping(solver, run):
        return solver.solve(model), solver


@contextmanager
def _stopping(solver: cp_model.CpSolver, run: Run) -> Iterator[None]:
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
