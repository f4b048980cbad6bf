"""HyperCube: every sensitive cell gets a rectangle, then redundant cells go (Herrington 2015, after Giessing and
Repsilber 2002).
"""

from typing import Literal

import numpy as np
from pydantic import Field

from shoal.runtime import Budget, Observer, Seeds
from shoal.runtime.options import Options
from shoal.tables.from_papers.circuits import Plane
from shoal.tables.from_papers.hypercube_kernels import JOINT, SPLIT
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern


class HypercubeOptions(Options):
    """One rectangle for both directions (``joint``) or one for each (``split``, the literal figure); how many starts."""

    rectangles: Literal["joint", "split"] = Field(
        default="joint", description="one rectangle for both directions, or one for each (the literal figure)"
    )
    starts: int = Field(
        default=1, ge=1, description="random orders of the sensitive cells, of which the best counts"
    )


def search_of(rectangles: str) -> int:
    """The kernels' name of a rectangle search."""
    return JOINT if rectangles == "joint" else SPLIT


def solve(
    problem: Problem,
    options: HypercubeOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """The best of a few runs, each in its own random order of the sensitive cells. One run is one unit of work."""
    plane = Plane(problem, "hypercube", search_of(options.rectangles))
    run = budget.start(observer)
    best: np.ndarray | None = None
    failures = 0
    for place in range(max(1, options.starts)):
        # The first run is always made: there must be a pattern to return.
        if place and not run.chunk(1):
            break
        rng = seeds.child("hypercube", place).state()
        state = plane.hypercube(rng)
        run.spend(1 if place else 0)
        if state is None:
            failures += 1
            continue
        pattern = plane.finish(np.flatnonzero(state.hidden & ~problem.is_sensitive), rng)
        if best is None or problem.total_cost(pattern) < problem.total_cost(best):
            best = pattern
        run.report(problem.total_cost(best))
    if best is None:
        raise plane.failure()
    return Pattern(
        value=problem.total_cost(best),
        complementary=best,
        record={"failures": float(failures)},
        **run.closing(),
    )
