"""How counts scatter about their fitted means, and what that says of the population, as plain functions on arrays."""

import math

import numpy as np

from shoal.microdata.risk.loglinear_kernels import mean_inverse
from shoal.runtime.kernels import kernel

_LEAST_SHAPE, _LARGEST_SHAPE = 1e-6, 1e9
# Beyond this count logarithms of Γ cost less than their sum.
_MOST_IN_TURN = 8


@kernel
def shape_of(alpha: float, power: float, log_size: float) -> float:
    """The shape e^α · size^power of the gamma distribution of a cell's rate."""
    exponent = alpha + min(1.0, max(0.0, power)) * log_size
    return min(_LARGEST_SHAPE, max(_LEAST_SHAPE, math.exp(min(exponent, 50.0))))


@kernel
def log_posterior(
    alpha: float,
    power: float,
    log_fraction: float,
    counts: np.ndarray,
    log_means: np.ndarray,
    numbers: np.ndarray,
    all_log_means: np.ndarray,
    all_numbers: np.ndarray,
) -> float:
    """The logarithm of the posterior of α and the power.

    There are ``numbers`` cells with ``counts`` and ``log_means`` that occur, and ``all_numbers`` of all, with those that do not.
    """
    bounded = min(1.0, max(0.0, power))
    value = -0.5 * ((bounded - 0.5) / 0.2) ** 2 - 0.5 * (alpha - 1.0) ** 2
    for i in range(counts.shape[0]):
        shape = shape_of(alpha, power, log_means[i] - log_fraction)
        count = counts[i]
        if count <= _MOST_IN_TURN:
            term = 0.0
            for j in range(count):
                term += math.log(shape + j)
        else:
            term = math.lgamma(shape + count) - math.lgamma(shape)
        value += numbers[i] * (term + count * (log_means[i] - math.log(shape + math.exp(log_means[i]))))
    for i in range(all_log_means.shape[0]):
        shape = shape_of(alpha, power, all_log_means[i] - log_fraction)
        value -= all_numbers[i] * shape * math.log1p(math.exp(all_log_means[i]) / shape)
    return value


@kernel
def expected_inverse(count: int, shape: float, odds: float, nodes: np.ndarray, weights: np.ndarray) -> float:
    """E(1/F | f) = ∫₀¹ t^(f−1) (1 + x(1−t))^−(a+f) dt = I_f, with shape a and x = κ/β.

    x(a+f)·I_(f+1) = 1 − f·I_f, stable upwards while f < x(a+f); else by the ``nodes`` 1 − t and ``weights`` of a quadrature.
    """
    if odds == 0.0:
        return 1.0 / count
    if count - 1 <= odds * (shape + count - 1):
        value = -math.expm1(-shape * math.log1p(odds)) / (shape * odds)
        for f in range(1, count):
            value = (1.0 - f * value) / (odds * (shape + f))
        return value
    value = 0.0
    for i in range(nodes.shape[0]):
        rest = nodes[i]
        value += weights[i] * math.exp(
            (count - 1) * math.log1p(-rest) - (shape + count) * math.log1p(odds * rest)
        )
    return value


@kernel
def expected_square(count: int, shape: float, odds: float, nodes: np.ndarray, weights: np.ndarray) -> float:
    """E(1/F² | f): the same integral with −ln t; to three digits where f = 1, else to more."""
    value = 0.0
    for i in range(nodes.shape[0]):
        log = math.log1p(-nodes[i])
        value -= (
            weights[i] * log * math.exp((count - 1) * log - (shape + count) * math.log1p(odds * nodes[i]))
        )
    return value


@kernel
def risks(
    counts: np.ndarray,
    means: np.ndarray,
    log_fraction: float,
    others: np.ndarray,
    alpha: float,
    power: float,
    nodes: np.ndarray,
    weights: np.ndarray,
    risk: np.ndarray,
    unique: np.ndarray,
) -> None:
    """E(1/F) of each cell, and the chance that F = 1 where f = 1; ``others`` is κ, the ratio of those not drawn to those drawn.

    An infinite α is Poisson's distribution.
    """
    for i in range(counts.shape[0]):
        unique[i] = 0.0
        if alpha == np.inf:
            rate = others[i] * means[i]
            risk[i] = mean_inverse(counts[i], rate)
            if counts[i] == 1:
                unique[i] = math.exp(-rate)
        else:
            shape = shape_of(alpha, power, math.log(means[i]) - log_fraction)
            odds = others[i] / (shape / means[i] + 1.0)
            risk[i] = expected_inverse(counts[i], shape, odds, nodes, weights)
            if counts[i] == 1:
                unique[i] = math.exp(-(shape + 1.0) * math.log1p(odds))


@kernel
def variances(
    counts: np.ndarray,
    means: np.ndarray,
    log_fraction: float,
    others: np.ndarray,
    alpha: float,
    power: float,
    nodes: np.ndarray,
    weights: np.ndarray,
    risk: np.ndarray,
    out: np.ndarray,
) -> None:
    """The variance of 1/F of each cell, whose expectation is ``risk``."""
    for i in range(counts.shape[0]):
        shape = shape_of(alpha, power, math.log(means[i]) - log_fraction)
        odds = others[i] / (shape / means[i] + 1.0)
        square = expected_square(counts[i], shape, odds, nodes, weights)
        out[i] = max(0.0, square - risk[i] * risk[i])
