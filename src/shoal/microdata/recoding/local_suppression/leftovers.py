"""Places for the few who are left when all masks have been gone through, and would be too few even with all keys blanked."""

from collections.abc import Callable

import numpy as np

from shoal.microdata.recoding.local_suppression.assignment import LEFT_OUT, Assignment
from shoal.microdata.recoding.local_suppression.masks import Masks

#: Whether a class of these combinations may be released; each of them is in it with so many records.
Holds = Callable[[np.ndarray, np.ndarray], bool]


def settled(masks: Masks, assignment: Assignment, rest: np.ndarray, holds: Holds | None = None) -> Assignment:
    """The assignment with a place for all of the rest.

    They go into classes that they look like, or are left out if they may be, or are blanked together with records and whole
    classes of others until they may be released.
    """
    parts = _Parts(masks, assignment, holds)
    groups, first = masks.groups(int(masks.bits[-1]), rest)
    for group in range(first.size):
        rows = rest[groups == group]
        left = np.array([row for row in rows.tolist() if not parts.join(row)], dtype=np.int64)
        if left.size and not parts.leave_out(left):
            parts.absorb(left)
    return Assignment.of(parts.rows, parts.places, parts.records)


class _Parts:
    """Parts of combinations with the class each is in."""

    def __init__(self, masks: Masks, assignment: Assignment, holds: Holds | None) -> None:
        self.masks = masks
        self.instance = masks.instance
        self.k = masks.instance.problem.k
        self.rows, self.places, self.records = assignment.rows, assignment.masks, assignment.records
        self.left = self.instance.limit - assignment.people_left_out(self.instance)
        self.holds = holds or self._enough

    def _enough(self, rows: np.ndarray, records: np.ndarray) -> bool:
        return self._people(rows, records) >= self.k

    def _people(self, rows: np.ndarray, records: np.ndarray) -> int:
        own = np.where(self.instance.splittable[rows], records, self.instance.people[rows])
        return int(own.sum())

    def _add(self, rows: np.ndarray, mask: int, records: np.ndarray) -> None:
        self.rows = np.concatenate([self.rows, rows])
        self.places = np.concatenate([self.places, np.full(rows.size, mask)])
        self.records = np.concatenate([self.records, records])

    def join(self, row: int) -> bool:
        """Let a combination into the cheapest class that it looks like under the mask of that class."""
        kind = self.instance.prices[1][row]
        here = np.unique(self.places[self.places >= 0])
        for place in here[np.argsort(self.masks.costs[kind, here], kind="stable")].tolist():
            members = np.flatnonzero(self.places == place)
            members = members[self._alike(row, place, self.rows[members])]
            if members.size == 0:
                continue
            rows = np.append(self.rows[members], row)
            records = np.append(self.records[members], self.instance.records[row])
            if self.holds(rows, records):
                self._add(np.array([row]), place, self.instance.records[[row]])
                return True
        return False

    def _alike(self, row: int, mask: int, others: np.ndarray) -> np.ndarray:
        blanked = self.masks.columns(int(self.masks.bits[mask]))
        seen = np.setdiff1d(np.arange(self.instance.nodes.shape[1]), blanked)
        nodes = self.instance.nodes
        same: np.ndarray = (nodes[np.ix_(others, seen)] == nodes[row, seen]).all(axis=1)
        return same

    def leave_out(self, rows: np.ndarray) -> bool:
        """Do not release these, if so many more may be left out."""
        people = int(self.instance.touched[rows].sum())
        if people > self.left:
            return False
        self._add(rows, LEFT_OUT, self.instance.records[rows])
        self.left -= people
        return True

    def absorb(self, rows: np.ndarray) -> None:
        """Blank these wholly, and others with them until all may be released: single records first, then whole classes."""
        last = self.masks.size - 1
        records = self.instance.records[rows]
        self._add(rows, last, records)
        near = self._alike(int(rows[0]), last, self.rows) & (self.places >= 0)
        members = np.flatnonzero(near & (self.places == last))
        kinds = self.instance.prices[1][self.rows]
        more = np.where(
            near & (self.places != last),
            self.masks.costs[kinds, last] - self.masks.costs[kinds, np.maximum(0, self.places)],
            np.inf,
        )
        classes = self._classes()
        while not self.holds(self.rows[members], self.records[members]):
            taken = self._take_records(members, more, classes)
            if taken is None:
                taken = self._take_class(more, classes)
            if taken.size == 0:
                break
            more = np.concatenate([more, np.full(self.rows.size - more.size, np.inf)])
            classes = np.concatenate([classes, np.full(self.rows.size - classes.size, -1)])
            members = np.flatnonzero(self._alike(int(rows[0]), last, self.rows) & (self.places == last))

    def _classes(self) -> np.ndarray:
        classes = np.full(self.rows.size, -1, dtype=np.int64)
        number = 0
        for place in np.unique(self.places[self.places >= 0]).tolist():
            here = np.flatnonzero(self.places == place)
            groups, first = self.masks.groups(int(self.masks.bits[place]), self.rows[here])
            classes[here] = number + groups
            number += first.size
        return classes

    def _take_records(self, members: np.ndarray, more: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
        """Records of the part that can give some of its own for the least; ``None`` if there is none."""
        lacking = self.k - self._people(self.rows[members], self.records[members])
        if lacking <= 0:
            return None
        own = np.where(self.instance.splittable[self.rows], self.records, self.instance.people[self.rows])
        sizes = np.bincount(classes[classes >= 0], weights=own[classes >= 0]).astype(np.int64)
        # What is given away entirely is better taken with its class.
        spare = np.where(classes >= 0, np.minimum(sizes[classes] - self.k, self.records - 1), 0)
        can = (spare > 0) & np.isfinite(more) & self.instance.splittable[self.rows]
        if not can.any():
            return None
        part = int(np.argmin(np.where(can, more, np.inf)))
        amount = min(lacking, int(spare[part]))
        self.records = self.records.copy()
        self.records[part] -= amount
        self._add(self.rows[[part]], self.masks.size - 1, np.array([amount]))
        return np.array([part])

    def _take_class(self, more: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """All of the class for which that costs least; nothing if there is none."""
        free = np.flatnonzero(np.isfinite(more) & (classes >= 0))
        if free.size == 0:
            return free
        price = np.full(int(classes.max()) + 1, np.inf)
        price[classes[free]] = 0.0
        np.add.at(price, classes[free], more[free] * self.records[free])
        taken = np.flatnonzero(classes == int(np.argmin(price)))
        self.places = self.places.copy()
        self.places[taken] = self.masks.size - 1
        more[taken] = np.inf
        classes[taken] = -1
        return taken
