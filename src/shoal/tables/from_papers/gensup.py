"""GenSup: a genetic algorithm on the bits of a pattern with repair (Almeida, Schütz and Carvalho 2006).

As re-implemented for comparison by Herrington (2015): founders by HyperCube, one parent from the best quarter and one
from the rest, one-point crossover of the cells in row order, repair by shortest paths, and a mutation that removes
redundant cells one at a time from the better parent and the better child.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from shoal.runtime import Budget, Observer, Seeds
from shoal.runtime.evolution import (
    EliteAndOtherParents,
    Evolution,
    OnlyNovel,
    Operator,
    ReplaceLeastFit,
    Strategy,
    evolve,
)
from shoal.runtime.options import Options
from shoal.runtime.randomness import below, shuffle
from shoal.tables.from_papers.circuits import Plane
from shoal.tables.from_papers.heurgene import Breeder, HeurGeneOptions
from shoal.tables.from_papers.hypercube import search_of
from shoal.tables.heuristic.protection_kernels import lay_paths
from shoal.tables.heuristic.redundancy_kernels import drop_redundant
from shoal.tables.heuristic.requirement_kernels import holds
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern


class GenSupOptions(Options):
    """The published settings."""

    population: int = Field(default=10, ge=4, description="members of the population")
    generations: int = Field(default=1000, ge=0, description="generations, where no budget is given")
    patience: int = Field(
        default=100, ge=1, description="generations without improvement that end the search"
    )
    elite_share: float = Field(
        default=0.25, gt=0.0, lt=1.0, description="share of the fittest from which one parent comes"
    )
    rectangles: Literal["joint", "split"] = Field(
        default="split",
        description="how founders and repair hide: one rectangle for both directions, or one for each (as the work draws it)",
    )


@dataclass
class _Tally:
    children: int = 0
    infeasible: int = 0


def solve(
    problem: Problem,
    options: GenSupOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """Evolve; one generation (one pair of parents) is one unit of work."""
    plane = Plane(problem, "gensup", search_of(options.rectangles))
    breeder = Breeder(plane, HeurGeneOptions(population=options.population))
    run = budget.start(observer)
    founders = [member.hidden for member in breeder.founders(seeds, run)]
    while len(founders) < 4:
        founders.append(founders[0])
    tally = _Tally()

    def repaired(hidden: np.ndarray) -> np.ndarray | None:
        board = plane.heuristic.state(np.flatnonzero(hidden))
        tally.children += 1
        lacking = [
            r for r in range(plane.heuristic.wanted.size) if not holds(plane.graph, board, plane.scratch, r)
        ]
        if lacking:
            tally.infeasible += 1
        for r in lacking:
            safe = holds(plane.graph, board, plane.scratch, r)
            if not safe and lay_paths(plane.graph, board, plane.scratch, r) < 0:
                return None
        return board.hidden & ~problem.is_sensitive

    def thinned(state: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        cells = np.flatnonzero(hidden)
        board = plane.heuristic.examined(cells)
        shuffle(state, cells)
        drop_redundant(plane.graph, board, plane.scratch, cells)
        return board.hidden & ~problem.is_sensitive

    def children(state: np.ndarray, one: np.ndarray, two: np.ndarray) -> list[np.ndarray]:
        at = int(below(state, one.size))
        crossed = [np.concatenate([one[:at], two[at:]]), np.concatenate([two[:at], one[at:]])]
        born = [child for child in map(repaired, crossed) if child is not None]
        improved = [thinned(state, min((one, two), key=plane.cost_of))]
        if born:
            improved.append(thinned(state, min(born, key=plane.cost_of)))
        return [*born, *improved]

    search = Evolution(
        founders,
        plane.cost_of,
        [Operator("one-point", children, parents=2)],
        Strategy(EliteAndOtherParents(options.elite_share), OnlyNovel(ReplaceLeastFit(2))),
        seeds.child("evolution"),
    )
    for generation in evolve(search, run, patience=options.patience):
        if generation >= options.generations:
            break
    record = {
        "generations": search.generation,
        "last_improvement": search.improved_at,
        "children": tally.children,
        "infeasible": tally.infeasible,
        "failures": breeder.tally.failures,
    }
    return plane.solution(search.best, seeds, run, record)
