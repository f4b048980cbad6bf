"""Both tables with their columns of numbers and of categories, record by record: what utility and attacks are measured on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from shoal.microdata.measures.categories import CategoryPair
from shoal.microdata.measures.scaling import constant, deviations, magnitude
from shoal.runtime import Seeds


@dataclass(frozen=True, eq=False)
class MixedTables:
    """Records with a value in every column of numbers; ``people`` numbers whose records they are.

    ``unknown`` are columns that an intruder wants to learn and does not know; ``first`` are those whose values are
    inferred before all others.

    >>> tables = MixedTables.of_numbers(np.array([[1.0], [2.0]]), np.array([[1.5], [1.5]]))
    >>> tables.records, tables.columns
    (2, ('column 1',))
    """

    names: tuple[str, ...]
    before: np.ndarray = field(repr=False)
    after: np.ndarray = field(repr=False)
    categories: tuple[CategoryPair, ...] = ()
    people: np.ndarray | None = field(default=None, repr=False)
    unknown: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    @staticmethod
    def of_numbers(before: np.ndarray, after: np.ndarray) -> "MixedTables":
        """Tables of numbers alone."""
        return MixedTables(tuple(f"column {j + 1}" for j in range(before.shape[1])), before, after)

    @property
    def records(self) -> int:
        """How many records."""
        return int(self.before.shape[0])

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns, numbers first."""
        return (*self.names, *(pair.name for pair in self.categories))

    def take(self, rows: np.ndarray) -> "MixedTables":
        """Some of the records; what fits which label stays what it is in all of them."""
        categories = tuple(
            replace(
                pair,
                before=pair.before[rows],
                after=pair.after[rows],
                aligned=pair.aligned[rows],
                changed=pair.changed[rows],
                blanked=pair.blanked[rows],
            )
            for pair in self.categories
        )
        people = None if self.people is None else self.people[rows]
        return replace(
            self, before=self.before[rows], after=self.after[rows], categories=categories, people=people
        )

    def select(self, columns: Sequence[str]) -> "MixedTables":
        """Some of the columns."""
        wanted = set(columns)
        if wanted >= set(self.columns):
            return self
        places = [place for place, name in enumerate(self.names) if name in wanted]
        return MixedTables(
            tuple(self.names[place] for place in places),
            np.ascontiguousarray(self.before[:, places]),
            np.ascontiguousarray(self.after[:, places]),
            tuple(pair for pair in self.categories if pair.name in wanted),
            self.people,
            tuple(name for name in self.unknown if name in wanted),
            tuple(name for name in self.first if name in wanted),
        )

    def unchanged(self) -> tuple[str, ...]:
        """The columns in which every record shows what it had; none if that is all or nothing.

        >>> table = np.arange(4.0).reshape(2, 2)
        >>> MixedTables.of_numbers(table, table + np.array([0.0, 1.0])).unchanged()
        ('column 1',)
        """
        found = self.same()
        return found if len(found) < len(self.columns) else ()

    def same(self) -> tuple[str, ...]:
        """The columns in which every record shows what it had."""
        same = (self.before == self.after).all(axis=0).tolist()
        found = [name for name, kept in zip(self.names, same, strict=True) if kept]
        return (*found, *(pair.name for pair in self.categories if not pair.changed.any()))

    @property
    def known(self) -> tuple[str, ...]:
        """The columns an intruder knows."""
        return tuple(name for name in self.columns if name not in self.unknown)

    def knowing(self, columns: Sequence[str]) -> "MixedTables":
        """The same records, of which an intruder knows these columns and no others.

        >>> MixedTables.of_numbers(np.eye(2), np.eye(2)).knowing(["column 2"]).unknown
        ('column 1',)
        """
        return replace(self, unknown=tuple(name for name in self.columns if name not in columns))

    def beside(
        self, names: Sequence[str], before: np.ndarray, after: np.ndarray, pairs: Sequence[CategoryPair]
    ) -> "MixedTables":
        """The same records with further columns, of numbers and of categories."""
        return replace(
            self,
            names=(*self.names, *names),
            before=np.column_stack([self.before, before]),
            after=np.column_stack([self.after, after]),
            categories=(*self.categories, *pairs),
        )

    def sample(self, most: int, seeds: Seeds, what: str) -> "MixedTables":
        """At most so many records, drawn by seed and kept in order."""
        rows = sampled(self.records, most, seeds, what)
        return self if rows.size == self.records else self.take(rows)

    def standardised(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of both tables, centred and divided by the original's deviations; columns without any are only centred."""
        size, centre, spread = self._scale()
        before, after = ((table / size - centre) / spread for table in (self.before, self.after))
        return np.ascontiguousarray(before), np.ascontiguousarray(after)

    def origin(self) -> np.ndarray:
        """How far the original's means are from 0, in its deviations."""
        _, centre, spread = self._scale()
        far: np.ndarray = centre / spread
        return far

    def _scale(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        size = np.where(magnitude(self.before) > 1e150, magnitude(self.before), 1.0)
        before = self.before / size
        spread = deviations(before)
        spread = np.where(constant(self.before) | (spread == 0), 1.0, spread)
        return size, before.mean(axis=0) if self.records else np.zeros(before.shape[1]), spread

    def people_or_records(self) -> np.ndarray:
        """Whose record each is; without a unit every record is somebody's own."""
        return np.arange(self.records) if self.people is None else self.people


def sampled(records: int, most: int, seeds: Seeds, what: str) -> np.ndarray:
    """At most so many record numbers, drawn by seed and in order.

    >>> sampled(3, 5, Seeds(0), "targets").tolist()
    [0, 1, 2]
    """
    if records <= most:
        return np.arange(records)
    return np.sort(seeds.child(what).generator().choice(records, most, replace=False))
