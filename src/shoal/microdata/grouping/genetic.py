"""GOMM and D-GOMM: a grouping genetic algorithm that looks for the best attribute groups.

Genetic optimisation for multivariate microaggregation (GOMM), a degree project of the DAMA group at the Universitat
Politècnica de Catalunya: elitist, with one crossover and five mutations on partitions of the attributes. D-GOMM, its dynamic
form, switches an operator off for good when its children have not survived for several generations.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from shoal.microdata.grouping import chromosome as operators
from shoal.microdata.grouping.bounds import lower_bound
from shoal.microdata.grouping.chromosome import Chromosome, random_chromosome
from shoal.microdata.grouping.evaluator import MEMORY_MB, Evaluator
from shoal.microdata.grouping.problem import GroupingProblem, Partition
from shoal.microdata.grouping.solution import Course, Grouping, SearchRun
from shoal.runtime import Run, Seeds
from shoal.runtime.evolution import (
    AnyParents,
    Evolution,
    MergeAndTruncate,
    OnlyNovel,
    Operator,
    Strategy,
    evolve,
)
from shoal.runtime.evolution.evolve import plain
from shoal.runtime.solver import Options, SearchContext, solver

# A sample has at least so many clusters, and so many of the best by it are scored on all records.
_SAMPLED_CLUSTERS = 50
_FINALISTS = 5

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
    stable: int | None = Field(
        default=None,
        ge=1,
        description="end a run when the mean score has not changed for so many generations; none goes on",
    )
    clones: Literal["keep", "discard"] = Field(
        default="keep", description="whether a child with a score that is there already may enter"
    )
    memory_mb: int = Field(default=MEMORY_MB, ge=0, description="memory for clusterings that are kept")
    sample: int = Field(
        default=2500,
        ge=100,
        le=10**9,
        description="records on which groupings are compared while searching, if there are more than twice as many",
    )

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
def solve(problem: GroupingProblem, options: GommOptions, context: SearchContext) -> Grouping:
    """Look for the best grouping; one iteration of the budget is one generation.

    ``start`` gives a group to each attribute and joins the first population.

    >>> problem = GroupingProblem.of(np.random.default_rng(0).normal(size=(30, 4)), k=3)
    >>> found = solve(problem, GommOptions(population=10, generations=5))
    >>> found.work, found.evaluations, bool(found.value >= found.bound)
    (5, 510, True)
    """
    return _searched(problem, options, context, or_one_group=True)


@solver(GommOptions)
def solve_as_published(problem: GroupingProblem, options: GommOptions, context: SearchContext) -> Grouping:
    """What the generations themselves reach, good or bad: for those who study the search.

    >>> problem = GroupingProblem.of(np.random.default_rng(0).normal(size=(30, 4)), k=3)
    >>> found = solve_as_published(problem, GommOptions.alone("group split").model_copy(update={"generations": 2}))
    >>> bool(found.value == found.course.best[-1])
    True
    """
    return _searched(problem, options, context, or_one_group=False)


def _searched(
    problem: GroupingProblem, options: GommOptions, context: SearchContext, *, or_one_group: bool
) -> Grouping:
    run = context.run(options.runs * options.generations)
    run.report(bound=lower_bound(problem))
    few = _sample(problem, options, context.seeds)
    with Evaluator(problem, threads=context.threads, memory_mb=options.memory_mb) as evaluator:
        if few is None:
            return search(evaluator, options, run, context.seeds, context.start, or_one_group=or_one_group)
        with Evaluator(few, threads=context.threads, memory_mb=options.memory_mb) as quick:
            found = _runs(quick, options, run, context.seeds, context.start, value=lambda _: None)
        return _settled(evaluator, quick, found, run, or_one_group=or_one_group)


def _sample(problem: GroupingProblem, options: GommOptions, seeds: Seeds) -> GroupingProblem | None:
    """Records drawn with the seed, on the scale of all, on which groupings can be compared; ``None`` if all are few enough."""
    size = max(options.sample, _SAMPLED_CLUSTERS * problem.k)
    if problem.m <= 2 * size:
        return None
    drawn = seeds.child("sample").generator().choice(problem.m, size, replace=False)
    return GroupingProblem(problem.points[np.sort(drawn)], problem.k, problem.scoring)


def search(
    evaluator: Evaluator,
    options: GommOptions,
    run: Run,
    seeds: Seeds,
    start: Sequence[int] | None = None,
    *,
    or_one_group: bool = True,
) -> Grouping:
    """The runs, one after the other; what one has clustered serves the next.

    One group takes the place of what they reach if that is not better, unless what they reach is the question.
    """
    found = _runs(evaluator, options, run, seeds, start)
    best = min(found, key=lambda item: item.run.score.value).run
    return _concluded(evaluator, best.partition, best.score, found, run, or_one_group=or_one_group)


class _Searched(NamedTuple):
    """A run, what it was like, and its best groupings in order."""

    run: SearchRun
    course: Course
    statistics: Any
    finalists: list[Partition]


def _runs(
    evaluator: Evaluator,
    options: GommOptions,
    run: Run,
    seeds: Seeds,
    start: Sequence[int] | None,
    value: Callable[[Any], Any] = plain,
) -> list[_Searched]:
    found: list[_Searched] = []
    for number in range(options.runs):
        if found and run.stopped:
            break
        found.append(_one_run(evaluator, options, run, seeds.child("run", number), start, value))
    return found


def _settled(
    evaluator: Evaluator, quick: Evaluator, searched: Sequence[_Searched], run: Run, *, or_one_group: bool
) -> Grouping:
    """The best on all records of those that are best on the sample; if time is up, the first of them."""
    ranked = sorted(searched, key=lambda item: item.run.score.value)
    finalists = list(dict.fromkeys(partition for item in ranked for partition in item.finalists))
    scored: dict[Partition, Any] = {}
    for partition in finalists[:_FINALISTS]:
        if scored and run.out_of_time:
            break
        scored[partition] = evaluator.scores([partition])[0]
    best = min(scored, key=lambda partition: float(scored[partition].value))
    concluded = _concluded(evaluator, best, scored[best], searched, run, or_one_group=or_one_group)
    times = {what: (seconds, calls) for what, seconds, calls in quick.profile}
    return replace(
        concluded,
        clustered=concluded.clustered + quick.clustered,
        saved=concluded.saved + quick.saved,
        profile=tuple(
            (what, seconds + times[what][0], calls + times[what][1])
            for what, seconds, calls in concluded.profile
        ),
        sampled=quick.problem.m,
    )


def _concluded(
    evaluator: Evaluator,
    partition: Partition,
    score: Any,
    searched: Sequence[_Searched],
    run: Run,
    *,
    or_one_group: bool,
) -> Grouping:
    n = evaluator.problem.n
    if or_one_group:
        # One group keeps k for all attributes together, so it is preferred to any that is not better.
        together = (2**n - 1,)
        alternative = evaluator.scores([together])[0]
        evaluator.asked -= 1
        if alternative.value <= score.value + 1e-9:
            partition, score = together, alternative
    run.report(score.value)
    best = min(searched, key=lambda item: item.run.score.value)
    return evaluator.grouping(
        partition,
        run,
        optimal=n == 1,
        evaluations=sum(item.run.evaluations for item in searched),
        course=best.course,
        statistics=best.statistics,
        runs=tuple(item.run for item in searched),
    )


def _one_run(
    evaluator: Evaluator,
    options: GommOptions,
    run: Run,
    seeds: Seeds,
    start: Sequence[int] | None,
    value: Callable[[Any], Any],
) -> _Searched:
    n = evaluator.problem.n
    state = seeds.child("founders").state()
    founders = [random_chromosome(state, n) for _ in range(options.population)]
    if start is not None:
        founders[-1] = Chromosome.of(list(start))
    founders = _in_time(founders, evaluator, run)
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
    for generation in evolve(evolution, run, value=value):
        remember()
        if (options.runs > 1 and generation >= options.generations) or _is_stable(mean, options.stable):
            break
    partition = evolution.best.partition
    score = evaluator.scores([partition])[0]
    evaluator.asked -= len(partition)
    population = evolution.population
    order = np.argsort(population.keys[:, 0], kind="stable")
    return _Searched(
        SearchRun(partition, score, evolution.generation, evolution.evaluations),
        Course(tuple(best), tuple(mean), tuple(groups)),
        evolution.statistics,
        [partition, *(population.members[place].partition for place in order)],
    )


def _in_time(founders: list[Chromosome], evaluator: Evaluator, run: Run) -> list[Chromosome]:
    """Those of the founders, from the last, that can be looked at before time runs out: one at least."""
    if run.budget.seconds is None:
        return founders
    asked = evaluator.asked
    for count in range(1, len(founders)):
        # What is computed here is remembered, so that nothing is done twice.
        evaluator.scores([founders[-count].partition])
        if run.out_of_time:
            founders = founders[-count:]
            break
    evaluator.asked = asked
    return founders


def _is_stable(mean: Sequence[float], generations: int | None) -> bool:
    """Whether the mean score has stayed the same for so many generations.

    >>> _is_stable([5.0, 4.0, 4.0, 4.0], 2), _is_stable([5.0, 4.0, 4.0], 2), _is_stable([4.0, 4.0], None)
    (True, False, False)
    """
    if generations is None or len(mean) <= generations:
        return False
    last = mean[-generations - 1 :]
    return max(last) - min(last) <= 1e-12 * abs(last[-1])


def warm_up() -> None:
    """Compile the kernels."""
    solve(GroupingProblem.of(np.arange(24.0).reshape(8, 3) ** 2, 2), GommOptions(population=4, generations=2))
