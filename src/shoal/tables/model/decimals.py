"""Sums of decimals as the decimals they are: 0.1 + 0.2 is published as 0.3, not as 0.30000000000000004."""

import numpy as np

MOST = 6
_EPSILON = float(np.finfo(np.float64).eps)
# Whole numbers up to here are floating-point numbers.
_LARGEST = 2.0**53


def places(values: np.ndarray) -> int | None:
    """The number of decimals all values have, up to six; ``None`` if some have more.

    >>> places(np.array([1.5, 2.25, 3.0])), places(np.array([1 / 3]))
    (2, None)
    """
    # A product of two decimals, such as an amount and its weight, is off by a rounding error of its own.
    allowed = 4.0 * _EPSILON * np.abs(values)
    for count in range(MOST + 1):
        if (np.abs(np.round(values, count) - values) <= allowed).all():
            return count
    return None


def units(parts: np.ndarray) -> tuple[np.ndarray, float]:
    """The parts as whole numbers of a small unit, and how many of those make 1: sums of whole numbers are exact.

    Parts with many decimals, or with sums that floating point cannot hold as whole numbers, come back as they are.

    >>> whole, scale = units(np.array([0.1, 0.2]))
    >>> float(whole.sum() / scale)
    0.3
    """
    count = places(parts)
    if count is None:
        return parts, 1.0
    scale = 10.0**count
    whole = np.rint(parts * scale)
    return (whole, scale) if float(np.abs(whole).sum()) < _LARGEST else (parts, 1.0)


def exact_sums(sums: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Sums of some of the parts without the noise of floating point, where the parts have few decimals.

    Sums are left as they are where the noise could be as large as a unit of the last decimal.

    >>> exact_sums(np.array([0.1 + 0.2]), np.array([0.1, 0.2])).tolist()
    [0.3]
    """
    noise = parts.size * _EPSILON * float(np.abs(parts).sum())
    count = places(parts)
    if count is None or noise >= 0.25 * 10.0**-count:
        return sums
    return np.round(sums, count) + 0.0


def significant(values: np.ndarray) -> np.ndarray:
    """Figures for the eye and for files: with twelve significant digits, which leaves out the noise of floating point.

    >>> significant(np.array([16.900000000000002, np.inf])).tolist()
    [16.9, inf]
    """
    return np.array([float(f"{value:.12g}") for value in values.tolist()])
