"""What every solver returns: a value, a bound on the best possible, and how the search ended."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

from shoal.runtime.budget import StopReason
from shoal.runtime.direction import Direction, better
from shoal.runtime.history import History

__all__ = ["Direction", "Solution", "better", "informative"]


def informative(bound: float | None, value: float) -> float | None:
    """The lower bound of a cost or a loss if it says something; ``None``, unknown, if it only says what always holds.

    Costs and losses are never below 0: a bound of 0 is a proof for a value of 0 alone.

    >>> informative(3.0, 10.0), informative(0.0, 10.0), informative(0.0, 0.0)
    (3.0, None, 0.0)
    """
    return None if bound is None or (bound <= 0.0 < value) else bound


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The common part of a result; each domain adds its payload in a subclass.

    ``value`` and ``bound`` are ordered keys (a float, a K, an anonymity vector, a tuple), never assumed to be
    floats. A bound that is not known is ``None``. ``work`` counts what the solver counts: iterations, nodes,
    evaluations.
    """

    value: Any
    direction: Direction = Direction.MINIMISE
    bound: Any = None
    optimal: bool = False
    stopped_by: StopReason = StopReason.ITERATIONS
    work: int = 0
    seconds: float = 0.0
    history: History = field(default_factory=History)

    def without_proof(self) -> Self:
        """The same with nothing said of others, as where what was found is changed afterwards; it did not end with a proof.

        >>> proved = Solution(value=3.0, bound=3.0, optimal=True, stopped_by=StopReason.OPTIMAL)
        >>> proved.without_proof().bound, str(proved.without_proof().stopped_by)
        (None, 'iterations')
        """
        ended = self.stopped_by
        return replace(
            self,
            bound=None,
            optimal=False,
            stopped_by=StopReason.ITERATIONS if ended == StopReason.OPTIMAL else ended,
        )

    def __post_init__(self) -> None:
        if self.bound is not None and better(self.value, self.bound, self.direction):
            raise AssertionError(f"the value {self.value!r} is better than its own bound {self.bound!r}")
