"""One region of the semidefinite bound: prices and a matrix of charges that raise the bound together.

The relaxation chooses a matrix X, with X(x, y) = 1 if two records of the region share a group, and Y for pairs with
records outside, whose prices stay. It asks of X what every partition satisfies: no entry is negative, the diagonal is
1, each row of X and Y together sums to k, and X is positive semidefinite. Its dual has a price for each row and a
positive semidefinite matrix of charges. Both are approached step by step by the method of alternating directions
(Wen, Goldfarb and Yin, Alternating direction augmented Lagrangian methods for semidefinite programming, Mathematical
Programming Computation 2, 2010): prices, slacks and charges are set in turn to the best for the others.

Nothing here need be exact: any prices and any factor of the charges give a bound.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

# How much a step trusts the new X; between 0 and 1.618 the method converges.
_STEP = 1.6
# The weight of the constraints at first, and its growth every ten steps.
_WEIGHT, _GROWTH = 3.0, 1.3
# Rows are scaled by so high a power of their prices: outliers count for more, but not for as much as they cost.
_POWER = 0.25
# Pairs that are dearer than so many times the dearer record's price are as good as out of reach.
_REACH = 8.0


class Region(NamedTuple):
    """What pairs cost inside, what records outside cost beyond their own price, and the prices of both."""

    inside: np.ndarray
    outside: np.ndarray
    prices: np.ndarray
    others: np.ndarray


class Charges(NamedTuple):
    """New prices, and a factor F of the charges F Fᵀ."""

    prices: np.ndarray
    factor: np.ndarray


def improved(region: Region, k: int, steps: int, stop: Callable[[], bool]) -> Charges | None:
    """Prices and charges after so many steps; ``None`` if nothing has a price or there was no time for them."""
    n = region.prices.size
    if steps < 1 or not region.prices.max(initial=0.0) > 0.0:
        return None
    unit = float(np.median(region.prices[region.prices > 0.0]))
    prices, others = region.prices / unit, region.others / unit
    # X becomes T X T with T the diagonal matrix of these scales; the rest follows.
    scale, scale_out = (np.maximum(some, 1e-2) ** _POWER for some in (prices, others))
    share, share_out = 1.0 / scale, 1.0 / scale_out
    far = _REACH * np.maximum(prices[:, None], prices[None]) + 1e-3
    cost = np.minimum(region.inside / unit, far)
    linked = (prices[:, None] + prices[None] > cost).astype(np.float64)
    cost *= 0.5 * share[:, None] * share[None]
    diagonal = np.diag_indices(n)
    cost[diagonal] = 0.0
    far = _REACH * np.maximum(prices[:, None], others[None]) + 1e-3
    cost_out = np.minimum(region.outside / unit, far)
    together_out = np.where(prices[:, None] > cost_out, scale[:, None] * scale_out[None], 0.0)
    cost_out *= 0.5 * share[:, None] * share_out[None]
    most_out = scale[:, None] * scale_out[None]
    linked[diagonal] = 1.0
    together = linked * scale[:, None] * scale[None]
    slack = np.maximum(cost - 0.5 * (prices[:, None] + prices[None]) * share[:, None] * share[None], 0.0)
    slack[diagonal] = 0.0
    slack_out = np.maximum(cost_out - 0.5 * prices[:, None] * share[:, None] * share_out[None], 0.0)
    charges = np.zeros((n, n))
    # A region of two records alone would leave nothing here; too much only makes a step shorter.
    own = np.maximum(0.5 * (share @ share + share_out @ share_out) - share * share, 0.5 * share * share)
    pull = share / own
    pull_all = 0.5 / (1.0 + 0.5 * float(share @ pull))
    weight = _WEIGHT
    for step in range(steps):
        if stop():
            return None
        # The prices of rows and of the diagonal: a diagonal system and one of rank one.
        rest = cost - charges - slack
        of_diagonal = weight * (scale * scale - together[diagonal]) + rest[diagonal]
        of_rows = weight * (k * scale - together @ share - together_out @ share_out)
        of_rows += rest @ share + (cost_out - slack_out) @ share_out - share * of_diagonal
        rows = of_rows / own
        rows -= pull * (float(share @ rows) * pull_all)
        rest = cost - 0.5 * (rows[:, None] * share[None] + share[:, None] * rows[None]) - weight * together
        rest[diagonal] -= of_diagonal - share * rows
        slack = np.maximum(rest - charges, 0.0)
        slack[diagonal] = 0.0
        rest -= slack
        values, vectors = np.linalg.eigh(rest)
        positive = values > 0.0
        if positive.sum() * 2 < n:
            half = vectors[:, positive]
            charges = (half * values[positive]) @ half.T
            new = (charges - rest) / weight
        else:
            half = vectors[:, ~positive]
            new = (half * (values[~positive] / -weight)) @ half.T
            charges = rest + weight * new
        together += _STEP * (new - together)
        rest_out = cost_out - 0.5 * rows[:, None] * share_out[None]
        new_out = np.clip(together_out - rest_out / weight, 0.0, most_out)
        slack_out = rest_out - weight * (together_out - new_out)
        together_out += _STEP * (new_out - together_out)
        if step % 10 == 9:
            weight *= _GROWTH
    factor = vectors[:, positive] * np.sqrt(2.0 * unit * values[positive]) * scale[:, None]
    return Charges(rows * scale * unit, factor)
