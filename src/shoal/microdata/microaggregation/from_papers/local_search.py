"""Local search from random partitions: ``ls`` tries all pairs of groups in each pass, ``lsc`` those that changed.

LS is from Laszlo and Mukherjee, Iterated local search for microaggregation, Journal of Systems and Software 100
(2015); LSC from Bierman, Improvements to Iterated Local Search for Microaggregation, Nova Southeastern University
(2020). An iteration is one random start and its descent to a local optimum.
"""

from concurrent.futures import ThreadPoolExecutor
from time import thread_time

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
from shoal.runtime import Run
from shoal.runtime.solver import Options, SearchContext, solver

DEFAULT_RESTARTS = 100


class LocalSearchOptions(Options):
    """Options of ``ls`` and ``lsc``."""

    span: float = Field(
        default=0.2,
        gt=0,
        le=1,
        description="how much of the range of group numbers, from the top, starts are drawn from",
    )


@solver(LocalSearchOptions)
def ls(problem: Problem, options: LocalSearchOptions, context: SearchContext) -> SearchedPartition:
    """The best local optimum of several random starts; each pass of a descent tries all pairs of groups.

    >>> from shoal.runtime import Budget
    >>> problem = Problem(np.array([[0.0], [9.0], [1.0], [8.0], [2.0], [10.0]]), k=3)
    >>> ls(problem, budget=Budget(iterations=5)).labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    return _restarts(problem, options, context, everything=True)


@solver(LocalSearchOptions)
def lsc(problem: Problem, options: LocalSearchOptions, context: SearchContext) -> SearchedPartition:
    """The best local optimum of several random starts; a pass tries pairs with a group that changed in the last.

    >>> from shoal.runtime import Budget
    >>> problem = Problem(np.array([[0.0], [9.0], [1.0], [8.0], [2.0], [10.0]]), k=3)
    >>> lsc(problem, budget=Budget(iterations=5)).labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    return _restarts(problem, options, context, everything=False)


def _restarts(
    problem: Problem, options: LocalSearchOptions, context: SearchContext, *, everything: bool
) -> SearchedPartition:
    first = checked_start(problem, context.start)
    run = context.run(DEFAULT_RESTARTS)
    if problem.most_groups < 2:
        return only_group(problem, run)
    space = working_space(problem.points, problem.k)
    limits = group_limits(problem, options.span)
    workers = [Descent(problem, space, context.seeds.state()) for _ in range(max(1, context.threads))]
    best = Incumbent(problem, run)
    spent = [0.0] * len(workers)

    def attempt(worker: Descent, number: int, run: Run) -> np.ndarray:
        began = thread_time()
        worker.search.random[:] = context.seeds.child("restart", number).state()
        worker.search.standing[:] = 0
        worker.search.done[:] = False
        if number == 0 and first is not None:
            worker.begin_at(first)
        else:
            worker.begin_at_random(*limits)
        if run.budget.iterations != 0:
            worker.descend(run, everything=everything)
        spent[workers.index(worker)] += thread_time() - began
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
    return best.partition(_statistics(workers, sum(spent)))


def _statistics(workers: list[Descent], cpu: float) -> Statistics:
    counts = counted(worker.search for worker in workers)
    lists = np.sum([worker.search.lists for worker in workers], axis=0)
    return Statistics(**counts, lists=mean_lists(lists, counts["searches"]), cpu=cpu)
