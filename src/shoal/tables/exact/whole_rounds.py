"""Raising the bound in whole numbers: what is known so far is solved as a 0-1 programme, round after round.

What the programme proves holds for every pattern of its columns. Its answer is audited; the inequalities it violates come
in for the next round, and an answer that is safe is a pattern. Patterns are refused far more quickly than fractional points
are separated, and by inequalities that these seldom show. Between two rounds the answer is mended and refused again several
times, which shows most of what many rounds would.
"""

from collections.abc import Callable

import numpy as np

from shoal.runtime import Run, informative
from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs
from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.exact.mending import PER_UNIT, KnownRows
from shoal.tables.exact.tree import Hooks, Incumbent
from shoal.tables.problem import Problem

# How near its bound an answer must be: this share of the gap, within these limits.
_SHARE, _LIMITS = 0.05, (1e-7, 2e-3)
# How often an answer is mended at once and refused again before the next round, and how often mended well at the end: then
# few requirements are short, which a heuristic meets sooner. Each time of so many all requirements are looked at.
_LESSONS, _MENDED, _ALL = 20, 60, 4
# A good pattern is known, and an answer is wanted for what it lacks: time spent on better answers is lost to the bound.
_BOUND_FIRST = {
    "mip_heuristic_effort": 0.02,
    "mip_heuristic_run_feasibility_jump": False,
    "mip_heuristic_run_root_reduced_cost": False,
}
# A programme is broken off after so many looks of the solver at its limits, which come every few hundred steps.
_LOOKS = 4000


class WholeProgramme:
    """min cost·y over 0-1 columns and the inequalities added so far; ``bound`` is what all solutions cost at least.

    ``answer`` is the best pattern found (``None``: not one), ``infeasible`` says that there is none, and ``solved`` whether the
    answer was proved to be as near the bound as was asked; ``work`` is what the last round took.
    """

    def __init__(self, problem: Problem, columns: np.ndarray, rows: Inequalities) -> None:
        self.problem = problem
        self.columns = columns
        self.bound = 0.0
        self.answer: np.ndarray | None = None
        self.solved = self.infeasible = False
        self.work = 0
        self._place = np.full(problem.table.cells, -1, dtype=np.int32)
        self._place[columns] = np.arange(columns.size)
        none = np.zeros(0)
        model = programme(
            problem.cost[columns],
            np.zeros(columns.size),
            np.ones(columns.size),
            (np.zeros(1, dtype=np.int32), none.astype(np.int32), none),
            none,
            none,
            whole=True,
        )
        self.solver = quiet_highs(model, **_BOUND_FIRST)
        self.known = KnownRows(problem, columns)
        self.add(rows)

    def add(self, rows: Inequalities) -> None:
        """Append inequalities over the columns."""
        if not len(rows):
            return
        self.known.add(rows)
        starts = np.concatenate([[0], np.cumsum([cells.size for cells in rows.cells])]).astype(np.int32)
        index, values = self._place[np.concatenate(rows.cells)], np.concatenate(rows.values)
        rhs = np.array(rows.rhs)
        self.solver.addRows(
            len(rows), rhs, np.full(rhs.size, np.inf), values.size, starts[:-1], index, values
        )

    def solve(self, incumbent: np.ndarray, gap: float, run: Run) -> None:
        """Solve as it stands, from a known pattern on, until an answer is this near the bound."""
        import highspy

        solver = self.solver
        solver.setOptionValue("mip_rel_gap", gap)
        if (self._place[incumbent] >= 0).all():
            known = highspy.HighsSolution()
            known.col_value = list(np.isin(self.columns, incumbent).astype(float))
            solver.setSolution(known)
        looks = 0

        def watch(event: "highspy.HighsCallbackEvent") -> None:
            nonlocal looks
            looks += 1
            if looks > _LOOKS or run.out_of_time:
                event.interrupt()

        solver.cbMipInterrupt.subscribe(watch)
        solver.run()
        solver.cbMipInterrupt.unsubscribe(watch)
        info = solver.getInfo()
        self.work = 1 + max(0, int(info.simplex_iteration_count)) // PER_UNIT
        self.infeasible = solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible
        self.solved = is_optimal(solver)
        if not self.infeasible and np.isfinite(info.mip_dual_bound):
            self.bound = max(self.bound, float(info.mip_dual_bound))
        values = np.array(solver.getSolution().col_value)
        found = np.isfinite(info.objective_function_value) and values.size == self.columns.size
        self.answer = self.columns[values > 0.5] if found and not self.infeasible else None


def raise_bound(
    whole: WholeProgramme,
    incumbent: Incumbent,
    hooks: Hooks,
    rounded_up: Callable[[float], float],
    x: np.ndarray,
    run: Run,
) -> bool:
    """Round after round until the incumbent is proved the best (true), a round takes too long, or the run stops."""

    def closed() -> bool:
        return incumbent.cost - rounded_up(whole.bound) <= 1e-6 * max(1.0, incumbent.cost)

    tightest, widest = _LIMITS
    exactly = False
    while not run.stopped:
        cost = incumbent.cost
        near = max(cost - rounded_up(whole.bound), 0.0) / max(cost, 1e-300)
        gap = tightest if exactly else min(widest, max(tightest, _SHARE * near))
        whole.solve(incumbent.pattern, gap, run)
        _spend(whole.work, run)
        run.report(bound=informative(min(rounded_up(whole.bound), cost), cost), phase="whole rounds")
        if whole.infeasible or closed():
            return True
        if whole.answer is None:
            return False
        rows = hooks.lacking(whole.answer)
        if len(rows) == 0:
            hooks.offer(whole.answer)
            if closed() or (exactly and whole.solved):
                return closed()
            exactly = True
        whole.add(rows)
        if not whole.solved:
            return False
        if len(rows):
            _learn(whole, whole.answer, x, hooks, run)
            if closed():
                return True
    return False


def _learn(whole: WholeProgramme, answer: np.ndarray, x: np.ndarray, hooks: Hooks, run: Run) -> None:
    """Add what refuses an answer that is mended at once, again and again, until it is safe."""
    for _ in range(_LESSONS):
        if run.stopped:
            return
        answer = whole.known.covered(answer, x)
        _spend(whole.known.work, run)
        rows = hooks.still_lacking(answer)
        if len(rows) == 0:
            rows = hooks.lacking(answer)
        if len(rows) == 0:
            hooks.offer(answer)
            return
        whole.add(rows)


def mend(whole: WholeProgramme, x: np.ndarray, hooks: Hooks, run: Run) -> np.ndarray | None:
    """Mend the last answer well until it is safe, and offer it, or until little is missing; returns what it came to.

    Mending at once, with what the point ``x`` chooses, counts where it is cheaper or where cells further away would be needed.
    """
    answer = whole.answer
    for number in range(_MENDED):
        if answer is None or run.stopped:
            break
        rows = hooks.still_lacking(answer) if number % _ALL else Inequalities()
        if len(rows) == 0:
            rows = hooks.lacking(answer)
        if len(rows) == 0:
            hooks.offer(answer)
            break
        whole.add(rows)
        mended = whole.known.mended(answer, run)
        _spend(whole.known.work, run)
        if run.stopped:
            # What a solver has when it is interrupted may be worth little.
            break
        at_once = whole.known.covered(answer, x)
        # A programme that is broken off by its nodes may leave much to be desired.
        answer = at_once if mended is None else min(mended, at_once, key=whole.problem.total_cost)
    return answer


def _spend(work: int, run: Run) -> None:
    left = run.budget.iterations
    run.spend(work if left is None else min(work, left - run.work))
