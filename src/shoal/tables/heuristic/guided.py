"""What the heuristics share: which cells they may use, at which price, and what is required."""

import numpy as np

from shoal.tables.problem import Problem, Requirements


class Guided:
    """A heuristic for one problem; ``wanted`` grows when a pattern turns out to fail an insider."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.wanted = problem.requirements
        self.focus()

    def focus(self, usable: np.ndarray | None = None, price: np.ndarray | None = None) -> None:
        """Look only at these cells from now on, at these prices."""
        self.usable = self.problem.candidates if usable is None else usable & self.problem.candidates
        self.price = self.problem.cost if price is None else price
        self._renew()

    def require(self, more: Requirements) -> None:
        """Take further requirements into account."""
        self.wanted = self.wanted.with_more(more)
        self._renew()

    def _renew(self) -> None:
        """Something has changed."""
