"""How the population's counts scatter about what latent classes fit, and the risk of each cell that follows.

The rate of a cell in the sample has a gamma distribution about its fitted mean μ, of shape a = e^α (μ/π)^b with the sampled
fraction π. α and b are where their posterior is largest; cells that do not occur have their part in it, by a draw of cells from
the fitted classes. Given the count f in the sample those outside it follow a negative binomial distribution.

References
----------
- J. Bethlehem, W. Keller and J. Pannekoek, Disclosure control of microdata, JASA 85, 1990.
- C. Skinner and D. Holmes, Estimating the re-identification risk per record in microdata, J. Official Statistics 14, 1998.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from shoal.microdata.risk.matches import gamma_layer_kernels as kernels

# Logarithms of means are put together in steps so small that no figure shows it.
_STEP = 0.01
_ALPHAS = np.linspace(-7.0, 17.0, 25)
_POWERS = np.linspace(0.0, 1.0, 6)
_FINEST = 1e-3
_DIFFERENCES = np.array([0.05, 0.03])
_LEAST_CURVATURE = 0.05
_NODES = 64


@dataclass(frozen=True)
class Scatter:
    """The fitted α and b of the shapes; an infinite ``alpha`` is no scatter but Poisson's."""

    alpha: float
    power: float = 0.0


POISSON = Scatter(math.inf)


@dataclass(frozen=True, eq=False)
class CellRisks:
    """Of each cell the expected 1/F, ``expected``, and the chance that its only record is alone in the population, ``unique``."""

    expected: np.ndarray
    unique: np.ndarray


@dataclass(frozen=True, eq=False)
class Means:
    """Cells with their ``counts`` and fitted ``means`` in the sample, drawn with a ``fraction`` of the population.

    ``fractions`` are those of each cell, where records have different weights. ``all_means`` are those of all cells there could
    be, or of a draw of them, and ``all_numbers`` how many each stands for.
    """

    counts: np.ndarray
    means: np.ndarray
    fraction: float
    fractions: np.ndarray
    all_means: np.ndarray
    all_numbers: np.ndarray

    @cached_property
    def _merged(self) -> tuple[np.ndarray, ...]:
        """Counts, logarithms of means and numbers of cells that are nearly alike; likewise of all cells."""
        steps = np.rint(np.log(self.means) / _STEP).astype(np.int64)
        pairs, numbers = np.unique(np.column_stack([self.counts, steps]), axis=0, return_counts=True)
        every, position = np.unique(
            np.rint(np.log(self.all_means) / _STEP).astype(np.int64), return_inverse=True
        )
        weights = np.bincount(position.ravel(), self.all_numbers)
        return (
            np.ascontiguousarray(pairs[:, 0]),
            pairs[:, 1] * _STEP,
            numbers.astype(np.float64),
            every * _STEP,
            weights,
        )

    def log_posterior(self, alpha: float, power: float) -> float:
        """Of α and b, but for a constant."""
        return float(kernels.log_posterior(alpha, power, math.log(self.fraction), *self._merged))

    def scatter(self) -> Scatter:
        """Where the posterior is largest: the best of a grid, from which steps get smaller."""
        starts = ((alpha, power) for alpha in _ALPHAS.tolist() for power in _POWERS.tolist())
        value, alpha, power = max((self.log_posterior(*start), *start) for start in starts)
        step = 1.0
        while step > _FINEST:
            moves = ((alpha + da * step, min(1.0, max(0.0, power + db * step / 5))) for da, db in _ways())
            best = max((self.log_posterior(*move), *move) for move in moves)
            if best[0] > value:
                value, alpha, power = best
            else:
                step /= 2.0
        return Scatter(alpha, power)

    def spread_about(self, scatter: Scatter) -> list[tuple[Scatter, Scatter]]:
        """One standard deviation to both sides, along the two axes of the posterior about its peak."""

        def value(a: float, b: float) -> float:
            alpha, power = np.array([scatter.alpha, scatter.power]) + _DIFFERENCES * (a, b)
            return self.log_posterior(alpha, power)

        centre = value(0, 0)
        by_alpha = value(1, 0) - 2.0 * centre + value(-1, 0)
        by_power = value(0, 1) - 2.0 * centre + value(0, -1)
        both = (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / 4.0
        bend = -np.array([[by_alpha, both], [both, by_power]]) / np.outer(_DIFFERENCES, _DIFFERENCES)
        curvatures, axes = np.linalg.eigh(bend)
        sides = []
        for curvature, (da, db) in zip(curvatures, axes.T, strict=True):
            length = 1.0 / math.sqrt(max(curvature, _LEAST_CURVATURE))
            sides.append(
                (
                    Scatter(scatter.alpha + length * da, scatter.power + length * db),
                    Scatter(scatter.alpha - length * da, scatter.power - length * db),
                )
            )
        return sides

    def risks(self, scatter: Scatter) -> CellRisks:
        """The risk of each cell."""
        risks = CellRisks(np.empty(self.counts.size), np.empty(self.counts.size))
        kernels.risks(*self._arguments(scatter), risks.expected, risks.unique)
        return risks

    def variances(self, scatter: Scatter, expected: np.ndarray) -> np.ndarray:
        """The variance of 1/F of each cell, whose expectation is ``expected``."""
        out = np.empty(self.counts.size)
        kernels.variances(*self._arguments(scatter), expected, out)
        return out

    def _arguments(self, scatter: Scatter) -> tuple[object, ...]:
        others = (1.0 - self.fractions) / self.fractions
        log_fraction = math.log(self.fraction)
        return self.counts, self.means, log_fraction, others, scatter.alpha, scatter.power, *_quadrature()


def _ways() -> Iterator[tuple[int, int]]:
    """The eight directions of a step."""
    return ((a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)


@cache
def _quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Nodes 1 − t = (1 − u)⁴, dense where t is near 1, and their weights; 1 minus t would lose their digits."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    rest = (1.0 - nodes) / 2.0
    return rest**4, 2.0 * rest**3 * weights
