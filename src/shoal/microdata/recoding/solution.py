"""A recoding of tuples: at which level each key is released, and what is left out."""

from dataclasses import dataclass

import numpy as np

from shoal.runtime import Solution


@dataclass(frozen=True, kw_only=True)
class Recoding(Solution):
    """Records of a tuple are released alike, or in several *pieces*, each with levels of its own.

    Piece i stands for ``records[i]`` records of tuple ``tuples[i]``, released at ``levels[i]`` (a level for each key; the
    highest blanks the value), or left out if not ``kept[i]``. ``value`` and ``bound`` are losses in the problem's measure.
    ``uniform`` are the levels where all that is kept has the same ones. A method that chooses among others says which it has
    ``chosen``, and the ``reason`` in a sentence.
    """

    tuples: np.ndarray
    records: np.ndarray
    levels: np.ndarray
    kept: np.ndarray
    uniform: tuple[int, ...] | None = None
    chosen: str = ""
    reason: str = ""

    @property
    def parted(self) -> bool:
        """Whether records of one tuple are released in several ways."""
        return bool(np.unique(self.tuples).size < self.tuples.size)
