"""The search for a cheaper release: part of it is taken back and made anew (ruin and recreate, G. Schrimpf and others 2000)."""

import numpy as np

from shoal.microdata.recoding.local_suppression.assignment import LEFT_OUT, Assignment
from shoal.microdata.recoding.local_suppression.greedy import layers, unreachable
from shoal.microdata.recoding.local_suppression.leftovers import settled
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.patterns import Patterns
from shoal.microdata.recoding.local_suppression.search_kernels import (
    Search,
    attract_all,
    open_in_order,
    put_all,
    search_on,
    waiting_for,
)


class Improvement:
    """A release that gets cheaper with every ``step``, or stays as it is."""

    def __init__(self, masks: Masks, patterns: Patterns, state: np.ndarray) -> None:
        self._masks = masks
        instance = masks.instance
        self._state = state
        total = patterns.places.size
        self._search = Search(
            k=instance.problem.k,
            numbers=patterns.numbers,
            places=patterns.places,
            starts=patterns.starts,
            members=patterns.members,
            costs=masks.costs,
            kinds=instance.prices[1],
            leave=instance.leave,
            records=instance.records,
            weights=instance.people,
            touched=instance.touched,
            splittable=instance.splittable,
            needy=np.flatnonzero(instance.people < instance.problem.k),
            amounts=np.zeros((instance.size, masks.size), dtype=np.int32),
            out=np.zeros(instance.size, dtype=np.int64),
            mainly=np.full(instance.size, -1, dtype=np.int64),
            people=np.zeros(total, dtype=np.int64),
            spare=np.zeros(total, dtype=np.int64),
            free=np.zeros(total, dtype=np.int64),
            room=np.array([instance.limit], dtype=np.int64),
        )
        self.cost = 0.0

    def begin(self) -> None:
        """Make a first release: cheap patterns first, and of equally cheap ones those that few could use.

        Patterns of many can lose some of them and still be used.
        """
        masks, search = self._masks, self._search
        instance = masks.instance
        waiting = instance.records.copy()
        lost = unreachable(masks)
        waiting[lost] = 0
        for score, layer in layers(masks):
            rest = np.flatnonzero(waiting)
            if rest.size == 0:
                break
            places = np.array([place for place, _ in layer])
            count = np.zeros(search.places.size, dtype=np.int64)
            waiting_for(search, rest, places, count)
            enough = np.flatnonzero(count >= search.k)
            few = np.flatnonzero((count > 0) & (count < search.k))
            open_in_order(search, enough[np.argsort(count[enough], kind="stable")], score, waiting)
            open_in_order(search, few[np.argsort(-count[few], kind="stable")], score, waiting)
        self._attract()
        left = settled(masks, self._with_left_out(lost), np.flatnonzero(waiting))
        self.restart(left)

    def _attract(self) -> None:
        used = np.flatnonzero(self._search.people >= self._search.k)
        attract_all(self._search, used)

    def _with_left_out(self, rows: np.ndarray) -> Assignment:
        made = self.assignment
        return Assignment.of(
            np.concatenate([made.rows, rows]),
            np.concatenate([made.masks, np.full(rows.size, LEFT_OUT)]),
            np.concatenate([made.records, self._masks.instance.records[rows]]),
        )

    def restart(self, start: Assignment) -> None:
        """Go on from another release."""
        search = self._search
        search.amounts[:] = 0
        search.out[:] = 0
        search.mainly[:] = -1
        search.people[:] = 0
        search.spare[:] = 0
        search.room[0] = self._masks.instance.limit
        # In a row, wherever they come from: machine code is made for each kind of array by itself.
        given = (np.ascontiguousarray(part) for part in (start.rows, start.masks, start.records))
        self.cost = put_all(search, *given)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to improve."""
        return self._search.needy.size == 0 or self.cost <= 0.0

    def step(self, iterations: int) -> None:
        """Try so many changes."""
        self.cost = search_on(self._search, iterations, self._state, self.cost)

    @property
    def assignment(self) -> Assignment:
        """The release now."""
        rows, places = np.nonzero(self._search.amounts)
        gone = np.flatnonzero(self._search.out)
        return Assignment.of(
            np.concatenate([rows, gone]),
            np.concatenate([places, np.full(gone.size, LEFT_OUT)]),
            np.concatenate([self._search.amounts[rows, places], self._search.out[gone]]),
        )


def warm_up() -> None:
    """Compile the kernels."""
    from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    from shoal.microdata.recoding.local_suppression.instance import Instance
    from shoal.microdata.recoding.local_suppression.patterns import patterns_of
    from shoal.microdata.recoding.problem import Problem

    columns = [np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 2, 3])]
    hierarchies = [Hierarchy([(f"{value}",) for value in range(4)])] * 2
    masks = Masks.of(Instance.of(Problem.of(columns, hierarchies, k=2)))
    improvement = Improvement(masks, patterns_of(masks), np.arange(1, 5, dtype=np.uint64))
    improvement.begin()
    improvement.step(1)
