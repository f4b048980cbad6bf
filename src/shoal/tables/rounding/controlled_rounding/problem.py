"""The rounding problem: which multiples of the base each cell may become, and what somebody could conclude from them."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from shoal.errors import Infeasible, InputError
from shoal.numbers import number
from shoal.numbers import whole as whole_number
from shoal.tables.model.decimals import places
from shoal.tables.model.table import Table, frozen
from shoal.tables.problem import Problem
from shoal.tables.safety.whole_numbers import refuse_fractions

# A figure is a multiple of the base if it is one but for rounding errors: of sums of decimals, and of the largest figures.
_NOISE, _DIGITS = 1e-9, 1e-14
MOST_STEPS = 20


def are_whole(base: float, values: np.ndarray, *, counts: bool) -> bool:
    """Whether everybody knows that all figures are whole numbers: they are counts, or whole beside a whole base."""
    return counts or (float(base).is_integer() and base >= 2 and bool((values == np.rint(values)).all()))


@dataclass(frozen=True, eq=False)
class RoundingProblem:
    """Make every cell a multiple of ``base`` less than ``steps`` bases away, so that all relations hold.

    ``protect`` is the table with its sensitive cells, levels and the bounds that somebody knows. ``target`` is where each
    cell should go if it could, in multiples of the base; what is as near to it as possible, summed over all cells, is best.
    ``whole`` says that all figures are whole numbers, and that everybody knows. With one step a multiple of the base stays
    as it is (zero-restricted rounding).

    >>> table = Table.from_matrix([[3.0, 8.0], [6.0, 1.0]])
    >>> problem = RoundingProblem(Problem.of(table, []), 5.0, table.values / 5.0)
    >>> problem.least.tolist()[:3], problem.most.tolist()[:3]
    ([0, 1, 2], [1, 2, 3])
    """

    protect: Problem
    base: float
    target: np.ndarray
    steps: int = 1
    whole: bool = False

    def __post_init__(self) -> None:
        number(self.base, "the base of rounding", above=0.0)
        whole_number(self.steps, "the number of steps", least=1, most=MOST_STEPS)
        values = self.table.values
        if self.whole:
            refuse_fractions(self.table)
        if self.whole and (self.base < 2 or self.base != round(self.base)):
            raise InputError("the base of whole numbers must be a whole number of at least 2")
        if self.base > 2 * float(np.abs(values).max()):
            raise InputError(
                "the base is more than twice the largest cell, so that nothing would be left of the table"
            )
        if float(np.abs(values).max()) / self.base > 1e12:
            raise InputError(
                "the base is too small beside the largest cell to compute with; take a larger one"
            )
        target = np.asarray(self.target, dtype=np.float64)
        if target.shape != values.shape:
            raise InputError(f"there are {values.size} cells, but {target.size} targets")
        object.__setattr__(self, "target", frozen(target))

    def __repr__(self) -> str:
        # Never the values: what is printed ends up in logs.
        return f"<RoundingProblem: {self.table.cells} cells, base {self.base:g}, {self.steps} steps>"

    def __getstate__(self) -> dict[str, object]:
        return {item.name: self.__dict__[item.name] for item in fields(self)}

    @property
    def table(self) -> Table:
        """The cells and their relations."""
        return self.protect.table

    @property
    def size(self) -> int:
        """Number of cells that have a choice."""
        return int((self.most > self.least).sum())

    @cached_property
    def quotient(self) -> np.ndarray:
        """The cells in multiples of the base; multiples without the noise of division."""
        found = self.table.values / self.base
        near = np.rint(found)
        noise = np.maximum(_NOISE, _DIGITS * np.abs(found))
        return frozen(np.where(np.abs(found - near) <= noise, near, found))

    @cached_property
    def least(self) -> np.ndarray:
        """The smallest multiple each cell may become; what cannot be negative stays so."""
        found = np.floor(self.quotient).astype(np.int64) - (self.steps - 1)
        return frozen(np.where(self.protect.low >= 0, np.maximum(found, 0), found))

    @cached_property
    def most(self) -> np.ndarray:
        """The largest multiple each cell may become."""
        return frozen(np.ceil(self.quotient).astype(np.int64) + (self.steps - 1))

    @cached_property
    def right(self) -> np.ndarray:
        """What the relations come to, in multiples of the base."""
        if self.table.rhs is None:
            return frozen(np.zeros(self.table.relations))
        found = np.asarray(self.table.rhs) / self.base
        if (np.abs(found - np.rint(found)) > _NOISE * np.maximum(1.0, np.abs(found))).any():
            raise Infeasible(
                "a relation adds up to a number that is no multiple of the base, so no rounding can hold it"
            )
        return frozen(np.rint(found))

    def cost(self, multiples: np.ndarray) -> float:
        """How far the cells are from their targets, in bases, summed."""
        return float(np.sort(np.abs(multiples - self.target)).sum())

    def possible(self, multiples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the most each cell can be for somebody who sees these multiples and knows base, steps and bounds.

        Figures lie less than ``steps`` bases away, and have no more decimals than all of them.
        """
        low, high = self.around(multiples)
        return np.maximum(self.protect.low, low), np.minimum(self.protect.high, high)

    @cached_property
    def _scale(self) -> float | None:
        """How many units of the last decimal come to one."""
        count = places(self.table.values)
        return None if count is None else 10.0**count

    def around(self, multiples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the most that figures shown as these multiples can be, whatever else is known of them."""
        seen, away, scale = multiples * self.base, self.steps * self.base, self._scale
        if scale is None:
            return seen - away, seen + away
        low, high = np.floor((seen - away) * scale + 1e-6) + 1.0, np.ceil((seen + away) * scale - 1e-6) - 1.0
        # Divided, 17 of 0.1 are the figure 1.7 itself; multiplied they are a little more.
        return low / scale, high / scale

    def attack(self, multiples: np.ndarray) -> Problem:
        """The table as that person sees it: nothing is hidden, but every cell is known only to within its interval."""
        low, high = self.possible(multiples)
        values = self.table.values
        return replace(
            self.protect,
            low=np.minimum(low, values),
            high=np.maximum(high, values),
            candidates=np.ones(self.table.cells, dtype=bool),
            sums=None,
        )

    @property
    def others(self) -> np.ndarray:
        """The cells that are not sensitive."""
        return np.flatnonzero(~self.protect.is_sensitive)
