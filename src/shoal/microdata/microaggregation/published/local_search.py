"""Local search from random partitions: ``ls`` tries all pairs of groups in each pass, ``lsc`` those that changed.

LS is from Laszlo and Mukherjee, Iterated local search for microaggregation, Journal of Systems and Software 100
(2015); LSC from Bierman, Improvements to Iterated Local Search for Microaggregation, Nova Southeastern University
(2020). An iteration is one random start and its descent to a local optimum.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.descent import (
    Descent,
    Incumbent,
    SearchedPartition,
    Statistics,
    counted,
    group_limits,
    mean_lists,
    only_group,
)
from shoal.microdata.microaggregation.search.kernels.space import working_space
from shoal.microdata.microaggregation.sizes import checked_start
from shoal.search import Budget, Observer, Run, Seeds, silent
from shoal.search.options import Options

DEFAULT_RESTARTS = 100


class LocalSearchOptions(Options):
    """Options of ``ls`` and ``lsc``."""

    span: float = Field(
        default=0.2,
        gt=0,
        le=1,
        description="how much of the range of group numbers, from the top, starts are drawn from",
    )


def ls(
    problem: Problem,
    options: LocalSearchOptions | None = None,
    *,
    budget: Budget | None = None,
    seeds: Seeds | None = None,
    threads: int = 1,
    observer: Observer = silent,
    start: np.ndarray | None = None,
) -> SearchedPartition:
    """The best local optimum of several random starts; each pass of a descent tries all pairs of groups.

    >>> import numpy as np
    >>> problem = Problem(np.array([[0.0], [9.0], [1.0], [8.0], [2.0], [10.0]]), k=3)
    >>> ls(problem, budget=Budget(iterations=5)).labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    return _restarts(problem, options, budget, seeds, threads, observer, start, everything=True)


def lsc(
    problem: Problem,
    options: LocalSearchOptions | None = None,
    *,
    budget: Budget | None = None,
    seeds: Seeds | None = None,
    threads: int = 1,
    observer: Observer = silent,
    start: np.ndarray | None = None,
) -> SearchedPartition:
    """The best local optimum of several random starts; a pass tries pairs with a group that changed in the last.

    >>> import numpy as np
    >>> problem = Problem(np.array([[0.0], [9.0], [1.0], [8.0], [2.0], [10.0]]), k=3)
    >>> lsc(problem, budget=Budget(iterations=5)).labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    return _restarts(problem, options, budget, seeds, threads, observer, start, everything=False)


def _restarts(
    problem: Problem,
    options: LocalSearchOptions | None,
    budget: Budget | None,
    seeds: Seeds | None,
    threads: int,
    observer: Observer,
    start: np.ndarray | None,
    *,
    everything: bool,
) -> SearchedPartition:
    options = options or LocalSearchOptions()
    seeds = seeds or Seeds()
    first = None if start is None else checked_start(problem, start)
    run = (budget or Budget()).or_iterations(DEFAULT_RESTARTS).start(observer)
    if problem.most_groups < 2:
        return only_group(problem, run)
    space = working_space(problem.points)
    limits = group_limits(problem, options.span)
    workers = [Descent(problem, space, seeds.state()) for _ in range(max(1, threads))]
    best = Incumbent(problem, run)

    def attempt(worker: Descent, number: int, run: Run) -> np.ndarray:
        worker.random = seeds.child("restart", number).state()
        worker.search.place[:] = 0
        worker.search.done[:] = False
        if number == 0 and first is not None:
            worker.begin_at(first)
        else:
            worker.begin_at_random(*limits)
        if run.budget.iterations != 0:
            worker.descend(run, everything=everything)
        return worker.labels()

    with ThreadPoolExecutor(len(workers)) as pool:
        number = 0
        while number == 0 or not run.stopped:
            left = len(workers) if run.budget.iterations is None else max(1, run.budget.iterations - number)
            batch = range(number, number + min(len(workers), left))
            for labels in pool.map(attempt, workers, batch, [run] * len(batch)):
                if run.budget.iterations != 0:
                    run.spend(1)
                best.offer(labels)
            number = batch.stop
    return best.partition(_statistics(workers))


def _statistics(workers: list[Descent]) -> Statistics:
    counts: dict[str, Any] = {}
    for worker in workers:
        for name, value in counted(worker.search).items():
            counts[name] = counts.get(name, 0) + value
    lists = np.sum([worker.search.lists for worker in workers], axis=0)
    return Statistics(**counts, lists=mean_lists(lists, counts["searches"]))
