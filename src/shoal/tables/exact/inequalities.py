"""Inequalities over cells, as the relaxation and the branch and cut exchange them."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from shoal.tables.problem import Problem, Requirements


@dataclass
class Inequalities:
    """Rows Σ value·y ≥ rhs; ``numbers`` name them for the routine that made them."""

    numbers: list[int] = field(default_factory=list)
    cells: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    rhs: list[float] = field(default_factory=list)

    def add(self, number: int, cells: np.ndarray, values: np.ndarray, rhs: float) -> None:
        """Append a row."""
        self.numbers.append(number)
        self.cells.append(cells)
        self.values.append(values)
        self.rhs.append(rhs)

    def extend(self, more: "Inequalities") -> None:
        """Append the rows of others."""
        self.numbers += more.numbers
        self.cells += more.cells
        self.values += more.values
        self.rhs += more.rhs

    def at(self, places: np.ndarray) -> "Inequalities":
        """Some of them."""
        return Inequalities(
            *([part[place] for place in places] for part in (self.numbers, self.cells, self.values, self.rhs))
        )

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def entries(self) -> int:
        """How many coefficients they have together."""
        return sum(cells.size for cells in self.cells)


Record = TypeVar("Record")


class Remembered(Generic[Record]):
    """What the separation routines share: what is required, and every inequality that was given out, under its number.

    ``worst`` is the smallest share of a requirement that the last point meets, ``solved`` how many linear programmes were
    solved to find inequalities. ``few`` asks for one inequality of each requirement at most, ``near`` for none
    that takes all relations of the table to find, where that makes a difference.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.wanted = problem.requirements
        self.records: list[Record] = []
        self.worst = 0.0
        self.solved = 0
        self.few = self.near = False
        self._numbers: dict[bytes, int] = {}

    def require(self, more: Requirements) -> None:
        """Take further requirements into account."""
        self.wanted = self.wanted.with_more(more)

    def number(self, record: Record, *content: object) -> int:
        """The number of an inequality, a new one unless it was given out before; ``content`` tells it from others."""
        parts = (item.tobytes() if isinstance(item, np.ndarray) else repr(item).encode() for item in content)
        number = self._numbers.setdefault(b"|".join(parts), len(self.records))
        if number == len(self.records):
            self.records.append(record)
        return number

    def fill(self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01) -> Inequalities:
        """Deeper inequalities of what separated the last point; routines that know of none have none."""
        return Inequalities()

    def combine(
        self,
        rows: Inequalities,
        slack: np.ndarray,
        x: np.ndarray,
        columns: np.ndarray,
        *,
        least: float = 0.003,
    ) -> Inequalities:
        """Further inequalities from known ones; routines that know of none have none."""
        return Inequalities()
