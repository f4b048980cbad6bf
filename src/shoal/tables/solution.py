"""A suppression pattern."""

from dataclasses import dataclass, field

import numpy as np

from shoal.runtime import Solution, informative


@dataclass(frozen=True, kw_only=True)
class Pattern(Solution):
    """The further cells to hide; ``value`` is what hiding them costs and ``bound`` the least any safe pattern costs.

    A search that proved nothing has no bound: that no pattern costs less than 0 is known without it. ``record`` holds
    what a method counted on its way (generations, failures …).
    """

    complementary: np.ndarray
    record: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", informative(self.bound, self.value))
        super().__post_init__()

    @property
    def gap_percent(self) -> float | None:
        """How far the cost may be above the best possible, in percent of the cost; ``None`` without a bound."""
        if self.bound is None:
            return None
        return 100.0 * (self.value - self.bound) / self.value if self.value > 0 else 0.0
