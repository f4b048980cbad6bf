"""Both tables on the scale of the original, so that no attribute counts more because of its unit."""

from typing import Literal

import numpy as np

Scaling = Literal["min-max", "z-score", "none"]


def on_common_scale(
    original: np.ndarray, protected: np.ndarray, scaling: Scaling = "min-max"
) -> tuple[np.ndarray, np.ndarray]:
    """Both tables shifted and divided by what the original's columns need; a constant column is only shifted.

    ``min-max`` maps the original's range to [0, 1], ``z-score`` gives it mean 0 and sample deviation 1.

    >>> on_common_scale(np.array([[10.0], [30.0]]), np.array([[20.0], [20.0]]))[1].tolist()
    [[0.5], [0.5]]
    """
    if scaling == "none":
        # One divisor for all columns changes no ratio of distances.
        largest = float(np.abs(original).max(initial=0.0))
        odd = largest > 1e150 or 0 < largest < 1e-150
        return (original / largest, protected / largest) if odd else (original, protected)
    # Dividing first keeps huge values finite, but costs a digit that can matter at the edge of an interval.
    size = np.where(magnitude(original) > 1e150, magnitude(original), 1.0)
    before, after = original / size, protected / size
    if scaling == "min-max":
        shift = before.min(axis=0, initial=np.inf)
        divisor = before.max(axis=0, initial=-np.inf) - shift
    else:
        shift = before.mean(axis=0)
        divisor = deviations(before)
    divisor = np.where(constant(original) | (divisor == 0), 1.0, divisor)
    return (before - shift) / divisor, (after - shift) / divisor


def magnitude(table: np.ndarray) -> np.ndarray:
    """The largest absolute value of each column, 1 for a column of zeros: dividing by it keeps squares finite."""
    largest = np.abs(table).max(axis=0, initial=0.0)
    return np.where(largest == 0, 1.0, largest)


def constant(table: np.ndarray) -> np.ndarray:
    """Which columns hold one value only."""
    same: np.ndarray = (table == table[:1]).all(axis=0)
    return same


def deviations(table: np.ndarray) -> np.ndarray:
    """The sample standard deviation of each column; exactly 0 for a constant one."""
    if table.shape[0] < 2:
        return np.zeros(table.shape[1])
    # The squares of very large or very small values are no numbers; ordinary ones keep all their digits.
    largest = magnitude(table)
    size = np.where((largest > 1e150) | (largest < 1e-150), largest, 1.0)
    return np.where(constant(table), 0.0, size * (table / size).std(axis=0, ddof=1))
