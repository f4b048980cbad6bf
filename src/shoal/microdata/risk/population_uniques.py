"""How many people of the population are unique, estimated from the sizes of the classes in the sample.

Both estimates are for a simple random sample. Zayatz's overshoots where the sample is a small part of the population;
Pitman's is of a model of how classes grow, fitted by maximum likelihood.

References
----------
- L. V. Zayatz, Estimation of the percent of unique population elements on a microdata file using the sample, 1991.
- J. Pitman, Exchangeable and partially exchangeable random partitions, 1995.
- N. Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment, 2001.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from shoal.microdata.risk import population_uniques_kernels as kernels
from shoal.microdata.risk.roots import digamma, root, trigamma

# Beyond these a root is not looked for: the sample says nothing about the parameter.
_LARGEST_THETA = 1e18
_LARGEST_ALPHA = 1.0 - 1e-9
_NEWTON_STEPS = 12
_LONGEST_STEP = 3.0
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
_STIRLING_FROM = 30.0


def zayatz(sizes: np.ndarray, population: float) -> float:
    """The number of population uniques by the sizes of the classes of a sample.

    >>> round(zayatz(np.array([1, 1, 2, 3]), 70), 6)
    6.325581
    """
    records = int(sizes.sum())
    of_size = np.bincount(sizes)
    alone = int(of_size[1]) if of_size.size > 1 else 0
    if alone == 0:
        return 0.0
    weighed = kernels.weighed_sizes(of_size, records, float(population))
    return population / records * alone * alone / float(weighed)


@dataclass(frozen=True)
class Pitman:
    """A fitted model of Pitman: class i joins with a rate that grows with θ and α."""

    theta: float
    alpha: float

    def expected_uniques(self, population: float) -> float:
        """E S₁ = N·Γ(θ+1)Γ(θ+α+N−1) / (Γ(θ+α)Γ(θ+N)), exactly.

        >>> round(Pitman(2.0, 0.0).expected_uniques(3), 12)
        1.5
        """
        theta, alpha = self.theta, self.alpha
        if theta + alpha <= 0.0:
            return 0.0
        # Γ(θ+1)/Γ(θ+α) and Γ(θ+N)/Γ(θ+N+α−1), each as the ratio of two neighbours.
        log = log_gamma_ratio(theta + alpha, 1.0 - alpha) - log_gamma_ratio(
            theta + alpha + population - 1.0, 1.0 - alpha
        )
        return population * math.exp(log)


def log_gamma_ratio(x: float, step: float) -> float:
    """The logarithm log Γ(x + step) − log Γ(x) for a step of 0 … 1, without the loss of digits of two log-gammas of a large x.

    >>> round(log_gamma_ratio(3e8, 1.0) - math.log(3e8), 14)
    0.0
    """
    total = 0.0
    while x < _STIRLING_FROM:
        total -= math.log((x + step) / x)
        x += 1.0
    end = x + step
    total += (end - 0.5) * math.log1p(step / x) + step * math.log(x) - step
    return total + sum(
        term * (end ** -(2 * power + 1) - x ** -(2 * power + 1)) for power, term in enumerate(_STIRLING)
    )


def fit_pitman(sizes: np.ndarray) -> Pitman | None:
    """Pitman's model by maximum likelihood; none if every class has one record, or if there is one class alone.

    For each α the score in θ has one root; along these roots the likelihood is largest where its slope in α vanishes, or at
    the boundary α = 0, which is Ewens's model.
    """
    classes, records = int(sizes.size), int(sizes.sum())
    if classes in (1, records):
        return None
    of_size = np.bincount(sizes)
    # How many classes have more than j records.
    larger = classes - np.cumsum(of_size)

    theta = _theta(0.0, 1.0, classes, records)
    if theta is None:
        return None
    if _class_sums(theta, 0.0, classes)[1] <= kernels.size_sum(0.0, larger):
        return Pitman(theta, 0.0)
    near = {0.0: theta}

    @cache
    def slope(alpha: float) -> float:
        # A larger α leaves less for θ: about in proportion to 1 − α.
        known, start = min(near.items(), key=lambda pair: abs(pair[0] - alpha))
        theta = _theta(alpha, start * (1.0 - alpha) / (1.0 - known), classes, records)
        if theta is None:
            return math.nan
        near[alpha] = theta
        return _class_sums(theta, alpha, classes)[1] - float(kernels.size_sum(alpha, larger))

    below, above = 0.0, 0.25
    while (end := slope(above)) > 0.0 and above < _LARGEST_ALPHA:
        below, above = above, min(_LARGEST_ALPHA, (1.0 + above) / 2.0)
    if math.isnan(end) or end > 0.0:
        return None
    alpha = root(slope, below, above, digits=1e-13)
    best = _theta(alpha, near.get(alpha, theta), classes, records)
    return None if best is None else Pitman(best, alpha)


def _class_sums(theta: float, alpha: float, classes: int) -> tuple[float, float, float]:
    """Σ 1/(θ + iα), Σ i/(θ + iα) and Σ 1/(θ + iα)² for i from 1 below ``classes``."""
    if alpha == 0.0:
        return (classes - 1) / theta, classes * (classes - 1) / (2.0 * theta), (classes - 1) / theta**2
    plain, by_number, squares = kernels.class_sums(theta, alpha, classes)
    return float(plain), float(by_number), float(squares)


def _theta(alpha: float, start: float, classes: int, records: int) -> float | None:
    """The most likely θ for one α: Newton's steps from a value that is near, or else a search between signs."""
    theta = start
    for _ in range(_NEWTON_STEPS):
        plain, _, squares = _class_sums(theta, alpha, classes)
        value = plain - _harmonic(theta, records)
        bend = -squares + trigamma(theta + 1.0) - trigamma(theta + records)
        if bend >= 0.0:
            break
        # In the logarithm of θ + α, so that no step leaves what is possible.
        step = -value / (bend * (theta + alpha))
        if abs(step) > _LONGEST_STEP:
            break
        theta = (theta + alpha) * math.exp(step) - alpha
        # Newton doubles the digits, so what is left after this step is beyond them.
        if abs(step) < 1e-8:
            return theta
    return _root(lambda theta: _class_sums(theta, alpha, classes)[0] - _harmonic(theta, records), alpha)


def _harmonic(theta: float, records: int) -> float:
    """Σ 1/(θ + i) for i from 1 below the number of records."""
    return digamma(theta + records) - digamma(theta + 1.0)


def _root(slope: Callable[[float], float], alpha: float) -> float | None:
    """Where a slope that is positive for a θ just above −α turns negative."""
    low = -alpha + 1e-12 * max(1.0, alpha)
    if slope(low) <= 0.0:
        return None
    high = 1.0
    while slope(high) > 0.0:
        low, high = high, 4.0 * high
        if high > _LARGEST_THETA:
            return None
    return root(slope, low, high)


def warm_up() -> None:
    """Compile the kernels."""
    sizes = np.array([1, 1, 2, 5])
    zayatz(sizes, 100)
    fit_pitman(sizes)
    # Many that are alone beside a crowd: only then there is an α.
    fit_pitman(np.array([1] * 40 + [2] * 8 + [20]))
