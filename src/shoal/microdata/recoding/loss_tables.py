"""What a recoding loses, by several measures; each is the sum of what every record loses, or comes near to it.

- ``loss``: the share of the other values that a label may stand for, mean over records and keys (V. S. Iyengar, KDD 2002).
- ``entropy``: bits that are needed to get from the released value to the original one, by the frequencies in the data, summed
  (A. Gionis and T. Tassa, k-anonymization with minimal loss of information, IEEE TKDE 21(2), 2009: non-uniform entropy).
- ``discernibility``: every record costs the number of records it looks like, one left out as many as there are
  (R. J. Bayardo and R. Agrawal, ICDE 2005).
- ``class-size``: records for each class (K. LeFevre and others, ICDE 2006); all that are left out count as one class.
- ``cells``: how many values are released otherwise than they were.

A record that is left out loses all it can.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from shoal.microdata.recoding.class_kernels import added_rates, floored_rates, total_loss
from shoal.microdata.recoding.classes import Classes, Levels, flattened
from shoal.microdata.recoding.problem import Problem


class Loss:
    """The measure of a problem: ``of`` classes some of which are left out, and ``least`` of all that is no coarser.

    Every measure but ``class-size`` adds up what a record loses in its class (``rates``), or ``full`` if it is left out.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n = problem.size

    @cached_property
    def tables(self) -> list[list[np.ndarray]]:
        """What a record loses in a column, by level and node."""
        return [
            [self._column(column, level) for level in range(hierarchy.height + 1)]
            for column, hierarchy in enumerate(self.problem.hierarchies)
        ]

    def _column(self, column: int, level: int) -> np.ndarray:
        problem, hierarchy = self.problem, self.problem.hierarchies[column]
        weight = float(problem.weights[column])
        if problem.measure == "entropy":
            return weight * np.log2(np.maximum(1, self._frequencies(column, level)))
        if problem.measure == "cells":
            same = [
                size == 1 and label == hierarchy.leaves[first]
                for label, size, first in zip(
                    hierarchy.labels[level],
                    hierarchy.sizes[level],
                    np.flatnonzero(np.diff(hierarchy.nodes[level], prepend=-1)),
                    strict=True,
                )
            ]
            return weight * (1.0 - np.array(same, dtype=float))
        return weight / float(problem.weights.sum()) * hierarchy.loss[level]

    def _frequencies(self, column: int, level: int) -> np.ndarray:
        hierarchy = self.problem.hierarchies[column]
        nodes = hierarchy.nodes[level][self.problem.keys[:, column]]
        return np.bincount(nodes, weights=self.problem.records, minlength=len(hierarchy.labels[level]))

    @cached_property
    def full(self) -> float:
        """What a record loses that is left out."""
        if self.problem.measure == "discernibility":
            return float(self.n)
        return float(sum(table[-1][0] for table in self.tables))

    @cached_property
    def nothing(self) -> float:
        """What the measure says of data that were not changed at all."""
        if self.problem.measure != "entropy":
            return 0.0
        rates = self._rates(self.problem.keys, (0,) * len(self.tables))
        return self._total(self.problem.records, rates)

    def _rates(self, nodes: np.ndarray, levels: Levels) -> np.ndarray:
        tables = [table[level] for table, level in zip(self.tables, levels, strict=True)]
        rates: np.ndarray = added_rates(nodes, *flattened(tables))
        return rates

    def rates(self, classes: Classes) -> np.ndarray:
        """What a record of each class loses."""
        if self.problem.measure == "discernibility":
            return classes.records.astype(np.float64)
        return self._rates(classes.nodes, classes.levels)

    def of(self, classes: Classes, left_out: np.ndarray) -> float:
        """The loss when the classes are released but for those that are left out."""
        if self.problem.measure == "class-size":
            kept = int(((classes.records > 0) & ~left_out).sum())
            return self.n / max(1, kept + bool(classes.records[left_out].sum()))
        rates = self.rates(classes)
        if self.problem.measure == "entropy":
            bits = self._total(classes.records, rates) - self.nothing
            return bits + self._bits_left_out(classes, left_out)
        return self._scaled(total_loss(classes.records, rates, left_out, self.full))

    def costs(self, classes: Classes) -> np.ndarray:
        """What is lost in addition with each class that is left out, where the loss is a sum of that."""
        if self.problem.measure == "class-size":
            return np.ones(classes.size)
        costs: np.ndarray = classes.records * (self.full - self.rates(classes))
        return costs

    def with_cost(self, classes: Classes, left_out: np.ndarray, cost: float) -> float:
        """The loss where further classes are left out that cost so much; by ``entropy`` the bits of all that is left out."""
        if self.problem.measure == "class-size":
            kept = int(((classes.records > 0) & ~left_out).sum())
            # What is left out is one class.
            return self.n / max(1.0, kept - np.ceil(cost - 1e-6) + 1) if np.isfinite(cost) else cost
        if self.problem.measure == "entropy":
            return self.of(classes, np.zeros(classes.size, dtype=bool)) + cost
        return self.of(classes, left_out) + self._scaled(cost)

    def _bits_left_out(self, classes: Classes, left_out: np.ndarray) -> float:
        """Bits to tell the values of the records left out from each other, key by key."""
        records = classes.records[left_out]
        total = records.sum()
        bits = 0.0
        for column, weight in enumerate(self.problem.weights):
            counts = np.bincount(classes.nodes[left_out, column], weights=records)
            counts = counts[counts > 0]
            bits -= float(weight) * float(counts @ np.log2(counts / total))
        return bits

    def least(self, finer: Classes, coarser: Classes, groups: np.ndarray, hopeless: np.ndarray) -> float:
        """What is lost at least at any levels between two, where the hopeless classes of the coarser are left out for sure.

        ``groups`` says which class of the coarser each of the finer is part of.
        """
        if self.problem.measure == "class-size":
            parts = np.minimum(
                np.bincount(groups[finer.records > 0], minlength=coarser.size),
                coarser.records // self.problem.k,
            )
            return self.n / max(1, int(parts[~hopeless].sum()) + 1)
        rates = self.rates(finer)
        if self.problem.measure == "entropy":
            rates = np.where(hopeless[groups], self._bits_at_least(finer, coarser, hopeless), rates)
            return self._total(finer.records, rates) - self.nothing
        return self._scaled(total_loss(finer.records, rates, hopeless[groups], self.full))

    def _bits_at_least(self, finer: Classes, coarser: Classes, hopeless: np.ndarray) -> np.ndarray:
        """What a record loses at least in each class that is left out.

        Among s records left out, c of them with its value, a record loses log F + log(s/c), where F is how many have that
        value in all data. F is no less than c, so that is at least log s.
        """
        total = max(1, int(coarser.records[hopeless].sum()))
        tables = [table[level] for table, level in zip(self.tables, finer.levels, strict=True)]
        bits: np.ndarray = floored_rates(
            finer.nodes, *flattened(tables), self.problem.weights * np.log2(total)
        )
        return bits

    def _total(self, records: np.ndarray, rates: np.ndarray) -> float:
        return float(total_loss(records, rates, np.zeros(records.size, dtype=bool), 0.0))

    def _scaled(self, total: float) -> float:
        return total / self.n if self.problem.measure == "loss" else total

    @cached_property
    def by_level(self) -> list[np.ndarray]:
        """The part of the loss that each column has at each level when nothing is left out."""
        return [
            np.array([float(self._frequencies(column, level) @ rates) for level, rates in enumerate(table)])
            for column, table in enumerate(self.tables)
        ]


def spans(by_level: Sequence[np.ndarray], lowest: Levels, highest: Levels) -> list[float]:
    """How much the loss of each column moves between two levels."""
    return [float(own[high] - own[low]) for own, low, high in zip(by_level, lowest, highest, strict=True)]
