"""Linked tables: several tables of the same records, protected as one system with their common cells merged."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.errors import InputError
from shoal.tables.model.contributions import Aggregates, Contributions, Known
from shoal.tables.model.table import TOTAL, Table
from shoal.tables.model.tabulated import Tabulation


def link(tables: Sequence[Tabulation]) -> Tabulation:
    """One table of all cells of several: a dimension that a table lacks stands at its total.

    Cells with the same coordinates are the same cell; they must have the same value. A cell is sensitive if it is in one
    of the tables, and always published if it is in one of them.

    >>> import polars as pl
    >>> from shoal.tables.model.tabulation import tabulate
    >>> firms = pl.DataFrame({"a": ["x", "x", "y"], "b": ["p", "q", "q"], "c": ["u", "v", "v"], "v": [1.0, 2, 3]})
    >>> one, two = (tabulate(firms, ["a", other], value="v", rules=["frequency(1)"]) for other in "bc")
    >>> link([one, two]).table.cells
    15
    """
    if len(tables) == 1:
        return tables[0]
    names = list(dict.fromkeys(name for made in tables for name in made.table.dimensions))
    places: dict[tuple[str, ...], int] = {}
    maps = []
    for made in tables:
        columns = [made.table.keys.get(name) for name in names]
        keys = [
            tuple(TOTAL if column is None else str(column[cell]) for column in columns)
            for cell in range(made.table.cells)
        ]
        maps.append(np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64))
    count = len(places)
    values = np.full(count, np.nan)
    status = np.full(count, "s", dtype=object)
    lower, upper, cost = np.zeros(count), np.zeros(count), np.zeros(count)
    contributors = np.zeros(count, dtype=np.int64)
    relations: dict[tuple[tuple[int, float], ...], None] = {}
    for made, where in zip(tables, maps, strict=True):
        known = ~np.isnan(values[where])
        sizes = np.abs(made.table.values)
        # Sums that nearly cancel out carry the noise of their parts.
        apart = np.abs(values[where] - made.table.values) > 1e-8 * np.maximum(sizes, 1e-6 * sizes.max())
        if (known & apart).any():
            cell = int(np.flatnonzero(known & apart)[0])
            raise InputError(f"the linked tables disagree at the cell {made.table.name(cell)}")
        values[where] = made.table.values
        contributors[where] = made.contributors
        for array, own in ((lower, made.lower), (upper, made.upper), (cost, made.cost)):
            array[where] = np.maximum(array[where], own)
        mine = status[where]
        mine[made.status == "z"] = "z"
        mine[(made.status == "u") | (status[where] == "u")] = "u"
        status[where] = mine
        for place in range(made.table.relations):
            cells, signs = where[made.table.relation(place)], made.table.signs_of(place)
            relations[tuple(sorted(zip(cells.tolist(), signs.tolist(), strict=True)))] = None
    keys_of = np.array(list(places), dtype=object).reshape(count, len(names))
    merged = Table.from_relations(
        values,
        [list(relation) for relation in relations],
        {name: keys_of[:, d] for d, name in enumerate(names)},
    )
    merged = replace(
        merged, totals={name: code for made in tables for name, code in made.table.totals.items()}
    )
    trees = {name: tree for made in tables for name, tree in made.trees.items()}
    by_rule: Counter[str] = Counter()
    for made in tables:
        by_rule.update(made.by_rule)
    rules = tuple(dict.fromkeys(rule for made in tables for rule in made.rules))
    return Tabulation(
        merged,
        trees,
        contributors,
        status,
        lower,
        upper,
        cost,
        dict(by_rule),
        rules,
        _merged_contributions(tables, maps, values),
        all(made.counts for made in tables),
        any(made.aggregated for made in tables),
        remarks=tuple(dict.fromkeys(item for made in tables for item in made.remarks)),
    )


def _merged_contributions(
    tables: Sequence[Tabulation], maps: Sequence[np.ndarray], values: np.ndarray
) -> Known | None:
    """The contributions of all cells; the tables must number their contributors alike, as those of one file do."""
    if all(isinstance(made.contributions, Aggregates) for made in tables):
        return _merged_aggregates([made.contributions for made in tables], maps, values)  # type: ignore[misc]
    seen = np.zeros(values.size, dtype=bool)
    parts = []
    for made, where in zip(tables, maps, strict=True):
        found = made.contributions
        if not isinstance(found, Contributions):
            return None
        cell = np.repeat(where, found.counts)
        new = ~seen[cell]
        parts.append((cell[new], found.contributor[new], found.amount[new]))
        seen[where] = True
    cell, contributor, amount = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return Contributions.of(cell, contributor, amount, values)


def _merged_aggregates(
    parts: Sequence[Aggregates], maps: Sequence[np.ndarray], values: np.ndarray
) -> Aggregates:
    """What ready-made tables tell of their cells; of the largest contributions as many as all of them tell."""
    known = min(part.tops.shape[0] for part in parts)
    counts, tops = np.zeros(values.size, dtype=np.int64), np.zeros((known, values.size))
    for part, where in zip(parts, maps, strict=True):
        counts[where] = part.counts
        tops[:, where] = part.tops[:known]
    return Aggregates(counts, tops, values)
