"""Who becomes a parent: kernels that draw members and return their places.

``state`` is that of ``shoal.runtime.randomness`` and ``keys`` those of ``shoal.runtime.evolution.keys``. What is drawn
several times is drawn with replacement unless the name says ``distinct``.
"""

import numpy as np

from shoal.runtime.evolution.keys import fitter, ranking
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, uniform


@kernel
def at_random(state: np.ndarray, members: int, count: int) -> np.ndarray:
    """Members drawn uniformly and independently; they may coincide."""
    drawn = np.empty(count, dtype=np.int64)
    for place in range(count):
        drawn[place] = below(state, members)
    return drawn


@kernel
def tournament(state: np.ndarray, keys: np.ndarray, size: int) -> int:
    """The fittest of ``size`` members drawn uniformly; a later one wins only if it is strictly fitter."""
    winner = below(state, keys.shape[0])
    for _ in range(1, size):
        rival = below(state, keys.shape[0])
        if fitter(keys[rival], keys[winner]):
            winner = rival
    return winner


@kernel
def distinct_tournaments(state: np.ndarray, keys: np.ndarray, size: int, count: int) -> np.ndarray:
    """The winners of ``count`` tournaments, each among the members that have not won before."""
    left = np.arange(keys.shape[0])
    winners = np.empty(count, dtype=np.int64)
    for place in range(count):
        remaining = keys.shape[0] - place
        if remaining < 1:
            raise ValueError("there are fewer members than winners")
        won = below(state, remaining)
        for _ in range(1, size):
            rival = below(state, remaining)
            if fitter(keys[left[rival]], keys[left[won]]):
                won = rival
        winners[place] = left[won]
        left[won] = left[remaining - 1]
    return winners


@kernel
def roulette(state: np.ndarray, weights: np.ndarray) -> int:
    """A member drawn with a probability proportional to its weight; uniformly when all weights are 0."""
    total = 0.0
    for member in range(weights.shape[0]):
        total += weights[member]
    if not total > 0.0:
        return below(state, weights.shape[0])
    ball = uniform(state) * total
    drawn = 0
    for member in range(weights.shape[0]):
        if weights[member] > 0.0:
            drawn = member
            ball -= weights[member]
            if ball < 0.0:
                break
    # Rounding can leave the ball just past the end; it is then in the last pocket that has any width.
    return drawn


@kernel
def distinct_roulette(state: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Different members, drawn one after the other with probabilities proportional to their weights."""
    if count > weights.shape[0]:
        raise ValueError("there are fewer members than are to be drawn")
    left = np.arange(weights.shape[0])
    pockets = weights.astype(np.float64)
    drawn = np.empty(count, dtype=np.int64)
    for place in range(count):
        remaining = weights.shape[0] - place
        at = roulette(state, pockets[:remaining])
        drawn[place] = left[at]
        left[at], pockets[at] = left[remaining - 1], pockets[remaining - 1]
    return drawn


@kernel
def inverse_costs(keys: np.ndarray) -> np.ndarray:
    """Weights for the roulette where cost, the first column, is to be small: proportional to 1/cost.

    Members that cost nothing share the whole wheel, which is what the proportions tend to as a cost goes to 0.

    >>> inverse_costs(np.array([[2.0], [8.0]])).tolist()
    [1.0, 0.25]
    """
    cheapest = keys[0, 0]
    for member in range(keys.shape[0]):
        cheapest = min(cheapest, keys[member, 0])
    if cheapest < 0:
        raise ValueError("the roulette needs costs of 0 or more")
    weights = np.empty(keys.shape[0], dtype=np.float64)
    for member in range(keys.shape[0]):
        cost = keys[member, 0]
        weights[member] = cheapest / cost if cost > 0 else 1.0
    return weights


@kernel
def elite(keys: np.ndarray, count: int) -> np.ndarray:
    """The ``count`` fittest members, the fittest first.

    >>> elite(np.array([[5.0], [3.0], [4.0]]), 2).tolist()
    [1, 2]
    """
    return ranking(keys)[:count]


@kernel
def elite_and_other(state: np.ndarray, keys: np.ndarray, count: int) -> np.ndarray:
    """One of the ``count`` fittest members and one of the others, each drawn uniformly."""
    if not 0 < count < keys.shape[0]:
        raise ValueError("the elite must be neither nobody nor everybody")
    order = ranking(keys)
    pair = np.empty(2, dtype=np.int64)
    pair[0] = order[below(state, count)]
    pair[1] = order[count + below(state, keys.shape[0] - count)]
    return pair
