"""Chromosomes that live together, with their keys."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from shoal.runtime.evolution.keys import fittest, ranking

Chromosome = TypeVar("Chromosome")


@dataclass
class Population(Generic[Chromosome]):
    """Members, the key of each, and the number that each keeps from birth to death.

    >>> population = Population(["ab", "ba"], as_keys([7.5, 3.25]), np.arange(2))
    >>> population.members[population.fittest]
    'ba'
    """

    members: list[Chromosome]
    keys: np.ndarray
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.members)

    @property
    def fittest(self) -> int:
        """The place of the fittest member; the first of several."""
        return int(fittest(self.keys))

    def only(self, places: Iterable[int]) -> "Population[Chromosome]":
        """The members at these places, in this order, as a population of their own."""
        chosen = np.fromiter(places, dtype=np.int64)
        return Population([self.members[place] for place in chosen], self.keys[chosen], self.numbers[chosen])

    def in_order(self) -> "Population[Chromosome]":
        """The members from the fittest to the least fit; equals stay in their order."""
        return self.only(ranking(self.keys))

    def put(self, position: int, newcomers: "Population[Chromosome]", newcomer: int) -> None:
        """Let a newcomer take the place of a member."""
        self.members[position] = newcomers.members[newcomer]
        self.keys[position] = newcomers.keys[newcomer]
        self.numbers[position] = newcomers.numbers[newcomer]


def as_keys(keys: Iterable[Any], *, like: np.ndarray | None = None) -> np.ndarray:
    """Keys, each a number or a row of numbers, as an array with a row for each; ``like`` fixes columns and type.

    >>> as_keys([(0, 1, -5), (2, 0, -7)]).shape
    (2, 3)
    """
    listed = list(keys)
    if not listed and like is not None:
        return like[:0].copy()
    array = np.array(listed)
    if array.ndim == 1:
        array = array[:, None]
    array = array.astype(np.int64 if array.dtype.kind in "iub" else np.float64)
    if like is not None:
        array = array.astype(like.dtype, casting="same_kind")
    if np.isnan(array).any():
        raise AssertionError("a key must not be NaN")
    return array
