"""An adjustment."""

from dataclasses import dataclass

import numpy as np

from shoal.runtime import Solution, informative


@dataclass(frozen=True, kw_only=True)
class Adjustment(Solution):
    """The change of each cell; ``value`` is what all of them cost, and ``bound`` the least any adjustment costs."""

    change: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", informative(self.bound, self.value))
        super().__post_init__()
