"""Adjustment with many sensitive cells: directions from the relaxation of the integer programme, then turned one by one.

With its directions an adjustment is a linear programme, which is solved again from where it was when one direction changes. The
relaxation is a bound on all adjustments.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import Infeasible, parameter
from shoal.search.budget import StopReason
from shoal.search.linear_programmes import is_optimal, quiet_highs, solve_within
from shoal.search.options import NoOptions
from shoal.search.solver import Given, solver
from shoal.tables.rounding.adjustment.attack import too_well_known
from shoal.tables.rounding.adjustment.directions import Directions
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.solution import Adjustment

if TYPE_CHECKING:
    from shoal.search.budget import Run

# Without a limit so many nodes, or directions turned: fewer of larger tables, each of which takes longer.
_USUAL, _LEAST, _CELLS = 2000, 20, 10**6
# Whether there is an adjustment at all is asked of so many sensitive cells, and of so many nodes.
_ASKED, _ASKED_NODES = 100, 100
# Where the relaxation helps no further: the integer programme takes such a share of the time that is left and so many nodes, and
# so many directions are drawn by chance, the first of them by what the relaxation says.
_SHARE, _SEARCHED_NODES, _BY_CHANCE, _BY_RELAXATION = 0.3, 200, 200, 20


def usual_work(cells: int) -> int:
    """How much is done if nobody says how much.

    >>> [usual_work(cells) for cells in (100, 2_601, 10_201, 400_000)]
    [2000, 384, 98, 20]
    """
    return max(_LEAST, min(_USUAL, _CELLS // max(1, cells)))


@solver(NoOptions)
def solve(problem: AdjustmentProblem, options: NoOptions, given: Given) -> Adjustment:
    """Round the relaxation, then turn directions as long as it helps and the budget lasts."""
    run = given.run(usual_work(problem.table.cells))
    directions = Directions.of(problem)
    relaxed = quiet_highs(directions.model(relaxed=True))
    relaxed.run()
    if not is_optimal(relaxed):
        raise Infeasible(why(problem, np.empty(0, dtype=np.int64), run, proved=True))
    bound = float(relaxed.getInfo().objective_function_value)
    directions, rises, change = _first(problem, np.array(relaxed.getSolution().col_value), given, run)
    cost = problem.cost(change)
    run.report(cost, bound=min(bound, cost))
    order = given.seeds.child("order").generator().permutation(problem.size)
    stale, place = 0, 0
    while stale < problem.size and not run.stopped:
        cell = order[place % problem.size]
        place, stale = place + 1, stale + 1
        if not (problem.can_fall if rises[cell] else problem.can_rise)[cell]:
            continue
        run.spend()
        turned = rises.copy()
        turned[cell] = not turned[cell]
        other = directions.change(turned)
        if other is None or problem.cost(other) >= cost * (1.0 - 1e-9) or too_well_known(problem, other).size:
            continue
        rises, change, cost, stale = turned, other, problem.cost(other), 0
        run.report(cost, bound=min(bound, cost))
    optimal = cost <= bound + 1e-9 * max(1.0, cost)
    if optimal:
        run.finish(StopReason.OPTIMAL)
    elif not run.stopped:
        run.finish(StopReason.ITERATIONS)
    bound = cost if optimal else min(bound, cost)
    return Adjustment(value=cost, bound=bound, optimal=optimal, change=change, **run.closing())


def _first(
    problem: AdjustmentProblem, values: np.ndarray, given: Given, run: "Run"
) -> tuple[Directions, np.ndarray, np.ndarray]:
    """Some safe adjustment, with its directions and the programme it comes from."""
    known = np.empty(0, dtype=np.int64)
    for directions, rises in _tries(problem, values, given, run):
        change = directions.change(rises)
        if change is None:
            continue
        known = too_well_known(problem, change)
        if not known.size:
            return directions, rises, change
        if run.out_of_time:
            raise given_up(problem, known, run)
    raise Infeasible(why(problem, known, run))


def _tries(
    problem: AdjustmentProblem, values: np.ndarray, given: Given, run: "Run"
) -> Iterator[tuple[Directions, np.ndarray]]:
    """The relaxation rounded, with changes of any size and with those that leave room on both sides; what the integer programme
    finds first; and directions by chance.
    """
    plain = Directions.of(problem)
    part = values[-problem.size :]
    yield plain, plain.feasible(part > 0.5)
    both = Directions.both_ways(problem)
    relaxed = quiet_highs(both.model(relaxed=True))
    relaxed.run()
    if is_optimal(relaxed):
        yield both, both.feasible(np.array(relaxed.getSolution().col_value)[-problem.size :] > 0.5)
    for directions in (both, plain):
        rises = _some(directions, run)
        if rises is not None:
            yield directions, rises
    random = given.seeds.child("first").generator()
    for turn in range(_BY_CHANCE):
        drawn = random.random(problem.size)
        yield plain, plain.feasible(drawn < (part if turn < _BY_RELAXATION else 0.5))


def _some(directions: Directions, run: "Run") -> np.ndarray | None:
    """The directions that the integer programme finds first."""
    import highspy

    seconds = run.budget.seconds
    left = None if seconds is None else max(0.05, _SHARE * (seconds - run.seconds))
    solver = quiet_highs(
        directions.model(relaxed=False), mip_max_improving_sols=1, mip_max_nodes=_SEARCHED_NODES
    )
    solve_within(solver, run, left)
    feasible = highspy.SolutionStatus.kSolutionStatusFeasible
    if solver.getInfo().primal_solution_status != feasible:
        return None
    return directions.chosen(np.array(solver.getSolution().col_value))


def possible(problem: AdjustmentProblem, run: "Run") -> bool:
    """Whether every sensitive cell can move as far as it must, as far as that is known.

    It is asked only of small problems, and only as long as there is time.
    """
    if problem.size > _ASKED or problem.table.cells > _ASKED * _ASKED or run.out_of_time:
        return True
    seconds = run.budget.seconds
    solver = quiet_highs(Directions.of(problem).model(relaxed=False))
    solver.setOptionValue("mip_max_nodes", _ASKED_NODES)
    solve_within(solver, run, None if seconds is None else max(0.0, seconds - run.seconds))
    return solver.getModelStatus().name not in ("kInfeasible", "kUnboundedOrInfeasible")


def given_up(problem: AdjustmentProblem, known: np.ndarray, run: "Run") -> BaseException:
    """What ends a search that has nothing to show: the time, or somebody who did not want to wait."""
    if run.budget.control.cancelled:
        return KeyboardInterrupt()
    return Infeasible(f"{why(problem, known, run)}; time was over before others were tried")


def why(problem: AdjustmentProblem, known: np.ndarray, run: "Run", *, proved: bool = False) -> str:
    """Why there is no adjustment, as far as that is known or even ``proved``, and what may help."""
    in_vain = problem.limit is not None and not possible(replace(problem, limit=None), run)
    help_ = [f"a larger {parameter('limit')}"] if problem.limit is not None and not in_vain else []
    if not problem.movable[problem.table.values != 0].all():
        help_.append(f"totals that move (without {parameter('keep_totals')})")
    advice = (
        f"; try {' or '.join(help_)}"
        if help_
        else f"; there {'is' if proved else 'may be'} too little beside the sensitive cells that could move"
    )
    advice += f"; no {parameter('limit')} helps" if in_vain else ""
    if known.size:
        cell = problem.table.name(int(known[0]))
        return f"the cell {cell} could be computed too closely from every adjustment that was found{advice}"
    if not Directions.of(problem).fine and problem.unit is not None:
        # In whole units of the last decimal nothing is proved then.
        return (
            "no adjustment was found; figures have more digits than the search can tell apart, so that there may be one: try "
            "figures with fewer decimals, or shoal round or shoal suppress"
        )
    how = "moves" if proved else "was found that moves"
    return f"no adjustment {how} every sensitive cell as far as it must and still adds up{advice}"
