"""Who a released value is made of: at least k records each, none of which outweighs all others together.

Where a person may have several records it is persons that are counted and weighed, not records.

A record without a value, or of no weight, is a member of its group, but its mean says nothing about it. A mean of too
few contributors would tell the values of those few, so groups are joined until there are enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.columns.attributes import Attribute
from shoal.microdata.microaggregation.aggregate import mostly_missing
from shoal.microdata.microaggregation.solution import group_means, numbered_by_appearance
from shoal.numbers import counted

#: A contributor dominates a mean when all others together weigh less than this percentage of it: the mean then lies
#: within a tenth of the way from its value to that of the others.
DOMINANCE_PERCENT = 10.0


@dataclass(frozen=True, eq=False)
class Contributions:
    """Which records have a value in a column, and what they weigh in its mean (nothing said: all the same).

    ``owners`` says whose records these are, as whole numbers from 0 on; without it each is somebody else's. With
    ``gap_is_value`` a group without values for the most part releases none, and needs no contributors.
    """

    column: str
    present: np.ndarray = field(repr=False)
    weights: np.ndarray | None = field(default=None, repr=False)
    owners: np.ndarray | None = field(default=None, repr=False)
    gap_is_value: bool = False

    @classmethod
    def to(
        cls, attribute: Attribute, weights: np.ndarray | None, owners: np.ndarray | None = None
    ) -> "Contributions":
        """Those to an attribute; categories are not weighted."""
        weights = None if attribute.categorical else weights
        return cls(attribute.name, ~attribute.missing, weights, owners, attribute.gap_is_value)

    @classmethod
    def of_members(cls, unit: str, owners: np.ndarray) -> "Contributions":
        """Those of all who are in a group, whether they have values or not."""
        return cls(unit, np.ones(owners.size, dtype=bool), owners=owners)

    @property
    def can_be_short(self) -> bool:
        """Whether a group of k records can have fewer contributors at all."""
        return self.weights is not None or self.owners is not None or not bool(self.present.all())

    def counted(self, labels: np.ndarray) -> np.ndarray:
        """How many records each group's value is made of, or how many have them where that is known.

        >>> weighed = Contributions("x", np.array([True, True, True, True]), np.array([5.0, 0.0, 0.0, 0.0]))
        >>> weighed.counted(np.array([0, 0, 1, 1])).tolist()
        [1, 2]
        >>> Contributions.of_members("patient", np.array([7, 7, 7, 8])).counted(np.array([0, 0, 1, 1])).tolist()
        [1, 2]
        """
        members = self._distinct(labels, self.present)
        if self.gap_is_value:
            members = np.where(mostly_missing(~self.present, labels), 0, members)
        if self.weights is None:
            return members
        weighing = self._distinct(labels, self.present & (self.weights > 0))
        # Where nobody weighs anything the plain mean is released.
        return np.where((weighing > 0) & (members > 0), weighing, members)

    def _distinct(self, labels: np.ndarray, who: np.ndarray) -> np.ndarray:
        groups = int(labels.max()) + 1
        if self.owners is None:
            return np.bincount(labels[who], minlength=groups)
        many = int(self.owners.max(initial=0)) + 1
        pairs = np.unique(labels[who].astype(np.int64) * many + self.owners[who])
        return np.bincount(pairs // many, minlength=groups)

    def short(self, labels: np.ndarray, k: int) -> np.ndarray:
        """Which groups have a value of fewer than k contributors, or of one that dominates; having none is fine."""
        counts = self.counted(labels)
        return (counts > 0) & ((counts < k) | self._dominated(labels))

    def _dominated(self, labels: np.ndarray) -> np.ndarray:
        groups = int(labels.max()) + 1
        if self.weights is None:
            return np.zeros(groups, dtype=bool)
        weights, of = self.weights[self.present], labels[self.present]
        if self.owners is not None:
            many = int(self.owners.max(initial=0)) + 1
            pairs, place = np.unique(
                of.astype(np.int64) * many + self.owners[self.present], return_inverse=True
            )
            weights, of = np.bincount(place.reshape(-1), weights=weights), pairs // many
        largest = np.zeros(groups)
        np.maximum.at(largest, of, weights)
        total = np.bincount(of, weights=weights, minlength=groups)
        dominated: np.ndarray = (largest > 0) & (total - largest < DOMINANCE_PERCENT / 100.0 * largest)
        return dominated


def check_contributors(
    columns: Sequence[Contributions], k: int, strata: Sequence[np.ndarray], unit: str | None = None
) -> None:
    """An ``InputError`` for a column that has too few contributors even in a whole stratum."""
    for column in columns:
        if not column.can_be_short:
            continue
        stratum = _numbered(strata, column.present.size)
        short = column.short(stratum, k)
        if not short.any():
            continue
        count = int(column.counted(stratum)[short].min())
        where = f" in {int(short.sum())} of {len(strata)} strata" if len(strata) > 1 else ""
        weighing = " and a weight above 0" if column.weights is not None else ""
        if count < k and column.column == unit:
            raise InputError(
                f"the records are those of only {count} distinct values of '{unit}'{where}, fewer than k = {k}; choose a "
                f"smaller k{' or coarser strata' if len(strata) > 1 else ''}"
            )
        if count < k and unit is not None:
            raise InputError(
                f"the records with a value{weighing} in column '{column.column}' are those of only {count} distinct values of "
                f"'{unit}'{where}, fewer than k = {k}, so a mean would tell about them; leave the column out or drop it, or "
                f"choose {parameter('missing', 'aside')} (not released)"
            )
        if count < k:
            raise InputError(
                f"column '{column.column}' has {counted(count, 'record')} with a value{weighing}{where}, fewer than "
                f"k = {k}, so a mean would tell their values; leave the column out or drop it, or choose "
                f"{parameter('missing', 'aside')} (not released)"
            )
        whose = "one record weighs" if unit is None else f"the records of one value of '{unit}' weigh"
        raise InputError(
            f"{whose} more than ten times as much as all others with a value in '{column.column}'{where}, so a mean "
            "would tell its value; look at the sample weights, or take that record out"
        )


def _numbered(strata: Sequence[np.ndarray], records: int) -> np.ndarray:
    numbers = np.empty(records, dtype=np.int64)
    for number, rows in enumerate(strata):
        numbers[rows] = number
    return numbers


def join_short_groups(
    points: np.ndarray,
    labels: np.ndarray,
    columns: Sequence[Contributions],
    k: int,
    *,
    strata: Sequence[np.ndarray],
    largest: int | None = None,
) -> tuple[np.ndarray, int]:
    """The groups with those of too few contributors joined to the nearest that have some, and how many were joined.

    Every stratum must have enough of them, as ``check_contributors`` makes sure.
    """
    stratum = _numbered(strata, labels.size)
    columns = [column for column in columns if column.can_be_short]
    before = int(labels.max()) + 1
    waiting = list(columns)
    while waiting:
        column = waiting[0]
        short = column.short(labels, k)
        if not short.any():
            waiting.pop(0)
            continue
        labels = _join(points, labels, short, column.counted(labels) > 0, stratum)
        # What was enough for another column may not be any more: a member of no weight meets one of great weight.
        waiting = [column, *(other for other in columns if other is not column)]
    if largest is not None and np.bincount(labels).max() > largest:
        raise InputError(
            f"some groups have values of fewer than k = {k} records, or of fewer distinct units, in a column, and "
            f"{parameter('largest', str(largest))} does not let them be joined; raise it, or choose "
            f"{parameter('missing', 'aside')} (not released)"
        )
    return numbered_by_appearance(labels), before - (int(labels.max()) + 1)


def _join(
    points: np.ndarray, labels: np.ndarray, short: np.ndarray, contributing: np.ndarray, stratum: np.ndarray
) -> np.ndarray:
    """Join groups that are short, each with the nearest group of its stratum that has contributors, in pairs."""
    from scipy.spatial import cKDTree

    centres = group_means(points, labels)
    stratum_of = np.empty(short.size, dtype=np.int64)
    stratum_of[labels] = stratum
    joined = np.arange(short.size)
    for number in np.unique(stratum_of[short]):
        candidates = np.flatnonzero((stratum_of == number) & contributing)
        asking = np.flatnonzero((stratum_of == number) & short)
        distances, places = cKDTree(centres[candidates]).query(centres[asking], k=2)
        nearest = candidates[places]
        own = nearest[:, 0] == asking
        partner = np.where(own, nearest[:, 1], nearest[:, 0])
        distance = np.where(own, distances[:, 1], distances[:, 0])
        taken: set[int] = set()
        for place in np.argsort(distance, kind="stable").tolist():
            pair = int(asking[place]), int(partner[place])
            if taken.isdisjoint(pair):
                taken.update(pair)
                joined[pair[1]] = pair[0]
    return np.unique(joined[labels], return_inverse=True)[1].reshape(-1)
