"""The confidential values of each class: which there are, and how often."""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel


class Histogram(NamedTuple):
    """For each class a run of ``values`` (rising) with their ``counts``, from ``starts[c]`` to ``starts[c + 1]``."""

    starts: np.ndarray
    values: np.ndarray
    counts: np.ndarray


def counted(classes: np.ndarray, values: np.ndarray, counts: np.ndarray, size: int, kinds: int) -> Histogram:
    """The histogram of ``size`` classes over values from 0 to ``kinds`` − 1, from a list of counts.

    >>> one = np.ones(4, dtype=np.int64)
    >>> counted(np.array([1, 0, 1, 1]), np.array([2, 0, 0, 2]), one, 2, 3)[1:]
    (array([0, 0, 2], dtype=int32), array([1, 1, 2]))
    """
    return Histogram(
        *_counted(classes.astype(np.int64), values.astype(np.int32), counts.astype(np.int64), size, kinds)
    )


def merged(histogram: Histogram, groups: np.ndarray, size: int, kinds: int) -> Histogram:
    """The histogram of classes that are joined: class c becomes part of ``groups[c]``."""
    classes = np.repeat(groups, np.diff(histogram.starts))
    return Histogram(*_counted(classes, histogram.values, histogram.counts, size, kinds))


@kernel
def _counted(
    classes: np.ndarray, values: np.ndarray, counts: np.ndarray, size: int, kinds: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # Two counting sorts, by value and then by class, put equal pairs side by side.
    total = values.size
    by_value = np.empty(total, dtype=np.int64)
    upto = np.zeros(kinds + 1, dtype=np.int64)
    for item in range(total):
        upto[values[item] + 1] += 1
    for kind in range(kinds):
        upto[kind + 1] += upto[kind]
    for item in range(total):
        by_value[upto[values[item]]] = item
        upto[values[item]] += 1
    ends = np.zeros(size + 1, dtype=np.int64)
    for item in range(total):
        ends[classes[item] + 1] += 1
    for number in range(size):
        ends[number + 1] += ends[number]
    order = np.empty(total, dtype=np.int64)
    for sorted_item in by_value:
        item = int(sorted_item)
        order[ends[classes[item]]] = item
        ends[classes[item]] += 1
    starts = np.zeros(size + 1, dtype=np.int64)
    new_values = np.empty(total, dtype=np.int32)
    new_counts = np.empty(total, dtype=np.int64)
    last_class, last_value, written = -1, -1, 0
    for sorted_item in order:
        item = int(sorted_item)
        if classes[item] == last_class and values[item] == last_value:
            new_counts[written - 1] += counts[item]
            continue
        last_class, last_value = classes[item], values[item]
        new_values[written] = last_value
        new_counts[written] = counts[item]
        written += 1
        starts[last_class + 1] += 1
    for number in range(size):
        starts[number + 1] += starts[number]
    return starts, new_values[:written], new_counts[:written]


def warm_up() -> None:
    """Compile the kernel."""
    one = np.ones(1, dtype=np.int64)
    counted(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int32), one, 1, 1)
