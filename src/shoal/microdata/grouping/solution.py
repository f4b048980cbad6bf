"""A grouping of attributes with its score, and the independent check of one. Imports no solver."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.microdata.grouping.problem import (
    GroupingProblem,
    Partition,
    check_partition,
    groups_of,
    members,
)
from shoal.microdata.measures.fitness import Fitness, fitness
from shoal.microdata.microaggregation.construct.mdav import mdav_labels
from shoal.microdata.microaggregation.solution import group_means
from shoal.search import Solution
from shoal.search.evolution import OperatorStatistics


@dataclass(frozen=True)
class Course:
    """A genetic search generation by generation: the best and the mean score, and the mean number of groups."""

    best: tuple[float, ...] = ()
    mean: tuple[float, ...] = ()
    groups: tuple[float, ...] = ()


@dataclass(frozen=True)
class SearchRun:
    """One of several independent searches."""

    partition: Partition
    score: Fitness
    generations: int
    evaluations: int


@dataclass(frozen=True, kw_only=True)
class Grouping(Solution):
    """Groups of attributes; ``value`` is their score, ``bound`` what no grouping can go below.

    ``evaluations`` counts the groupings looked at, ``clustered`` the clusterings made for them and ``saved`` those that
    did not have to be made again.
    """

    partition: Partition
    score: Fitness
    evaluations: int = 0
    clustered: int = 0
    saved: int = 0
    course: Course = field(default_factory=Course)
    statistics: OperatorStatistics | None = None
    runs: tuple[SearchRun, ...] = ()
    details: tuple[tuple[str, Any], ...] = ()

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the attributes of each group."""
        return groups_of(self.partition)


def score_from_scratch(problem: GroupingProblem, groups: tuple[tuple[int, ...], ...]) -> Fitness:
    """The score of a grouping, by protecting the whole table and measuring it."""
    released = protect(problem, groups)
    scoring = problem.scoring
    return fitness(problem.points, released, scaling="none", widths=scoring.widths, around=scoring.around)


def protect(problem: GroupingProblem, groups: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """The table microaggregated group by group, as the scoring does it."""
    released = np.empty_like(problem.points)
    for group in groups:
        part = problem.points[:, list(group)]
        labels = mdav_labels(
            part, problem.k, bounds=problem.scoring.bounds, distance=problem.scoring.distance
        )
        released[:, list(group)] = group_means(part, labels)[labels]
    return released


def verify(problem: GroupingProblem, solution: Grouping) -> None:
    """Raise ``AssertionError`` unless it is a partition of the attributes and has the score it claims."""
    check_partition([members(mask) for mask in solution.partition], problem.n)
    score = score_from_scratch(problem, solution.groups)
    for name in ("il", "id", "dld"):
        claimed, found = getattr(solution.score, name), getattr(score, name)
        assert abs(claimed - found) <= 1e-7, f"{name} is {found}, not {claimed} as claimed"
    assert abs(solution.value - score.value) <= 1e-7, f"the score is {score.value}, not {solution.value}"
    assert solution.bound is None or solution.bound <= score.value + 1e-7, "the bound is above the score"
    assert not solution.optimal or solution.bound is not None, "optimal without a bound to show it"
