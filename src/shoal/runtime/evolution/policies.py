"""Selection and replacement for populations of Python objects, and portfolios of them.

A selection is called with (state, population, count) and returns the places of the parents; a replacement with (state,
population, offspring) and lets children take places in the population. Each is a thin coat over the kernels of
``selection`` and ``replacement``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.runtime.evolution import replacement, selection
from shoal.runtime.evolution.keys import ranking
from shoal.runtime.evolution.population import Population

Select = Callable[[np.ndarray, Population[Any], int], np.ndarray]
Replace = Callable[[np.ndarray, Population[Any], Population[Any]], None]


@dataclass(frozen=True)
class AnyParents:
    """Every member is as likely as any other; two parents may be the same."""

    def __call__(self, state: np.ndarray, population: Population[Any], count: int) -> np.ndarray:
        """Draw the parents."""
        return selection.at_random(state, len(population), count)


@dataclass(frozen=True)
class RouletteParents:
    """Different parents, drawn in proportion to 1/cost, where cost is the first column of the key."""

    def __call__(self, state: np.ndarray, population: Population[Any], count: int) -> np.ndarray:
        """Draw the parents."""
        return selection.distinct_roulette(state, selection.inverse_costs(population.keys), count)


@dataclass(frozen=True)
class TournamentParents:
    """Different parents, each the fittest of ``size`` drawn at random."""

    size: int = 3

    def __call__(self, state: np.ndarray, population: Population[Any], count: int) -> np.ndarray:
        """Draw the parents."""
        return selection.distinct_tournaments(state, population.keys, self.size, count)


@dataclass(frozen=True)
class EliteParents:
    """The fittest members."""

    def __call__(self, state: np.ndarray, population: Population[Any], count: int) -> np.ndarray:
        """Find the parents."""
        return selection.elite(population.keys, count)


@dataclass(frozen=True)
class EliteAndOtherParents:
    """One parent from the elite, which is this share of the population, and one from the rest."""

    share: float = 0.25

    def __call__(self, state: np.ndarray, population: Population[Any], count: int) -> np.ndarray:
        """Draw the two parents."""
        if count != 2:
            raise ValueError("an elite member and another one make two parents")
        size = len(population)
        return selection.elite_and_other(
            state, population.keys, min(max(1, int(self.share * size + 0.5)), size - 1)
        )


@dataclass(frozen=True)
class MergeAndTruncate:
    """The fittest of members and children together stay, in order; between equals the member does."""

    def __call__(self, state: np.ndarray, population: Population[Any], offspring: Population[Any]) -> None:
        """Let the children in."""
        old, new = population.in_order(), offspring.in_order()
        for place, source in enumerate(replacement.truncation_merge(old.keys, new.keys)):
            if source < len(old):
                population.put(place, old, source)
            else:
                population.put(place, new, source - len(old))


@dataclass(frozen=True)
class ReplaceWorst:
    """One child after the other takes the place of the least fit member, if it is strictly fitter."""

    def __call__(self, state: np.ndarray, population: Population[Any], offspring: Population[Any]) -> None:
        """Let the children in."""
        for child, key in enumerate(offspring.keys):
            _put(replacement.steady_state(population.keys, key), population, offspring, child)


@dataclass(frozen=True)
class ReplaceByElite:
    """The ``count`` fittest children (or all) meet as many of the least fit members; the strictly fitter stays."""

    count: int | None = None

    def __call__(self, state: np.ndarray, population: Population[Any], offspring: Population[Any]) -> None:
        """Let the children in."""
        count = len(offspring) if self.count is None else self.count
        for child, place in enumerate(replacement.elite_places(population.keys, offspring.keys, count)):
            _put(place, population, offspring, child)


@dataclass(frozen=True)
class ReplaceLeastFit:
    """The ``count`` fittest children take the places of as many of the least fit members, fitter or not."""

    count: int = 2

    def __call__(self, state: np.ndarray, population: Population[Any], offspring: Population[Any]) -> None:
        """Let the children in."""
        members = ranking(population.keys)[::-1]
        for place, child in zip(members[: self.count], ranking(offspring.keys), strict=False):
            population.put(place, offspring, child)


@dataclass(frozen=True)
class KillTournament:
    """Each child takes the place of the least fit of ``size`` members drawn at random, if it is strictly fitter."""

    size: int = 3

    def __call__(self, state: np.ndarray, population: Population[Any], offspring: Population[Any]) -> None:
        """Let the children in."""
        for child, key in enumerate(offspring.keys):
            place = replacement.kill_tournament(state, population.keys, key, self.size)
            _put(place, population, offspring, child)


@dataclass(frozen=True)
class ReplaceSimilar:
    """Each child takes the place of the most similar of ``size`` members drawn at random, even a fitter one.

    The best member can be lost that way; ``Evolution.best`` remembers it.
    """

    distance: Callable[[Any, Any], float]
    size: int = 3

    def __call__(self, state: np.ndarray, population: Population[Any], offspring: Population[Any]) -> None:
        """Let the children in."""
        for child, chromosome in enumerate(offspring.members):
            drawn = selection.at_random(state, len(population), self.size)
            distances = [self.distance(population.members[place], chromosome) for place in drawn]
            population.put(int(drawn[int(np.argmin(distances))]), offspring, child)


@dataclass(frozen=True)
class OnlyNovel:
    """A replacement that never sees a child whose key a member or an earlier child has already."""

    replace: Replace

    def __call__(self, state: np.ndarray, population: Population[Any], offspring: Population[Any]) -> None:
        """Let those children in that are novel."""
        known = {tuple(key) for key in population.keys.tolist()}
        novel = []
        for child, key in enumerate(offspring.keys.tolist()):
            if tuple(key) not in known:
                known.add(tuple(key))
                novel.append(child)
        self.replace(state, population, offspring.only(novel))


def _put(position: int, population: Population[Any], offspring: Population[Any], child: int) -> None:
    if position != replacement.DISCARDED:
        population.put(position, offspring, child)


@dataclass(frozen=True)
class Strategy:
    """A selection and a replacement that go together, and how often the pair is used."""

    select: Select
    replace: Replace
    share: float = 1.0


class Portfolio:
    """Strategies of which each generation draws one, in proportion to their shares.

    >>> from shoal.runtime import Seeds
    >>> always = Strategy(EliteParents(), ReplaceWorst())
    >>> Portfolio([always]).draw(Seeds(0).state()) is always
    True
    """

    def __init__(self, strategies: Sequence[Strategy]) -> None:
        self.strategies = tuple(strategies)
        self._shares = np.array([strategy.share for strategy in self.strategies], dtype=np.float64)
        if not (self._shares >= 0).all() or not 0 < self._shares.sum() < np.inf:
            raise InputError("the shares of a portfolio must be 0 or more, and not all 0")

    def draw(self, state: np.ndarray) -> Strategy:
        """The strategy of one generation."""
        return self.strategies[int(selection.roulette(state, self._shares))]
