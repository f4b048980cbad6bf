"""Inequalities over cells, as the relaxation and the branch and cut exchange them."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Rows:
    """Rows Σ value·y ≥ rhs; ``numbers`` name them for the routine that made them."""

    numbers: list[int] = field(default_factory=list)
    cells: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    rhs: list[float] = field(default_factory=list)

    @classmethod
    def empty(cls) -> "Rows":
        """No rows."""
        return cls()

    def add(self, number: int, cells: np.ndarray, values: np.ndarray, rhs: float) -> None:
        """Append a row."""
        self.numbers.append(number)
        self.cells.append(cells)
        self.values.append(values)
        self.rhs.append(rhs)

    def __len__(self) -> int:
        return len(self.numbers)
