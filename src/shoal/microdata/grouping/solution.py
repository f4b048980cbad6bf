"""A grouping of attributes with its score."""

from dataclasses import dataclass, field
from typing import Any

from shoal.microdata.grouping.problem import Partition, groups_of
from shoal.microdata.measures.fitness import Fitness
from shoal.runtime import Solution
from shoal.runtime.evolution import OperatorStatistics


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
    did not have to be made again; ``profile`` says what scoring them took: CPU seconds and calls. ``sampled`` is the number of
    records on which groupings were compared, if not on all: scores of ``course`` and ``runs`` are then those of the sample, while
    ``score`` is that of all records.
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
    profile: tuple[tuple[str, float, int], ...] = ()
    sampled: int | None = None

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the attributes of each group."""
        return groups_of(self.partition)
