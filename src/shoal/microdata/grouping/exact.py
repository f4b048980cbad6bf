"""The best grouping with proof: branch and bound over all partitions of the attributes.

Every set of attributes is clustered once. Information loss and interval disclosure add up over groups, so a dynamic
programme over sets gives the least that any partition of the attributes left can add: a lower bound for every branch.
Linkage is computed only for what survives, stops when too many records are linked, and cuts whole branches through records
that are linked whatever becomes of the attributes left. Optimal means optimal for this score and this clustering (MDAV).
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from pydantic import Field

from shoal.errors import InputError
from shoal.microdata.grouping.bounds import lower_bound
from shoal.microdata.grouping.evaluator import Evaluator
from shoal.microdata.grouping.evaluator_kernels import Pool
from shoal.microdata.grouping.exact_kernels import (
    SAME,
    Tree,
    Tried,
    branches,
    cheapest_partitions,
    explore,
    widest_gaps,
)
from shoal.microdata.grouping.genetic import DGommOptions, search
from shoal.microdata.grouping.problem import GroupingProblem, Partition, canonical
from shoal.microdata.grouping.solution import Grouping
from shoal.runtime import Run
from shoal.runtime.solver import Options, SearchContext, solver

LARGEST = 13
# A branch with this many attributes left is looked through in one go: at most 203 partitions.
_SMALL = 6
_ROUND = 256
_WITNESSES = 320


class ExactOptions(Options):
    """Options of ``exact``."""

    memory_mb: int = Field(
        default=2048, ge=1, description="memory for the clusterings of all sets of attributes"
    )


@solver(ExactOptions)
def solve(problem: GroupingProblem, options: ExactOptions, context: SearchContext) -> Grouping:
    """Find and prove the best grouping; one iteration of the budget is one branch. Seeds only choose where to begin.

    >>> problem = GroupingProblem.of(np.random.default_rng(0).normal(size=(30, 4)), k=3)
    >>> found = solve(problem)
    >>> found.optimal, found.groups
    (True, ((0, 1, 2, 3),))
    """
    if problem.n > LARGEST:
        raise InputError(
            f"method 'exact' takes up to {LARGEST} attributes and there are {problem.n}; use 'd-gomm', whose result "
            "carries a lower bound"
        )
    sets = 2**problem.n - 1
    needed = sets * Pool.bytes_per_slot(problem.m, problem.n, problem.clusters)
    if needed > options.memory_mb * 2**20:
        raise InputError(
            f"method 'exact' would need {needed / 2**20:,.0f} MB for {problem.m} records; allow that much with option "
            "memory_mb, or use 'd-gomm'"
        )
    run, start = context.run(), context.start
    with Evaluator(problem, threads=context.threads, memory_mb=options.memory_mb) as evaluator:
        first: Partition = (sets,) if start is None else canonical(_groups(start))
        best = min(dict.fromkeys([first, (sets,)]), key=lambda p: evaluator.scores([p])[0].value)
        run.report(evaluator.scores([best])[0].value, bound=lower_bound(problem))
        evaluations = 1
        if not run.stopped:
            head_start = search(
                evaluator,
                DGommOptions(population=100, generations=40),
                run.remaining(iterations=40).start(),
                context.seeds,
                None if start is None else list(start),
            )
            evaluations += head_start.evaluations
            if head_start.value < evaluator.scores([best])[0].value:
                best = head_start.partition
            run.report(evaluator.scores([best])[0].value)
            if _cluster_all(evaluator, run):
                best, left = _prove(evaluator, run, best)
                evaluations += left
        score = evaluator.scores([best])[0]
        proved = run.bound is not None and run.bound >= score.value - 2 * SAME
        return evaluator.grouping(best, run, optimal=proved, evaluations=evaluations)


def _groups(labels: Sequence[int]) -> list[list[int]]:
    return [[a for a, own in enumerate(labels) if own == label] for label in dict.fromkeys(labels)]


def _cluster_all(evaluator: Evaluator, run: Run) -> bool:
    sets = 2**evaluator.problem.n - 1
    for begin in range(1, sets + 1, 64):
        if run.stopped:
            return False
        evaluator.cluster(range(begin, min(begin + 64, sets + 1)))
        run.report(phase=f"clustering set {min(begin + 63, sets):,} of {sets:,}")
    return True


def _tree(evaluator: Evaluator, limit: float) -> tuple[Tree, int]:
    """The branches to look through, and how many partitions they hold."""
    problem, pool = evaluator.problem, evaluator.pool
    n, weights = problem.n, problem.scoring
    full = 2**n - 1
    slot_of = np.zeros(full + 1, dtype=np.int64)
    slot_of[1:] = evaluator.slots(tuple(range(1, full + 1)))
    cost = np.zeros(full + 1)
    cost[1:] = [
        weights.loss_weight * problem.loss_percent(pool.sse[s])
        + weights.risk_weight * problem.disclosure_percent(pool.hits[s])
        for s in slot_of[1:]
    ]
    best = cheapest_partitions(cost)
    none = np.zeros((0, n), dtype=np.int64), np.zeros(0, dtype=np.int64)
    number = branches(cost, best, full, _SMALL, limit, *none)
    groups, left = np.zeros((number, n), dtype=np.int64), np.zeros(number, dtype=np.int64)
    branches(cost, best, full, _SMALL, limit, groups, left)
    bounds = cost[groups].sum(axis=1) + best[left]
    order = np.argsort(bounds, kind="stable")
    partitions = int(branches(cost, best, full, 0, limit, *none))
    return Tree(slot_of, cost, best, groups[order], left[order], bounds[order]), partitions


def _prove(evaluator: Evaluator, run: Run, best: Partition) -> tuple[Partition, int]:
    """Look through all branches; the better partition, and how many the additive bound left to look at."""
    problem = evaluator.problem
    value = evaluator.scores([best])[0].value
    tree, partitions = _tree(evaluator, value)
    run.report(value, bound=min(value, float(tree.best[-1])), phase="proving")
    explorer = _Explorer(evaluator, tree)
    done, total = 0, tree.left.size
    with ThreadPoolExecutor(evaluator.threads) as workers:
        while done < total and (chunk := run.chunk(_ROUND)):
            # Bounds ascend, so once one reaches the value all that follow do.
            if tree.bounds[done] >= value - SAME:
                done = total
                break
            end = min(total, done + chunk)
            for found, partition in explorer.look_through(workers, done, end, value):
                if found < value - SAME:
                    value, best = found, partition
            run.spend(end - done)
            done = end
            bound = value if done == total else min(value, float(tree.bounds[done]))
            run.report(value, bound=bound, phase=f"branch {done:,} of {total:,}")
    if done == total:
        run.report(value, bound=value)
    assert abs(evaluator.scores([best])[0].value - value) <= 1e-7, problem
    return best, partitions


class _Explorer:
    """Calls the kernel for stretches of branches, and learns which records to try first."""

    def __init__(self, evaluator: Evaluator, tree: Tree) -> None:
        problem = evaluator.problem
        self._threads = evaluator.threads
        self._problem, self._pool, self._tree = problem, evaluator.pool, tree
        self._tried = Tried(
            order=np.arange(problem.m),
            witnesses=np.zeros(0, dtype=np.int64),
            gaps=np.zeros((tree.cost.size, 0)),
            killers=np.arange(problem.m),
            early_killers=np.arange(problem.m),
            linked=np.zeros(problem.m, dtype=np.int64),
        )
        self._rounds = 0

    def look_through(
        self, workers: ThreadPoolExecutor, first: int, last: int, value: float
    ) -> Iterator[tuple[float, Partition]]:
        """What each stretch found, in order; threads and the records' order change only how long it takes."""
        edges = np.linspace(first, last, self._threads + 1).astype(np.int64)
        stretches = [(a, b) for a, b in pairwise(edges) if a < b]
        results = list(workers.map(lambda s: self._explore(int(s[0]), int(s[1]), value), stretches))
        self._learn()
        yield from results

    def _explore(self, first: int, last: int, value: float) -> tuple[float, Partition]:
        problem = self._problem
        found = np.zeros(problem.n, dtype=np.int64)
        known = (problem.points, self._pool, self._tree, self._tried)
        per_link = 100.0 * problem.scoring.risk_weight / problem.m
        score = explore(*known, per_link, first, last, value, found)
        masks = [int(mask) for mask in found if mask]
        return float(score), tuple(sorted(masks, key=lambda mask: mask & -mask))

    def _learn(self) -> None:
        self._rounds += 1
        # What a thread counts while another one does may get lost; the order needs no exact counts.
        order = np.argsort(-self._tried.linked, kind="stable")
        self._tried = self._tried._replace(order=order)
        if self._rounds == 2:
            witnesses = order[:_WITNESSES].copy()
            gaps = widest_gaps(self._problem.points, self._pool, self._tree.slot_of, witnesses)
            self._tried = self._tried._replace(witnesses=witnesses, gaps=gaps)


def warm_up() -> None:
    """Compile the kernels, on a problem that takes more than one round."""
    solve(GroupingProblem.of(np.random.default_rng(0).normal(size=(60, 9)), 3))
