"""Scores groupings and never does the same work twice.

A group's clustering depends only on the set of its attributes, so it is made once per set and kept while memory lasts.
Squared errors and interval disclosure add up over groups, and so do the distances by which records are linked.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import thread_time
from typing import Any

import numpy as np

from shoal.microdata.grouping.evaluator_kernels import Pool, count_links
from shoal.microdata.grouping.problem import GroupingProblem, Partition, members
from shoal.microdata.grouping.solution import Grouping
from shoal.microdata.measures.fitness import Fitness, fitness
from shoal.microdata.microaggregation.construct.mdav import mdav_labels
from shoal.microdata.microaggregation.solution import group_means
from shoal.runtime import Run

MEMORY_MB = 512
# What scoring consists of, as it is profiled.
PROFILED = CLUSTERING, MEASURING, LINKING = ("clustering", "loss and intervals", "linkage")


class Evaluator:
    """Evaluates partitions of the attributes, several at a time, with threads.

    ``clustered`` counts the clusterings made, ``asked`` those that scoring every grouping from scratch would have made.

    >>> problem = GroupingProblem.of(np.array([[1.0, 2], [3, 6], [5, 3], [8, 9], [12, 8], [13, 10]]), k=2)
    >>> with Evaluator(problem) as evaluator:
    ...     scores = evaluator.scores([(1, 2), (3,), (1, 2)])
    >>> [round(score.value, 2) for score in scores], evaluator.clustered, evaluator.asked
    ([32.06, 10.22, 32.06], 3, 5)
    """

    def __init__(self, problem: GroupingProblem, *, threads: int = 1, memory_mb: int = MEMORY_MB) -> None:
        self.problem = problem
        self.threads = max(1, threads)
        self.clustered = 0
        self.asked = 0
        self.scored = 0
        size = Pool.bytes_per_slot(problem.m, problem.n, problem.clusters)
        # A partition has at most n groups, which must be in the pool together.
        self._most_slots = max(2 * problem.n, memory_mb * 2**20 // size)
        self._pool = Pool.empty(min(256, self._most_slots), problem.m, problem.n, problem.clusters)
        self._slots: dict[int, int] = {}
        self._known: dict[Partition, Fitness] = {}
        self._killers = np.arange(problem.m)
        self._order = np.arange(problem.m)
        self._widths = np.array(problem.scoring.widths)
        self._executor = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        # CPU seconds of each call, by what was done; threads only ever append.
        self._spent: dict[str, list[float]] = {what: [] for what in PROFILED}

    def __enter__(self) -> "Evaluator":
        return self

    def __exit__(self, *error: object) -> None:
        if self._executor is not None:
            self._executor.shutdown()

    @property
    def saved(self) -> int:
        """How many clusterings did not have to be made."""
        return max(0, self.asked - self.clustered)

    @property
    def profile(self) -> tuple[tuple[str, float, int], ...]:
        """What was done, its CPU seconds in all, and how often."""
        return tuple((what, sum(seconds), len(seconds)) for what, seconds in self._spent.items())

    @property
    def pool(self) -> Pool:
        """The clustered sets."""
        return self._pool

    def scores(self, partitions: Sequence[Partition]) -> list[Fitness]:
        """The score of each partition, in order."""
        self.asked += sum(len(partition) for partition in partitions)
        new = [p for p in dict.fromkeys(partitions) if p not in self._known]
        while new:
            new = new[self._score_some(new) :]
        return [self._known[partition] for partition in partitions]

    def _score_some(self, partitions: Sequence[Partition]) -> int:
        # As many as fit into the pool with all their sets.
        wanted: dict[int, None] = {}
        taken = 0
        for partition in partitions:
            together = wanted | dict.fromkeys(partition)
            if taken and len(together) > self._most_slots:
                break
            wanted, taken = together, taken + 1
        self.cluster(wanted)
        links = self._each(self._links, partitions[:taken])
        for partition, count in zip(partitions, links, strict=False):
            self._known[partition] = self.fitness(partition, count)
        self.scored += taken
        return taken

    def slots(self, partition: Partition) -> np.ndarray:
        """Where the groups of a partition are in the pool; all of them must have been clustered."""
        return np.array([self._slots[mask] for mask in partition], dtype=np.int64)

    def fitness(self, partition: Partition, links: int) -> Fitness:
        """The score of a clustered partition with this many links."""
        slots = self.slots(partition).tolist()
        return Fitness(
            il=self.problem.loss_percent(sum(float(self._pool.sse[slot]) for slot in slots)),
            id=self.problem.disclosure_percent(sum(int(self._pool.hits[slot]) for slot in slots)),
            dld=100.0 * links / self.problem.m,
            loss_weight=self.problem.scoring.loss_weight,
        )

    def grouping(
        self, partition: Partition, run: Run, *, optimal: bool, evaluations: int, **more: Any
    ) -> Grouping:
        """What a run ends with whose best is a partition that was scored; ``more`` are further fields of it."""
        score = self._known[partition]
        bound = None if run.bound is None else min(run.bound, score.value)
        if optimal:
            run.finish()
        return Grouping(
            value=score.value,
            bound=score.value if optimal else bound,
            optimal=optimal,
            partition=partition,
            score=score,
            evaluations=evaluations,
            clustered=self.clustered,
            saved=self.saved,
            profile=self.profile,
            **more,
            **run.closing(),
        )

    def cluster(self, masks: Iterable[int]) -> None:
        """Cluster the sets that are not in the pool; the others become the last to be forgotten."""
        wanted = list(dict.fromkeys(masks))
        missing = [mask for mask in wanted if mask not in self._slots]
        for mask in wanted:
            if mask in self._slots:
                self._slots[mask] = self._slots.pop(mask)
        needed = len(self._slots) + len(missing)
        if needed > self._pool.slots:
            self._pool = self._pool.grown(min(self._most_slots, max(needed, 2 * self._pool.slots)))
        free = self._free(len(missing))
        self._each(self._cluster, list(zip(missing, free, strict=True)))
        self._slots.update(zip(missing, free, strict=True))
        self.clustered += len(missing)

    def _free(self, count: int) -> list[int]:
        used = len(self._slots)
        free = list(range(used, min(self._pool.slots, used + count)))
        while len(free) < count:
            oldest = next(iter(self._slots))
            free.append(self._slots.pop(oldest))
        return free

    def _cluster(self, item: tuple[int, int]) -> None:
        mask, slot = item
        problem = self.problem
        columns = np.array(members(mask), dtype=np.int64)
        scoring = problem.scoring
        began = thread_time()
        labels = mdav_labels(
            problem.points[:, columns], problem.k, bounds=scoring.bounds, distance=scoring.distance
        )
        clustered = thread_time()
        around = scoring.around == "protected"
        self._pool.fill(slot, problem.points, columns, labels, self._widths, around)
        self._spent[CLUSTERING].append(clustered - began)
        self._spent[MEASURING].append(thread_time() - clustered)

    def _links(self, partition: Partition) -> int:
        slots, problem = self.slots(partition), self.problem
        began = thread_time()
        links = int(count_links(problem.points, self._pool, slots, self._killers, self._order, problem.m))
        self._spent[LINKING].append(thread_time() - began)
        return links

    def _each(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        if self._executor is None or len(items) < 2:
            return [function(item) for item in items]
        return list(self._executor.map(function, items, chunksize=1))


def score_from_scratch(problem: GroupingProblem, groups: tuple[tuple[int, ...], ...]) -> Fitness:
    """The score of a grouping, by protecting the whole table and measuring it."""
    released = protect(problem, groups)
    scoring = problem.scoring
    found = fitness(problem.points, released, scaling="none", widths=scoring.widths, around=scoring.around)
    return replace(found, loss_weight=scoring.loss_weight)


def protect(problem: GroupingProblem, groups: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """The table microaggregated group by group, as the scoring does it."""
    released = np.empty_like(problem.points)
    for group in groups:
        part = problem.points[:, list(group)]
        labels = mdav_labels(
            part, problem.k, bounds=problem.scoring.bounds, distance=problem.scoring.distance
        )
        released[:, list(group)] = group_means(part, labels)[labels]
    return released


def warm_up() -> None:
    """Compile the kernels."""
    table = np.arange(12.0).reshape(6, 2) ** 2
    with Evaluator(GroupingProblem.of(table, 2)) as evaluator:
        evaluator.scores([(3,), (1, 2)])
