"""What is counted over all classes, as plain functions on arrays."""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel


class Index(NamedTuple):
    """The classes by the value of each key: ``order`` of a key from ``starts[key, value + 1]`` on, those that lack it first."""

    order: np.ndarray
    starts: np.ndarray


class Amounts(NamedTuple):
    """What belongs to each class, and what is added up for it."""

    records: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    populations: np.ndarray


@kernel
def tally(records: np.ndarray, counts: np.ndarray) -> tuple[int, int, int]:
    """The smallest count of a class that has records, and the records of classes whose count is 1 and 2."""
    smallest = 2**62
    alone = 0
    pairs = 0
    for c in range(counts.shape[0]):
        if records[c] > 0:
            smallest = min(smallest, counts[c])
            if counts[c] == 1:
                alone += records[c]
            elif counts[c] == 2:
                pairs += records[c]
    return smallest, alone, pairs


@kernel
def add_compatible(rows: np.ndarray, best: np.ndarray, index: Index, amounts: Amounts) -> None:
    """Add to every class what belongs to the classes compatible with it: equal wherever both have a value.

    ``rows`` holds a class in each row, −1 where it lacks a value. Only classes that lack one are looked at, ``best`` being the
    key by which each is compared with fewest others (−1: it has no value at all, −2: it lacks none); two complete classes differ.
    """
    for i in range(rows.shape[0]):
        key = best[i]
        if key == -2:
            continue
        if key == -1:
            for j in range(rows.shape[0]):
                _add_if_compatible(rows, best, i, j, amounts)
            continue
        for own in (rows[i, key] + 1, 0):
            for position in range(index.starts[key, own], index.starts[key, own + 1]):
                _add_if_compatible(rows, best, i, index.order[key, position], amounts)


@kernel
def _add_if_compatible(rows: np.ndarray, best: np.ndarray, i: int, j: int, amounts: Amounts) -> None:
    if i == j:
        return
    for key in range(rows.shape[1]):
        a = rows[i, key]
        b = rows[j, key]
        if a != b and a >= 0 and b >= 0:
            return
    amounts.counts[i] += amounts.records[j]
    amounts.populations[i] += amounts.weights[j]
    # A class that lacks a value itself has its own turn.
    if best[j] == -2:
        amounts.counts[j] += amounts.records[i]
        amounts.populations[j] += amounts.weights[i]
