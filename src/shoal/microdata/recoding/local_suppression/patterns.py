"""All patterns that k people or more could share, numbered, with who could use each."""

from typing import NamedTuple

import numpy as np

from shoal.microdata.recoding.class_kernels import added
from shoal.microdata.recoding.local_suppression.masks import Masks

#: The most pairs of a combination and a mask that are kept in memory.
MOST_PAIRS = 40_000_000


class Patterns(NamedTuple):
    """``numbers[row, place]`` is the pattern of a combination under a mask, −1 if fewer than k people share it.

    Pattern p can be used by ``members[starts[p]:starts[p + 1]]``; its mask is at ``places[p]``.
    """

    numbers: np.ndarray
    places: np.ndarray
    starts: np.ndarray
    members: np.ndarray


def patterns_of(masks: Masks) -> Patterns:
    """Number the patterns.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> from shoal.microdata.recoding.local_suppression.instance import Instance
    >>> from shoal.microdata.recoding.problem import Problem
    >>> sexes = Hierarchy([("f",), ("m",)])
    >>> problem = Problem.of([np.array([0, 0, 1])], [sexes], k=2, measure="cells")
    >>> patterns_of(Masks.of(Instance.of(problem))).numbers.tolist()
    [[0, 1], [-1, 1]]
    """
    instance = masks.instance
    numbers = np.empty((instance.size, masks.size), dtype=np.int32)
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {
        place: (groups.astype(np.int32), added(groups, instance.people, first.size) >= instance.problem.k)
        for place, groups, first in masks.walk()
    }
    total = 0
    for place in range(masks.size):
        groups, usable = found[place]
        number = np.where(usable, total + np.cumsum(usable) - 1, -1).astype(np.int32)
        numbers[:, place] = number[groups]
        total += int(usable.sum())
    flat = numbers.ravel()
    used = np.flatnonzero(flat >= 0)
    order = used[np.argsort(flat[used], kind="stable")]
    places = np.zeros(total, dtype=np.int32)
    places[flat[order]] = order % masks.size
    counts = np.bincount(flat[used], minlength=total)
    return Patterns(
        numbers,
        places,
        np.concatenate([[0], np.cumsum(counts)]),
        (order // masks.size).astype(np.int32),
    )
