"""Iterated local search as published: ``ilsm`` and ``ilsmc``, with biased dissolving and dynamic acceptance as options.

ILSM is from Laszlo and Mukherjee, Iterated local search for microaggregation, Journal of Systems and Software 100
(2015); the rest from Bierman, Improvements to Iterated Local Search for Microaggregation, Nova Southeastern University
(2020). An iteration is one perturbation (a group dissolved or a new one distilled) and the local search after it.

Two things are done otherwise than in print. A pass takes its target groups in random order and meets the other
groups of a target in the order of their numbers, in place of a shuffled list of all pairs. And distilling removes the
random seed from its group and tests that group again, which the printed pseudo-code forgets.
"""

from time import thread_time
from typing import Literal

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
from shoal.microdata.microaggregation.search.kernels import iterated as kernels
from shoal.microdata.microaggregation.search.kernels.groups import total_error
from shoal.microdata.microaggregation.search.kernels.space import working_space
from shoal.microdata.microaggregation.sizes import checked_start
from shoal.runtime import Budget
from shoal.runtime.solver import Options, SearchContext, solver

DEFAULT_ITERATIONS = 5000


class IteratedOptions(Options):
    """Options of ``ilsm`` and ``ilsmc``; the defaults are the published algorithm."""

    dissolve: Literal["uniform", "biased"] = Field(
        default="uniform", description="the group to dissolve: any, or the lossiest of a random sample"
    )
    distill: Literal["uniform", "biased"] = Field(
        default="uniform",
        description="the record a new group begins with: any, or the farthest from its centre of a random sample",
    )
    sample: int = Field(default=5, ge=1, description="size of that sample")
    lists: Literal["changed", "all"] = Field(
        default="changed",
        description="pairs tried first after a perturbation (ilsmc): of groups that changed, or all (naive)",
    )
    acceptance: Literal["static", "dynamic"] = Field(
        default="static", description="keep a worse partition with a fixed chance, or by how much worse it is"
    )
    chance: float = Field(default=0.8, ge=0, le=1, description="that chance (static)")
    temperature: float = Field(
        default=1e-5, gt=0, description="relative excess that is kept with chance 1/e (dynamic)"
    )
    span: float = Field(
        default=0.2,
        gt=0,
        le=1,
        description="how much of the range of group numbers, from the top, is searched",
    )


@solver(IteratedOptions)
def ilsm(problem: Problem, options: IteratedOptions, context: SearchContext) -> SearchedPartition:
    """Iterated local search that tries all pairs of groups after every perturbation. Uses one thread.

    >>> import numpy as np
    >>> points = np.random.default_rng(1).normal(size=(40, 2))
    >>> ilsm(Problem(points, k=3), budget=Budget(iterations=50)).sizes.min()
    np.int64(3)
    """
    return _iterated(problem, options, context, everything=True)


@solver(IteratedOptions)
def ilsmc(problem: Problem, options: IteratedOptions, context: SearchContext) -> SearchedPartition:
    """Iterated local search that tries only pairs with a group that changed. Uses one thread.

    >>> import numpy as np
    >>> points = np.random.default_rng(1).normal(size=(40, 2))
    >>> ilsmc(Problem(points, k=3), budget=Budget(iterations=50)).sizes.min()
    np.int64(3)
    """
    return _iterated(problem, options, context, everything=False)


def _iterated(
    problem: Problem, options: IteratedOptions, context: SearchContext, *, everything: bool
) -> SearchedPartition:
    first = checked_start(problem, context.start)
    run = context.run(DEFAULT_ITERATIONS)
    if problem.most_groups < 2:
        return only_group(problem, run)
    state = Descent(problem, working_space(problem.points, problem.k), context.seeds.child("search").state())
    fewest, most = group_limits(problem, options.span)
    if first is None:
        state.begin_at_random(fewest, most)
    else:
        state.begin_at(first)
    best = Incumbent(problem, run)
    began = thread_time()
    finished = state.descend(run, everything=everything)
    first_cpu = thread_time() - began
    first_pairs = counted([state.search])["pairs"]
    best.offer(state.labels())
    initial = mean_lists(state.search.lists, 1)
    state.search.lists[:] = 0

    rules = kernels.Rules(
        everything,
        options.sample if options.dissolve == "biased" else 1,
        options.chance,
        options.temperature if options.acceptance == "dynamic" else 0.0,
        options.sample if options.distill == "biased" else 1,
        options.lists == "all",
    )
    leader = state.room()
    kernels.copy_dirty(state.groups, leader, state.search.dirty)
    leading = np.array([total_error(state.groups)])
    decisions = np.zeros(kernels.DECISIONS, dtype=np.int64)
    course: list[np.ndarray] = []
    clock: list[tuple[int, float]] = []
    spent = 0.0
    # With one possible number of groups there is nothing to perturb, and the local optimum is the answer.
    while finished and fewest < most and (chunk := run.chunk(500)):
        before = leading[0]
        errors = np.empty(chunk)
        now = (state.space, state.groups, state.search, leader, leading)
        began = thread_time()
        kernels.iterate(*now, rules, fewest, most, decisions, errors)
        spent += thread_time() - began
        clock.append((sum(map(len, course)) + chunk, spent))
        course.append(errors)
        run.spend(chunk)
        if leading[0] < before:
            best.offer(state.labels(leader))
        else:
            run.report()
    counts = counted([state.search])
    return best.partition(
        Statistics(
            **counts,
            **dict(zip(kernels.DECIDED, decisions.tolist(), strict=True)),
            lists=mean_lists(state.search.lists, counts["searches"] - 1),
            initial_lists=initial,
            course=state.space.unit * np.concatenate(course) if course else np.zeros(0),
            first_pairs=first_pairs,
            first_cpu=first_cpu,
            cpu=first_cpu + spent,
            clock=tuple(clock),
        )
    )


def warm_up() -> None:
    """Compile the kernels."""
    problem = Problem(np.random.default_rng(0).normal(size=(30, 2)), k=3)
    ilsmc(problem, budget=Budget(iterations=3))
