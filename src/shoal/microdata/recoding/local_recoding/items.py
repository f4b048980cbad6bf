"""What is put into groups: tuples at the lowest levels allowed, the frequent ones with records they can lend."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.microdata.recoding.class_kernels import people_touched
from shoal.microdata.recoding.classes import Classes
from shoal.microdata.recoding.local_recoding.spans import Spans
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem


@dataclass(frozen=True, eq=False)
class Items:
    """Tuples as they are at the lowest levels, and what each may lose.

    ``people`` counts everybody once, at one tuple, so that the people of a group are at least the sum of its items';
    ``present`` counts them at each of their tuples.
    """

    problem: Problem
    loss: Loss
    spans: Spans
    classes: Classes
    base: np.ndarray
    keys: np.ndarray
    records: np.ndarray
    people: np.ndarray
    present: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> "Items":
        """The tuples of a problem that have records."""
        loss = Loss(problem)
        classes, base = Classes.of_tuples(problem).joined(problem.lowest)
        people = classes.alone.copy()
        if problem.spread is not None:
            first = base[problem.spread.tuples[problem.spread.starts[:-1]]]
            people += np.bincount(first, minlength=classes.size)
        there = np.flatnonzero(classes.records > 0)
        number = np.full(classes.size, -1, dtype=np.int64)
        number[there] = np.arange(there.size)
        return cls(
            problem,
            loss,
            Spans.of(problem, loss),
            classes,
            number[base],
            np.ascontiguousarray(classes.nodes[there], dtype=np.int32),
            classes.records[there],
            people[there],
            classes.people[there],
        )

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.records.size)

    def people_in(self, chosen: np.ndarray) -> int:
        """How many people have a record in one of the chosen items."""
        flags = np.zeros(self.size + 1, dtype=bool)
        flags[chosen] = True
        tuples = flags[self.base]
        spread = self.problem.spread
        several = 0 if spread is None else int(people_touched(spread.tuples, spread.starts, tuples))
        return int(self.problem.people[tuples].sum()) + several

    @cached_property
    def divisible(self) -> bool:
        """Whether records of one tuple may be released in different ways: nothing is known of them but their number."""
        problem = self.problem
        return (
            not problem.histograms
            and problem.spread is None
            and bool((problem.people == problem.records).all())
        )

    @cached_property
    def kinds(self) -> np.ndarray:
        """The class at the highest levels that each item belongs to; items of different ones never share a group."""
        highest = self.classes.joined(self.problem.highest)[1]
        there = np.flatnonzero(self.classes.records > 0)
        kinds: np.ndarray = highest[there]
        return kinds


@dataclass(frozen=True, eq=False)
class Pieces:
    """Items in parts that may go to different groups: piece i is ``records[i]`` records of item ``items[i]``."""

    items: np.ndarray
    keys: np.ndarray
    records: np.ndarray
    people: np.ndarray

    @classmethod
    def of(cls, items: Items) -> "Pieces":
        """Every item as a whole; but where it has more people than k, up to k of them one by one, and the rest."""
        if not items.divisible:
            whole = np.arange(items.size)
            return cls(whole, items.keys, items.records, items.people)
        lent = np.clip(items.people - items.problem.k, 0, items.problem.k)
        numbers = np.repeat(np.arange(items.size), 1 + lent)
        people = np.ones(numbers.size, dtype=np.int64)
        people[np.cumsum(1 + lent) - 1 - lent] = items.people - lent
        return cls(numbers, np.ascontiguousarray(items.keys[numbers]), people.copy(), people)
