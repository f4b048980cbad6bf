"""Exhaustive depth-first branch and bound on the rows of the assignment matrix (Moro Lías 2024, chapter 4)."""

from typing import Literal

import numpy as np
from pydantic import Field

from shoal.appointments.bounds.limits import largest_k, published_bound, safe_bound
from shoal.appointments.from_papers.branch_and_bound_kernels import BEST, FRESH, NODES, OVER, next_row, search
from shoal.appointments.problem import Problem
from shoal.appointments.solvers.filling import better_rule
from shoal.appointments.solvers.method import SearchResult, demand_plain, method
from shoal.runtime import Run, Seeds
from shoal.runtime.options import Options

_BOUNDS = {"safe": safe_bound, "published": published_bound}


class BranchAndBoundOptions(Options):
    """``bound``: when to stop early. The published one can be too low, so with it nothing is ever called optimal.

    ``order``: in which order groups and slots are taken, which changes the number of nodes a great deal.
    """

    bound: Literal["safe", "published"] = Field(
        default="safe", description="when to stop early; with the published bound nothing is called optimal"
    )
    order: Literal["input", "groups-falling", "slots-falling", "both-falling"] = Field(
        default="input", description="the order in which groups and slots are taken"
    )


DEFAULT_NODES = 5_000_000


@method(DEFAULT_NODES)
def solve(problem: Problem, options: BranchAndBoundOptions, run: Run, seeds: Seeds) -> SearchResult:
    """Seat one group after the other in every possible way, largest pieces first; work counts nodes.

    Without a node the better of two greedy rules is returned, so that there always is a plan.
    """
    demand_plain(problem, "branch-and-bound")
    by_row, by_slot = _order(problem, options.order)
    sizes, capacities = problem.sizes[by_row], problem.capacities[by_slot]
    proved = largest_k(problem)
    stop_at = _BOUNDS[options.bound](problem)
    matrix = better_rule(problem)
    run.report(problem.value(matrix), bound=proved, phase="greedy")
    rows, best, state = _beginning(problem)
    while not state[OVER] and (chunk := run.chunk(50_000)):
        run.spend(int(search(sizes, capacities, stop_at, rows, best, state, chunk)))
        if state[BEST] > problem.value(matrix):
            matrix = np.empty_like(best)
            matrix[np.ix_(by_row, by_slot)] = best
        run.report(problem.value(matrix), phase="branch and bound")
    exact = options.bound == "safe"
    if exact and state[OVER]:
        proved = min(proved, max(problem.value(matrix), int(state[BEST])))
    return SearchResult(matrix, proved, proved=exact, complete=bool(state[OVER]), nodes=int(state[NODES]))


def _beginning(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows, the best matrix and the state of a search that has not begun."""
    state = np.zeros(5, np.int64)
    state[BEST], state[FRESH] = -2, 1
    rows, best = np.zeros((2, problem.rows, problem.slots), np.int64)
    return rows, best, state


def nodes(
    problem: Problem, *, bound: Literal["safe", "published"] = "published", limit: int = 10**7
) -> tuple[int, int, int]:
    """The bound, the K found and the nodes visited by the pure search, as the published experiments count them.

    >>> nodes(Problem([20, 20, 20], [10, 20, 20, 10]))
    (20, 10, 8)
    """
    stop_at = _BOUNDS[bound](problem)
    rows, best, state = _beginning(problem)
    # Copies, as the method hands over: machine code is made for each kind of array by itself.
    search(problem.sizes.copy(), problem.capacities.copy(), stop_at, rows, best, state, limit)
    return stop_at, int(state[BEST]), int(state[NODES])


def rows_of(total: int, capacities: np.ndarray, beat: int = 0) -> list[list[int]]:
    """Every way to seat a group, in the order of the search.

    >>> rows_of(4, np.array([6, 4]))
    [[4, 0], [3, 1], [2, 2], [1, 3], [0, 4]]
    """
    row = np.zeros(len(capacities), np.int64)
    found, fresh = [], True
    while next_row(row, np.asarray(capacities, np.int64), total, beat, fresh):
        found.append(row.tolist())
        fresh = False
    return found


def _order(problem: Problem, order: str) -> tuple[np.ndarray, np.ndarray]:
    by_row, by_slot = np.arange(problem.rows), np.arange(problem.slots)
    if order in ("groups-falling", "both-falling"):
        by_row = np.argsort(-problem.sizes, kind="stable")
    if order in ("slots-falling", "both-falling"):
        by_slot = np.argsort(-problem.capacities, kind="stable")
    return by_row, by_slot


def warm_up() -> None:
    """Compile the kernels on a tiny problem."""
    nodes(Problem([2, 1], [2, 2]))
    rows_of(2, np.array([2, 1]))
