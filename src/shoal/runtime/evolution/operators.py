"""What makes children of parents, and when to give it up."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic

import numpy as np

from shoal.runtime.evolution.population import Chromosome


@dataclass(frozen=True)
class Operator(Generic[Chromosome]):
    """A crossover or a mutation: ``make(state, *parents)`` returns new chromosomes, perhaps none.

    ``parents`` is how many it takes, ``times`` how often it is applied in one generation. Parents are never
    modified. Each operator has a random stream of its own, so that one that is switched off leaves the numbers
    that the others draw as they were.
    """

    name: str
    make: Callable[..., Iterable[Chromosome]]
    parents: int = 1
    times: int = 1


class SwitchOff:
    """Switches an operator off for good after several successive generations without a surviving child.

    The dynamic control of D-GOMM, a grouping genetic algorithm for microaggregation. A generation in which an
    operator made no child says nothing about it.

    >>> control = SwitchOff(operators=2, after=2)
    >>> for survivors in ([0, 3], [0, 1]):
    ...     control.update(children=[10, 10], survived=survivors)
    >>> control.active.tolist()
    [False, True]
    """

    def __init__(self, operators: int, after: int | None = 5) -> None:
        self.after = after
        self.active = np.ones(operators, dtype=bool)
        self._barren = np.zeros(operators, dtype=np.int64)

    def update(self, children: Iterable[int], survived: Iterable[int]) -> None:
        """Take in how many children each operator made in a generation, and how many of them survived it."""
        were_made = np.fromiter(children, dtype=np.int64)
        have_survived = np.fromiter(survived, dtype=np.int64)
        self._barren[(were_made > 0) & (have_survived == 0)] += 1
        self._barren[have_survived > 0] = 0
        if self.after is not None:
            self.active &= self._barren < self.after
