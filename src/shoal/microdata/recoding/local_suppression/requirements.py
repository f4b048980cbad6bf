"""Releases that must meet more than k: whole combinations, blanked together until every class of them meets all models."""

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from math import ceil

import numpy as np

from shoal.microdata.models.histogram import Histogram, merged
from shoal.microdata.models.model import AverageRisk, Evidence
from shoal.microdata.recoding.class_kernels import added
from shoal.microdata.recoding.local_suppression.assignment import LEFT_OUT, Assignment
from shoal.microdata.recoding.local_suppression.greedy import infeasible
from shoal.microdata.recoding.local_suppression.instance import Instance
from shoal.microdata.recoding.local_suppression.leftovers import settled
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.runtime.randomness import below


class Demands:
    """What every class of a release must meet: k people and the models of the problem."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.problem = instance.problem

    @cached_property
    def _histograms(self) -> dict[str, Histogram]:
        problem, instance = self.problem, self.instance
        # Tuples of the population alone have no values to count.
        groups = np.maximum(0, instance.groups)
        return {
            name: merged(one, groups, instance.size, problem.confidential[name].kinds)
            for name, one in problem.histograms.items()
        }

    def failing(
        self, rows: np.ndarray, groups: np.ndarray, size: int, *, hopeless: bool = False
    ) -> np.ndarray:
        """Which groups of combinations may not be released, or are such that no part of them may."""
        instance, kinds = self.instance, self.problem.confidential
        people = added(groups, instance.people[rows], size)
        inside = np.full(instance.size, size, dtype=np.int64)
        inside[rows] = groups
        histograms = {
            name: merged(one, inside, size + 1, kinds[name].kinds) for name, one in self._histograms.items()
        }
        evidence = Evidence(np.append(people, self.problem.k), None, histograms, kinds)
        failing = people < self.problem.k
        for model in self.problem.models:
            judged = model.hopeless(evidence) if hopeless else model.fails(evidence)
            failing = failing | judged[:size]
        return failing

    def holds(self, rows: np.ndarray, records: np.ndarray) -> bool:
        """Whether a class of these whole combinations may be released."""
        return not bool(self.failing(rows, np.zeros(rows.size, dtype=np.int64), 1)[0])


def first_release(masks: Masks) -> Assignment:
    """Blank the cheapest masks first, each for all who may be released under it; ``Infeasible`` if none is found."""
    instance = masks.instance
    demands = Demands(instance)
    everybody, first = masks.groups(int(masks.bits[-1]))
    rest = np.arange(instance.size)
    lost = demands.failing(rest, everybody, first.size, hopeless=instance.limit > 0)[everybody]
    if int(instance.touched[lost].sum()) > instance.limit:
        raise infeasible(masks, int(instance.people[lost].sum()))
    place_of = np.where(lost, LEFT_OUT, -2)
    rest = rest[~lost]
    for place in range(masks.size):
        if rest.size == 0:
            break
        groups, found = masks.groups(int(masks.bits[place]), rest)
        safe = ~demands.failing(rest, groups, found.size)[groups]
        place_of[rest[safe]] = place
        rest = rest[~safe]
    done = np.flatnonzero(place_of != -2)
    made = Assignment.of(done, place_of[done], instance.records[done])
    made = settled(masks, made, rest, demands.holds)
    failing = _failing_rows(masks, demands, made)
    if failing.size:
        raise infeasible(masks, int(instance.people[failing].sum()))
    return made


def _failing_rows(masks: Masks, demands: Demands, assignment: Assignment) -> np.ndarray:
    """The combinations in classes that may not be released."""
    found = []
    for place in np.unique(assignment.masks[assignment.masks != LEFT_OUT]).tolist():
        rows = assignment.rows[assignment.masks == place]
        groups, first = masks.groups(int(masks.bits[place]), rows)
        found.append(rows[demands.failing(rows, groups, first.size)[groups]])
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def average_allowed(masks: Masks, assignment: Assignment) -> bool:
    """Whether the release as a whole is within the limits on average risk."""
    instance = masks.instance
    risks = instance.problem.average_risks
    kept = assignment.masks != LEFT_OUT
    people = int(instance.people[np.unique(assignment.rows[kept])].sum())
    classes = sum(
        masks.groups(int(masks.bits[place]), assignment.rows[assignment.masks == place])[1].size
        for place in np.unique(assignment.masks[kept]).tolist()
    )
    return all(risk.allows(classes, people) for risk in risks)


def with_larger_classes(masks: Masks) -> Masks:
    """The same with a k that keeps the average risk within its limit for sure."""
    problem = masks.instance.problem
    smallest = max(problem.k, *(ceil(1.0 / risk.limit - 1e-9) for risk in problem.average_risks))
    if smallest > problem.units:
        raise infeasible(masks, problem.units)
    others = tuple(model for model in problem.models if not isinstance(model, AverageRisk))
    return Masks.of(Instance.of(replace(problem, k=smallest, models=others)))


class Joining:
    """A release that gets cheaper by letting combinations change into classes that exist, as long as all hold."""

    def __init__(self, masks: Masks, start: Assignment, state: np.ndarray) -> None:
        self.masks = masks
        self.instance = masks.instance
        self.demands = Demands(self.instance)
        self._state = state
        self.place_of = np.full(self.instance.size, LEFT_OUT, dtype=np.int64)
        self.place_of[start.rows] = start.masks
        self._columns = [
            tuple(np.setdiff1d(np.arange(self.instance.nodes.shape[1]), masks.columns(int(bits))).tolist())
            for bits in masks.bits
        ]
        self._classes: dict[tuple[int, tuple[int, ...]], set[int]] = defaultdict(set)
        for row, place in enumerate(self.place_of.tolist()):
            if place != LEFT_OUT:
                self._classes[self._key(row, place)].add(row)
        self._open = np.flatnonzero([place > 0 for place in self.place_of])

    def _key(self, row: int, mask: int) -> tuple[int, tuple[int, ...]]:
        return mask, tuple(self.instance.nodes[row, list(self._columns[mask])].tolist())

    @property
    def idle(self) -> bool:
        """Whether nothing is blanked."""
        return self._open.size == 0

    def step(self, tries: int) -> None:
        """Let so many combinations, drawn by chance, look for a cheaper class."""
        for _ in range(tries):
            self._move(int(self._open[below(self._state, self._open.size)]))

    def _move(self, row: int) -> None:
        here = int(self.place_of[row])
        if here == LEFT_OUT:
            return
        costs = self.masks.costs[self.instance.prices[1][row]]
        own = self._classes[self._key(row, here)]
        stays = own - {row}
        if stays and not self._holds(stays):
            return
        for place in np.flatnonzero(costs < costs[here]).tolist():
            there = self._classes.get(self._key(row, place))
            if there and self._holds(there | {row}):
                own.discard(row)
                there.add(row)
                self.place_of[row] = place
                return

    def _holds(self, rows: set[int]) -> bool:
        chosen = np.array(sorted(rows))
        return self.demands.holds(chosen, self.instance.records[chosen])

    @property
    def assignment(self) -> Assignment:
        """The release now."""
        return Assignment.of(np.arange(self.instance.size), self.place_of, self.instance.records)
