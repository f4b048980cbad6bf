"""The estimate of expected matches by loops over records, values and classes, and integrals by many nodes; slow and obvious."""

import math
from collections.abc import Sequence

import numpy as np


def class_shares(cell: Sequence[int], shares: np.ndarray, tables: Sequence[np.ndarray]) -> list[float]:
    """θ_c · Π ψ_jc(x_j) of each class; each table holds the probability of a value in a class."""
    return [
        float(share) * math.prod(float(table[value, c]) for table, value in zip(tables, cell, strict=True))
        for c, share in enumerate(shares)
    ]


def expectation(
    cells: Sequence[Sequence[int]],
    counts: Sequence[float],
    shares: np.ndarray,
    tables: Sequence[np.ndarray],
) -> tuple[list[np.ndarray], np.ndarray, float]:
    """What each value and each class gets of the records, and the log-likelihood."""
    sums = [np.zeros_like(table) for table in tables]
    totals, likelihood = np.zeros(len(shares)), 0.0
    for cell, count in zip(cells, counts, strict=True):
        joint = class_shares(cell, shares, tables)
        likelihood += count * math.log(sum(joint))
        for c, part in enumerate(joint):
            own = count * part / sum(joint)
            totals[c] += own
            for one, value in zip(sums, cell, strict=True):
                one[value, c] += own
    return sums, totals, likelihood


def probability_without_own(
    position: int,
    cells: Sequence[Sequence[int]],
    counts: Sequence[float],
    shares: np.ndarray,
    tables: Sequence[np.ndarray],
    margins: Sequence[np.ndarray],
    strengths: Sequence[float],
) -> float:
    """The probability of one cell by sums from which its own records are left out."""
    sums, totals, _ = expectation(cells, counts, shares, tables)
    cell, count, records = cells[position], counts[position], sum(counts)
    joint = class_shares(cell, shares, tables)
    whole = 0.0
    for c in range(len(shares)):
        own = count * joint[c] / sum(joint)
        value = (totals[c] - own + 0.5) / (records - count + len(shares) / 2)
        for key, level in enumerate(cell):
            strength = strengths[key]
            above = sums[key][level, c] - own + strength * margins[key][level]
            value *= above / (totals[c] - own + strength)
        whole += value
    return whole


def evidence(strength: float, margins: np.ndarray, sums: np.ndarray, totals: np.ndarray) -> float:
    """ln of Π_c Γ(s)/Γ(s + T_c) Π_v Γ(s·b_v + n_vc)/Γ(s·b_v)."""
    whole = 0.0
    for c in range(totals.size):
        whole += math.lgamma(strength) - math.lgamma(strength + totals[c])
        for v in range(margins.size):
            whole += math.lgamma(strength * margins[v] + sums[v, c]) - math.lgamma(strength * margins[v])
    return whole


def log_posterior(
    alpha: float, power: float, fraction: float, cells: Sequence[tuple[int, float]], means: Sequence[float]
) -> float:
    """Of the counts and fitted means of the cells that occur, and the means of all there could be."""
    value = -0.5 * ((power - 0.5) / 0.2) ** 2 - 0.5 * (alpha - 1.0) ** 2
    for count, mean in cells:
        shape = math.exp(alpha) * (mean / fraction) ** power
        value += math.lgamma(shape + count) - math.lgamma(shape) + count * math.log(mean / (shape + mean))
    return value - sum(
        math.exp(alpha)
        * (mean / fraction) ** power
        * math.log(1.0 + mean / (math.exp(alpha) * (mean / fraction) ** power))
        for mean in means
    )


def moment(count: int, shape: float, odds: float, power: int) -> float:
    """E(1/F^power | f): F − f is negative binomial with this shape plus f, and odds; the terms are added up one by one."""
    total, further = 0.0, 0
    log = -(shape + count) * math.log1p(odds)
    while True:
        chance = math.exp(log)
        total += chance / (count + further) ** power
        if further > 20 * (shape + count) * odds + 50 and chance < 1e-18:
            return total
        log += math.log((shape + count + further) / (further + 1)) + math.log(odds / (1.0 + odds))
        further += 1
