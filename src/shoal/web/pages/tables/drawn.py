"""A table that can be looked at from several sides: which cells stand where, and what is hidden."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.numbers import counted

# So many cells are shown at once; the others are a press away.
PAGE = 2400
CLASSES = {"p": "primary", "c": "complementary", "": "", "z": "always"}


@dataclass(frozen=True)
class View:
    """What is shown: names of rows and columns and which are sums, and the cell at each place (−1 where there is none)."""

    corner: str
    rows: list[str]
    columns: list[str]
    row_depth: list[int]
    row_sums: list[bool]
    column_sums: list[bool]
    cells: np.ndarray
    first: int = 0
    all_rows: int = 0


@dataclass
class Drawn:
    """The drawing of a run, or of a matrix that is being marked; ``kinds`` changes when cells are pressed."""

    values: list[float]
    kinds: list[str]
    dimensions: list[dict[str, Any]] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    relations: list[list[int]] = field(default_factory=list)
    contributors: list[int] = field(default_factory=list)
    shares: list[list[float | None]] = field(default_factory=list)
    fired: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Drawn":
        """From the file beside a run."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    @property
    def general(self) -> bool:
        """Whether the table has relations between numbered cells only, and no dimensions."""
        return not self.dimensions

    @property
    def hidden(self) -> list[int]:
        """The hidden cells."""
        return [cell for cell, kind in enumerate(self.kinds) if kind in ("p", "c")]

    @property
    def sensitive(self) -> list[int]:
        """The sensitive cells."""
        return [cell for cell, kind in enumerate(self.kinds) if kind == "p"]

    def contributions(self, cell: int) -> list[str]:
        """Who contributes to a cell, what the largest have of it, and which rules call it sensitive; where that is known."""
        told = []
        if self.contributors:
            told.append(f"{counted(self.contributors[cell], 'contributor')}.")
        if self.shares and self.shares[cell][0] is not None:
            largest, second = self.shares[cell]
            both = "" if second is None else f", the second {second:.3g} %"
            told.append(f"The largest has {largest:.3g} %{both}.")
        rules = [rule for rule, cells in self._fired.items() if cell in cells]
        return [*told, f"Sensitive by {' and '.join(rules)}."] if rules else told

    @cached_property
    def _fired(self) -> dict[str, set[int]]:
        return {rule: set(cells) for rule, cells in self.fired.items()}

    def key(self, cell: int) -> list[str]:
        """The coordinates of a cell."""
        if self.general:
            return [self.names[cell]]
        place = self._positions[cell]
        found = []
        for dimension in reversed(self.dimensions):
            place, code = divmod(place, len(dimension["codes"]))
            found.append(dimension["codes"][code])
        return found[::-1]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {cell: place for place, cell in enumerate(self.cells) if cell >= 0}

    def hidden_by_code(self, dimension: int, kinds: tuple[str, ...] = ("p", "c")) -> list[int]:
        """How many hidden cells, or cells of some kinds, there are at each code of a dimension."""
        away = np.array([kind in kinds for kind in self.kinds] + [False])
        grid = away[np.array(self.cells)].reshape([len(item["codes"]) for item in self.dimensions])
        others = tuple(place for place in range(len(self.dimensions)) if place != dimension)
        found: list[int] = grid.sum(axis=others).tolist()
        return found

    def slice(
        self,
        rows: int,
        columns: int | None,
        at: Mapping[int, int],
        *,
        only_hidden: bool = False,
        first: int = 0,
    ) -> View:
        """The cells over two dimensions (or one), the others held at a code."""
        shape = [len(item["codes"]) for item in self.dimensions]
        grid = np.array(self.cells).reshape(shape)
        for place in sorted(at, reverse=True):
            grid = np.take(grid, at[place], axis=place)
        if columns is None:
            grid = grid.reshape(-1, 1)
        elif rows > columns:
            grid = grid.T
        row, column = self.dimensions[rows], None if columns is None else self.dimensions[columns]
        keep_rows, keep_columns = np.arange(grid.shape[0]), np.arange(grid.shape[1])
        if only_hidden:
            away = np.array([kind in ("p", "c") for kind in self.kinds] + [False])[grid]
            keep_rows, keep_columns = np.flatnonzero(away.any(axis=1)), np.flatnonzero(away.any(axis=0))
        step = rows_at_once(keep_columns.size)
        first = min(first, max(0, keep_rows.size - 1)) // step * step
        shown = keep_rows[first : first + step]
        return View(
            corner=row["name"] if column is None else f"{row['name']} / {column['name']}",
            rows=[row["codes"][place] for place in shown],
            columns=["value"] if column is None else [column["codes"][place] for place in keep_columns],
            row_depth=[row["depth"][place] for place in shown],
            row_sums=[row["sums"][place] for place in shown],
            column_sums=[False] if column is None else [column["sums"][place] for place in keep_columns],
            cells=grid[np.ix_(shown, keep_columns)],
            first=first,
            all_rows=int(keep_rows.size),
        )

    def around(self, cell: int, first: int = 0) -> View:
        """Every relation through a cell, one a row."""
        through = [place for place, members in enumerate(self.relations) if cell in members]
        longest = max((len(self.relations[place]) for place in through), default=0)
        step = rows_at_once(longest)
        shown = through[first : first + step]
        cells = np.full((len(shown), longest), -1, dtype=np.int64)
        for row, place in enumerate(shown):
            members = [cell, *(member for member in self.relations[place] if member != cell)]
            cells[row, : len(members)] = members
        return View(
            corner="relation",
            rows=[f"relation {place + 1}" for place in shown],
            columns=["cell", *[""] * (longest - 1)],
            row_depth=[1] * len(shown),
            row_sums=[False] * len(shown),
            column_sums=[False] * longest,
            cells=cells,
            first=first,
            all_rows=len(through),
        )


def rows_at_once(columns: int) -> int:
    """How many rows of so many columns are shown at once.

    >>> rows_at_once(10), rows_at_once(3000)
    (240, 10)
    """
    return max(10, PAGE // max(1, columns))


def matrix(
    rows: list[str], columns: list[str], values: list[list[float]], marked: set[tuple[str, str]]
) -> Drawn:
    """The drawing of a plain matrix, on which cells are being marked."""
    flat = [value for row in values for value in row]
    kinds = ["p" if (row, column) in marked else "" for row in rows for column in columns]
    dimensions = [
        {
            "name": name,
            "codes": codes,
            "depth": [1] * len(codes),
            "sums": [code.lower() == "total" for code in codes],
        }
        for name, codes in (("row", rows), ("column", columns))
    ]
    return Drawn(flat, kinds, dimensions, list(range(len(flat))))
