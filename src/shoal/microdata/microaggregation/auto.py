"""The method that chooses: the optimum where it can be had, a long search for small data, blocks for large."""

from dataclasses import replace

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.construct import univariate
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import blocks, ils
from shoal.microdata.microaggregation.solution import Partition, squared_error
from shoal.search.solver import Given, Options, solver

# Searched as a whole up to here; above, in blocks, with a short search inside each up to the second number.
SEARCHED_WHOLE = 6_000
REFINED = 100_000
REFINEMENT = 60


class AutoOptions(Options):
    """Options of ``auto``."""

    whole: int = Field(default=SEARCHED_WHOLE, ge=0, description="most records that are searched as a whole")


@solver(AutoOptions)
def solve(problem: Problem, options: AutoOptions, given: Given) -> Partition:
    """One varying column is solved exactly, up to 6,000 records are searched as a whole, more of them in blocks.

    Iterations are those of the method chosen: perturbations of ``ils``, rounds of ``blocks``.

    >>> problem = Problem(np.array([[1.0], [2.0], [3.0], [40.0], [41.0], [45.0]]), k=3)
    >>> solve(problem).optimal
    True
    """
    varying = np.flatnonzero(problem.points.max(axis=0) > problem.points.min(axis=0))
    if varying.size <= 1:
        return _one_column(problem, varying, given)
    if problem.n <= options.whole:
        return ils.solve(problem, **vars(given))
    refinement = REFINEMENT if problem.n <= REFINED else 0
    return blocks.solve(problem, blocks.BlocksOptions(refinement=refinement), **vars(given))


def _one_column(problem: Problem, varying: np.ndarray, given: Given) -> Partition:
    column = problem.points[:, varying] if varying.size else problem.points[:, :1]
    alone = Problem(column, problem.k, problem.largest)
    found = univariate.solve(alone, **vars(given))
    value = squared_error(problem.points, found.labels)
    return replace(found, value=value, bound=value if found.optimal else found.bound, sst=problem.sst)
