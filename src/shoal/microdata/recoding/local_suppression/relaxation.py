"""A bound that is near the best release: every record brings a prize for being placed, and each pattern is judged alone.

Lagrange's relaxation of the demand that every record has a place: with given prizes the best use of a pattern is found by
itself, and prizes less what patterns earn bound the cost of any release. Good prizes are found by a subgradient method with
directions that remember (F. Barahona and R. Anbil, The volume algorithm, 2000).
"""

import numpy as np

from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.patterns import Patterns
from shoal.microdata.recoding.local_suppression.relaxation_kernels import Pricing, price_patterns


class Relaxation:
    """Prizes for the records of each combination, the bound they give, and what each pattern is worth with them.

    Frequent combinations can stay as they are and need no prize, but may ask for one when too many want their records.
    ``fee`` is what it costs, besides, to leave a record out.
    """

    def __init__(self, masks: Masks, patterns: Patterns, least: np.ndarray) -> None:
        instance = masks.instance
        self.instance = instance
        self.needy = instance.records < instance.problem.k
        self.pricing = Pricing(
            instance.problem.k,
            patterns.places,
            patterns.starts,
            patterns.members,
            masks.costs,
            instance.prices[1],
            instance.records,
        )
        self.prizes = np.where(self.needy, least, 0.0)
        self.fee = 0.0
        self.worth = np.empty(patterns.places.size)
        self._used = np.zeros(instance.size, dtype=np.int64)
        self.bound = -np.inf
        self._now = self.prizes.copy(), 0.0
        self._direction = np.zeros(instance.size + 1)
        self._step = 1.0
        self._poor = 0

    def evaluate(self, prizes: np.ndarray, fee: float) -> tuple[float, np.ndarray]:
        """The bound that some prizes give, and in which direction they should move; the best are kept."""
        instance = self.instance
        worth = np.empty(self.worth.size)
        earned = price_patterns(self.pricing, prizes, worth, self._used)
        outside = np.minimum(0.0, instance.leave + fee - prizes) if instance.limit else np.zeros(1)
        bound = float((instance.records * prizes).sum()) + earned - fee * instance.limit
        lacking = (instance.records - self._used).astype(float)
        left_out = 0.0
        if instance.limit:
            bound += float((instance.records * outside).sum())
            gone = np.where(outside < 0.0, instance.records, 0)
            lacking -= gone
            left_out = float(gone.sum())
        if bound > self.bound:
            self.bound, self.prizes, self.fee, self.worth = bound, prizes.copy(), fee, worth
        return bound, np.append(lacking, left_out - instance.limit)

    @property
    def settled(self) -> bool:
        """Whether steps have become too small to matter."""
        return self._step < 1e-3

    def _allowed(self, prizes: np.ndarray) -> np.ndarray:
        return np.where(self.needy, prizes, np.minimum(0.0, prizes))

    def improve(self, rounds: int, target: float) -> None:
        """Move the prizes so many times towards a bound that is not above the target."""
        for _ in range(rounds):
            before = self.bound
            prizes, fee = self._now
            bound, direction = self.evaluate(prizes, fee)
            # Who may stay as they are bring no prize: no more can be asked of them than they have.
            direction[:-1][~self.needy & (prizes >= 0.0) & (direction[:-1] > 0.0)] = 0.0
            self._direction = 0.6 * self._direction + 0.4 * direction
            if self.bound > before + 1e-6 * max(1.0, abs(before)):
                self._poor = 0
            else:
                self._poor += 1
                if self._poor >= 12:
                    self._poor = 0
                    self._step *= 0.8
                    prizes, fee = self.prizes, self.fee
                    self._direction = direction
            length = float((self._direction * self._direction).sum())
            if length <= 0.0:
                return
            step = self._step * max(1e-9, 1.001 * target - bound) / length
            self._now = (
                self._allowed(prizes + step * self._direction[:-1]),
                max(0.0, fee + step * self._direction[-1]) if self.instance.limit else 0.0,
            )
