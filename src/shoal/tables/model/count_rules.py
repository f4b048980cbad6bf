"""Rules for counts that look at a cell beside its totals: what a whole group has in common, and what nobody has.

Whoever knows that somebody belongs to a group of which all are in one category knows the category (group disclosure); an empty
cell says that nobody of the group is in it (Handbook on Statistical Disclosure Control, 2nd edition, section 5.2).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError, parameter
from shoal.numbers import whole
from shoal.tables.model.contributions import Known
from shoal.tables.model.table import Table

_MOST = 10**9


@dataclass(frozen=True)
class Group:
    """Sensitive if all that a total counts are in one cell, but for fewer than ``others``.

    There must be that many others for all that is known: the cell must be able to fall, and since it may fall together with a
    hidden total, those beside it to rise; empty ones may be hidden for that.
    """

    others: int = 1

    def __post_init__(self) -> None:
        whole(self.others, "the number of others of a group rule", least=1, most=_MOST)

    def level(self, cells: Known) -> np.ndarray:
        """No cell is sensitive by itself: it is beside its totals."""
        return np.full(cells.total.size, np.nan)

    def __str__(self) -> str:
        return f"group({self.others})"


@dataclass(frozen=True)
class Empty:
    """Sensitive if a cell is empty and one of its totals is not; it must be able to rise by ``range``."""

    range: int = 1

    def __post_init__(self) -> None:
        whole(self.range, "the range of an empty rule", least=1, most=_MOST)

    def level(self, cells: Known) -> np.ndarray:
        """No cell is sensitive by itself: it is beside its totals."""
        return np.full(cells.total.size, np.nan)

    def __str__(self) -> str:
        return f"empty({self.range})"


@dataclass(frozen=True)
class InOneCell:
    """A cell that has all that a total counts, but for fewer than ``others``; ``beside`` are the other parts.

    Of a smaller group there need be no more others than it has members.
    """

    cell: int
    total: int
    others: int
    beside: tuple[int, ...]


def in_one_cell(rule: Group, table: Table) -> list[InOneCell]:
    """Where a table of counts has a whole group in one cell.

    >>> table = Table.from_matrix([[4.0, 0.0], [2.0, 3.0]])
    >>> in_one_cell(Group(1), table)
    [InOneCell(cell=0, total=2, others=1, beside=(1,)), InOneCell(cell=4, total=7, others=1, beside=(1,))]
    """
    found = []
    for total, parts in _with_parts(table):
        inside = table.values[parts]
        alone = (inside > 0) & (table.values[total] - inside < rule.others)
        found += [
            InOneCell(
                cell, total, int(min(rule.others, table.values[total])), tuple(parts[parts != cell].tolist())
            )
            for cell in parts[alone].tolist()
        ]
    return found


def _with_parts(table: Table) -> Iterator[tuple[int, np.ndarray]]:
    """The totals that are not empty, each with its parts, where it has several."""
    for place in range(table.relations):
        cells, signs = table.relation(place), table.signs_of(place)
        total, parts = cells[signs < 0], cells[signs > 0]
        if total.size == 1 and parts.size > 1 and table.values[total[0]] > 0:
            yield int(total[0]), parts


@dataclass(frozen=True, eq=False)
class Beside:
    """Levels of cells that are sensitive beside their totals (NaN: they are not), and empty cells that may be hidden for them."""

    lower: np.ndarray
    upper: np.ndarray
    opened: np.ndarray

    @property
    def cells(self) -> int:
        """How many are sensitive."""
        return int((~np.isnan(self.lower)).sum())


def needs_counts(rules: Sequence[object], *, counts: bool) -> None:
    """Refuse these rules for anything but counts."""
    if not counts and any(isinstance(rule, Group | Empty) for rule in rules):
        raise InputError(
            "the rules group(n) and empty(n) are for tables that count records, without a value and without weights; of "
            f"a ready-made table of counts, name these with {parameter('contributors_column')} in place of a value"
        )


def beside_totals(rule: object, table: Table) -> Beside | None:
    """What a rule of this file says of a table of counts; ``None`` for any other rule."""
    if not isinstance(rule, Group | Empty):
        return None
    lower, upper = np.full(table.cells, np.nan), np.full(table.cells, np.nan)
    opened = np.zeros(table.cells, dtype=bool)
    if isinstance(rule, Empty):
        for _, parts in _with_parts(table):
            mine = parts[table.values[parts] == 0]
            lower[mine], upper[mine] = 0.0, float(rule.range)
        return Beside(lower, upper, opened)
    for group in in_one_cell(rule, table):
        cell, beside = group.cell, np.array(group.beside)
        others = float(table.values[group.total] - table.values[cell])
        lower[cell] = np.fmax(lower[cell], group.others - others)
        upper[cell] = np.fmax(upper[cell], 0.0)
        opened[beside[table.values[beside] == 0]] = True
    return Beside(lower, upper, opened)


def groups_of(rules: Sequence[object], table: Table, status: np.ndarray) -> tuple[InOneCell, ...]:
    """The whole groups in one cell that is sensitive."""
    found = [group for rule in rules if isinstance(rule, Group) for group in in_one_cell(rule, table)]
    return tuple(group for group in found if status[group.cell] == "u")
