"""Groups that stand for enough distinct units: those of too few join the group that it costs least to join."""

from heapq import heapify, heappop, heappush

import numpy as np

from shoal.microdata.microaggregation.solution import group_means, numbered_by_appearance


def with_enough_units(points: np.ndarray, labels: np.ndarray, units: np.ndarray, k: int) -> np.ndarray:
    """The groups, joined until each holds at least k distinct units; all in one if there are not as many.

    ``units`` are whole numbers from 0 on. What joining costs is the squared error it adds.

    >>> points = np.array([[0.0], [1.0], [10.0], [11.0], [12.0], [13.0]])
    >>> with_enough_units(points, np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 2, 3, 4]), 2).tolist()
    [0, 0, 1, 1, 1, 1]
    """
    owners = _owners(labels, units)
    short = [(len(own), group) for group, own in enumerate(owners) if len(own) < k]
    if not short:
        return labels
    means = group_means(points, labels)
    sizes = np.bincount(labels).astype(np.float64)
    into = np.arange(sizes.size)
    heapify(short)
    while short:
        count, group = heappop(short)
        # Others may have joined it, or it them, since it was put down.
        if into[group] != group or len(owners[group]) != count:
            continue
        cost = np.square(means - means[group]).sum(axis=1) * (sizes / (sizes + sizes[group]))
        cost[group] = np.inf
        other = int(np.argmin(cost))
        if not np.isfinite(cost[other]):
            break
        together = sizes[other] + sizes[group]
        means[other] += (means[group] - means[other]) * (sizes[group] / together)
        sizes[other] = together
        owners[other] = owners[other] | owners[group]
        # Nobody is near what is gone.
        means[group] = np.inf
        into[group] = other
        if len(owners[other]) < k:
            heappush(short, (len(owners[other]), other))
    while (into[into] != into).any():
        into = into[into]
    joined: np.ndarray = numbered_by_appearance(into[labels])
    return joined


def _owners(labels: np.ndarray, units: np.ndarray) -> list[set[int]]:
    """The distinct units of each group."""
    many = int(units.max()) + 1
    pairs = np.unique(labels.astype(np.int64) * many + units)
    ends = np.cumsum(np.bincount(pairs // many))
    return [set(own.tolist()) for own in np.split(pairs % many, ends[:-1])]
