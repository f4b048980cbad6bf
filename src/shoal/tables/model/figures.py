"""Several figures of the same records, such as turnover and wages, as one table with a dimension for the figure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.tables.model.contributions import Contributions, Known
from shoal.tables.model.rules import manual_range, room_below
from shoal.tables.model.table import TOTAL, Table
from shoal.tables.model.tabulated import Tabulation
from shoal.tables.model.trees import Tree

#: The dimension that says which figure a cell is of. It has no total: turnover and wages do not add up to anything.
FIGURE = "figure"


def stacked_table(table: Table, names: list[str], values: np.ndarray) -> Table:
    """The same table once for each figure, under one another; no relation is between two of them."""
    times = len(names)
    if FIGURE in table.dimensions:
        raise InputError(
            f"a dimension cannot be called '{FIGURE}' where there are several figures; rename it"
        )
    starts = np.concatenate([[0], np.cumsum(np.tile(np.diff(table.starts), times))])
    shifts = np.repeat(np.arange(times) * table.cells, table.members.size)
    keys = {FIGURE: np.repeat(np.array(names, dtype=object), table.cells)}
    keys |= {name: np.tile(own, times) for name, own in table.keys.items()}
    return Table(
        values,
        starts,
        np.tile(table.members, times) + shifts,
        np.tile(table.signs, times),
        keys,
        basis=None if table.basis is None else np.tile(table.basis, times),
        totals=table.totals,
    )


def stack(figures: Mapping[str, Tabulation], *, shadow: bool = False) -> Tabulation:
    """One table of several figures of the same records, whose contributors are numbered alike.

    With ``shadow`` a cell that is sensitive in one figure is so in all: where no rule calls it so, it is protected by 20 percent
    of its value, or as the rule ``manual`` says.
    """
    names, parts = list(figures), list(figures.values())
    first = parts[0]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("contributors", "status", "lower", "upper", "cost")
    }
    values = np.concatenate([part.table.values for part in parts])
    table = stacked_table(first.table, names, values)
    if shadow:
        _shadow(joined, values, len(names), manual_range(first.rules) / 100.0)
    by_rule = {
        f"{name}: {rule}": count for name, part in figures.items() for rule, count in part.by_rule.items()
    }
    return replace(
        first,
        table=table,
        trees={FIGURE: figure_tree(names), **first.trees},
        by_rule=by_rule,
        contributions=_joined_contributions(parts, values),
        counts=False,
        remarks=tuple(dict.fromkeys(item for part in parts for item in part.remarks)),
        **joined,
    )


def figure_tree(names: list[str]) -> Tree:
    """The figures as codes of a dimension; its top is no cell."""
    return Tree((TOTAL, *names), np.array([-1, *[0] * len(names)]))


def _shadow(joined: dict[str, Any], values: np.ndarray, times: int, share: float) -> None:
    status = joined["status"].reshape(times, -1)
    somewhere = (status == "u").any(axis=0)
    new = (somewhere & (status != "u")).ravel()
    level = share * np.abs(values)
    joined["upper"] = np.where(new, level, joined["upper"])
    joined["lower"] = np.where(new, room_below(level, values), joined["lower"])
    joined["status"] = np.where(new, "u", joined["status"])


def _joined_contributions(parts: list[Tabulation], values: np.ndarray) -> Known | None:
    cells, who, amounts = [], [], []
    for number, part in enumerate(parts):
        known = part.contributions
        if not isinstance(known, Contributions):
            return None
        cells.append(np.repeat(np.arange(part.table.cells), known.counts) + number * part.table.cells)
        who.append(known.contributor)
        amounts.append(known.amount)
    return Contributions.of(np.concatenate(cells), np.concatenate(who), np.concatenate(amounts), values)


def cells_of_all(table: Table) -> np.ndarray:
    """The cells of a stacked table, one row for each figure: what is in one column is the same cell of all figures."""
    if table.dimensions[:1] != (FIGURE,):
        raise InputError("a common pattern is for tables of several figures; name further values")
    names = dict.fromkeys(str(name) for name in table.keys[FIGURE])
    found: np.ndarray = np.arange(table.cells).reshape(len(names), -1)
    return found
