"""A first release in one go: the cheapest masks first, each for all who look like k people or more under it.

Where only few are lacking to k, frequent combinations can give some of their records, which are blanked as well: masks are
taken in the order of what they cost for each record that needs them.
"""

from itertools import groupby

import numpy as np

from shoal.errors import Infeasible, parameter
from shoal.microdata.recoding.local_suppression.assignment import LEFT_OUT, Assignment
from shoal.microdata.recoding.local_suppression.leftovers import settled
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.suppression_kernels import fill_groups

# Above this many looks at a combination nobody gives: every mask is gone through once.
_MOST_LOOKS = 300_000_000
# The mask of a combination that has no place yet.
_NOWHERE = -2


def greedy(masks: Masks) -> Assignment:
    """Blank what makes everybody one of k people; ``Infeasible`` if even all blanks do not.

    Nothing is kept but combinations, so there may be very many.
    """
    work = _Release(masks)
    work.leave_out(unreachable(masks))
    for _, layer in layers(masks):
        for place, lacking in layer:
            if work.rest.size:
                work.layer(place, lacking)
    return settled(masks, work.assignment(), work.rest)


def unreachable(masks: Masks) -> np.ndarray:
    """The combinations that cannot be one of k people however much is blanked; ``Infeasible`` if they are too many."""
    instance = masks.instance
    groups, first = masks.groups(int(masks.bits[-1]))
    people = instance.people_in(groups, first.size)
    failing = people < instance.problem.k
    lost = np.flatnonzero(failing[groups])
    safe = np.bincount(groups, weights=instance.people, minlength=first.size) < instance.problem.k
    if lost.size:
        left = int(instance.touched[lost].sum())
        if left > instance.limit:
            raise infeasible(masks, int(people[failing].sum()))
    short = np.flatnonzero(safe[groups])
    if int(instance.touched[short].sum()) > instance.limit:
        # People with several combinations are counted at one of them here, which is safe but may be too few.
        raise infeasible(masks, int(instance.touched[short].sum()))
    return short


def infeasible(masks: Masks, people: int) -> Infeasible:
    """The error that says how near one can get."""
    problem = masks.instance.problem
    share = 100.0 * people / problem.units
    may = f"and {problem.limit:,} may be left out; raise {parameter('suppress')}, blank more columns, or ask for less"
    return Infeasible(
        f"blanks alone do not meet these demands: with every value blanked that may be, {people:,} of {problem.units:,} "
        f"{problem.counted[1]} ({share:.1f} %) still do not, {may}"
    )


def layers(masks: Masks) -> list[tuple[float, list[tuple[int, int]]]]:
    """Masks with how many may be lacking; together those for which a record that needs them comes to cost the same."""
    instance = masks.instance
    k, size = instance.problem.k, instance.size
    weights = np.bincount(instance.prices[1]) / size
    typical = (weights[:, None] * masks.costs).sum(axis=0)
    most = min(k - 1, _MOST_LOOKS // max(1, size * masks.size), 8)
    steps = sorted({0, *(round(k * share / (most + 1)) for share in range(1, most + 1))})
    found = [
        (round(typical[m] * k / (k - f), 9), int(m), f) for m in range(masks.size) for f in steps if f < k
    ]
    found.sort()
    return [
        (score, [(m, f) for _, m, f in layer]) for score, layer in groupby(found, key=lambda item: item[0])
    ]


class _Release:
    """The release as it grows: a mask for every combination, and the parts that were given away."""

    def __init__(self, masks: Masks) -> None:
        self.masks = masks
        self.instance = instance = masks.instance
        self.k = instance.problem.k
        self.mask_of = np.full(instance.size, _NOWHERE, dtype=np.int64)
        self.rest = np.arange(instance.size)
        self.given: list[tuple[np.ndarray, int, np.ndarray]] = []
        # Frequent combinations can give what is above k, as long as they stay as they are.
        self.givers = np.flatnonzero(instance.splittable & (instance.records > self.k))
        self.spare = (instance.records - self.k)[self.givers]

    def leave_out(self, rows: np.ndarray) -> None:
        """Do not release these combinations at all."""
        self.mask_of[rows] = LEFT_OUT
        self.rest = np.setdiff1d(self.rest, rows)

    def layer(self, mask: int, lacking: int) -> None:
        """Blank all that come to k people under this mask if so many are given to each group."""
        instance = self.instance
        givers = self.givers if lacking else self.givers[:0]
        spare = self.spare if lacking else self.spare[:0]
        rows = np.concatenate([self.rest, givers])
        groups, first = self.masks.groups(int(self.masks.bits[mask]), rows)
        taken = np.zeros(givers.size, dtype=np.int64)
        chosen = fill_groups(
            groups,
            first.size,
            instance.people[self.rest],
            spare,
            self.rest.size,
            self.k,
            lacking,
            taken,
        )
        done = chosen[groups[: self.rest.size]]
        self.mask_of[self.rest[done]] = mask
        self.rest = self.rest[~done]
        self._give(givers, mask, taken)

    def _give(self, givers: np.ndarray, mask: int, taken: np.ndarray) -> None:
        if taken.any():
            gave = np.flatnonzero(taken)
            self.given.append((givers[gave], mask, taken[gave]))
            self.spare = self.spare - taken
            some = self.spare > 0
            self.givers, self.spare = self.givers[some], self.spare[some]

    def assignment(self) -> Assignment:
        """All parts so far."""
        instance = self.instance
        kept = instance.records.copy()
        for rows, _, records in self.given:
            kept[rows] -= records
        done = np.flatnonzero(self.mask_of != _NOWHERE)
        return Assignment.of(
            np.concatenate([done, *(rows for rows, _, _ in self.given)]),
            np.concatenate(
                [self.mask_of[done], *(np.full(rows.size, place) for rows, place, _ in self.given)]
            ),
            np.concatenate([kept[done], *(records for _, _, records in self.given)]),
        )
