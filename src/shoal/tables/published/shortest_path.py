"""Shortest paths, one sensitive cell after the other (Kelly, Golden and Assad 1992), and Castro's variant, which leaves
out cells that are protected already (Castro 2007). For every table that is a network.
"""

from functools import partial

import numpy as np
from pydantic import Field

from shoal.errors import Infeasible, InputError
from shoal.search import Budget, Observer, Seeds
from shoal.search.options import Options
from shoal.tables.exact.search import is_safe
from shoal.tables.heuristic import network_kernels
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import add_for_sums
from shoal.tables.solution import Pattern


class ShortestPathOptions(Options):
    """Whether redundant cells are removed at the end; the published heuristics do not."""

    clean_up: bool = Field(
        default=False, description="remove redundant cells at the end; the published one does not"
    )


def _paths(
    method: str,
    problem: Problem,
    options: ShortestPathOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """Paths for every cell; Castro's only for those that earlier paths do not protect yet."""
    network = problem.table.network
    if network is None:
        raise InputError(f"method '{method}' needs a two-dimensional table; use 'auto', 'general' or 'exact'")
    failure = Infeasible(f"method '{method}' found no safe pattern; 'auto' may find one")
    run = budget.start(observer)
    heuristic = NetworkHeuristic(problem, network)
    state = heuristic.state()
    graph, scratch = heuristic.graph, heuristic.scratch
    for r in range(heuristic.wanted.size):
        skip = method == "castro" and network_kernels.holds(graph, state, scratch, r)
        if not skip and network_kernels.lay_paths(graph, state, scratch, r) < 0:
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


solve = partial(_paths, "shortest-path")
castro = partial(_paths, "castro")
