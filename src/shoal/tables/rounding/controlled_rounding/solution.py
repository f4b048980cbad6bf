"""A controlled rounding."""

from dataclasses import dataclass

import numpy as np

from shoal.runtime import Solution


@dataclass(frozen=True, kw_only=True)
class Rounding(Solution):
    """The cells in multiples of the base; ``value`` is how far they are from their targets, in bases, summed."""

    multiples: np.ndarray
    cuts: int = 0
