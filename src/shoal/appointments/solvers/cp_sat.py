"""CP-SAT with a budget of work: the same seed gives the same answer on every machine.

One worker, a fixed seed and limits in the solver's own deterministic time; wall time only when the budget has it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING

from shoal.runtime import Run, Seeds

if TYPE_CHECKING:
    # It loads pandas, which takes longer than most plans do.
    from ortools.sat.python.cp_model import CpModel, CpSolver

# One unit of work is a thousandth of the solver's deterministic second.
UNIT = 0.001


class Answer(Enum):
    """A plan was found, there is none, or neither is known."""

    SOLVED = "solved"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


def run_model(
    model: "CpModel", run: Run, seeds: Seeds, *, most: int | None = None
) -> tuple[Answer, "CpSolver"]:
    """Solve a model with what is left of the budget, or ``most`` units of it; spends what was used."""
    from ortools.sat.python import cp_model

    budget = run.remaining(iterations=most)
    if run.stopped or budget.iterations == 0:
        return Answer.UNKNOWN, cp_model.CpSolver()
    answer, solver = solve(model, run, seeds, budget.iterations)
    spent = max(1, round(solver.response_proto.deterministic_time / UNIT))
    run.spend(spent if budget.iterations is None else min(spent, budget.iterations))
    return answer, solver


def solve(model: "CpModel", run: Run, seeds: Seeds, units: int | None) -> tuple[Answer, "CpSolver"]:
    """Solve a model within the time that a run has, and some units of work that are not spent."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = 1
    parameters.random_seed = seeds.integer() % (2**31 - 1)
    if units is not None:
        parameters.max_deterministic_time = units * UNIT
    seconds = run.remaining().seconds
    # The solver counts seconds of the wall; where the run counts others, it is watched.
    if seconds is not None and run.budget.by_wall_clock:
        parameters.max_time_in_seconds = seconds
    with _stopping(solver, run):
        status = solver.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer.SOLVED, solver
    return Answer.INFEASIBLE if status == cp_model.INFEASIBLE else Answer.UNKNOWN, solver


def is_proved(solver: "CpSolver") -> bool:
    """Whether what the solver found is the best there is."""
    from ortools.sat.python import cp_model

    return bool(solver.response_proto.status == cp_model.OPTIMAL)


@contextmanager
def _stopping(solver: "CpSolver", run: Run) -> Iterator[None]:
    """Within this block a cancellation reaches the solver, and the end of the time by whatever clock the run has."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            if run.out_of_time:
                solver.stop_search()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
