"""Fitted sample counts of two log-linear models, and the risk they imply, as plain functions on arrays."""

import math

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def main_effects(
    codes: np.ndarray, margins: np.ndarray, starts: np.ndarray, records: float, out: np.ndarray
) -> None:
    """The fitted count of each class when keys are independent: n · Π (margin/n). ``starts`` says where margins begin."""
    for c in range(codes.shape[1]):
        fitted = records
        for key in range(codes.shape[0]):
            fitted *= margins[starts[key] + codes[key, c]] / records
        out[c] = fitted


@kernel
def pair_margins(table: np.ndarray, shape: np.ndarray, out: np.ndarray) -> None:
    """The sums over all but two keys of a table; ``shape`` is (before, first key, between, second key, after)."""
    out[:, :] = 0.0
    cell = 0
    for _ in range(shape[0]):
        for a in range(shape[1]):
            for _ in range(shape[2]):
                for b in range(shape[3]):
                    total = 0.0
                    for i in range(cell, cell + shape[4]):
                        total += table[i]
                    out[a, b] += total
                    cell += shape[4]


@kernel
def scale_pair(table: np.ndarray, shape: np.ndarray, factors: np.ndarray) -> None:
    """Multiply every cell by the factor of its pair of values."""
    cell = 0
    for _ in range(shape[0]):
        for a in range(shape[1]):
            for _ in range(shape[2]):
                for b in range(shape[3]):
                    factor = factors[a, b]
                    for i in range(cell, cell + shape[4]):
                        table[i] *= factor
                    cell += shape[4]


@kernel
def mean_inverse(count: int, rate: float) -> float:
    """E 1/(f + X) for X of Poisson's distribution: ∫₀¹ u^(f−1) e^(−h(1−u)) du = I_f.

    I₁ = (1 − e^(−h))/h and h·I_(f+1) = 1 − f·I_f, which is stable upwards while f < h and downwards beyond.
    """
    if rate == 0.0:
        return 1.0 / count
    if count == 1:
        return -math.expm1(-rate) / rate
    if count <= rate:
        value = -math.expm1(-rate) / rate
        for f in range(1, count):
            value = (1.0 - f * value) / rate
        return value
    start = count + 20 + int(9.0 * math.sqrt(count))
    value = 1.0 / (start + rate)
    for f in range(start - 1, count - 1, -1):
        value = (1.0 - rate * value) / f
    return value


@kernel
def implied_risk(
    counts: np.ndarray, fitted: np.ndarray, fraction: float, chances: np.ndarray
) -> tuple[float, float, float]:
    """τ₁ and τ₂ over the sample uniques, and the expected re-identifications over all records; ``chances`` gets each class's."""
    tau1 = 0.0
    tau2 = 0.0
    every = 0.0
    for c in range(counts.shape[0]):
        rate = fitted[c] * (1.0 - fraction) / fraction
        chance = mean_inverse(counts[c], rate)
        chances[c] = chance
        every += counts[c] * chance
        if counts[c] == 1:
            tau1 += math.exp(-rate)
            tau2 += chance
    return tau1, tau2, every
