"""Published tables as one: each over the dimensions of all of them, and what all of them show."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from shoal.tables.public_table import TOTAL, Key, PublicTable, Relation, shown_above


def spread_over(table: PublicTable, dimensions: tuple[str, ...]) -> PublicTable:
    """The table with further dimensions, in which it stands at the total.

    >>> spread_over(PublicTable(("a",), {("x",): 1.0}, ()), ("a", "b")).cells
    {('x', 'total'): 1.0}
    """
    place = {name: number for number, name in enumerate(table.dimensions)}

    def wider(key: Key) -> Key:
        return tuple(key[place[name]] if name in place else TOTAL for name in dimensions)

    relations = tuple(
        Relation(wider(item.total), tuple(wider(part) for part in item.parts)) for item in table.relations
    )
    return replace(
        table,
        dimensions=dimensions,
        cells={wider(key): value for key, value in table.cells.items()},
        relations=relations,
        bounds={wider(key): ends for key, ends in table.bounds.items()},
        unprinted=frozenset(map(wider, table.unprinted)),
    )


def united(dimensions: tuple[str, ...], tables: Sequence[PublicTable]) -> PublicTable:
    """What all of them show, as one table."""
    cells: dict[Key, float | None] = {}
    bounds: dict[Key, tuple[float, float]] = {}
    for table in tables:
        for key, value in table.cells.items():
            cells[key] = value if cells.get(key) is None else cells[key]
        for key, (low, high) in table.bounds.items():
            before = bounds.get(key, (low, high))
            bounds[key] = max(low, before[0]), min(high, before[1])
    own = (item for table in tables for item in table.relations)
    across = (
        item
        for table in tables
        for name, tree in table.trees.items()
        if name in dimensions
        for item in _across(cells, dimensions.index(name), tree)
    )
    relations = tuple(dict.fromkeys([*own, *across]))
    unsure = {key: ends for key, ends in bounds.items() if cells[key] is None}
    printed = {key for table in tables for key in table.cells.keys() - table.unprinted}
    return PublicTable(
        dimensions,
        cells,
        relations,
        slack=max(table.slack for table in tables),
        bounds=unsure,
        unprinted=frozenset(cells.keys() - printed),
    )


def _across(cells: Mapping[Key, float | None], dimension: int, tree: Mapping[str, str]) -> Iterator[Relation]:
    """What a hierarchy makes of cells: a subtotal that one table shows is the sum of the parts that another one has."""
    shown = dict.fromkeys(key[dimension] for key in cells)
    parts: dict[str, list[str]] = {}
    for code in shown:
        if code != TOTAL:
            parts.setdefault(shown_above(code, tree, shown), []).append(code)
    for key in cells:
        codes = parts.get(key[dimension])
        if codes:
            below = tuple((*key[:dimension], code, *key[dimension + 1 :]) for code in codes)
            if all(part in cells for part in below):
                yield Relation(key, below)
