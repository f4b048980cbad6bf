"""Cells that nobody publishes, but that are there: figures of all dimensions together, of which none is below 0.

Two tables tell no more by them. Three that meet in a circle do: of regions by sectors, where regions by sizes and sectors by
sizes are known, a cell is no more than the smaller of both in each size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from shoal.tables.public_table import TOTAL, PublicTable, Relation
from shoal.tables.safety.margins import largest, spanned

#: Up to so many cells of all dimensions together are looked at, and so many of them in all sums.
MOST_CELLS = 5_000
_MOST_PARTS = 200_000

#: What is said where it cannot be done.
NOT_LOOKED_INTO = (
    "; what follows from cells of all dimensions together, which nobody publishes, was not looked at"
)


def with_unpublished(table: PublicTable) -> tuple[PublicTable, bool]:
    """The tables with the cells of all their dimensions together, where these tell more; false if that cannot be looked at.

    >>> cells = {("x", "total"): 3.0, ("total", "y"): 3.0, ("total", "total"): 3.0}
    >>> with_unpublished(PublicTable(("a", "b"), cells, ()))[0].hidden
    ()
    """
    spans = largest(spanned(key) for key in table.cells)
    if not _in_a_circle(spans):
        return table, True
    below = _parts_of_codes(table)
    if below is None:
        return table, False
    leaves = [_leaves(own, TOTAL) for own in below]
    if prod(len(own) for own in leaves) > MOST_CELLS:
        return table, False
    inner = list(product(*leaves))
    sums = [key for key in table.cells if spanned(key) in spans]
    if len(sums) * len(inner) > _MOST_PARTS * 50:
        return table, False
    relations = []
    for key in sums:
        within = [set(_leaves(own, code)) for own, code in zip(below, key, strict=True)]
        parts = tuple(cell for cell in inner if all(map(_contains, within, cell)))
        if parts:
            relations.append(Relation(key, parts))
    if sum(len(item.parts) for item in relations) > _MOST_PARTS:
        return table, False
    cells = {**table.cells, **{cell: table.cells.get(cell) for cell in inner}}
    return replace(table, cells=cells, relations=(*table.relations, *relations)), True


def _contains(codes: set[str], code: str) -> bool:
    return code in codes


def _in_a_circle(spans: set[frozenset[int]]) -> bool:
    """Whether tables of these dimensions cannot be taken apart one by one, each meeting the others in one of them (Graham).

    >>> _in_a_circle({frozenset({0, 1}), frozenset({0, 2})}), _in_a_circle({frozenset(p) for p in ((0, 1), (1, 2), (0, 2))})
    (False, True)
    """
    left = list(spans)
    while len(left) > 1:
        counted = {place: sum(place in span for span in left) for span in left for place in span}
        shared = [frozenset(place for place in span if counted[place] > 1) for span in left]
        smaller = list(largest(shared))
        if len(smaller) == len(left) and all(span in left for span in smaller):
            return True
        left = smaller
    return False


def _parts_of_codes(table: PublicTable) -> list[dict[str, tuple[str, ...]]] | None:
    """For each dimension the codes that others are the sum of; ``None`` where that is not one and the same everywhere."""
    found: list[dict[str, tuple[str, ...]]] = [{} for _ in table.dimensions]
    for relation in table.relations:
        places = {
            place
            for part in relation.parts
            for place, code in enumerate(part)
            if code != relation.total[place]
        }
        if len(places) > 1:
            continue
        (place,) = places
        codes = tuple(sorted(part[place] for part in relation.parts))
        if found[place].setdefault(relation.total[place], codes) != codes:
            return None
    return found if all(TOTAL in own for own in found) else None


def _leaves(below: Mapping[str, Sequence[str]], code: str) -> list[str]:
    """The finest codes that one is the sum of."""
    if code not in below:
        return [code]
    return [leaf for part in below[code] for leaf in _leaves(below, part)]
