"""People in a release and people who are not: one half is released, the other is the control group."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.measures.mixed import MixedTables
from shoal.runtime import Seeds

# Of more records a sample is attacked, in which people are found more easily: it errs on the safe side.
RELEASED = 10_000
TARGETS = 1000


@dataclass(frozen=True, eq=False)
class Halves:
    """Record numbers: those ``released``, and those looked for of both halves, of which no person is in both.

    ``whole`` is how many records the first half has.
    """

    released: np.ndarray
    inside: np.ndarray
    outside: np.ndarray
    whole: int


def halves(
    tables: MixedTables, seeds: Seeds, *, released: int = RELEASED, targets: int = TARGETS
) -> Halves | None:
    """Split people by seed; ``None`` if there are fewer than two.

    >>> parts = halves(MixedTables.of_numbers(np.zeros((6, 1)), np.zeros((6, 1))), Seeds(0))
    >>> sorted([*parts.inside.tolist(), *parts.outside.tolist()])
    [0, 1, 2, 3, 4, 5]
    """
    whose = tables.people_or_records()
    people = np.unique(whose)
    if people.size < 2:
        return None
    draw = seeds.child("halves").generator()
    drawn = draw.permutation(people)
    inside = np.flatnonzero(np.isin(whose, drawn[: people.size // 2]))
    outside = np.setdiff1d(np.arange(tables.records), inside)
    whole = int(inside.size)
    if inside.size > released:
        inside = np.sort(draw.choice(inside, released, replace=False))
    chosen = [
        np.sort(draw.choice(group, targets, replace=False)) if group.size > targets else group
        for group in (inside, outside)
    ]
    return Halves(inside, chosen[0], chosen[1], whole)
