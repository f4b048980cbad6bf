"""Rules for counts that look at a cell beside its totals: what a whole group has in common, and what nobody has.

Whoever knows that somebody belongs to a group of which all are in one category knows the category (group disclosure); an empty
cell says that nobody of the group is in it (Handbook on Statistical Disclosure Control, 2nd edition, section 5.2).
"""

from collections.abc import Sequence
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

    The cell must be able to fall until there may be that many others; empty cells beside it may be hidden for that.
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
    for place in range(table.relations):
        cells, signs = table.relation(place), table.signs_of(place)
        total = cells[signs < 0]
        parts = cells[signs > 0]
        if total.size != 1 or parts.size < 2:
            continue
        count, inside = float(table.values[total[0]]), table.values[parts]
        if count <= 0:
            continue
        if isinstance(rule, Empty):
            mine = parts[inside == 0]
            lower[mine], upper[mine] = 0.0, float(rule.range)
            continue
        others = count - inside
        alone = (inside > 0) & (others < rule.others)
        if alone.any():
            mine = parts[alone]
            lower[mine] = np.fmax(lower[mine], np.minimum(rule.others - others[alone], inside[alone]))
            upper[mine] = np.fmax(upper[mine], 0.0)
            opened[parts[inside == 0]] = True
    return Beside(lower, upper, opened)
