"""A first safe pattern, built from nothing; or the word that there is none."""

import numpy as np

from shoal.errors import Infeasible
from shoal.runtime import Run, Seeds
from shoal.tables.exact.refusal import is_safe
from shoal.tables.heuristic.general import LpHeuristic
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.problem import Problem
from shoal.tables.safety.feasibility import refuse_hopeless

# A further pattern is built only if less than this share of a time limit is spent.
_FOR_FIRST = 0.1


def first_pattern(
    heuristic: NetworkHeuristic | LpHeuristic, problem: Problem, seeds: Seeds, run: Run
) -> np.ndarray:
    """The better of a few patterns built from nothing; of one alone if that took much of the time."""
    found: list[np.ndarray] = []
    tries = 3 if isinstance(heuristic, NetworkHeuristic) else 1
    limit = run.budget.seconds
    for place in range(tries):
        if found and (run.out_of_time or (limit is not None and run.seconds > _FOR_FIRST * limit)):
            break
        pattern = heuristic.build(seeds.child("first", place).state(), noise=0.0 if place == 0 else 0.2)
        if pattern is not None:
            found.append(pattern)
    if not found:
        # Either nothing protects some cell, or the paths taken were unlucky: then all that may be hidden is thinned out.
        refuse_hopeless(problem)
        everything = np.flatnonzero(problem.candidates)
        if not is_safe(problem, everything):
            raise Infeasible(
                "a sum that one relation gives away stays sensitive even if all that may be hidden is"
            )
        thinner = heuristic.thin(everything)
        found.append(thinner if is_safe(problem, thinner) else everything)
    return min(found, key=problem.total_cost)
