"""The method that chooses: the optimum where it can be had, a long search for small data, blocks for large."""

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.construct import univariate
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import blocks, ils
from shoal.microdata.microaggregation.solution import Partition, squared_error
from shoal.search import Budget, Observer, Seeds, silent
from shoal.search.options import Options

# Searched as a whole up to here; above, in blocks, with a short search inside each up to the second number.
SEARCHED_WHOLE = 6_000
REFINED = 100_000
REFINEMENT = 60


class AutoOptions(Options):
    """Options of ``auto``."""

    whole: int = Field(default=SEARCHED_WHOLE, ge=0, description="most records that are searched as a whole")


def solve(
    problem: Problem,
    options: AutoOptions | None = None,
    *,
    budget: Budget | None = None,
    seeds: Seeds | None = None,
    threads: int = 1,
    observer: Observer = silent,
    start: np.ndarray | None = None,
) -> Partition:
    """One varying column is solved exactly, up to 6,000 records are searched as a whole, more of them in blocks.

    Iterations are those of the method chosen: perturbations of ``ils``, rounds of ``blocks``.

    >>> problem = Problem(np.array([[1.0], [2.0], [3.0], [40.0], [41.0], [45.0]]), k=3)
    >>> solve(problem).optimal
    True
    """
    options = options or AutoOptions()
    budget = budget or Budget()
    seeds = seeds or Seeds()
    varying = np.flatnonzero(problem.points.max(axis=0) > problem.points.min(axis=0))
    if varying.size <= 1:
        return _one_column(problem, varying, budget, seeds, threads, observer)
    if problem.n <= options.whole:
        return ils.solve(problem, budget=budget, seeds=seeds, threads=threads, observer=observer, start=start)
    refinement = REFINEMENT if problem.n <= REFINED else 0
    chosen = blocks.BlocksOptions(refinement=refinement)
    return blocks.solve(
        problem, chosen, budget=budget, seeds=seeds, threads=threads, observer=observer, start=start
    )


def _one_column(
    problem: Problem, varying: np.ndarray, budget: Budget, seeds: Seeds, threads: int, observer: Observer
) -> Partition:
    column = problem.points[:, varying] if varying.size else problem.points[:, :1]
    alone = Problem(column, problem.k, problem.largest)
    found = univariate.solve(alone, budget=budget, seeds=seeds, threads=threads, observer=observer)
    value = squared_error(problem.points, found.labels)
    return Partition(
        value=value,
        bound=value if found.optimal else found.bound,
        optimal=found.optimal,
        labels=found.labels,
        sst=problem.sst,
        direction=found.direction,
        stopped_by=found.stopped_by,
        work=found.work,
        seconds=found.seconds,
        history=found.history,
    )
