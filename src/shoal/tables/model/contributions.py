"""What is known of the contributors of cells: every one of them, or only their number and the largest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shoal.tables.model.table import Table


class Known(Protocol):
    """What rules and insiders need of the contributors of cells."""

    @property
    def total(self) -> np.ndarray:
        """What each cell publishes."""

    @property
    def counts(self) -> np.ndarray:
        """Number of contributors of each cell."""

    @property
    def noise(self) -> np.ndarray:
        """What sums of this size may be off by in floating point: no reason to call a cell sensitive."""

    def largest(self, n: int) -> np.ndarray:
        """x1 + … + xn of each cell."""

    def together(self, cells: np.ndarray) -> "Known":
        """The cells as if they were one."""

    def same(self, cell: int, merged: "Known") -> bool:
        """Whether a cell has the very contributions of cells that were put together."""

    def sole(self, table: Table) -> list[np.ndarray]:
        """The cells each sole contributor knows."""

    def amounts_of(self, sole: Sequence[np.ndarray], table: Table) -> "Iterator[tuple[int, int, float]]":
        """What sole contributors give to cells that others contribute to as well: their number, the cell, the amount."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """Who contributes how much to which cell: entries sorted by cell, then by falling amount.

    ``total`` is what the cell publishes (weighted where there are weights), ``amount`` what an entry counts as.
    """

    starts: np.ndarray
    contributor: np.ndarray
    amount: np.ndarray
    total: np.ndarray

    @classmethod
    def of(
        cls, cell: np.ndarray, contributor: np.ndarray, amount: np.ndarray, total: np.ndarray
    ) -> "Contributions":
        """Entries in any order, sorted."""
        order = np.lexsort((contributor, -amount, cell))
        starts = np.searchsorted(cell[order], np.arange(total.size + 1))
        return cls(starts, contributor[order], amount[order], total)

    def __repr__(self) -> str:
        # Never the amounts: what is printed ends up in logs.
        return f"<Contributions: {self.amount.size} to {self.total.size} cells>"

    @property
    def counts(self) -> np.ndarray:
        """Number of contributors of each cell."""
        return np.diff(self.starts)

    def largest(self, n: int) -> np.ndarray:
        """x1 + … + xn of each cell."""
        first, counts = self.starts[:-1], self.counts
        found = np.zeros(counts.size)
        # One after the other, not by differences of running sums: those would carry the noise of the whole table.
        for place in range(min(n, int(counts.max(initial=0)))):
            has = counts > place
            found[has] += self.amount[first[has] + place]
        return found

    @property
    def noise(self) -> np.ndarray:
        """What sums of this size may be off by in floating point: no reason to call a cell sensitive."""
        found: np.ndarray = 1e-12 * np.abs(self.total)
        return found

    def together(self, cells: np.ndarray) -> "Contributions":
        """The cells as if they were one."""
        parts = [slice(self.starts[cell], self.starts[cell + 1]) for cell in cells]
        who = np.concatenate([self.contributor[part] for part in parts])
        amount = np.concatenate([self.amount[part] for part in parts])
        names, inverse = np.unique(who, return_inverse=True)
        merged = np.bincount(inverse.reshape(-1), weights=amount, minlength=names.size)
        total = np.array([float(self.total[cells].sum())])
        return Contributions.of(np.zeros(names.size), names, merged, total)

    def same(self, cell: int, merged: Known) -> bool:
        """Whether a cell has the very contributions of cells that were put together."""
        assert isinstance(merged, Contributions)
        mine = slice(self.starts[cell], self.starts[cell + 1])
        there = dict(zip(self.contributor[mine], self.amount[mine], strict=True))
        if set(there) != set(merged.contributor):
            return False
        pairs = zip(merged.contributor, merged.amount, strict=True)
        return all(abs(there[who] - amount) <= 1e-9 * abs(amount) for who, amount in pairs)

    def sole(self, table: Table) -> list[np.ndarray]:
        """The cells each sole contributor knows."""
        single = np.flatnonzero(self.counts == 1)
        who = self.contributor[self.starts[single]]
        order = np.argsort(who, kind="stable")
        single, who = single[order], who[order]
        cuts = np.flatnonzero(np.diff(who)) + 1
        return [np.sort(part) for part in np.split(single, cuts) if part.size]

    def amounts_of(self, sole: Sequence[np.ndarray], table: Table) -> Iterator[tuple[int, int, float]]:
        """What sole contributors give to cells that others contribute to as well: their number, the cell, the amount."""
        number = {int(self.contributor[self.starts[cells[0]]]): n for n, cells in enumerate(sole)}
        cell_of = np.repeat(np.arange(self.total.size), self.counts)
        mine = np.flatnonzero(np.isin(self.contributor, list(number)) & (self.counts[cell_of] > 1))
        for entry in mine.tolist():
            yield number[int(self.contributor[entry])], int(cell_of[entry]), float(self.amount[entry])


@dataclass(frozen=True, eq=False)
class Aggregates:
    """What a ready-made table tells of its contributors: their number and the largest contributions to each cell.

    ``tops`` has a row for each of the largest, falling. Who they are is not known: a contributor of several cells is seen as
    several contributors, except where a total has one contributor and so has one of its parts.
    """

    counts: np.ndarray
    tops: np.ndarray
    total: np.ndarray

    def __repr__(self) -> str:
        # Never the amounts: what is printed ends up in logs.
        return f"<Aggregates: the {self.tops.shape[0]} largest of {self.total.size} cells>"

    @property
    def noise(self) -> np.ndarray:
        """What sums of this size may be off by in floating point: no reason to call a cell sensitive."""
        found: np.ndarray = 1e-12 * np.abs(self.total)
        return found

    def largest(self, n: int) -> np.ndarray:
        """x1 + … + xn of each cell, as far as they are known."""
        found: np.ndarray = self.tops[:n].sum(axis=0)
        return found

    def together(self, cells: np.ndarray) -> "Aggregates":
        """The cells as if they were one, of as many contributors as they have together."""
        tops = -np.sort(-self.tops[:, cells].ravel())[: self.tops.shape[0]]
        return Aggregates(
            self.counts[cells].sum(keepdims=True), tops[:, None], self.total[cells].sum(keepdims=True)
        )

    def same(self, cell: int, merged: Known) -> bool:
        """Whether a cell has the contributions of cells that were put together, as far as they are known."""
        assert isinstance(merged, Aggregates)
        mine = np.append(self.tops[:, cell], self.total[cell])
        theirs = np.append(merged.tops[:, 0], merged.total[0])
        return bool(self.counts[cell] == merged.counts[0] and np.allclose(mine, theirs, rtol=1e-9, atol=0.0))

    def sole(self, table: Table) -> list[np.ndarray]:
        """The cells each sole contributor knows: a total of one contributor is its part's of one contributor."""
        single = self.counts == 1
        group = np.arange(table.cells)

        def root(cell: int) -> int:
            while group[cell] != cell:
                group[cell] = group[group[cell]]
                cell = int(group[cell])
            return cell

        for total, parts in _totals(table):
            if single[total]:
                for part in parts[single[parts]].tolist():
                    group[root(part)] = root(total)
        found: dict[int, list[int]] = {}
        for cell in np.flatnonzero(single).tolist():
            found.setdefault(root(cell), []).append(cell)
        return [np.array(cells, dtype=np.int64) for _, cells in sorted(found.items())]

    def amounts_of(self, sole: Sequence[np.ndarray], table: Table) -> Iterator[tuple[int, int, float]]:
        """What sole contributors give at least to the totals over their cells, and to all that is the same as these."""
        above: dict[int, list[int]] = {}
        for total, parts in _totals(table):
            for part in parts.tolist():
                above.setdefault(part, []).append(total)
            # A total with one part that is not empty has the contributors of that part.
            (filled,) = np.nonzero(self.counts[parts])
            if filled.size == 1:
                above.setdefault(total, []).append(int(parts[filled[0]]))
        for number, cells in enumerate(sole):
            amount = float(self.total[cells[0]])
            seen: set[int] = set(cells.tolist())
            waiting = list(seen)
            while waiting:
                for total in above.get(waiting.pop(), ()):
                    if total not in seen:
                        seen.add(total)
                        waiting.append(total)
            yield from ((number, cell, amount) for cell in sorted(seen) if self.counts[cell] > 1)


def _totals(table: Table) -> Iterator[tuple[int, np.ndarray]]:
    """The total and the parts of every relation that has one total."""
    for place in range(table.relations):
        cells, signs = table.relation(place), table.signs_of(place)
        minus = signs < 0
        if minus.sum() == 1:
            yield int(cells[minus][0]), cells[~minus]
