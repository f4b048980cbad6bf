"""The risk of each class of records, for somebody who does not know who is in the sample.

References
----------
- R. Benedetti and L. Franconi, Statistical and technological solutions for controlled data dissemination, NTTS 1998.
- N. Shlomo and others, Handbook on Statistical Disclosure Control, §3.3.
"""

import math

import numpy as np

from shoal.runtime.kernels import kernel

# Up to this count the recurrence keeps fifteen digits; beyond it the series needs few terms.
_MOST_BY_RECURRENCE = 40


@kernel
def _risk_of(count: int, population: float) -> float:
    """The risk r = p ∫₀¹ u^(f−1) / (p + q·u) du with p = f/F, q = 1 − p: E(1/F) of Benedetti and Franconi (1998).

    r₁ = (p/q)·ln(1/p) and r_(f+1) = (p/q)(1/f − r_f) where p < ½; else, and for large f, the series of positive terms
    (p/f)·Σ j!·q^j / ((f+1)…(f+j)).
    """
    if population <= count:
        return 1.0 / count
    p = count / population
    # The difference first: 1 − p would lose the digits of a q that is small.
    q = (population - count) / population
    if p < 0.5 and count <= _MOST_BY_RECURRENCE:
        odds = p / q
        risk = -odds * math.log(p)
        for f in range(1, count):
            risk = odds * (1.0 / f - risk)
        return risk
    term = 1.0
    total = 1.0
    j = 1.0
    while term > 1e-17 * total:
        term *= q * j / (count + j)
        total += term
        j += 1.0
    return p / count * total


@kernel
def _risks(counts: np.ndarray, populations: np.ndarray, out: np.ndarray) -> None:
    """The risk of each class."""
    for c in range(counts.shape[0]):
        out[c] = _risk_of(counts[c], populations[c])


@kernel
def _expected(counts: np.ndarray, populations: np.ndarray, records: np.ndarray) -> float:
    """The sum of the risk over all records: classes with a count, what it stands for, and the records that are in it."""
    total = 0.0
    for c in range(counts.shape[0]):
        total += records[c] * _risk_of(counts[c], populations[c])
    return total


def individual_risk(counts: np.ndarray, populations: np.ndarray) -> np.ndarray:
    """The expected 1/F given the sample count f and its weighted estimate; 1/f where the weights sum to no more than f.

    >>> individual_risk(np.array([1, 1, 2]), np.array([1.0, 100.0, 200.0])).round(6).tolist()
    [1.0, 0.046517, 0.009631]
    """
    risk = np.empty(counts.size)
    _risks(counts.astype(np.int64), populations.astype(np.float64), risk)
    return risk


def expected_reidentifications(counts: np.ndarray, populations: np.ndarray, records: np.ndarray) -> float:
    """The sum of the risk over all records; ``records`` says how many are in each class.

    >>> round(expected_reidentifications(np.array([1, 2]), np.array([100.0, 200.0]), np.array([1, 2])), 6)
    0.065779
    """
    return float(_expected(counts.astype(np.int64), populations.astype(np.float64), records.astype(np.int64)))


def warm_up() -> None:
    """Compile the kernels."""
    one = np.array([1, 2, 60])
    individual_risk(one, 3.0 * one)
    expected_reidentifications(one, 3.0 * one, one)
