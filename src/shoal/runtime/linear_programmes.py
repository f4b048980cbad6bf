"""The one way to build a linear programme: HiGHS without a word, on one thread, with the same result every time.

>>> import numpy as np
>>> rows = np.array([0, 2]), np.array([0, 1]), np.array([1.0, 1.0])
>>> model = programme(np.array([1.0, 2.0]), np.zeros(2), np.full(2, 5.0), rows, np.array([6.0]), np.array([np.inf]))
>>> solver = quiet_highs(model)
>>> _ = solver.run()
>>> solver.getInfo().objective_function_value
7.0
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import highspy
    from scipy.sparse import csr_matrix

    from shoal.runtime.budget import Run

#: The primal simplex method: where only the objective changes, the last basis stays feasible and it goes on from there.
PRIMAL = 4


class LinearProgramme(NamedTuple):
    """Minimise ``cost`` over columns between ``lower`` and ``upper``, with rows between theirs; see ``programme``."""

    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    matrix: tuple[np.ndarray, np.ndarray, np.ndarray]
    row_lower: np.ndarray
    row_upper: np.ndarray
    by_rows: bool
    whole: np.ndarray

    def hand_to(self, solver: "highspy.Highs") -> None:
        """Give it to a solver in place of what that held."""
        import highspy

        # As arrays: a model of the solver's own would be filled number by number, which takes longer than solving it does.
        form = highspy.MatrixFormat.kRowwise if self.by_rows else highspy.MatrixFormat.kColwise
        shape = self.cost.size, self.row_lower.size, self.matrix[1].size, int(form)
        least, nothing_else = int(highspy.ObjSense.kMinimize), 0.0
        solver.passModel(*shape, least, nothing_else, *self[:3], *self[4:6], *self.matrix, self.whole)


def quiet_highs(model: LinearProgramme | None = None, **options: Any) -> "highspy.Highs":
    """A solver that prints nothing and does not depend on how many threads the machine has."""
    import highspy

    solver = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "random_seed": 0, **options}.items():
        solver.setOptionValue(name, value)
    if model is not None:
        model.hand_to(solver)
    return solver


def programme(
    cost: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    matrix: tuple[np.ndarray, np.ndarray, np.ndarray],
    row_lower: np.ndarray,
    row_upper: np.ndarray,
    *,
    by: Literal["rows", "columns"] = "rows",
    whole: bool | np.ndarray = False,
) -> LinearProgramme:
    """Minimise ``cost`` over columns between their bounds, with rows between theirs.

    The matrix is (starts, places, values), row ``by`` row or column by column. Infinite bounds are infinite; ``whole`` says
    which columns are whole numbers, or whether all are.
    """
    # As the solver has them: 1 for whole numbers, 0 for others.
    kinds = np.zeros(cost.size, dtype=np.int32)
    kinds[:] = whole
    return LinearProgramme(cost, lower, upper, matrix, row_lower, row_upper, by == "rows", kinds)


def add_covered(solver: "highspy.Highs", count: int, often: np.ndarray | None = None) -> None:
    """Add rows that whatever is chosen must cover exactly once, or so ``often`` each."""
    times, nothing = np.ones(count) if often is None else often.astype(np.float64), np.zeros(0, np.int32)
    solver.addRows(count, times, times, 0, np.zeros(count, np.int32), nothing, np.zeros(0))


def add_choices(
    solver: "highspy.Highs",
    groups: Sequence[np.ndarray],
    costs: np.ndarray,
    most: float,
    often: Sequence[np.ndarray] | None = None,
) -> None:
    """Add a column for each group of rows, which it covers, chosen between 0 and ``most`` times at its cost.

    A group covers each of its rows once, or so ``often``.
    """
    count, rows = len(groups), np.concatenate([np.zeros(0, np.int32), *groups]).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])[:-1]]).astype(np.int32)
    bounds = np.zeros(count), np.full(count, most)
    times = np.ones(rows.size) if often is None else np.concatenate([np.zeros(0), *often])
    solver.addCols(count, costs, *bounds, rows.size, starts, rows, times)


def is_optimal(solver: "highspy.Highs") -> bool:
    """Whether the last run ended with an optimum."""
    import highspy

    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def solve_within(
    solver: "highspy.Highs", run: "Run", seconds: float | None = None, *, interruptible: bool = True
) -> None:
    """Solve until done, for so many ``seconds`` by the clock of a run at most, and until the run is cancelled.

    The solver itself counts seconds of the wall; where the run counts others, it is asked at every look of the solver.
    """
    budget, began = run.budget, run.seconds
    if seconds is not None and budget.by_wall_clock:
        solver.setOptionValue("time_limit", seconds)

    def stop() -> bool:
        late = seconds is not None and run.seconds - began >= seconds
        return late or (interruptible and budget.control.cancelled)

    run_until(solver, stop)


def whole_numbers(
    cost: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    rows: "tuple[csr_matrix, np.ndarray | float, np.ndarray | float]",
    *,
    whole: bool = True,
    stop: Callable[[], bool] = lambda: False,
    **options: Any,
) -> "highspy.Highs":
    """A solver that has minimised ``cost`` over whole numbers between bounds, with rows between theirs.

    It ends when it is told to ``stop``, and whenever Ctrl-C raises an exception: at every look a signal is heard.
    """
    matrix, least, most = rows
    parts = (matrix.indptr, matrix.indices, matrix.data)
    ends = (np.broadcast_to(np.asarray(end, dtype=np.float64), matrix.shape[:1]) for end in (least, most))
    solver = quiet_highs(programme(cost, lower, upper, parts, *ends, whole=whole), **options)
    run_until(solver, stop)
    return solver


def best_values(solver: "highspy.Highs") -> np.ndarray | None:
    """The best values the last run has found, if there are any."""
    import highspy

    if solver.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    return np.array(solver.getSolution().col_value)


def run_until(solver: "highspy.Highs", stop: Callable[[], bool]) -> bool:
    """Solve until done or told to stop; whether it was done and a solution is known."""
    import highspy

    told = False

    def look(event: Any) -> None:
        nonlocal told
        told = told or stop()
        if told:
            event.interrupt()

    looks = (solver.cbSimplexInterrupt, solver.cbMipInterrupt, solver.cbIpmInterrupt)
    for one in looks:
        one.subscribe(look)
    try:
        solver.run()
    finally:
        for one in looks:
            one.unsubscribe(look)
    return not told and bool(solver.getInfo().primal_solution_status == highspy.kSolutionStatusFeasible)
