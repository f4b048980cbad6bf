"""An assignment of people to slots."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.appointments.problem import Problem, vector
from shoal.runtime import Solution


@dataclass(frozen=True, kw_only=True)
class Assignment(Solution):
    """Who sits where: ``matrix`` counts people by row and slot, ``cells`` by crowd and label (pinned ones included).

    ``value`` and ``bound`` are K or anonymity vectors, as the problem's objective asks; ``bound`` is the best that could
    exist at all. ``course`` is what a genetic search went through: generation, K and rules broken; ``nodes`` how many an
    exhaustive one visited.
    """

    matrix: np.ndarray
    cells: np.ndarray
    course: tuple[tuple[int, int, int], ...] = ()
    nodes: int | None = None

    @cached_property
    def k(self) -> int:
        """The size of the smallest crowd."""
        return int(self.cells[self.cells > 0].min())

    @cached_property
    def vector(self) -> Any:
        """The anonymity vector: how many crowds there are of each size."""
        return vector(self.cells[self.cells > 0])

    @property
    def k_bound(self) -> int | None:
        """The largest K that could exist at all, as far as is proved."""
        if self.bound is None:
            return None
        return int(self.bound) if isinstance(self.bound, int) else int(self.bound.k)

    @property
    def loads(self) -> np.ndarray:
        """People newly sent to each slot."""
        return self.matrix.sum(axis=0)


def settle(
    problem: Problem, matrix: np.ndarray, *, bound: Any, proved: bool = True, **closing: Any
) -> Assignment:
    """The assignment a matrix stands for; it is optimal when its value meets a bound that is proved."""
    matrix = np.ascontiguousarray(matrix, dtype=np.int64)
    value = problem.value(matrix)
    closing.setdefault("direction", problem.direction)
    return Assignment(
        value=value,
        bound=bound,
        optimal=bool(proved and bound is not None and value == bound),
        matrix=matrix,
        cells=problem.cells(matrix),
        **closing,
    )
