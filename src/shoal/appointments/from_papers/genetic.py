"""The steady-state genetic algorithm of Moro Lías (2024, chapter 5), in its three versions."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from shoal.appointments.bounds.limits import largest_k
from shoal.appointments.from_papers import genetic_kernels
from shoal.appointments.problem import Problem
from shoal.appointments.solvers.filling import better_rule
from shoal.appointments.solvers.method import SearchResult, demand_plain, method
from shoal.errors import Infeasible
from shoal.runtime import Run, Seeds
from shoal.runtime.evolution.keys import fittest
from shoal.runtime.options import Options


class GeneticOptions(Options):
    """``version``: random mutation, guided mutation, or guided with repair. Crossing by columns is what was published."""

    version: Literal["random", "guided", "repairing"] = Field(
        default="repairing",
        description="a mutated entry becomes any number; guided: nobody (25 %), the whole group (50 %), any number (25 %); or "
        "guided with repair",
    )
    crossover: Literal["rows", "columns"] = Field(
        default="rows", description="what two parents exchange; columns is what was published"
    )
    population: int = Field(default=500, ge=2, description="members of the population")
    mutation: float = Field(default=0.6, ge=0, le=1, description="chance that a child is mutated")
    start: Literal["greedy", "random"] = Field(
        default="greedy",
        description="what counts before the search: a greedy plan, or nothing but the random population (published)",
    )


DEFAULT_GENERATIONS = 750_000
# At how many points the course of a search is kept.
COURSE = 200


@dataclass(frozen=True)
class Evolved:
    """The fittest matrix of a run, whether it obeys the rules or not, and how many rules it breaks."""

    matrix: np.ndarray
    k: int
    slots_too_full: int
    rows_wrong: int

    @property
    def violations(self) -> int:
        """Rules broken: slots too full and rows not seated exactly."""
        return self.slots_too_full + self.rows_wrong


class Evolution:
    """A population of matrices that changes generation by generation, in chunks of any size."""

    def __init__(self, problem: Problem, options: GeneticOptions, seeds: Seeds) -> None:
        self._state = seeds.state()
        members = np.zeros((options.population, problem.rows, problem.slots), np.int64)
        keys = np.zeros((options.population, 3), np.int64)
        genetic_kernels.first_population(members, keys, problem.sizes, problem.capacities, self._state)
        first = int(fittest(keys))
        self._population = genetic_kernels.Population(
            members, keys, members[first].copy(), keys[first].copy()
        )
        self._breeding = genetic_kernels.Breeding(
            sizes=problem.sizes,
            capacities=problem.capacities,
            by_rows=options.crossover == "rows",
            guided=options.version != "random",
            chance=options.mutation,
            repairing=options.version == "repairing",
        )

    def generations(self, number: int) -> None:
        """Some generations further."""
        genetic_kernels.generations(self._population, self._breeding, number, self._state)

    @property
    def best(self) -> Evolved:
        """The fittest matrix so far."""
        full, wrong, k = self._population.best_key.tolist()
        return Evolved(self._population.best.copy(), -k, full, wrong)


@method(DEFAULT_GENERATIONS)
def solve(problem: Problem, options: GeneticOptions, run: Run, seeds: Seeds) -> SearchResult:
    """Evolve matrices; work counts generations.

    A population that never obeys the rules is not a plan: then the better of two greedy rules is returned instead. With
    ``start=random`` nothing is put in its place, and the course of K and of broken rules is kept.
    """
    demand_plain(problem, "genetic")
    bound = largest_k(problem)
    if options.start == "random":
        return _as_published(problem, options, run, seeds, bound)
    matrix = better_rule(problem)
    run.report(problem.value(matrix), bound=bound, phase="greedy")
    if problem.value(matrix) < bound and not run.stopped:
        search = Evolution(problem, options, seeds.child("genetic"))
        k = problem.value(matrix)
        while k < bound and (chunk := run.chunk(10_000)):
            done = 0
            # The optimum is looked for every hundred generations, whatever the size of the chunk.
            while done < chunk and k < bound:
                step = min(chunk - done, 100 - (run.work + done) % 100)
                search.generations(step)
                done += step
                best = search.best
                if (run.work + done) % 100 == 0 and not best.violations and best.k > k:
                    k, matrix = best.k, best.matrix
            run.spend(done)
            run.report(k, phase="evolving")
        best = search.best
        if not best.violations and best.k > k:
            matrix = best.matrix
            run.report(best.k, phase="evolving")
    return SearchResult(matrix, bound)


def _as_published(
    problem: Problem, options: GeneticOptions, run: Run, seeds: Seeds, bound: int
) -> SearchResult:
    """The pure algorithm for all its generations, and what it went through."""
    search = Evolution(problem, options, seeds.child("genetic"))
    course = [_standing(0, search.best)]
    # However work is cut, the course is looked at after the same generations.
    every = max(1, (run.budget.iterations or DEFAULT_GENERATIONS) // COURSE)
    while chunk := run.chunk(10_000):
        done = 0
        while done < chunk:
            step = min(chunk - done, every - (run.work + done) % every)
            search.generations(step)
            done += step
            if (run.work + done) % every == 0:
                course.append(_standing(run.work + done, search.best))
        run.spend(done)
        best = search.best
        run.report(None if best.violations else best.k, bound=bound, phase="evolving")
    best = search.best
    if course[-1][0] != run.work:
        course.append(_standing(run.work, best))
    if best.violations:
        raise Infeasible(
            f"after {run.work:,} generations the fittest matrix still breaks {best.violations} rules "
            f"({best.slots_too_full} slots too full, {best.rows_wrong} groups not seated exactly), so it is no plan; "
            "option start=greedy always has one"
        )
    return SearchResult(best.matrix, bound, course=course)


def _standing(generation: int, best: Evolved) -> tuple[int, int, int]:
    return generation, best.k, best.violations


def evolve(problem: Problem, options: GeneticOptions, seeds: Seeds, generations: int) -> Evolved:
    """The pure algorithm as published: its fittest matrix, even if it breaks rules."""
    search = Evolution(problem, options, seeds)
    search.generations(generations)
    return search.best


def warm_up() -> None:
    """Compile the kernels on a tiny problem."""
    evolve(Problem([2, 1], [2, 2]), GeneticOptions(population=2), Seeds(0), 2)
