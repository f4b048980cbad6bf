"""How well each operator serves a search, by the generation in which its children were born."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np


def efficiency(cost: float | np.ndarray, parents: float | np.ndarray) -> np.ndarray:
    """By how many per cent a child is better (above 0) or worse (below 0) than its parents.

    ``parents`` is the cost of the one parent, or the mean cost of several. With the ratio r = cost/parents it is
    100·(1 − r) where r ≤ 1 and 100·(1/r − 1) elsewhere, so that it lies between −100 and 100 and that halving and
    doubling weigh the same. It is not defined (NaN) for costs below 0.

    >>> efficiency(np.array([5.0, 20.0, 10.0]), 10.0).tolist()
    [50.0, -50.0, 0.0]
    """
    child, reference = np.broadcast_arrays(np.asarray(cost, dtype=float), np.asarray(parents, dtype=float))
    improved = child < reference
    smaller, larger = np.where(improved, child, reference), np.where(improved, reference, child)
    ratio = np.divide(smaller, larger, out=np.ones(child.shape), where=larger > 0)
    percent = 100.0 * (1.0 - ratio)
    return np.where((child < 0) | (reference < 0), np.nan, np.where(improved, percent, 0.0 - percent))


@dataclass(frozen=True)
class OperatorStatistics:
    """What became of the children; each array has a row for every operator and a column for every generation.

    ``made`` and ``survived`` count children made and those that outlived their own generation; ``unused`` those
    that never became parents; ``lifetime`` is the mean number of generations survived. ``improved``, ``worse``
    and ``equal`` compare a child's cost with that of its parent, or with the mean of its parents; ``gain`` and
    ``loss`` are the mean ``efficiency`` of the improved and of the worse, ``highest`` and ``lowest`` its
    extremes. Where there is nothing to average there is NaN. In the last generations ``unused`` is too high and
    ``lifetime`` too low, since the search ends.
    """

    operators: tuple[str, ...]
    made: np.ndarray
    survived: np.ndarray
    unused: np.ndarray
    lifetime: np.ndarray
    improved: np.ndarray
    worse: np.ndarray
    equal: np.ndarray
    gain: np.ndarray
    loss: np.ndarray
    highest: np.ndarray
    lowest: np.ndarray

    def to_records(self) -> list[dict[str, Any]]:
        """One dictionary for each operator and generation in which it made children; NaN becomes ``None``."""
        measures = [item.name for item in fields(self) if item.name != "operators"]
        return [
            {"operator": self.operators[row], "generation": int(column)}
            | {name: _plain(getattr(self, name)[row, column]) for name in measures}
            for row, column in zip(*np.nonzero(self.made), strict=True)
        ]


def _plain(number: Any) -> int | float | None:
    return None if np.isnan(number) else number.item()


class Ledger:
    """Births, uses as a parent, and deaths, from which the statistics are computed.

    Individuals are numbered as they come; the founders are the first and belong to no operator.
    """

    def __init__(self, founders: int) -> None:
        self._founders = founders
        self._operator: list[int] = []
        self._birth: list[int] = []
        self._cost: list[float] = []
        self._parents: list[float] = []
        self._used: list[bool] = []
        self._death: list[int] = []

    def born(self, *, operator: int, generation: int, cost: float, parents: float) -> int:
        """Enter a child, its cost and the mean cost of its parents; returns its number."""
        self._operator.append(operator)
        self._birth.append(generation)
        self._cost.append(cost)
        self._parents.append(parents)
        self._used.append(False)
        self._death.append(-1)
        return self._founders + len(self._operator) - 1

    def used(self, numbers: Iterable[int]) -> None:
        """Enter that these have become parents."""
        for number in numbers:
            if number >= self._founders:
                self._used[number - self._founders] = True

    def died(self, numbers: Iterable[int], *, generation: int) -> None:
        """Enter that the replacement of this generation discarded these."""
        for number in numbers:
            if number >= self._founders:
                self._death[number - self._founders] = generation

    def statistics(self, operators: Sequence[str], generations: int) -> OperatorStatistics:
        """The statistics after this many generations; who is still alive has survived them all."""
        shape = (len(operators), generations)
        birth = np.array(self._birth, dtype=np.int64)
        death = np.array(self._death, dtype=np.int64)
        cell = np.array(self._operator, dtype=np.int64) * generations + birth
        cost, parents = np.array(self._cost), np.array(self._parents)
        lifetime = np.where(death < 0, generations, death) - birth
        percent = efficiency(cost, parents)
        improved, worse = cost < parents, cost > parents

        def count(which: np.ndarray) -> np.ndarray:
            return np.bincount(cell[which], minlength=shape[0] * shape[1]).reshape(shape)

        def mean(of: np.ndarray, which: np.ndarray) -> np.ndarray:
            total = np.bincount(cell[which], of[which], minlength=shape[0] * shape[1]).reshape(shape)
            number = count(which)
            return np.divide(total, number, out=np.full(shape, np.nan), where=number > 0)

        def extreme(function: np.ufunc, start: float) -> np.ndarray:
            found = np.full(shape[0] * shape[1], start)
            function.at(found, cell, percent)
            return np.where(np.isinf(found), np.nan, found).reshape(shape)

        everyone = np.ones(len(cell), dtype=bool)
        return OperatorStatistics(
            operators=tuple(operators),
            made=count(everyone),
            survived=count(lifetime > 0),
            unused=count(~np.array(self._used, dtype=bool)),
            lifetime=mean(lifetime, everyone),
            improved=count(improved),
            worse=count(worse),
            equal=count(~improved & ~worse),
            gain=mean(percent, improved),
            loss=mean(percent, worse),
            highest=extreme(np.maximum, -np.inf),
            lowest=extreme(np.minimum, np.inf),
        )
