"""A hierarchy: every value with what it becomes, level by level, up to one label that says nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import InputError, first_record
from shoal.microdata.columns.hierarchies.exact_numbers import Number, number_of
from shoal.microdata.columns.orders import declared_order

#: What stands for a value of which nothing is said.
BLANK = "*"

#: A value with its labels, finest first; a missing value is ``None`` and stays so below the top.
Row = tuple[str | None, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A tree over the values of a column, told by its rows: a value, what it becomes at level 1, at level 2, and so on.

    All rows are of one length, every label has one parent, and the last level has one label, the root; where it has several,
    a level with ``*`` is added. Values are kept in the order of a walk through the tree, so that what is under a node is an
    unbroken run of ``leaves``. ``origin`` says in words where the hierarchy comes from, ``rule`` how to build it again for
    other values, if it was built.

    >>> ages = Hierarchy([("31", "30-39"), ("47", "40-49"), ("38", "30-39")])
    >>> ages.leaves, ages.labels[1], ages.height
    (('31', '38', '47'), ('30-39', '40-49'), 2)
    """

    rows: Sequence[Row]
    origin: str = ""
    rule: str | None = None
    labels: tuple[tuple[str | None, ...], ...] = field(init=False)
    #: The node over each leaf, one row for each level.
    nodes: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        rows = [tuple(row) for row in self.rows]
        _check_shape(rows)
        if len({row[-1] for row in rows}) > 1 or len(rows[0]) == 1 or rows[0][-1] is None:
            rows = [(*row, BLANK) for row in rows]
        _check_parents(rows)
        order = _walk(rows)
        rows = [rows[number] for number in order]
        numbered = [_numbered(row[level] for row in rows) for level in range(len(rows[0]))]
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "labels", tuple(tuple(seen) for seen, _ in numbered))
        nodes = np.array([codes for _, codes in numbered], dtype=np.int32)
        nodes.setflags(write=False)
        object.__setattr__(self, "nodes", nodes)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.rows)} values, {self.height} levels{f', {self.origin}' if self.origin else ''})"

    @property
    def leaves(self) -> tuple[str | None, ...]:
        """The values, in the order of the tree."""
        return self.labels[0]

    @property
    def height(self) -> int:
        """The level of the root; values themselves are level 0."""
        return len(self.labels) - 1

    @property
    def root(self) -> str:
        """The label that says nothing."""
        return str(self.labels[-1][0])

    @cached_property
    def sizes(self) -> list[np.ndarray]:
        """How many leaves are under each node, by level."""
        return [np.bincount(level) for level in self.nodes]

    @cached_property
    def loss(self) -> list[np.ndarray]:
        """What is lost at each node, by level: 0 for a value, 1 for the root, else the share of the other leaves.

        V. S. Iyengar, Transforming data to satisfy privacy constraints, KDD 2002; as ARX computes it.
        """
        others = max(1, len(self.rows) - 1)
        rates = [(sizes - 1) / others for sizes in self.sizes]
        rates[-1] = np.ones(1)
        return rates

    def up(self, lower: int, upper: int) -> np.ndarray:
        """The node at the upper level over each node of the lower."""
        if (lower, upper) not in self._parents:
            first = np.flatnonzero(np.diff(self.nodes[lower], prepend=-1))
            self._parents[lower, upper] = self.nodes[upper][first]
        return self._parents[lower, upper]

    @cached_property
    def _parents(self) -> dict[tuple[int, int], np.ndarray]:
        return {}

    @cached_property
    def positions(self) -> dict[str | None, int]:
        """Where each value is among the leaves."""
        return {label: number for number, label in enumerate(self.leaves)}

    def with_missing(self) -> "Hierarchy":
        """The same with a missing value as a value of its own."""
        if None in self.positions:
            return self
        rows: list[Row] = [*self.rows, (*([None] * self.height), self.root)]
        return Hierarchy(rows, self.origin, self.rule)

    def with_own_root(self) -> "Hierarchy":
        """The same with a root that no value and no other label is written like, so that a blank can be told from them.

        >>> Hierarchy([("*", "*"), ("x", "*")]).with_own_root().root
        '**'
        """
        below = {label for labels in self.labels[:-1] for label in labels}
        root = self.root
        while root in below:
            root += BLANK
        if root == self.root:
            return self
        return Hierarchy([(*row[:-1], root) for row in self.rows], self.origin, self.rule)

    @cached_property
    def ambiguous(self) -> bool:
        """Whether one label stands for different sets of values at different levels, so that mixed levels cannot be read."""
        meant: dict[str | None, tuple[int, int]] = {}
        for level, labels in enumerate(self.labels):
            starts = np.flatnonzero(np.diff(self.nodes[level], prepend=-1))
            for node, label in enumerate(labels):
                run = (int(starts[node]), int(self.sizes[level][node]))
                if meant.setdefault(label, run) != run:
                    return True
        return False


def _check_shape(rows: Sequence[Row]) -> None:
    if not rows:
        raise InputError("it is empty")
    seen: dict[str | None, int] = {}
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise InputError(f"row {number} has {len(row)} labels, but row 1 has {len(rows[0])}")
        if row[0] in seen:
            raise InputError(f"row {number} is about the same value as row {seen[row[0]]}")
        seen[row[0]] = number


def _check_parents(rows: Sequence[Row]) -> None:
    for level in range(1, len(rows[0])):
        parents: dict[str | None, tuple[str | None, int]] = {}
        for number, row in enumerate(rows, start=1):
            parent, first = parents.setdefault(row[level - 1], (row[level], number))
            if parent != row[level]:
                raise InputError(
                    f"the label of row {number} at level {level - 1} has two parents at level {level}: another in row {first}"
                )


def _walk(rows: Sequence[Row]) -> list[int]:
    """The order of a walk through the tree that meets children in the order of the rows."""
    codes = [_numbered(row[level] for row in rows)[1] for level in range(len(rows[0]))]
    return np.lexsort(np.array(codes)).tolist()


def _numbered(labels: Iterable[str | None]) -> tuple[list[str | None], list[int]]:
    """The different labels by first appearance, and the number of each."""
    seen: dict[str | None, int] = {}
    codes = [seen.setdefault(label, len(seen)) for label in labels]
    return list(seen), codes


def text_of(value: Any) -> str | None:
    """A value as hierarchies write it.

    >>> text_of(39), text_of(2.0), text_of(2.5), text_of(True), text_of(None)
    ('39', '2', '2.5', 'true', None)
    """
    # Neither the missing value of pandas nor what only claims to be a number can be compared with itself.
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        plain = float(value)
        return str(int(plain)) if plain.is_integer() and abs(plain) < 2**53 else repr(plain)
    return str(value)


@dataclass(frozen=True, eq=False)
class Values:
    """The different values of a column as texts, and the number of each record's; ``samples`` are the values themselves.

    ``order`` are all values that the type of the column declares, from the lowest to the highest, if it does.
    """

    texts: list[str | None]
    codes: np.ndarray = field(repr=False)
    samples: list[Any] = field(repr=False)
    order: list[str] | None = None

    @cached_property
    def numbers(self) -> list[Number | None]:
        """The numbers that the values are; ``None`` where one is none."""
        return [
            None if text is None else number_of(value)
            for text, value in zip(self.texts, self.samples, strict=True)
        ]

    @property
    def has_missing(self) -> bool:
        """Whether some record has no value."""
        return None in self.texts


def read_values(column: nw.Series) -> Values:
    """The values of a column; what is written alike counts as one value.

    >>> import polars as pl
    >>> read_values(nw.from_native(pl.Series("age", [40, None, 31, 40]), series_only=True)).texts
    [None, '31', '40']
    """
    if column.dtype.is_nested() or column.dtype == nw.Object:
        objects = column.to_list()
        if any(isinstance(value, list | dict | set) for value in objects):
            raise InputError(f"column '{column.name}' holds lists or records, which cannot be recoded")
        numbers: dict[Any, int] = {}
        raw = [numbers.setdefault(text_of(value), len(numbers)) for value in objects]
        texts: list[str | None] = list(numbers)
        samples: list[Any] = [None] * len(texts)
        for value, code in zip(objects, raw, strict=True):
            samples[code] = value
        return Values(texts, np.array(raw, dtype=np.int32), samples)
    declared = declared_order(column)
    order = None if declared is None else [str(text_of(value)) for value in declared]
    series = column.to_polars()
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.dtype == pl.Categorical or series.dtype == pl.Enum:
        series = series.cast(pl.String)
    different = series.unique().sort()
    codes = series.replace_strict(
        different, np.arange(different.len(), dtype=np.int32), return_dtype=pl.Int32
    )
    texts = [text_of(value) for value in different]
    if len(set(texts)) < len(texts):
        # Moments finer than Python knows them: Polars writes every digit.
        texts = different.cast(pl.String).to_list()
    return Values(texts, codes.to_numpy().astype(np.int32), different.to_list(), order)


def coded(values: Values, hierarchy: Hierarchy, name: str) -> np.ndarray:
    """The leaf of every record; an ``InputError`` that says where the first value is that the hierarchy does not know."""
    leaves: np.ndarray = leaves_of(values, hierarchy, name)[values.codes]
    return leaves


def leaves_of(values: Values, hierarchy: Hierarchy, name: str) -> np.ndarray:
    """The leaf of every value, with the same refusal."""
    place = np.array([hierarchy.positions.get(text, -1) for text in values.texts], dtype=np.int32)
    unknown = int((place < 0).sum())
    if unknown:
        where = first_record(np.flatnonzero(place[values.codes] < 0))
        of = f" ({hierarchy.origin})" if hierarchy.origin else ""
        what = "value is" if unknown == 1 else "values are"
        raise InputError(f"{unknown} {what} not in the hierarchy of column '{name}'{of}: {where}")
    return place
