"""Shortest paths, one sensitive cell after the other (Kelly, Golden and Assad 1992). For every table that is a network.

Hidden cells are free, so every path follows them as long as they carry anything. A cell that is protected already
therefore gets nothing added: the variant that looks at bounds between two suppressions and skips such cells (Castro 2007)
ends with the same pattern, and has no name of its own here.
"""

import numpy as np
from pydantic import Field

from shoal.errors import Infeasible, InputError
from shoal.runtime import Budget, Observer, Seeds
from shoal.runtime.options import Options
from shoal.tables.exact.refusal import is_safe
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.heuristic.protection_kernels import lay_paths
from shoal.tables.problem import Problem
from shoal.tables.safety.sums import add_for_sums
from shoal.tables.solution import Pattern


class ShortestPathOptions(Options):
    """Whether redundant cells are removed at the end, as Kelly, Golden and Assad do; the plain heuristic does not."""

    clean_up: bool = Field(
        default=False, description="remove redundant cells at the end; the plain heuristic does not"
    )


def solve(
    problem: Problem,
    options: ShortestPathOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """Paths for every cell, in the order of the table."""
    method = "shortest-path"
    network = problem.table.network
    if network is None:
        raise InputError(f"method '{method}' needs a two-dimensional table; use 'auto', 'general' or 'exact'")
    failure = Infeasible(f"method '{method}' found no safe pattern; 'auto' may find one")
    run = budget.start(observer)
    heuristic = NetworkHeuristic(problem, network)
    state = heuristic.state()
    graph, scratch = heuristic.graph, heuristic.scratch
    for r in range(heuristic.wanted.size):
        if lay_paths(graph, state, scratch, r) < 0:
            raise failure
    pattern = heuristic.pattern(state)
    if problem.insiders:
        found = heuristic.build(seeds.child(method).state(), pattern)
        if found is None:
            raise failure
        pattern = found
    if options.clean_up:
        pattern = heuristic.thin(pattern)
    if problem.sums is not None:
        found = add_for_sums(problem, pattern, problem.cost)
        if found is None:
            raise failure
        pattern = found
    # The bounds are only looked at now that all paths are laid.
    if not is_safe(problem, pattern):
        raise failure
    run.report(problem.total_cost(pattern))
    return Pattern(value=problem.total_cost(pattern), complementary=np.asarray(pattern), **run.closing())
