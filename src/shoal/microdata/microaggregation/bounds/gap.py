"""The groups that a better partition could have, and the cheapest choice among them.

At prices at which no group is worth more than it costs, a partition costs as much more than all prices together as its
groups cost more than their own.
"""

from typing import NamedTuple

import highspy
import numpy as np

from shoal.microdata.microaggregation.bounds.column_generation import Relaxation, add_groups
from shoal.microdata.microaggregation.bounds.pricing import Wanted, dearest_groups
from shoal.runtime import Run
from shoal.runtime.linear_programmes import add_covered, is_optimal, quiet_highs, run_until

# Branches after which the groups of one size around one record are too many.
_PATIENCE = 3_000_000

# Nodes after which a choice is given up: it ends even if nobody limits its time.
_NODES = 20_000

Groups = list[tuple[int, ...]]


def groups_within(relaxation: Relaxation, slack: float, run: Run, most: int) -> Groups | None:
    """All groups that cost less than ``slack`` more than their prices; ``None`` if they are too many or time is over."""
    smallest, largest = relaxation.sizes
    prices = relaxation.prices
    order = np.argsort(-prices, kind="stable")
    found: Groups = []
    for place in range(prices.size):
        for size in range(smallest, largest + 1):
            if run.out_of_time:
                return None
            room = most - len(found)
            here, count = np.empty((1, room, size), dtype=np.int32), np.zeros(1, dtype=np.int64)
            wanted = Wanted(size, size, -slack, _PATIENCE, 0.0, every=True)
            sizes = np.zeros((1, room), dtype=np.int32)
            dearest_groups(
                relaxation.kinds, prices, order, place, place + 1, wanted, np.zeros(1), count, here, sizes
            )
            if count[0] > room:
                return None
            found += [tuple(group) for group in here[0, : count[0]].tolist()]
    return found


class _Case(NamedTuple):
    """Partitions into so many groups: what they cost at least, and how much more with each group in them."""

    least: float
    number: int
    more: np.ndarray


def cheapest(relaxation: Relaxation, groups: Groups, limit: float, run: Run) -> tuple[float, Groups | None]:
    """What a partition into some of these groups costs at least, or ``limit`` if that is less; and the cheapest, if it
    costs less than that and was found.

    Each possible number of groups is a case of its own: that is where most of the gap is.
    """
    cases = sorted(_cases(relaxation, groups, limit, run), key=lambda case: case.least)
    best, least = None, limit
    for case in cases:
        gap = least - case.least
        if gap <= 0.0:
            break
        # Solvers compute to some digits only.
        cheap = np.flatnonzero(case.more <= gap + 1e-6 * abs(limit))
        # The others have k records at least.
        most = relaxation.problem.n - relaxation.problem.k * (case.number - 1)
        useful = [groups[g] for g in cheap if len(groups[g]) <= most]
        cost, chosen = _chosen(relaxation, useful, case.number, run)
        if chosen is None and cost < least:
            # Broken off: this case may cost as little as that, and those after it as little as they cost at least.
            lowest = max(cost, case.least)
            return min([lowest, least, *(other.least for other in cases if other.least > case.least)]), best
        if cost < least:
            best, least = chosen, cost
    return least, best


def _cases(relaxation: Relaxation, groups: Groups, limit: float, run: Run) -> list[_Case]:
    """The numbers of groups with which a partition could cost less than the limit.

    What they cost at least is convex in the number: on each side of the best the first that costs too much is the last.
    """
    counted = relaxation.kinds.counts.size
    if len({kind for group in groups for kind in group}) < counted:
        return []
    solver = _programme(relaxation, groups)
    unknown = [_Case(-np.inf, 0, np.zeros(len(groups)))]
    if not run_until(solver, lambda: run.out_of_time):
        return [] if _impossible(solver) else unknown
    middle = int(np.floor(np.array(solver.getSolution().col_value).sum() + 1e-6))
    cases = []
    for number, step in ((middle, -1), (middle + 1, 1)):
        while relaxation.problem.fewest_groups <= number <= relaxation.problem.most_groups:
            solver.changeRowBounds(counted, float(number), float(number))
            if not run_until(solver, lambda: run.out_of_time):
                if _impossible(solver):
                    break
                return unknown
            least = solver.getObjectiveValue()
            if least >= limit:
                break
            cases.append(_Case(least, number, np.array(solver.getSolution().col_dual)))
            number += step
    return cases


def _chosen(relaxation: Relaxation, groups: Groups, number: int, run: Run) -> tuple[float, Groups | None]:
    """The cost of the cheapest partition into so many of the groups, infinite if there is none, and that partition.

    If it was broken off, what a partition costs at least, and nothing.
    """
    solver = _programme(relaxation, groups, number)
    places = np.arange(len(groups), dtype=np.int32)
    solver.changeColsIntegrality(len(groups), places, np.array([highspy.HighsVarType.kInteger] * len(groups)))
    if not run_until(solver, lambda: run.out_of_time) or not is_optimal(solver):
        return (np.inf if _impossible(solver) else float(solver.getInfo().mip_dual_bound)), None
    times = np.round(np.array(solver.getSolution().col_value)).astype(np.int64)
    return float(solver.getObjectiveValue()), [groups[g] for g in np.repeat(places, times)]


def _impossible(solver: highspy.Highs) -> bool:
    status = highspy.HighsModelStatus
    # Nothing costs less than nothing, so no programme here is unbounded.
    return solver.getModelStatus() in (status.kInfeasible, status.kUnboundedOrInfeasible)


def _programme(relaxation: Relaxation, groups: Groups, number: int | None = None) -> highspy.Highs:
    """The programme over these groups; its last row counts them."""
    counts = relaxation.kinds.counts
    # A good partition is known; what is missing is the proof, to which heuristics add nothing.
    solver = quiet_highs(mip_rel_gap=0.0, mip_abs_gap=0.0, mip_heuristic_effort=0.0, mip_max_nodes=_NODES)
    add_covered(solver, counts.size, counts)
    add_groups(solver, groups, relaxation.errors(groups), float(counts.max()))
    fewest, most = (0.0, np.inf) if number is None else (float(number), float(number))
    places = np.arange(len(groups), dtype=np.int32)
    solver.addRow(fewest, most, len(groups), places, np.ones(len(groups)))
    return solver


def labels_of(relaxation: Relaxation, groups: Groups) -> np.ndarray:
    """The group of each record: of every kind there are as many records as the groups have."""
    kinds = relaxation.kinds.of
    labels = np.empty(kinds.size, dtype=np.int64)
    members = np.array([kind for group in groups for kind in group])
    numbers = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    labels[np.argsort(kinds, kind="stable")] = numbers[np.argsort(members, kind="stable")]
    return labels
