"""GOMM and D-GOMM: a grouping genetic algorithm that looks for the best attribute groups.

Genetic optimisation for multivariate microaggregation (GOMM), a degree project of the DAMA group at the Universitat
Politècnica de Catalunya: elitist, with one crossover and five mutations on partitions of the attributes. D-GOMM, its dynamic
form, switches an operator off for good when its children have not survived for several generations.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from shoal.microdata.grouping import chromosome as operators
from shoal.microdata.grouping.bounds import lower_bound
from shoal.microdata.grouping.chromosome import Chromosome, random_chromosome
from shoal.microdata.grouping.evaluator import MEMORY_MB, Evaluator
from shoal.microdata.grouping.problem import GroupingProblem
from shoal.microdata.grouping.solution import Course, Grouping, SearchRun
from shoal.search import Run, Seeds
from shoal.search.evolution import (
    AnyParents,
    Evolution,
    MergeAndTruncate,
    OnlyNovel,
    Operator,
    Strategy,
    evolve,
)
from shoal.search.solver import Given, Options, solver

# The field of the options that says how often, the operator's name, and what it does.
_OPERATORS: tuple[tuple[str, str, Callable[..., list[Chromosome]]], ...] = (
    ("crossovers", "crossover", operators.crossover),
    ("group_creations", "group create", operators.group_create),
    ("group_eliminations", "group eliminate", operators.group_eliminate),
    ("group_splits", "group split", operators.group_split),
    ("element_swaps", "element swap", operators.element_swap),
    ("element_moves", "element move", operators.element_move),
)


class GommOptions(Options):
    """Options of ``gomm``; the defaults are the published ones."""

    population: int = Field(default=200, ge=1, description="members of the population")
    generations: int = Field(
        default=100, ge=0, description="generations of each run, where no budget is given"
    )
    crossovers: int = Field(default=25, ge=0, description="crossovers in a generation, two children each")
    group_creations: int = Field(default=10, ge=0, description="new groups made of random attributes")
    group_eliminations: int = Field(default=10, ge=0, description="groups spread over the others")
    group_splits: int = Field(default=10, ge=0, description="groups split in halves")
    element_swaps: int = Field(default=10, ge=0, description="pairs of attributes that change places")
    element_moves: int = Field(default=10, ge=0, description="attributes moved to another group")
    runs: int = Field(default=1, ge=1, description="independent runs, of which the best counts")
    clones: Literal["keep", "discard"] = Field(
        default="keep", description="whether a child with a score that is there already may enter"
    )
    memory_mb: int = Field(default=MEMORY_MB, ge=0, description="memory for clusterings that are kept")

    @model_validator(mode="after")
    def _some_operator(self) -> "GommOptions":
        if not any(getattr(self, name) for name, _, _ in _OPERATORS):
            raise ValueError("at least one operator must be used")
        return self

    @classmethod
    def alone(cls, operator: str) -> "GommOptions":
        """Only one operator, with as many children in a generation as all have together."""
        counts = dict.fromkeys((name for name, _, _ in _OPERATORS), 0)
        for field, name, _ in _OPERATORS:
            if name == operator:
                counts[field] = 50 if field == "crossovers" else 100
        return cls(**counts)  # type: ignore[arg-type]


class DGommOptions(GommOptions):
    """Options of ``d-gomm``."""

    patience: int = Field(
        default=5, ge=1, description="generations without a surviving child that switch an operator off"
    )


OPERATOR_NAMES = tuple(name for _, name, _ in _OPERATORS)


@solver(GommOptions)
def solve(problem: GroupingProblem, options: GommOptions, given: Given) -> Grouping:
    """Look for the best grouping; one iteration of the budget is one generation.

    ``start`` gives a group to each attribute and joins the first population.

    >>> problem = GroupingProblem.of(np.random.default_rng(0).normal(size=(30, 4)), k=3)
    >>> found = solve(problem, GommOptions(population=10, generations=5))
    >>> found.work, found.evaluations, bool(found.value >= found.bound)
    (5, 510, True)
    """
    run = given.run(options.runs * options.generations)
    run.report(bound=lower_bound(problem))
    with Evaluator(problem, threads=given.threads, memory_mb=options.memory_mb) as evaluator:
        return search(evaluator, options, run, given.seeds, given.start)


def search(
    evaluator: Evaluator, options: GommOptions, run: Run, seeds: Seeds, start: Sequence[int] | None = None
) -> Grouping:
    """The runs, one after the other; what one has clustered serves the next."""
    problem = evaluator.problem
    found: list[tuple[SearchRun, Course, Any]] = []
    for number in range(options.runs):
        if found and run.stopped:
            break
        found.append(_one_run(evaluator, options, run, seeds.child("run", number), start))
    best, course, statistics = min(found, key=lambda item: item[0].score.value)
    partition, score = best.partition, best.score
    # One group keeps k for all attributes together, so it is preferred to any that is not better.
    together = (2**problem.n - 1,)
    alternative = evaluator.scores([together])[0]
    evaluator.asked -= 1
    if alternative.value <= score.value + 1e-9:
        partition, score = together, alternative
    run.report(score.value)
    return evaluator.grouping(
        partition,
        run,
        optimal=problem.n == 1,
        evaluations=sum(item.evaluations for item, _, _ in found),
        course=course,
        statistics=statistics,
        runs=tuple(item for item, _, _ in found),
    )


def _one_run(
    evaluator: Evaluator, options: GommOptions, run: Run, seeds: Seeds, start: Sequence[int] | None
) -> tuple[SearchRun, Course, Any]:
    n = evaluator.problem.n
    state = seeds.child("founders").state()
    founders = [random_chromosome(state, n) for _ in range(options.population)]
    if start is not None:
        founders[-1] = Chromosome.of(list(start))
    merge = MergeAndTruncate()
    strategy = Strategy(AnyParents(), merge if options.clones == "keep" else OnlyNovel(merge))

    def evaluate(_: Any, children: Iterable[Chromosome]) -> list[float]:
        scores = evaluator.scores([child.partition for child in children])
        return [score.value for score in scores]

    evolution = Evolution(
        founders,
        lambda child: evaluate(None, [child])[0],
        [
            Operator(name, make, parents=2 if name == "crossover" else 1, times=getattr(options, field))
            for field, name, make in _OPERATORS
            if getattr(options, field)
        ],
        strategy,
        seeds,
        mapping=evaluate,
        switch_off_after=options.patience if isinstance(options, DGommOptions) else None,
    )
    best, mean, groups = [], [], []

    def remember() -> None:
        population = evolution.population
        best.append(float(population.keys.min()))
        mean.append(float(population.keys.mean()))
        groups.append(float(np.mean([len(member.groups) for member in population.members])))

    remember()
    # Every run has its own share of the generations, also when a budget cuts the last one short.
    for generation in evolve(evolution, run):
        remember()
        if options.runs > 1 and generation >= options.generations:
            break
    partition = evolution.best.partition
    score = evaluator.scores([partition])[0]
    evaluator.asked -= len(partition)
    return (
        SearchRun(partition, score, evolution.generation, evolution.evaluations),
        Course(tuple(best), tuple(mean), tuple(groups)),
        evolution.statistics,
    )


def warm_up() -> None:
    """Compile the kernels."""
    solve(GroupingProblem.of(np.arange(24.0).reshape(8, 3) ** 2, 2), GommOptions(population=4, generations=2))
