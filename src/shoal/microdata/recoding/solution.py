"""A recoding of tuples: at which level each key is released, and what is left out."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.runtime import Solution

#: What a bound holds for: whole columns at one level, blanks of single values, or any recoding, record by record.
Scope = Literal["columns", "blanks", "records"]


@dataclass(frozen=True, kw_only=True)
class Recoding(Solution):
    """Records of a tuple are released alike, or in several *pieces*, each with levels of its own.

    Piece i stands for ``records[i]`` records of tuple ``tuples[i]``, released at ``levels[i]`` (a level for each key; the
    highest blanks the value), or left out if not ``kept[i]``. ``value`` and ``bound`` are losses in the problem's measure.
    ``uniform`` are the levels where all that is kept has the same ones. A method that chooses among others says which it has
    ``chosen``, and the ``reason`` in a sentence. ``scope`` says of which recodings the bound holds.
    """

    tuples: np.ndarray
    records: np.ndarray
    levels: np.ndarray
    released: np.ndarray
    uniform: tuple[int, ...] | None = None
    chosen: str = ""
    reason: str = ""
    scope: Scope = "records"

    @property
    def parted(self) -> bool:
        """Whether records of one tuple are released in several ways."""
        return bool(np.unique(self.tuples).size < self.tuples.size)
