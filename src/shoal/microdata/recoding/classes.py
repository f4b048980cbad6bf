"""Classes of records that share their keys at some levels: what is counted once, and joined when levels rise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.microdata.models.histogram import Histogram, merged
from shoal.microdata.models.model import Evidence, Model, PopulationModel
from shoal.microdata.recoding.class_kernels import added, coarser, grouped, people_touched, spread_people
from shoal.microdata.recoding.problem import Problem

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes at some levels; ``nodes`` holds their keys, and ``alone`` those of their people who are in no other tuple.

    ``entries`` is the class of each record of the people who have several tuples.
    """

    problem: Problem
    levels: Levels
    nodes: np.ndarray
    records: np.ndarray
    alone: np.ndarray
    population: np.ndarray | None
    histograms: Mapping[str, Histogram]
    entries: np.ndarray | None

    @classmethod
    def of_tuples(cls, problem: Problem) -> "Classes":
        """Every tuple as a class of its own: all keys as they are."""
        return cls(
            problem,
            (0,) * len(problem.hierarchies),
            problem.keys,
            problem.records,
            problem.people,
            problem.population,
            problem.histograms,
            None if problem.spread is None else problem.spread.tuples,
        )

    @classmethod
    def finest(cls, problem: Problem) -> "Classes":
        """The classes at the lowest levels allowed."""
        return cls.of_tuples(problem).at(problem.lowest)

    @property
    def size(self) -> int:
        """How many classes there are."""
        return int(self.records.size)

    @cached_property
    def people(self) -> np.ndarray:
        """The people in each class."""
        if self.entries is None or self.problem.spread is None:
            return self.alone
        several: np.ndarray = spread_people(self.entries, self.problem.spread.starts, self.size)
        return self.alone + several

    @cached_property
    def evidence(self) -> Evidence:
        """What models look at."""
        return Evidence(self.people, self.population, self.histograms, self.problem.confidential)

    @cached_property
    def failing(self) -> np.ndarray:
        """The classes that may not be released.

        A class of the population that nobody of the data is in fails by what it says of those who are not there alone.
        """
        return self._judged(lambda model, evidence: model.fails(evidence))

    @cached_property
    def hopeless(self) -> np.ndarray:
        """The classes of which no part may be released."""
        return self._judged(lambda model, evidence: model.hopeless(evidence))

    def _judged(self, judge: Callable[[Model, Evidence], np.ndarray]) -> np.ndarray:
        somebody = self.records > 0
        judged = (self.people < self.problem.k) & somebody
        for model in self.problem.models:
            fails = judge(model, self.evidence)
            judged = judged | (fails if isinstance(model, PopulationModel) else fails & somebody)
        return judged

    def people_in(self, chosen: np.ndarray) -> int:
        """How many people have a record in one of the chosen classes."""
        total = int(self.alone[chosen].sum())
        if self.entries is not None and self.problem.spread is not None:
            total += int(people_touched(self.entries, self.problem.spread.starts, chosen))
        return total

    def at(self, levels: Levels) -> "Classes":
        """The same records at other levels, none of them finer."""
        return self if levels == self.levels else self.joined(levels)[0]

    def joined(self, levels: Levels) -> "tuple[Classes, np.ndarray]":
        """The classes at coarser levels, and for each class of this one which of them it is part of."""
        maps = [
            hierarchy.up(lower, upper)
            for hierarchy, lower, upper in zip(self.problem.hierarchies, self.levels, levels, strict=True)
        ]
        flat, offsets = flattened(maps)
        cards = np.array(
            [len(h.labels[level]) for h, level in zip(self.problem.hierarchies, levels, strict=True)]
        )
        groups, first = grouped(self.nodes, flat, offsets, cards)
        size = int(first.size)
        kinds = self.problem.confidential
        joined = Classes(
            self.problem,
            levels,
            coarser(self.nodes, first, flat, offsets),
            added(groups, self.records, size),
            added(groups, self.alone, size),
            None if self.population is None else added(groups, self.population, size),
            {name: merged(one, groups, size, kinds[name].kinds) for name, one in self.histograms.items()},
            None if self.entries is None else groups[self.entries],
        )
        return joined, groups


def flattened(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Arrays one after the other, and where each begins."""
    return np.concatenate(arrays), np.cumsum([0, *[array.size for array in arrays[:-1]]])
