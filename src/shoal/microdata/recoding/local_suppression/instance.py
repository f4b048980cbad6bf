"""What local suppression works on: combinations of keys as they are released if nothing is blanked, and what blanks cost."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.models.model import PopulationModel
from shoal.microdata.recoding.class_kernels import added, spread_people
from shoal.microdata.recoding.classes import Classes
from shoal.microdata.recoding.local_suppression.suppression_kernels import count_once
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem

#: Measures of loss that add up over blanked values.
MEASURES = ("loss", "entropy", "cells")

# Shares of the smallest cost that count as none when costs are seen to be its multiples.
_WHOLE = 1e-7


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance:
    """Combinations of keys, each with its records, its people, and what it costs to blank a key of one of its records.

    ``nodes`` are the keys at the lowest levels, ``columns`` those that may be blanked, those with few values first; ``blank``
    is what that costs by combination and column, ``leave`` what it costs to leave a record out. Costs are counted in ``unit``,
    which makes them whole numbers where they can be (``whole``). Only where ``splittable`` may records of one combination be
    released differently. ``people`` counts everybody once, ``touched`` wherever they have a record. ``plain`` says that every
    record is one person.
    """

    problem: Problem
    groups: np.ndarray
    nodes: np.ndarray
    cards: np.ndarray
    records: np.ndarray
    people: np.ndarray
    touched: np.ndarray
    splittable: np.ndarray
    columns: tuple[int, ...]
    blank: np.ndarray
    leave: np.ndarray
    unit: float
    whole: bool
    base: float
    limit: int
    plain: bool

    @classmethod
    def of(cls, problem: Problem) -> "Instance":
        """What the problem is to local suppression; an ``InputError`` where it cannot be.

        >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
        >>> sexes = Hierarchy([("f",), ("m",)])
        >>> instance = Instance.of(Problem.of([np.array([0, 0, 1])], [sexes], k=2, measure="cells"))
        >>> instance.records.tolist(), instance.blank.tolist(), instance.unit
        ([2, 1], [[1.0], [1.0]], 1.0)
        """
        check(problem)
        tuples = Classes.of_tuples(problem)
        finest, groups = tuples.joined(problem.lowest)
        # Combinations of the population alone are nobody's.
        order = np.flatnonzero(finest.records > 0)
        order = order[np.lexsort(finest.nodes[order].T[::-1])]
        rank = np.full(finest.size, -1, dtype=np.int64)
        rank[order] = np.arange(order.size)
        nodes = np.ascontiguousarray(finest.nodes[order])
        records = finest.records[order]
        heights = problem.heights
        cards = np.array(
            [len(h.labels[level]) for h, level in zip(problem.hierarchies, problem.lowest, strict=True)]
        )
        # Where all share a label that stands for every value, a blank would say nothing else.
        free = [
            j
            for j, top in enumerate(heights)
            if problem.highest[j] == top and problem.lowest[j] < top and cards[j] > 1
        ]
        columns = tuple(sorted(free, key=lambda j: (cards[j], j)))
        loss = Loss(problem)
        kept = np.zeros(order.size)
        full = 0.0
        blank = np.zeros((order.size, len(columns)))
        for j, table in enumerate(loss.tables):
            own = table[problem.lowest[j]][nodes[:, j]]
            kept += own
            full += float(table[-1][0])
            if j in columns:
                blank[:, columns.index(j)] = np.maximum(0.0, float(table[-1][0]) - own)
        leave = np.maximum(0.0, full - kept)
        unit, whole = _unit(np.concatenate([blank.ravel(), leave]))
        if whole:
            blank, leave = np.rint(blank / unit), np.rint(leave / unit)
        people, touched, splittable = _people(problem, rank[groups], order.size, records)
        plain = bool((people == records).all()) and problem.spread is None
        return cls(
            problem=problem,
            groups=rank[groups],
            nodes=nodes,
            cards=cards,
            records=records,
            people=people,
            touched=touched,
            splittable=splittable,
            columns=columns,
            blank=blank,
            leave=leave,
            unit=unit,
            whole=whole,
            base=float((records * kept).sum()) - loss.nothing,
            limit=0 if problem.measure == "entropy" or problem.keep_suppressed else problem.limit,
            plain=plain,
        )

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return int(self.records.size)

    @property
    def scale(self) -> float:
        """What one unit of cost adds to the loss of the problem."""
        return self.unit / self.problem.size if self.problem.measure == "loss" else self.unit

    def value(self, cost: float) -> float:
        """The loss when blanks cost so much."""
        base = self.base / self.problem.size if self.problem.measure == "loss" else self.base
        return base + cost * self.scale

    @cached_property
    def prices(self) -> tuple[np.ndarray, np.ndarray]:
        """The different rows of costs, and which of them each combination has."""
        rows, kinds = np.unique(self.blank, axis=0, return_inverse=True)
        return rows, kinds.reshape(-1).astype(np.int32)

    def people_in(self, groups: np.ndarray, size: int) -> np.ndarray:
        """How many people have a record in each group of combinations, at most: everybody counts where they are."""
        problem = self.problem
        if problem.spread is None:
            together: np.ndarray = added(groups, self.people, size)
            return together
        tuples = np.flatnonzero(self.groups >= 0)
        alone = added(groups[self.groups[tuples]], problem.people[tuples], size)
        several: np.ndarray = spread_people(
            groups[self.groups[problem.spread.tuples]], problem.spread.starts, size
        )
        return alone + several


def check(problem: Problem) -> None:
    """Refuse what local suppression cannot do."""
    if problem.measure not in MEASURES:
        raise InputError(
            f"local suppression adds up what every blank costs, which {parameter('measure', problem.measure)} does not; "
            f"choose {parameter('measure')} from {', '.join(MEASURES)}"
        )
    if any(isinstance(model, PopulationModel) for model in problem.models):
        raise InputError(
            "models of the population (k-map, presence) need one recoding for everybody, which local suppression is not; "
            f"use {parameter('method', 'lattice')}"
        )


def _unit(costs: np.ndarray) -> tuple[float, bool]:
    """The smallest cost, and whether all others are multiples of it."""
    costs = np.unique(costs)
    positive = costs[costs > 1e-12]
    if positive.size == 0:
        return 1.0, True
    unit = float(positive[0])
    share = costs / unit
    whole = bool(np.abs(share - np.rint(share)).max() < _WHOLE) and float(share.max()) < 1e9
    return (unit, True) if whole else (1.0, False)


def _people(
    problem: Problem, groups: np.ndarray, size: int, records: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People of each combination, each counted at one alone; all who have a record of it; where each record is a person."""
    found = groups >= 0
    people: np.ndarray = added(groups[found], problem.people[found], size)
    touched = people.copy()
    splittable = people == records
    if problem.spread is not None:
        entries = groups[problem.spread.tuples]
        splittable[entries] = False
        touched += np.bincount(entries, minlength=size)
        # Where few are each one matters most.
        count_once(people, entries, problem.spread.starts)
    if problem.models:
        # Models look at what is in a class, which is known of whole combinations alone.
        splittable[:] = False
    return people, touched, splittable
