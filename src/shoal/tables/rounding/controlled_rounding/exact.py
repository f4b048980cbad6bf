"""The nearest controlled rounding, by an integer programme (M. Fischetti and J. J. Salazar, Journal of Official Statistics 14,
1998; J. J. Salazar, Mathematical Programming 105, 2006, online 2005).

Each cell climbs from its smallest multiple in steps of one base, and every step is a variable of 0 or 1. On networks,
two-dimensional tables among them, the corners of the programme are whole, so that one linear programme is enough. Where the
answer would let a sensitive cell be computed too closely, the dual of the attacker's linear programme says why, as an inequality
on the steps; it joins the programme, which is solved again.
"""

from dataclasses import dataclass

import numpy as np

from shoal.errors import Infeasible
from shoal.runtime.budget import StopReason, TimeIsOver
from shoal.runtime.linear_programmes import LinearProgramme, programme
from shoal.runtime.observer import CHECKING
from shoal.runtime.options import NoOptions
from shoal.runtime.solver import SearchContext, solver
from shoal.tables.rounding.controlled_rounding.attack import Inequality, broken, separated_by_whole_numbers
from shoal.tables.rounding.controlled_rounding.flow import LARGE, by_flow
from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem
from shoal.tables.rounding.controlled_rounding.solution import Rounding
from shoal.tables.rounding.whole_programmes import Answer, answer, ended
from shoal.tables.safety.watching import Afterwards

_USUAL = 2000
# Without a safe rounding the search goes on beyond its budget, but not for ever.
_MOST_ROUNDS = 400


@solver(NoOptions)
def solve(problem: RoundingProblem, options: NoOptions, context: SearchContext) -> Rounding:
    """Solve, look what can be computed from the answer, add what follows, and solve again."""
    run = context.run(_USUAL)
    steps = Steps.of(problem)
    inequalities: list[Inequality] = []
    bound, watch = 0.0, Afterwards(run)
    for _ in range(_MOST_ROUNDS):
        found = _first(steps) if not inequalities else None
        found = found or answer(steps.programme(inequalities), run, needed=True)
        run.spend(found.nodes)
        if found.values is None and not found.infeasible:
            raise ended(run, "a rounding")
        if found.values is None:
            raise Infeasible(_WHY[bool(problem.protect.sensitive.size)].format(problem.steps))
        bound = max(bound, found.bound + steps.constant)
        multiples = steps.multiples(found.values)
        run.report(bound=bound, phase=CHECKING)
        try:
            new = broken(problem, multiples, watch) or separated_by_whole_numbers(problem, multiples, watch)
        except TimeIsOver:
            raise ended(run, "a rounding") from None
        if new and run.out_of_time:
            raise ended(run, "a rounding")
        if not new:
            cost = problem.cost(multiples)
            if found.optimal:
                bound = cost
                run.finish(StopReason.OPTIMAL)
            run.report(cost, bound=min(bound, cost))
            return Rounding(
                value=cost,
                bound=min(bound, cost),
                optimal=found.optimal,
                multiples=multiples,
                cuts=len(inequalities),
                **run.closing(),
            )
        inequalities += new
        run.report(bound=bound)
    raise Infeasible(
        f"no rounding was found from which no sensitive cell can be computed too closely, in {_MOST_ROUNDS} attempts; "
        "take a larger base"
    )


def _first(steps: "Steps") -> Answer | None:
    """The answer before any attack was looked at, where a flow finds it sooner than a linear programme."""
    network = steps.problem.table.network
    if network is None or steps.owner.size < LARGE:
        return None
    return by_flow(steps, network)


_WHY = {
    False: "no table of multiples of the base adds up with every cell less than {} base(s) away",
    True: "no table of multiples of the base adds up with every cell less than {} base(s) away and all protected",
}


@dataclass(frozen=True, eq=False)
class Steps:
    """The variables: step ``j`` of a cell takes it from one multiple to the next; ``owner`` is its cell."""

    problem: RoundingProblem
    owner: np.ndarray
    start: np.ndarray
    least: np.ndarray
    slope: np.ndarray
    constant: float

    @classmethod
    def of(cls, problem: RoundingProblem) -> "Steps":
        """The steps of all cells, those left out from which a sensitive cell would be known too well by itself."""
        least, most = _allowed(problem)
        owner = np.repeat(np.arange(least.size), most - least)
        start = np.concatenate([[0], np.cumsum(most - least)])
        at = least[owner] + np.arange(owner.size) - start[owner]
        slope = np.abs(at + 1 - problem.target[owner]) - np.abs(at - problem.target[owner])
        return cls(problem, owner, start, least, slope, problem.cost(least))

    def multiples(self, values: np.ndarray) -> np.ndarray:
        """The multiple of each cell."""
        taken = np.rint(values).astype(np.int64)
        found: np.ndarray = self.least + np.bincount(self.owner, taken, self.least.size).astype(np.int64)
        return found

    def programme(self, inequalities: list[Inequality]) -> LinearProgramme:
        """All relations, steps in their order, and what the attacks showed."""
        from scipy.sparse import csr_matrix, vstack

        table, size = self.problem.table, self.owner.size
        relations = table.matrix[:, self.owner]
        right = self.problem.right - table.matrix @ self.least
        # Steps are bent the right way: taken out of order they cost no less and protect no better. Only to tell one rounding
        # from another their order must be said.
        told_apart = any(item.differ is not None for item in inequalities)
        later = np.flatnonzero((np.diff(self.owner, prepend=-1) == 0) & told_apart)
        order = csr_matrix(
            (
                np.tile([1.0, -1.0], later.size),
                np.stack([later - 1, later], axis=1).ravel(),
                2 * np.arange(later.size + 1),
            ),
            shape=(later.size, size),
        )
        shown = [item.row(self.owner, self.start, self.least) for item in inequalities]
        parts = [relations, order, *(csr_matrix(row) for row, _ in shown)]
        matrix = vstack(parts, format="csr")
        needs = np.array([need for _, need in shown])
        return programme(
            self.slope,
            np.zeros(size),
            np.ones(size),
            (matrix.indptr, matrix.indices, matrix.data),
            np.concatenate([right, np.zeros(later.size), needs]),
            np.concatenate([right, np.full(later.size + needs.size, np.inf)]),
            whole=bool(inequalities) or table.network is None,
        )


def _allowed(problem: RoundingProblem) -> tuple[np.ndarray, np.ndarray]:
    """The multiples of each cell; of a sensitive one those whose own interval is wide enough."""
    least, most = problem.least.copy(), problem.most.copy()
    protect, values = problem.protect, problem.table.values
    # Sums of decimals are off by a rounding error, and no end lies outside of the figure by that.
    noise = max(1e-9 * problem.base, 1e-15 * float(np.abs(values).max()))
    for place, cell in enumerate(protect.sensitive.tolist()):
        choices = np.arange(least[cell], most[cell] + 1)
        seen = np.zeros(values.size)
        good = []
        for multiple in choices:
            seen[cell] = multiple
            low, high = (ends[cell] for ends in problem.possible(seen))
            below, above = values[cell] - low, high - values[cell]
            share = 1.0 - 1e-9
            good.append(
                below >= share * protect.lower[place] - noise
                and above >= share * protect.upper[place] - noise
                and below + above >= share * protect.required_width[place] - noise
            )
        if not any(good):
            raise Infeasible(
                f"the base is too small for the protection of the cell {problem.table.name(cell)}: "
                "whatever it is rounded to, it is known more closely; take a larger base"
            )
        fitting = choices[np.array(good)]
        least[cell], most[cell] = fitting.min(), fitting.max()
    return least, most
