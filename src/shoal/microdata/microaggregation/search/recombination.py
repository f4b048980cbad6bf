"""Putting the groups of many partitions together anew: a set-partitioning model over all groups ever seen.

Every partition a search finds is made of groups; some other choice among all those groups, covering each record once,
is often better than every partition they came from. The linear relaxation prices the records, the prices lead to
groups nobody has seen yet (a descent in reduced cost), and what is left after reduced-cost fixing is put together
region by region: the groups of the best partition that the relaxation would mix are chosen anew, exactly.
"""

from collections.abc import Callable

import highspy
import numpy as np

from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.kernels.pricing import (
    group_error,
    improve_groups,
    nearest_neighbours,
)
from shoal.microdata.microaggregation.search.kernels.space import Space
from shoal.microdata.microaggregation.solution import numbered_by_appearance
from shoal.runtime.linear_programmes import PRIMAL, add_choices, add_covered, quiet_highs, run_until

_NEIGHBOURS = 20
_STEPS = 6
_ROUNDS = 12
_SEEDS = 4000
# Prices say little about large groups: beyond this size nothing new is looked for.
_MOST_PRICED = 8
# Records in a region that is solved exactly, and the nodes of branch and bound it may take.
_REGION = 120
_LARGEST_REGION = 240
_NODES = 20
# What a programme costs at least, and what must be left before large regions are tried, in simplex iterations.
_LEAST_EFFORT = 20
_LARGE_EFFORT = 5000
# What a descent from one group costs, for each pair of its members, in simplex iterations.
_DESCENT = 0.005


class GroupPool:
    """Groups seen so far, each once, with a linear programme over them that is kept warm."""

    def __init__(self, problem: Problem, space: Space) -> None:
        self.problem = problem
        self.space = space
        self.largest = min(2 * problem.k - 1, problem.largest or problem.n)
        self._known: set[bytes] = set()
        self._members: list[np.ndarray] = []
        self._costs: list[float] = []
        self._neighbours: np.ndarray | None = None
        self._spent = 0
        self._priced = 0
        # Groups that are added leave what was found feasible, so the primal method goes on from there.
        self._programme = quiet_highs(simplex_strategy=PRIMAL)
        add_covered(self._programme, problem.n)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def cost(self) -> float:
        """What recombining took the last time, its descents counted as well, in simplex iterations."""
        return self._spent + _DESCENT * self.problem.k**2 * self._priced

    def add(self, groups: list[np.ndarray]) -> int:
        """Add the groups that are new; how many were."""
        fresh = []
        for group in groups:
            members = np.sort(group).astype(np.int32)
            key = members.tobytes()
            if key not in self._known:
                self._known.add(key)
                fresh.append(members)
        if fresh:
            costs = [float(group_error(self.space.points, members, len(members))) for members in fresh]
            self._members += fresh
            self._costs += costs
            add_choices(self._programme, fresh, np.array(costs), highspy.kHighsInf)
        return len(fresh)

    def add_partition(self, labels: np.ndarray) -> int:
        """Add the groups of a partition."""
        return self.add(groups_of(labels))

    def recombine(
        self,
        labels: np.ndarray,
        stop: Callable[[], bool],
        random: np.random.Generator,
        *,
        effort: int,
        arranging: int = 0,
    ) -> np.ndarray | None:
        """A better partition made of groups of the pool and of new ones; ``None`` if none was found.

        ``effort`` is how many iterations of the simplex method may be spent, half of them on prices, before nothing
        more is begun; ``arranging`` of them are left for putting groups together, however many prices took. ``stop`` is
        asked now and then whether to break off.
        """
        self._spent = self._priced = 0
        self.add_partition(labels)
        best = sum(group_error(self.space.points, group, len(group)) for group in groups_of(labels))
        for _ in range(_ROUNDS if self.problem.k <= _MOST_PRICED else 0):
            if not self._solve(self._programme, stop) or self._price(best) < max(5, len(self) // 200):
                break
            if self._spent > effort // 2:
                break
        if not self._solve(self._programme, stop):
            return None
        solution = self._programme.getSolution()
        gap = best - self._programme.getInfo().objective_function_value
        if gap <= self.space.tolerance:
            return None
        useful = np.flatnonzero(np.array(solution.col_dual) <= gap + 1e-9)
        weights = np.array(solution.col_value)[useful]
        return self._rearrange(useful, weights, labels, stop, random, max(effort, self._spent + arranging))

    def _price(self, best: float) -> int:
        if self._neighbours is None:
            wanted = min(_NEIGHBOURS, self.problem.n - 1)
            self._neighbours = np.empty((self.problem.n, wanted), dtype=np.int64)
            nearest_neighbours(self.space.points, self._neighbours)
        solution = self._programme.getSolution()
        prices = np.array(solution.row_dual)
        reduced = np.array(solution.col_dual)
        gap = max(best - self._programme.getInfo().objective_function_value, 0.0)
        near = np.flatnonzero(reduced <= 0.3 * gap)
        near = near[[len(self._members[column]) <= self.largest for column in near]]
        near = near[np.argsort(reduced[near], kind="stable")][:_SEEDS]
        members = np.zeros((len(near), self.largest + 1), dtype=np.int64)
        sizes = np.empty(len(near), dtype=np.int64)
        for row, column in enumerate(near):
            group = self._members[column]
            members[row, : len(group)] = group
            sizes[row] = len(group)
        self._priced += len(near)
        found = np.empty(len(near))
        improve_groups(self.space, prices, self._neighbours, self.largest, _STEPS, members, sizes, found)
        return self.add([members[row, : sizes[row]] for row in np.flatnonzero(found < -1e-9)])

    def _rearrange(
        self,
        columns: np.ndarray,
        weights: np.ndarray,
        labels: np.ndarray,
        stop: Callable[[], bool],
        random: np.random.Generator,
        effort: int,
    ) -> np.ndarray | None:
        """Solve region after region exactly, until each group was in one that could not be improved."""
        members = [self._members[c] for c in columns]
        sizes = np.array([len(group) for group in members])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        records = np.concatenate(members)
        costs = np.array([self._costs[c] for c in columns])
        touching: list[list[int]] = [[] for _ in range(self.problem.n)]
        for c in np.flatnonzero(weights > 1e-6):
            for record in members[c]:
                touching[record].append(int(c))
        groups = [group.astype(np.int32) for group in groups_of(labels)]
        group_costs = [float(group_error(self.space.points, group, len(group))) for group in groups]
        centres = np.stack([self.space.points[group].mean(axis=0) for group in groups])
        owner = np.array(labels, dtype=np.int64)
        open_groups = np.ones(len(groups), dtype=np.bool_)
        improved = False
        size = _REGION
        number = 0
        while self._spent < effort:
            number += 1
            left = np.flatnonzero(open_groups)
            if left.size == 0 and size < _LARGEST_REGION and effort - self._spent > _LARGE_EFFORT:
                size *= 2
                open_groups = np.array([len(group) > 0 for group in groups])
                left = np.flatnonzero(open_groups)
            if left.size == 0 or stop():
                break
            seed = int(random.choice(left))
            if number % 2:
                near = np.argsort(np.square(centres - centres[seed]).sum(axis=1), kind="stable")
                chosen = [g for g in near[: max(2, size // self.problem.k)].tolist() if len(groups[g])]
            else:
                chosen = _linked(seed, groups, owner, members, touching, size)
            inside = np.zeros(self.problem.n, dtype=np.bool_)
            for g in chosen:
                inside[groups[g]] = True
            usable = np.flatnonzero(np.add.reduceat(inside[records].astype(np.int64), starts) == sizes)
            before = sum(group_costs[g] for g in chosen)
            found = self._cover(np.flatnonzero(inside), [members[c] for c in usable], costs[usable], stop)
            open_groups[chosen] = False
            if found is None or costs[usable[found]].sum() >= before - self.space.tolerance:
                continue
            improved = True
            new = [members[usable[c]] for c in found]
            # Groups that go give their numbers to those that come; numbers left over stay behind empty.
            for g in chosen[len(new) :]:
                groups[g], group_costs[g], centres[g] = np.zeros(0, dtype=np.int32), 0.0, np.inf
            numbers = chosen[: len(new)] + list(range(len(groups), len(groups) + len(new) - len(chosen)))
            for g, group, cost in zip(numbers, new, costs[usable[found]], strict=True):
                centre = self.space.points[group].mean(axis=0)
                if g < len(groups):
                    groups[g], group_costs[g], centres[g] = group, float(cost), centre
                else:
                    groups.append(group)
                    group_costs.append(float(cost))
                    centres = np.vstack([centres, centre])
                    open_groups = np.append(open_groups, True)
                owner[group] = g
                open_groups[g] = True
        return numbered_by_appearance(owner) if improved else None

    def _cover(
        self, records: np.ndarray, groups: list[np.ndarray], costs: np.ndarray, stop: Callable[[], bool]
    ) -> np.ndarray | None:
        """The cheapest choice of groups that covers each of the records once, as far as a few nodes tell."""
        programme = quiet_highs(mip_max_nodes=_NODES, mip_rel_gap=1e-6)
        count = len(groups)
        add_covered(programme, len(records))
        # The records are in order, so each one's row is found by halving.
        add_choices(programme, [np.searchsorted(records, group) for group in groups], costs, 1.0)
        kinds = np.array([highspy.HighsVarType.kInteger] * count)
        programme.changeColsIntegrality(count, np.arange(count, dtype=np.int32), kinds)
        if not self._solve(programme, stop):
            return None
        return np.flatnonzero(np.array(programme.getSolution().col_value) > 0.5)

    def _solve(self, programme: highspy.Highs, stop: Callable[[], bool]) -> bool:
        done = run_until(programme, stop)
        self._spent += max(_LEAST_EFFORT, programme.getInfo().simplex_iteration_count)
        return done


def _linked(
    seed: int,
    groups: list[np.ndarray],
    owner: np.ndarray,
    members: list[np.ndarray],
    touching: list[list[int]],
    records: int,
) -> list[int]:
    """Groups that the linear programme would mix with a seed, and those it would mix with them, breadth first."""
    chosen = [seed]
    seen = {seed}
    total = len(groups[seed])
    for g in chosen:
        for record in groups[g]:
            for column in touching[record]:
                for other in owner[members[column]].tolist():
                    if other not in seen and total < records:
                        seen.add(other)
                        chosen.append(other)
                        total += len(groups[other])
    return chosen


def groups_of(labels: np.ndarray) -> list[np.ndarray]:
    """The members of each group, in order.

    >>> [group.tolist() for group in groups_of(np.array([0, 1, 0, 1, 1]))]
    [[0, 2], [1, 3, 4]]
    """
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])
