"""Steps of fitting latent classes, as plain functions on arrays.

``rows`` holds for each cell the number of its value of each key among the values of all keys. A ``lift`` is the share of a value
in a class over its share in all records, so that products over many keys stay near 1. Arrays run over the classes last: the inner
loops pass them in a row.
"""

import math

import numpy as np

from shoal.runtime.kernels import kernel

# What is added before a logarithm.
_LEAST = 1e-300


@kernel
def join(rows: np.ndarray, cell: int, shares: np.ndarray, lifts: np.ndarray, joint: np.ndarray) -> float:
    """Write the share of each class in the probability of one cell, over that of independent keys; returns their sum."""
    for c in range(shares.shape[0]):
        joint[c] = shares[c]
    for key in range(rows.shape[1]):
        row = rows[cell, key]
        for c in range(shares.shape[0]):
            joint[c] *= lifts[row, c]
    # Four sums side by side, since one would wait for itself.
    one = two = three = four = 0.0
    whole = shares.shape[0] - shares.shape[0] % 4
    for c in range(0, whole, 4):
        one += joint[c]
        two += joint[c + 1]
        three += joint[c + 2]
        four += joint[c + 3]
    for c in range(whole, shares.shape[0]):
        one += joint[c]
    return (one + two) + (three + four) + _LEAST


@kernel
def expect(
    rows: np.ndarray,
    counts: np.ndarray,
    shares: np.ndarray,
    lifts: np.ndarray,
    sums: np.ndarray,
    totals: np.ndarray,
) -> float:
    """Share every cell's count out to the classes, ``sums`` by value and class and ``totals``; returns Σ count · ln lift."""
    classes = shares.shape[0]
    joint = np.empty(classes)
    sums[:, :] = 0.0
    totals[:] = 0.0
    likelihood = 0.0
    for cell in range(rows.shape[0]):
        total = join(rows, cell, shares, lifts, joint)
        likelihood += counts[cell] * math.log(total)
        factor = counts[cell] / total
        for c in range(classes):
            joint[c] *= factor
            totals[c] += joint[c]
        for key in range(rows.shape[1]):
            row = rows[cell, key]
            for c in range(classes):
                sums[row, c] += joint[c]
    return likelihood


@kernel
def lifts_of_cells(rows: np.ndarray, shares: np.ndarray, lifts: np.ndarray, out: np.ndarray) -> None:
    """The probability of each cell over that of independent keys."""
    joint = np.empty(shares.shape[0])
    for cell in range(rows.shape[0]):
        out[cell] = join(rows, cell, shares, lifts, joint)


@kernel
def lifts_without_own(
    rows: np.ndarray,
    counts: np.ndarray,
    records: float,
    shares: np.ndarray,
    lifts: np.ndarray,
    margins: np.ndarray,
    strengths: np.ndarray,
    sums: np.ndarray,
    totals: np.ndarray,
    out: np.ndarray,
) -> None:
    """The same, with what a cell itself added to ``sums`` and ``totals`` taken away; ``strengths`` is each key's."""
    classes = shares.shape[0]
    joint = np.empty(classes)
    for cell in range(rows.shape[0]):
        factor = counts[cell] / join(rows, cell, shares, lifts, joint)
        whole = 0.0
        for c in range(classes):
            own = min(joint[c] * factor, totals[c])
            left = totals[c] - own
            value = (left + 0.5) / (records - counts[cell] + 0.5 * classes)
            for key in range(rows.shape[1]):
                row = rows[cell, key]
                prior = strengths[key] * margins[row]
                value *= (max(sums[row, c] - own, 0.0) + prior) / (margins[row] * (left + strengths[key]))
            whole += value
        out[cell] = whole + _LEAST


@kernel
def evidence(strength: float, margins: np.ndarray, sums: np.ndarray, totals: np.ndarray) -> float:
    """The logarithm of the Dirichlet–multinomial likelihood of a key's ``sums`` with the prior ``strength`` · ``margins``."""
    whole = 0.0
    for c in range(totals.shape[0]):
        whole += math.lgamma(strength) - math.lgamma(strength + totals[c])
    for v in range(margins.shape[0]):
        prior = strength * margins[v]
        own = math.lgamma(prior)
        for c in range(totals.shape[0]):
            whole += math.lgamma(prior + sums[v, c]) - own
    return whole
