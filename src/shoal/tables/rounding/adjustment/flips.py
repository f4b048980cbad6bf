"""Adjustment with many sensitive cells: directions from the relaxation of the integer programme, then turned one by one.

With its directions an adjustment is a linear programme, which is solved again from where it was when one direction changes. The
relaxation is a bound on all adjustments.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, cycle
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import Infeasible, parameter
from shoal.runtime.budget import StopReason, TimeIsOver
from shoal.runtime.linear_programmes import is_optimal, quiet_highs, solve_within
from shoal.runtime.observer import CHECKING
from shoal.runtime.options import NoOptions
from shoal.runtime.solver import SearchContext, solver
from shoal.tables.rounding.adjustment.attack import too_well_known
from shoal.tables.rounding.adjustment.directions import CLOSELY, Directions
from shoal.tables.rounding.adjustment.feasible_directions import feasible_directions
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.solution import Adjustment
from shoal.tables.rounding.adjustment.twins import twins
from shoal.tables.rounding.whole_programmes import ended
from shoal.tables.safety.watching import Afterwards, Watch

if TYPE_CHECKING:
    from shoal.runtime.budget import Run

# Without a limit so many nodes, or directions turned: fewer of larger tables, each of which takes longer.
_USUAL, _LEAST, _CELLS = 2000, 20, 10**6
# Whether there is an adjustment at all is asked of so many sensitive cells, and of so many nodes.
_ASKED, _ASKED_NODES = 100, 100
# So many times directions that fall short are turned, and so many times those of cells that are known too well, if these are no
# more than such a share.
_PUMPED, _MENDINGS, _MENDED = 60, 20, 0.2
# Where that helps no further: the integer programme takes such a share of the time that is left and so many nodes, and
# so many directions are drawn by chance, the first of them by what the relaxation says.
_SHARE, _SEARCHED_NODES, _BY_CHANCE, _BY_RELAXATION = 0.3, 200, 200, 20


def usual_work(cells: int) -> int:
    """How much is done if nobody says how much.

    >>> [usual_work(cells) for cells in (100, 2_601, 10_201, 400_000)]
    [2000, 384, 98, 20]
    """
    return max(_LEAST, min(_USUAL, _CELLS // max(1, cells)))


@solver(NoOptions)
def solve(problem: AdjustmentProblem, options: NoOptions, context: SearchContext) -> Adjustment:
    """Round the relaxation, then turn directions as long as it helps and the budget lasts."""
    run = context.run(usual_work(problem.table.cells))
    plain = Directions.of(problem)
    relaxed = quiet_highs(plain.model(relaxed=True), **CLOSELY)
    relaxed.run()
    if not is_optimal(relaxed):
        raise Infeasible(why(problem, np.empty(0, dtype=np.int64), run, proved=True))
    bound = plain.scale * float(relaxed.getInfo().objective_function_value)
    directions, rises, change = _first(problem, np.array(relaxed.getSolution().col_value), context, run)
    cost = problem.cost(change)
    run.report(cost, bound=min(bound, cost))
    groups = twins(problem.protect, problem.movable)
    order = context.seeds.child("order").generator().permutation(len(groups))
    found = (rises, change)
    # Changes that leave room on both sides are safe; once no turn makes them cheaper, others may be safe as well.
    for programme in dict.fromkeys((directions, plain)):
        turns = chain([np.empty(0, dtype=np.int64)], (groups[one] for one in cycle(order)))
        found = _cheaper(programme, found, turns, len(groups), bound, run)
    change, cost = found[1], problem.cost(found[1])
    # Shares of large figures are small costs, so that what counts as nothing is a share of them, too.
    optimal = cost * (1.0 - 1e-9) <= bound
    if optimal:
        run.finish(StopReason.OPTIMAL)
    elif not run.stopped:
        run.finish(StopReason.ITERATIONS)
    bound = cost if optimal else min(bound, cost)
    return Adjustment(value=cost, bound=bound, optimal=optimal, change=change, **run.closing())


def _cheaper(
    directions: Directions,
    best: tuple[np.ndarray, np.ndarray],
    turns: Iterator[np.ndarray],
    most: int,
    bound: float,
    run: "Run",
) -> tuple[np.ndarray, np.ndarray]:
    """Directions and change after turns that made it cheaper and left it safe, until so many in a row did not."""
    problem = directions.problem
    rises, change = best
    trying, cost, stale = Trying(directions, rises), problem.cost(change), 0
    watch = Watch(run)
    while stale <= most and not run.stopped:
        places = next(turns)
        run.spend()
        stale += 1
        other = trying.turned(places, cost)
        try:
            if (
                other is None
                or problem.cost(other) >= cost * (1.0 - 1e-9)
                or too_well_known(problem, other, watch).size
            ):
                trying.back(places)
                continue
        except TimeIsOver:
            trying.back(places)
            break
        change, cost, stale = other, problem.cost(other), 0
        run.report(cost, bound=min(bound, cost))
    return trying.rises, change


class Trying:
    """One programme of changes whose directions are turned one after the other, each solved from where the last one ended."""

    def __init__(self, directions: Directions, rises: np.ndarray) -> None:
        self._directions, self.rises = directions, rises.copy()
        self._solver = directions.fixed(rises)

    def turned(self, places: np.ndarray, below: float) -> np.ndarray | None:
        """The cheapest change with some cells turned, if there is one and it costs less."""
        self.back(places)
        if (self._directions.feasible(self.rises) != self.rises)[places].any():
            return None
        self._solver.run()
        if not is_optimal(self._solver):
            return None
        if self._directions.scale * self._solver.getInfo().objective_function_value >= below:
            return None
        return self._directions.change(self.rises)

    def back(self, places: np.ndarray) -> None:
        """Turn some cells."""
        self.rises[places] = ~self.rises[places]
        low, high = self._directions.bounds(self.rises)
        own = self._directions.position[places]
        columns = np.concatenate([own, own + self._directions.cells.size]).astype(np.int32)
        self._solver.changeColsBounds(columns.size, columns, low[columns], high[columns])


def _first(
    problem: AdjustmentProblem, values: np.ndarray, context: SearchContext, run: "Run"
) -> tuple[Directions, np.ndarray, np.ndarray]:
    """Some safe adjustment, with its directions and the programme it comes from."""
    known = np.empty(0, dtype=np.int64)
    random, watch = context.seeds.child("first").generator(), Afterwards(run)
    for directions, rises in _tries(problem, values, random, run):
        change = directions.change(rises)
        if change is None:
            continue
        run.report(phase=CHECKING)
        try:
            known = too_well_known(problem, change, watch)
        except TimeIsOver:
            raise ended(run, "an adjustment") from None
        found = (rises, change, known)
        if known.size and known.size <= _MENDED * problem.size:
            found = _mended(directions, found, random, run)
        rises, change, known = found
        if not known.size:
            return directions, rises, change
        if run.out_of_time:
            raise nothing_to_show(problem, known, run)
    raise Infeasible(why(problem, known, run))


def _mended(
    directions: Directions,
    state: tuple[np.ndarray, np.ndarray, np.ndarray],
    random: np.random.Generator,
    run: "Run",
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Turn cells that are known too well, as long as fewer are."""
    problem = directions.problem
    for turn in range(_MENDINGS):
        rises, _, known = state
        if not known.size or run.out_of_time:
            break
        places = np.flatnonzero(np.isin(problem.protect.sensitive, known))
        turned = rises.copy()
        some = places if turn == 0 else places[random.random(places.size) < 0.5]
        turned[some] = ~turned[some]
        other = feasible_directions(directions, directions.feasible(turned), random, _PUMPED)
        change = None if other is None else directions.change(other)
        if other is None or change is None:
            continue
        try:
            left = too_well_known(problem, change, Watch(run))
        except TimeIsOver:
            break
        if left.size <= known.size:
            state = (other, change, left)
    return state


def _tries(
    problem: AdjustmentProblem, values: np.ndarray, random: np.random.Generator, run: "Run"
) -> Iterator[tuple[Directions, np.ndarray]]:
    """Directions from the relaxation, with changes of any size and with those that leave room on both sides; what the integer
    programme finds first; and directions by chance.
    """
    part = values[-problem.size :]
    plain, both = Directions.of(problem), Directions.both_ways(problem)
    for directions in (both, plain):
        rounded = directions.feasible(part > 0.5)
        rises = feasible_directions(directions, rounded, random, _PUMPED)
        if rises is not None:
            yield directions, rises
    for directions in (both, plain):
        rises = _some(directions, run)
        if rises is not None:
            yield directions, rises
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


def nothing_to_show(problem: AdjustmentProblem, known: np.ndarray, run: "Run") -> BaseException:
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
        # What a sole contributor knows is counted for all of them.
        advice += f"; or see {parameter('insiders')}" if problem.protect.insiders else ""
        advice += ", or shoal suppress"
        return f"the cell {cell} could be computed too closely from every adjustment that was found{advice}"
    if not Directions.of(problem).fine and problem.unit is not None:
        # In whole units of the last decimal nothing is proved then.
        return (
            "no adjustment was found; figures have more digits than the search can tell apart, so that there may be one: try "
            f"{', '.join([*help_, 'figures with fewer decimals'])}, or shoal round or shoal suppress"
        )
    how = "moves" if proved else "was found that moves"
    return f"no adjustment {how} every sensitive cell as far as it must and still adds up{advice}"
