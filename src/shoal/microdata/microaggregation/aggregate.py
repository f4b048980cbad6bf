"""What a group's records are replaced by: the mean, the median, the mean as a whole number, or the most frequent category."""

from typing import Literal

import numpy as np

Aggregate = Literal["mean", "median", "rounded-mean"]


def aggregate_groups(
    values: np.ndarray, labels: np.ndarray, how: Aggregate, weights: np.ndarray | None = None
) -> np.ndarray:
    """One value per group from one column; missing values (NaN) are passed over, a group without any stays missing.

    >>> aggregate_groups(np.array([1.0, 2.0, 9.0, 4.0]), np.array([0, 0, 0, 1]), "median").tolist()
    [2.0, 4.0]
    >>> aggregate_groups(np.array([1.0, 2.0, 9.0]), np.array([0, 0, 0]), "mean", np.array([1.0, 1.0, 2.0])).tolist()
    [5.25]
    """
    groups = int(labels.max()) + 1
    present = ~np.isnan(values)
    values, labels, weights = values[present], labels[present], None if weights is None else weights[present]
    if how == "median":
        return _medians(values, labels, groups, weights)
    means = _means(values, labels, groups, weights)
    return np.rint(means) if how == "rounded-mean" else means


def _means(values: np.ndarray, labels: np.ndarray, groups: int, weights: np.ndarray | None) -> np.ndarray:
    # Centred on a member of the group, so that large values keep all their digits and equal ones stay equal.
    anchor = np.zeros(groups)
    anchor[labels[::-1]] = values[::-1]
    offset = values - anchor[labels]
    total = np.bincount(labels, weights=offset if weights is None else offset * weights, minlength=groups)
    count = np.bincount(labels, weights=weights, minlength=groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: np.ndarray = np.where(count > 0, anchor + total / count, np.nan)
    # A group whose weights are all zero falls back to the plain mean of its records.
    if weights is not None:
        members = np.bincount(labels, minlength=groups)
        bare = (count <= 0) & (members > 0)
        if bare.any():
            plain = _means(values, labels, groups, None)
            means[bare] = plain[bare]
    return means


def _medians(values: np.ndarray, labels: np.ndarray, groups: int, weights: np.ndarray | None) -> np.ndarray:
    result = np.full(groups, np.nan)
    order, starts, ends = _by_group(values, labels, groups)
    sorted_values = values[order]
    filled = ends > starts
    if weights is None:
        low = starts + (ends - starts - 1) // 2
        high = starts + (ends - starts) // 2
        result[filled] = 0.5 * (sorted_values[low[filled]] + sorted_values[high[filled]])
        return result
    sorted_weights = weights[order]
    for group in np.flatnonzero(filled):
        part = slice(starts[group], ends[group])
        running = np.cumsum(sorted_weights[part])
        half = running[-1] / 2.0
        middle = int(np.searchsorted(running, half)) if running[-1] > 0 else (running.size - 1) // 2
        result[group] = sorted_values[part][min(middle, running.size - 1)]
    return result


def ordinal_medians(positions: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The middle category of each group (the lower of two), so that what is released is a value that exists."""
    groups = int(labels.max()) + 1
    present = positions >= 0
    order, starts, ends = _by_group(positions[present], labels[present], groups)
    result = np.full(groups, np.nan)
    filled = ends > starts
    result[filled] = positions[present][order][(starts + (ends - starts - 1) // 2)[filled]]
    return result


def nominal_modes(positions: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The most frequent category of each group; of several the one that is more frequent in all, then the first.

    >>> nominal_modes(np.array([0, 1, 1, 2, 0, 1]), np.array([0, 0, 0, 1, 1, 1])).tolist()
    [1, 1]
    """
    width = int(positions.max()) + 1
    pairs, counts = np.unique(labels.astype(np.int64) * width + positions, return_counts=True)
    groups, categories = pairs // width, pairs % width
    overall = np.bincount(positions, minlength=width)
    order = np.lexsort((categories, -overall[categories], -counts, groups))
    first = np.flatnonzero(np.diff(groups[order], prepend=-1))
    modes: np.ndarray = categories[order][first]
    return modes


def mostly_missing(missing: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which groups have no value in more than half of their records."""
    sizes = np.bincount(labels)
    result: np.ndarray = 2 * np.bincount(labels[missing], minlength=sizes.size) > sizes
    return result


def _by_group(
    values: np.ndarray, labels: np.ndarray, groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The order of the values by group and size, and where in it each group begins and ends."""
    order = np.lexsort((values, labels))
    starts, ends = (np.searchsorted(labels[order], np.arange(groups), side) for side in ("left", "right"))
    return order, starts, ends
