"""Differences of nested areas: what is left of an area when those that lie in it, published in another table, are taken away.

Two breakdowns of the same people, each without a small count, may have one between them: the people of a district who live in
none of the grid squares that lie in it (Handbook on Statistical Disclosure Control, 2nd edition, section 5.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError
from shoal.tables.public_table import TOTAL, Key, PublicTable, Relation

if TYPE_CHECKING:
    import polars as pl

# What is left of an area has this code in the dimension of those that are taken away, and what is in none of the others this one.
_REST = "outside"
_ELSEWHERE = "elsewhere"
_NEAR = 1e-6


@dataclass(frozen=True)
class Nest:
    """Which areas of a dimension lie in which ones of another (or of the same): ``inside`` has for each the areas in it.

    ``across`` has the areas that lie in several together, each with these; ``unknown`` are areas that no table has.
    """

    part: str
    whole: str
    inside: Mapping[str, tuple[str, ...]]
    across: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def meets(self) -> dict[str, tuple[str, ...]]:
        """For every area those that it lies in together."""
        alone = {part: (whole,) for whole, parts in self.inside.items() for part in parts}
        return {**alone, **self.across}

    @property
    def foreign(self) -> bool:
        """Whether there are areas, and the tables have none of them together with one that it lies in."""
        unknown = set(self.unknown)
        return bool(self.meets) and not any(
            part not in unknown and not unknown.issuperset(every) for part, every in self.meets.items()
        )


@dataclass(frozen=True)
class Difference:
    """The cell of an area, those that lie in it, and the cell of what is left."""

    whole: Key
    parts: tuple[Key, ...]
    rest: Key


def nest_of(frame: "pl.DataFrame", name: str, tables: Sequence[PublicTable]) -> Nest:
    """From a file with two columns: an area, and the one it lies in.

    The columns are named after the dimensions, or ``part`` and ``whole``; then the codes say which dimensions they are of. An
    area that is listed with several lies across them, and in no other.

    >>> import polars as pl
    >>> tables = [PublicTable(("grid",), {("g1",): 4.0}, ()), PublicTable(("district",), {("d1",): 5.0}, ())]
    >>> nest_of(pl.DataFrame({"grid": ["g1"], "district": ["d1"]}), "map.csv", tables).inside
    {'d1': ('g1',)}
    """
    if frame.width != 2:
        raise InputError(
            f"'{name}' must have two columns, an area and the one it lies in; it has {frame.width}"
        )
    part, whole = (
        _dimension(column, [str(code) for code in frame[column].to_list()], name, tables)
        for column in frame.columns
    )
    above: dict[str, list[str]] = {}
    for number, (small, large) in enumerate(frame.iter_rows(), 1):
        if small is None or large is None:
            raise InputError(f"'{name}', record {number}: an area is missing")
        above.setdefault(str(small), []).append(str(large))
    meets = {inner: tuple(dict.fromkeys(every)) for inner, every in above.items()}
    inside: dict[str, list[str]] = {}
    for inner, every in meets.items():
        if len(every) == 1:
            inside.setdefault(every[0], []).append(inner)
    across = {inner: every for inner, every in meets.items() if len(every) > 1}
    known = _codes(tables)
    unknown = [
        area
        for dimension, areas in ((part, meets), (whole, chain.from_iterable(meets.values())))
        for area in areas
        if area not in known[dimension]
    ]
    nest = Nest(part, whole, {outer: tuple(inner) for outer, inner in inside.items()}, across)
    return replace(nest, unknown=tuple(dict.fromkeys(unknown)))


def _codes(tables: Sequence[PublicTable]) -> dict[str, set[str]]:
    """The codes of every dimension that some table has."""
    known: dict[str, set[str]] = {}
    for table in tables:
        for place, dimension in enumerate(table.dimensions):
            known.setdefault(dimension, set()).update(key[place] for key in table.cells)
    return known


def _dimension(column: str, codes: Sequence[str], name: str, tables: Sequence[PublicTable]) -> str:
    known = _codes(tables)
    names = list(known)
    if column in names:
        return column
    found = [dimension for dimension in names if set(codes) <= known[dimension]]
    if len(found) != 1:
        raise InputError(
            f"'{name}' has a column '{column}', which is no dimension of the tables ({', '.join(names)})"
            + ("" if column in ("part", "whole") else "; name its two columns after dimensions")
        )
    return found[0]


def with_differences(table: PublicTable, nests: Sequence[Nest]) -> tuple[PublicTable, tuple[Difference, ...]]:
    """The table with a cell for what is left of every area, as far as some cell of an area inside is in it, too."""
    cells = dict(table.cells)
    relations: list[Relation] = []
    found: list[Difference] = []
    for nest in nests:
        if nest.part not in table.dimensions or nest.whole not in table.dimensions:
            continue
        inner, outer = table.dimensions.index(nest.part), table.dimensions.index(nest.whole)
        shared: dict[Key, list[Key]] = {}
        for key in table.cells:
            if key[inner] in nest.across and (inner == outer or key[outer] == TOTAL):
                # How many of an area that lies across others are in each of them, nobody says.
                pieces = [
                    (_at(key, outer, code), _piece(key, inner, outer, code))
                    for code in nest.across[key[inner]]
                ]
                for whole, piece in pieces:
                    cells.setdefault(piece, None)
                    shared.setdefault(_at(whole, inner, TOTAL) if inner != outer else whole, []).append(piece)
                relations.append(Relation(key, tuple(piece for _, piece in pieces)))
        for key in table.cells:
            if inner != outer and key[inner] != TOTAL:
                continue
            parts = tuple(
                part
                for code in nest.inside.get(key[outer], ())
                if (part := _at(_at(key, outer, TOTAL), inner, code)) in table.cells
            )
            rest = key
            if parts:
                rest = _at(key, inner, _REST if inner != outer else f"{key[outer]} {_REST}")
                cells[rest] = _shown_rest(table, key, parts)
                relations.append(Relation(key, (*parts, rest)))
                found.append(Difference(key, parts, rest))
            if key in shared:
                elsewhere = _at(key, inner, _ELSEWHERE if inner != outer else f"{key[outer]} {_ELSEWHERE}")
                cells[elsewhere] = None
                relations.append(Relation(rest, (*shared[key], elsewhere)))
    return replace(table, cells=cells, relations=(*table.relations, *relations)), tuple(found)


def _piece(key: Key, inner: int, outer: int, code: str) -> Key:
    """The cell of an area that lies across others, as far as it lies in one of them."""
    return _at(key, outer, code) if inner != outer else _at(key, inner, f"{key[inner]} in {code}")


def _at(key: Key, dimension: int, code: str) -> Key:
    return (*key[:dimension], code, *key[dimension + 1 :])


def _shown_rest(table: PublicTable, whole: Key, parts: Sequence[Key]) -> float | None:
    """What is left where everything is shown as it is; ``None`` where it has to be worked out."""
    figures = [table.cells[key] for key in (whole, *parts)]
    known = [figure for figure in figures if figure is not None]
    if len(known) < len(figures):
        return None
    left = known[0] - float(np.sum(known[1:]))
    if left < -_NEAR * max(1.0, abs(known[0])) - table.slack * len(known):
        named = ", ".join(
            f"{name} {code}" for name, code in zip(table.dimensions, whole, strict=True) if code != TOTAL
        )
        raise InputError(
            f"the areas that are said to lie in another count more than it does, the first at {named}: are they of the same "
            "people, and does every one lie in it as a whole?"
        )
    return None if table.slack else max(left, 0.0)


def small_differences(
    table: PublicTable,
    differences: Sequence[Difference],
    intervals: Mapping[Key, tuple[float, float]],
    below: int,
) -> tuple[Difference, ...]:
    """Those that everybody knows to be a count of at least 1 and below the limit."""
    found = []
    for item in differences:
        value = table.cells[item.rest]
        least, most = (value, value) if value is not None else intervals[item.rest]
        if np.ceil(least - _NEAR) >= 1 and np.floor(most + _NEAR) < below:
            found.append(item)
    return tuple(found)
