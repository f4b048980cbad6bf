"""A table as one sparse linear system: cells, and the additive relations that hold between them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError, parameter
from shoal.numbers import first_unusable, number, why_unusable
from shoal.tables.model.decimals import units
from shoal.tables.model.sparse_rows import SparseRows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from shoal.tables.model.network import Network

TOTAL = "total"


@dataclass(frozen=True, eq=False)
class Table:
    """Cells with values, and relations Σ coefficient·value = right-hand side (0 unless told).

    Relation ``i`` concerns ``members[starts[i]:starts[i + 1]]`` with the ``signs`` at the same places. ``keys`` names
    each cell by its coordinates, one array per dimension. ``basis`` may mark relations from which all others follow.
    ``shape`` is set for a plain two-dimensional table only: the
    number of internal rows and columns; its cells are then stored row by row, each row ending in its total and the
    last row being the column totals. ``corner`` is what its column of row names was called. ``numbers`` are those by
    which messages name the cells of any other table, where these have numbers of their own: in a file, its records.
    ``totals`` says what the total of a dimension is called outside; inside it is always ``total``.

    >>> table = Table.from_matrix([[10.0, 20.0], [30.0, 40.0]])
    >>> table.cells, table.relations, table.shape
    (9, 6, (2, 2))
    >>> table.name(3)
    "row 2, column '1'"
    """

    values: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    signs: np.ndarray
    keys: Mapping[str, np.ndarray]
    rhs: np.ndarray | None = None
    shape: tuple[int, int] | None = None
    basis: np.ndarray | None = None
    corner: str = "row"
    numbers: np.ndarray | None = None
    totals: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_matrix(
        cls,
        matrix: object,
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        totals: bool = False,
        rounding: float | None = None,
        tolerance: float | None = None,
        corner: str = "row",
    ) -> "Table":
        """A plain two-dimensional table from its internal cells, or with its totals in the last row and column."""
        values = np.asarray(matrix, dtype=np.float64)
        if values.ndim != 2:
            raise InputError("a two-dimensional table must be a matrix of numbers")
        bad = first_unusable(values.ravel())
        if bad is not None:
            row, column = divmod(bad, values.shape[1])
            raise InputError(
                f"the cell in row {row + 1}, column {column + 1} {why_unusable(values[row, column])}"
            )
        if not totals:
            values = with_totals(values)
        m, n = values.shape[0] - 1, values.shape[1] - 1
        if m < 2 or n < 2:
            raise InputError(
                f"the table has {m} row{'s' * (m != 1)} and {n} column{'s' * (n != 1)} besides the totals; "
                "at least two of each are needed to hide a cell"
            )
        row_names = _with_total(range(1, m + 1) if rows is None else rows, m, "row")
        column_names = _with_total(range(1, n + 1) if columns is None else columns, n, "column")
        index = np.arange((m + 1) * (n + 1)).reshape(m + 1, n + 1)
        members = np.concatenate([index.ravel(), index.T.ravel()])
        signs = np.concatenate([np.tile(np.append(np.ones(a), -1.0), b + 1) for a, b in ((n, m), (m, n))])
        lengths = np.concatenate([np.full(m + 1, n + 1), np.full(n + 1, m + 1)])
        keys = {
            "row": np.repeat(np.array(row_names, dtype=object), n + 1),
            "column": np.tile(np.array(column_names, dtype=object), m + 1),
        }
        table = cls(values.ravel(), _starts(lengths), members, signs, keys, shape=(m, n), corner=corner)
        table.check(rounding=rounding, tolerance=tolerance)
        return table

    @classmethod
    def from_relations(
        cls,
        values: Sequence[float] | np.ndarray,
        relations: Sequence[Sequence[tuple[int, float]]],
        keys: Mapping[str, np.ndarray],
        *,
        rhs: Sequence[float] | None = None,
        numbers: np.ndarray | None = None,
    ) -> "Table":
        """A table from any list of relations, each a list of (cell, coefficient)."""
        lengths = np.array([len(relation) for relation in relations], dtype=np.int64)
        members = np.array([cell for relation in relations for cell, _ in relation], dtype=np.int64)
        signs = np.array([sign for relation in relations for _, sign in relation], dtype=np.float64)
        return cls(
            np.asarray(values, dtype=np.float64),
            _starts(lengths),
            members,
            signs,
            keys,
            None if rhs is None else np.asarray(rhs, dtype=np.float64),
            numbers=numbers,
        )

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.size == 0:
            raise InputError("the table has no cells")
        bad = first_unusable(values)
        if bad is not None:
            raise InputError(f"the cell {self.name(bad)} {why_unusable(values[bad])}")
        signs = np.asarray(self.signs, dtype=np.float64)
        right = np.zeros(1) if self.rhs is None else np.asarray(self.rhs, dtype=np.float64)
        if first_unusable(signs) is not None or first_unusable(right) is not None:
            raise InputError(
                "a relation has a coefficient or a right-hand side that is no number to compute with"
            )
        members = np.asarray(self.members, dtype=np.int32)
        if members.size and (members.min() < 0 or members.max() >= values.size):
            raise InputError("a relation names a cell that is not in the table")
        object.__setattr__(self, "values", frozen(values))
        object.__setattr__(self, "members", frozen(members))
        object.__setattr__(self, "signs", frozen(signs))
        object.__setattr__(self, "starts", frozen(np.asarray(self.starts, dtype=np.int64)))

    def __repr__(self) -> str:
        # Never the values: what is printed ends up in logs.
        return f"<Table: {self.cells} cells by {', '.join(self.dimensions)}, {self.relations} relations>"

    def __getstate__(self) -> dict[str, object]:
        # What is computed on demand is neither sent nor compared.
        return {item.name: self.__dict__[item.name] for item in fields(self)}

    @property
    def cells(self) -> int:
        """Number of cells, totals included."""
        return int(self.values.size)

    @property
    def relations(self) -> int:
        """Number of additive relations."""
        return int(self.starts.size - 1)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """What the coordinates of a cell are called."""
        return tuple(self.keys)

    def relation(self, position: int) -> np.ndarray:
        """The cells of one relation."""
        return self.members[self.starts[position] : self.starts[position + 1]]

    def signs_of(self, position: int) -> np.ndarray:
        """The coefficients of the cells of one relation."""
        return self.signs[self.starts[position] : self.starts[position + 1]]

    def key(self, cell: int) -> dict[str, str]:
        """The coordinates of a cell."""
        return {name: str(column[cell]) for name, column in self.keys.items()}

    def outside(self, key: Mapping[str, str]) -> dict[str, str]:
        """Coordinates for outputs: totals are called what they are called outside."""
        return {name: self.totals.get(name, TOTAL) if code == TOTAL else code for name, code in key.items()}

    def coordinates(self, cells: np.ndarray | None = None) -> dict[str, list[str | int]]:
        """The coordinates of some cells, or of all, for outputs: totals are called what they are called outside."""
        found: dict[str, list[str | int]] = {}
        for name, keys in self.keys.items():
            own, total = (keys if cells is None else keys[cells]), self.totals.get(name, TOTAL)
            found[name] = [
                int(key) if isinstance(key, int | np.integer) else total if key == TOTAL else str(key)
                for key in own
            ]
        return found

    def name(self, cell: int) -> str:
        """Where the cell is, for messages: by its codes, which are no secret, or by its number where it has no others."""
        if self.shape is None:
            return f"number {int(self.numbered[cell])}" if "cell" in self.keys else self.label(cell)
        row, column = divmod(cell, self.shape[1] + 1)
        return f"row {row + 1 if row < self.shape[0] else TOTAL}, column '{self.keys['column'][column]}'"

    @property
    def numbered(self) -> np.ndarray:
        """The number of each cell, for messages; 0 for a cell that was not listed."""
        return np.arange(1, self.cells + 1) if self.numbers is None else self.numbers

    def label(self, cell: int) -> str:
        """The cell by its labels, as they are called outside."""
        return ", ".join(
            f"{name} '{self.totals.get(name, TOTAL) if column[cell] == TOTAL else column[cell]}'"
            for name, column in self.keys.items()
        )

    @cached_property
    def rows(self) -> SparseRows:
        """The relations, one row each."""
        return SparseRows(self.starts, self.members, self.signs, self.cells)

    @cached_property
    def matrix(self) -> "csr_matrix":
        """The relations as a sparse matrix of SciPy, which takes its time to load."""
        from scipy.sparse import csr_matrix

        parts = (self.signs.copy(), self.members.copy(), self.starts.copy())
        return csr_matrix(parts, shape=(self.relations, self.cells))

    @cached_property
    def network(self) -> "Network | None":
        """The network this table is, if it is one."""
        from shoal.tables.model.network import recognise

        return recognise(self)

    @cached_property
    def internal(self) -> np.ndarray:
        """Which cells are no totals: in no relation with the sign that stands alone."""
        internal = np.ones(self.cells, dtype=bool)
        if self.shape is not None:
            m, n = self.shape
            grid = internal.reshape(m + 1, n + 1)
            grid[m, :] = False
            grid[:, n] = False
            return frozen(internal)
        for place in range(self.relations):
            minus = self.signs_of(place) < 0
            alone = minus if minus.sum() == 1 else ~minus if (~minus).sum() == 1 else np.zeros_like(minus)
            internal[self.relation(place)[alone]] = False
        return frozen(internal)

    @cached_property
    def gaps(self) -> np.ndarray:
        """By how much each relation fails to add up."""
        rhs = 0.0 if self.rhs is None else self.rhs
        found: np.ndarray = self.rows @ self.values - rhs
        return found

    def check(self, *, rounding: float | None = None, tolerance: float | None = None) -> None:
        """Raise ``InputError`` for the first relations that do not add up, before them the cell that makes them so.

        ``rounding`` is the base to which published figures were rounded; each member may then be off by half of it. A total
        may besides be off by ``tolerance``.
        """
        if rounding is not None:
            number(rounding, "the base of rounding", above=0.0)
        if tolerance is not None:
            number(tolerance, f"{parameter('tolerance')}, an amount,", least=0.0)
        size = abs(self.rows) @ np.abs(self.values)
        allowed = 1e-8 * (size if self.rhs is None else size + np.abs(self.rhs))
        if rounding is not None:
            allowed = allowed + 0.5 * rounding * np.diff(self.starts)
        if tolerance is not None:
            allowed = allowed + tolerance
        wrong = np.flatnonzero(np.abs(self.gaps) > allowed)
        if wrong.size == 0:
            return
        first, *more = list(dict.fromkeys(self._relation_name(int(place)) for place in wrong))[:3]
        suspect = self._likely_wrong(wrong)
        if suspect is not None:
            own = int((self.members == suspect).sum())
            rest = f" ({wrong.size} relations in all do not add up)" if wrong.size > own else ""
            raise InputError(
                f"the figure at the cell {self.name(suspect)} is likely wrong: each of the {own} relations that it is in does "
                f"not add up, by the same amount{rest}"
            )
        also = f"; so do {' and '.join(more)}" if more else ""
        raise InputError(
            f"{first} does not add up: its parts and its total differ{also}"
            + (f" ({wrong.size} relations in all do not add up)" if wrong.size > 1 else "")
        )

    def _likely_wrong(self, wrong: np.ndarray) -> int | None:
        """The one cell whose relations, two at least, are all off by the same amount, as they are if it alone is wrong."""
        places = np.repeat(np.arange(self.relations), np.diff(self.starts))
        off = self.gaps[places] * np.sign(self.signs)
        near = 1e-6 * float(np.abs(self.gaps).max())
        least, most = np.full(self.cells, np.inf), np.full(self.cells, -np.inf)
        np.minimum.at(least, self.members, off)
        np.maximum.at(most, self.members, off)
        times = np.bincount(self.members[np.isin(places, wrong)], minlength=self.cells)
        every = np.bincount(self.members, minlength=self.cells)
        found = np.flatnonzero((times > 1) & (times == every) & (most - least <= near))
        return int(found[0]) if found.size == 1 else None

    @cached_property
    def largest_gap(self) -> float:
        """The most by which a relation fails to add up; 0 where floating point alone does it."""
        size = abs(self.rows) @ np.abs(self.values)
        noise = 1e-8 * (size if self.rhs is None else size + np.abs(self.rhs))
        gaps = np.abs(self.gaps)
        return float(gaps[gaps > noise].max(initial=0.0))

    def _relation_name(self, position: int) -> str:
        if self.shape is not None:
            m, _ = self.shape
            if position <= m:
                return f"row {position + 1 if position < m else TOTAL}"
            return f"column '{self.keys['column'][position - m - 1]}'"
        cells = self.relation(position)
        minus = np.flatnonzero(self.signs_of(position) < 0)
        total = int(cells[minus[0]]) if minus.size == 1 else int(cells[0])
        return f"the total at the cell {self.name(total)}"

    @cached_property
    def index(self) -> dict[tuple[str, ...], int]:
        """Where each cell is, by its coordinates."""
        columns = [self.keys[name] for name in self.dimensions]
        return {
            tuple(str(part) for part in key): place for place, key in enumerate(zip(*columns, strict=True))
        }

    def find(self, *key: str, where: str = "") -> int:
        """The cell with these coordinates; ``where`` says where they come from, if it is not there."""
        place = self.index.get(tuple(str(part) for part in key))
        if place is None and self.totals:
            pairs = zip(key, self.dimensions, strict=True)
            inside = (TOTAL if str(part) == self.totals.get(name) else str(part) for part, name in pairs)
            place = self.index.get(tuple(inside))
        if place is None:
            raise InputError(
                f"the cell {where or 'named by ' + ', '.join(self.dimensions)} is not in the table"
            )
        return place


def with_totals(values: np.ndarray) -> np.ndarray:
    """The matrix with row totals, column totals and the grand total appended.

    >>> with_totals(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0, 3.0], [3.0, 4.0, 7.0], [4.0, 6.0, 10.0]]
    """
    whole, scale = units(values)
    wide = np.concatenate([whole, whole.sum(axis=1, keepdims=True)], axis=1)
    found: np.ndarray = np.concatenate([wide, wide.sum(axis=0, keepdims=True)], axis=0) / scale
    return found


def _with_total(labels: Iterable[object], count: int, kind: str) -> list[str]:
    names = [str(name) for name in labels]
    if len(names) == count:
        names.append(TOTAL)
    if len(set(names)) != len(names):
        second = next(place for place, name in enumerate(names) if name in names[:place])
        first = names.index(names[second])
        raise InputError(
            f"{kind}s {first + 1} and {second + 1} of the table have the same name; if its rows are records or cells of a "
            f"ready-made table, name {parameter('dimensions')}"
        )
    return names


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, in one piece and for reading only."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
