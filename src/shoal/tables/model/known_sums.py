"""Whether the sum of some hidden cells may be known."""

from dataclasses import dataclass

import numpy as np

from shoal.tables.model.contributions import Known
from shoal.tables.model.rules import Rule


@dataclass(frozen=True, eq=False)
class SumRule:
    """Whether the sum of some cells may be known: it must pass every rule as if it were a cell.

    A sum of the same contributions as a ``waived`` cell may be known as well: that cell was declared safe.
    """

    contributions: Known
    rules: tuple[Rule, ...]
    waived: tuple[int, ...] = ()

    def __call__(self, cells: np.ndarray) -> bool:
        """True if the sum of the cells is not sensitive itself."""
        merged = self.contributions.together(cells)
        if all(np.isnan(rule.level(merged)[0]) for rule in self.rules):
            return True
        return any(self.contributions.same(cell, merged) for cell in self.waived)
