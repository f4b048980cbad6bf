"""How a table is laid out for people: which dimensions go down, which across, and the rest into slices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from shoal.errors import InputError, parameter, unknown
from shoal.exact_names import exactly
from shoal.tables.model.decimals import places
from shoal.tables.model.figures import FIGURE
from shoal.tables.model.table import TOTAL, Table
from shoal.tables.model.trees import Tree

Codes = tuple[str, ...]
#: What people can still look through, and a sheet holds.
MOST_SLICES, MOST_ACROSS, MOST_DOWN = 200, 16_000, 1_000_000


@dataclass(frozen=True)
class Layout:
    """What somebody wants a published table to look like; what is not said follows from the table."""

    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    decimals: int | None = None
    symbol: str | None = None
    figure: str = ""
    decimal: str = "."

    @property
    def chosen(self) -> bool:
        """Whether somebody chose rows or columns."""
        return bool(self.rows or self.columns)

    @property
    def mark(self) -> str:
        """What stands in a hidden cell of a crosstab, where an empty one would pass for one that is not there."""
        return "x" if self.symbol is None else self.symbol


@dataclass(frozen=True, eq=False)
class Slice:
    """One crosstab: its codes in the dimensions that are neither rows nor columns, and the cell at each place (−1: none)."""

    fixed: Codes
    cells: np.ndarray


@dataclass(frozen=True, eq=False)
class Crosstabs:
    """A table as crosstabs: the labels down and across are those of every slice."""

    table: Table
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    others: tuple[str, ...]
    down: tuple[Codes, ...]
    across: tuple[Codes, ...]
    slices: tuple[Slice, ...]
    depths: Mapping[tuple[str, str], int]

    def shown(self, dimension: str, code: str) -> str:
        """A code as it is called outside."""
        return self.table.totals.get(dimension, TOTAL) if code == TOTAL else code

    def labels(self, dimensions: Sequence[str], codes: Codes) -> list[str]:
        """Codes as they are called outside."""
        return [self.shown(name, code) for name, code in zip(dimensions, codes, strict=True)]

    def depth(self, codes: Codes) -> int:
        """How many levels below the total the last code of a row is."""
        return self.depths.get((self.rows[-1], codes[-1]), 0)

    def caption(self, slice_: Slice, figure: str = "") -> str:
        """What a crosstab shows, in a line."""
        by = " and ".join(", ".join(names) for names in (self.rows, self.columns) if names)
        fixed = self.labels(self.others, slice_.fixed)
        named = dict(zip(self.others, fixed, strict=True))
        # Of several figures each slice has its own.
        shown = named.pop(FIGURE, figure)
        where = "".join(f"; {name}: {code}" for name, code in named.items())
        return f"{shown or 'Value'} by {by}{where}"


def crosstabs(table: Table, trees: Mapping[str, Tree], layout: Layout) -> Crosstabs:
    """Lay a table out: by default the first dimension goes down, the second across, and further ones are slices.

    Several figures of the same cells are slices before anything else is.

    >>> plain = Table.from_matrix([[1.0, 2.0], [3.0, 4.0]])
    >>> made = crosstabs(plain, {}, Layout())
    >>> made.rows, made.columns, made.down[-1], len(made.slices)
    (('row',), ('column',), ('total',), 1)
    """
    codes = {name: _order(table, name, trees.get(name)) for name in table.dimensions}
    rows, columns, others = _divided(
        table.dimensions, layout, {name: len(own) for name, own in codes.items()}
    )
    down, across = (tuple(product(*(codes[name] for name in names))) for names in (rows, columns))
    at = [(*rows, *columns, *others).index(name) for name in table.dimensions]
    slices = []
    for fixed in product(*(codes[name] for name in others)):
        cells = np.full((len(down), len(across)), -1, dtype=np.int64)
        for i, row in enumerate(down):
            for j, column in enumerate(across):
                every = (*row, *column, *fixed)
                cells[i, j] = table.index.get(tuple(every[place] for place in at), -1)
        if (cells >= 0).any():
            slices.append(Slice(tuple(fixed), cells))
    depths = {
        (name, code): len(tree.lineage(place)) - 2
        for name, tree in trees.items()
        for place, code in enumerate(tree.codes)
        if place
    }
    return Crosstabs(table, rows, columns, others, down, across, tuple(slices), depths)


def _divided(
    dimensions: tuple[str, ...], layout: Layout, sizes: Mapping[str, int]
) -> tuple[Codes, Codes, Codes]:
    """The dimensions down, across and in slices; what nobody chose is chosen so that a workbook can hold it."""
    for name in (*layout.rows, *layout.columns):
        if name not in dimensions:
            raise unknown("dimension", name, dimensions, where="a dimension of the table")
        if (*layout.rows, *layout.columns).count(name) > 1:
            raise InputError(
                f"dimension '{name}' is named twice in {parameter('rows')} and {parameter('columns')}"
            )
    free = [name for name in dimensions if name not in (*layout.rows, *layout.columns)]
    # Figures of several columns are tables of their own: they come last.
    free.sort(key=lambda name: name == FIGURE)
    rows = layout.rows or (free.pop(0),) if free or layout.rows else ()
    if not rows:
        raise InputError(f"leave at least one dimension for {parameter('rows')}")
    columns = layout.columns or ((free.pop(0),) if free and sizes[free[0]] <= MOST_ACROSS else ())
    while not layout.chosen and free and prod(sizes[name] for name in free) > MOST_SLICES:
        rows = (free.pop(), *rows)
    if (sheets := prod(sizes[name] for name in free)) > MOST_SLICES:
        raise InputError(
            f"there would be {sheets:,} slices; put more dimensions into {parameter('rows')} and {parameter('columns')}"
        )
    if prod(sizes[name] for name in columns) > MOST_ACROSS:
        raise InputError(
            f"more than {MOST_ACROSS:,} columns are more than a sheet holds; see {parameter('columns')}"
        )
    return rows, columns, tuple(free)


def _order(table: Table, name: str, tree: Tree | None) -> list[str]:
    """The codes of a dimension: those of a hierarchy before their parts, the total last."""
    there = dict.fromkeys(str(key) for key in table.keys[name])
    found = [code for code in there if code != TOTAL]
    if tree is not None:
        found = [code for code in _walk(tree, 0) if code in there]
    return [*found, *([TOTAL] if TOTAL in there else [])]


def _walk(tree: Tree, code: int) -> Iterator[str]:
    for child in tree.children.get(code, ()):
        yield tree.codes[child]
        yield from _walk(tree, child)


def decimals_of(values: np.ndarray, layout: Layout) -> int:
    """How many decimals figures are shown with: as many as are asked for, or else as they have, up to six."""
    if layout.decimals is not None:
        return layout.decimals
    found = places(values) if values.size else 0
    return 6 if found is None else found


def figure_of(value: float, layout: Layout) -> float:
    """A figure as it is published: with as many decimals as were asked for."""
    found = float(value) if layout.decimals is None else round(float(value), layout.decimals)
    return found + 0.0


def decimals_by_cell(table: Table, hidden: np.ndarray, layout: Layout) -> np.ndarray:
    """The same for each cell: of several figures every one has as many as its own cells that are shown."""
    found = np.full(table.cells, decimals_of(table.values[~hidden], layout), dtype=np.int64)
    if FIGURE in table.dimensions:
        for code in dict.fromkeys(table.keys[FIGURE]):
            own = table.keys[FIGURE] == code
            found[own] = decimals_of(table.values[own & ~hidden], layout)
    return found


def written(value: float, decimals: int, sign: str = ".") -> str:
    """A figure as text, with a fixed number of decimals.

    >>> written(1.5, 2), written(1.5, 1, ",")
    ('1.50', '1,5')
    """
    return f"{value:.{decimals}f}".replace(".", sign)


def as_frame(crosstabs: Crosstabs, hidden: np.ndarray, layout: Layout, *, numbers: bool = False) -> Any:
    """All crosstabs as one frame: the slice and the rows first, then a column for each code across.

    Figures are texts, each with the decimals that its figure has, or ``numbers`` where nothing is hidden.
    """
    import polars as pl

    values = crosstabs.table.values
    decimals = decimals_by_cell(crosstabs.table, hidden, layout)
    sign = "." if numbers else layout.decimal
    labels = [*crosstabs.others, *crosstabs.rows]
    names = (
        [" | ".join(crosstabs.labels(crosstabs.columns, codes)) for codes in crosstabs.across]
        if crosstabs.columns
        else ["value"]
    )
    lines = [
        [
            *crosstabs.labels(crosstabs.others, part.fixed),
            *crosstabs.labels(crosstabs.rows, codes),
            *(
                ""
                if cell < 0
                else layout.symbol or ""
                if hidden[cell]
                else written(figure_of(values[cell], layout), int(decimals[cell]), sign)
                for cell in cells.tolist()
            ),
        ]
        for part in crosstabs.slices
        for codes, cells in zip(crosstabs.down, part.cells, strict=True)
    ]
    columns = _distinct([*labels, *names])
    made = pl.DataFrame(lines, schema=dict.fromkeys(columns, pl.String), orient="row")
    if not numbers:
        return made
    shown = columns[len(labels) :]
    kind = pl.Int64 if not decimals.any() else pl.Float64
    return made.with_columns(exactly(*shown).replace("", None).cast(kind))


def read_crosstab(table: Table, layout: Layout, frame: Any) -> np.ndarray:
    """The figures of such a frame as somebody reads them back, in the order of the cells, found by their labels.

    Raises ``AssertionError`` unless every cell of the table is there once.
    """
    codes = {name: _order(table, name, None) for name in table.dimensions}
    rows, columns, others = _divided(
        table.dimensions, layout, {name: len(own) for name, own in codes.items()}
    )
    plain = Crosstabs(table, rows, columns, others, (), (), (), {})
    labels = [*others, *rows]
    across = tuple(product(*(codes[name] for name in columns)))
    names = [" | ".join(plain.labels(columns, own)) for own in across] if columns else ["value"]
    named = dict(zip(_distinct([*labels, *names])[len(labels) :], across, strict=True))
    assert len(frame.columns) == len(labels) + len(names), "it has other columns"
    inside = {name: {plain.shown(name, code): code for code in own} for name, own in codes.items()}
    found = np.full(table.cells, np.nan)
    at = [(*others, *rows, *columns).index(name) for name in table.dimensions]
    for line in frame.iter_rows():
        for column, shown in zip(frame.columns[len(labels) :], line[len(labels) :], strict=True):
            assert column in named, "it has other columns"
            told = zip(labels, line, strict=False)
            key = (*(inside[name].get(str(code), "") for name, code in told), *named[column])
            cell = table.index.get(tuple(key[place] for place in at), -1)
            if cell < 0:
                assert shown in (None, ""), "there is a figure where the table has no cell"
                continue
            assert np.isnan(found[cell]), "a cell is there twice"
            found[cell] = np.nan if shown in (None, "") else float(shown)
    assert not np.isnan(found).any(), "a cell is missing"
    return found


def _distinct(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        while name in found:
            name += "_"
        found.append(name)
    return found
