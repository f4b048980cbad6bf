"""Interval disclosure: how often a protected value lies so close to the original that it gives it away."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from shoal.microdata.measures.scaling import deviations

Around = Literal["protected", "original"]

# Ten intervals, ±1 % to ±10 %.
WIDTHS: tuple[float, ...] = tuple(percent / 100 for percent in range(1, 11))


def interval_disclosure(
    original: np.ndarray,
    protected: np.ndarray,
    widths: Sequence[float] = WIDTHS,
    around: Around = "protected",
) -> np.ndarray:
    """The share of values of each column disclosed, in percent, averaged over the widths.

    A value r is disclosed at width p if |r − r′| ≤ p·|r′|, or p·|r| where the interval is ``around`` the original.

    >>> interval_disclosure(np.array([[0.50], [0.50]]), np.array([[0.50], [0.55]]), widths=[0.01, 0.10]).tolist()
    [75.0]
    """
    centre = np.abs(protected if around == "protected" else original)
    return _share(np.abs(original - protected), centre, widths)


def deviation_disclosure(
    original: np.ndarray, protected: np.ndarray, widths: Sequence[float] = WIDTHS
) -> np.ndarray:
    """The same with intervals of ±p standard deviations of the original column around the protected value.

    >>> deviation_disclosure(np.array([[0.0], [4.0], [8.0]]), np.array([[0.3], [3.0], [8.0]]), widths=[0.1]).round(2).tolist()
    [66.67]
    """
    spread = np.broadcast_to(deviations(original), original.shape)
    return _share(np.abs(original - protected), spread, widths)


def _share(distance: np.ndarray, unit: np.ndarray, widths: Sequence[float]) -> np.ndarray:
    if distance.shape[0] == 0:
        return np.zeros(distance.shape[1])
    inside = np.zeros(distance.shape[1])
    for width in widths:
        inside += (distance <= width * unit).sum(axis=0)
    return 100.0 * inside / (len(widths) * distance.shape[0])
