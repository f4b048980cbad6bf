"""The method that chooses: the optimum where it can be had, a long search for small data, blocks for large."""

from dataclasses import replace

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import ils
from shoal.microdata.microaggregation.solution import Partition, squared_error
from shoal.runtime.solver import Options, SearchContext, solver

# Searched as a whole up to here; above, in blocks, with a short search inside each.
SEARCHED_WHOLE = 6_000
REFINEMENT = 60
# Up to here the usual search takes no longer than starting does: one cooling of each stream, and nothing put together anew.
QUICK = 1_000
QUICK_CYCLE, QUICK_STREAMS = 1_500, 2
# Above blocks.FEW records that would take too long: then it is that short in the mean, and longer where more is lost.
COSTLY = 1
# And blocks are smaller, of MDAV's first ones and of more rounds.
SMALL_BLOCK = 500
SMALL_GROUPS = 110


class AutoOptions(Options):
    """Options of ``auto``."""

    whole: int = Field(default=SEARCHED_WHOLE, ge=0, description="most records that are searched as a whole")
    rounds: int = Field(
        default=0, ge=0, description="rounds over blocks of more records; 0: as usual, 60 with categories"
    )


@solver(AutoOptions)
def solve(problem: Problem, options: AutoOptions, context: SearchContext) -> Partition:
    """One varying column is solved exactly, up to 6,000 records are searched as a whole, more of them in blocks.

    The usual search is ``ils``, up to 1,000 records a quick one; with a limit of iterations or time it is ``annealing``.
    Iterations are those of the method chosen: perturbations of ``ils``, five thousand moves of ``annealing``, rounds of
    ``blocks``.

    >>> problem = Problem(np.array([[1.0], [2.0], [3.0], [40.0], [41.0], [45.0]]), k=3)
    >>> solve(problem).optimal
    True
    """
    varying = np.flatnonzero(problem.points.max(axis=0) > problem.points.min(axis=0))
    if varying.size <= 1:
        return _one_column(problem, varying, context)
    if problem.n <= options.whole:
        return _searched_whole(problem, context)
    # Not loaded where few records are searched.
    from shoal.microdata.microaggregation.search import blocks

    if problem.n <= blocks.FEW:
        options_of_blocks = blocks.BlocksOptions(refinement=REFINEMENT)
    else:
        options_of_blocks = blocks.BlocksOptions(block=SMALL_BLOCK, groups=SMALL_GROUPS, costly=COSTLY)
    if options.rounds and context.budget.usual:
        context = replace(context, budget=replace(context.budget, iterations=options.rounds))
    return blocks.solve(problem, options_of_blocks, **vars(context))


def _searched_whole(problem: Problem, context: SearchContext) -> Partition:
    budget = context.budget
    if not budget.usual:
        # Not loaded where the usual search is enough.
        from shoal.microdata.microaggregation.search import annealing

        return annealing.solve(problem, **vars(context))
    if problem.n > QUICK:
        return ils.solve(problem, **vars(context))
    quick = ils.IlsOptions(streams=QUICK_STREAMS, first_cycle=QUICK_CYCLE, recombine=False)
    short = replace(budget, iterations=QUICK_STREAMS * QUICK_CYCLE)
    return ils.solve(problem, quick, **(vars(context) | {"budget": short}))


def _one_column(problem: Problem, varying: np.ndarray, context: SearchContext) -> Partition:
    column = problem.points[:, varying] if varying.size else problem.points[:, :1]
    alone = Problem(column, problem.k, problem.largest)
    from shoal.microdata.microaggregation.construct import univariate

    found = univariate.solve(alone, **vars(context))
    value = squared_error(problem.points, found.labels)
    return replace(found, value=value, bound=value if found.optimal else found.bound, sst=problem.sst)
