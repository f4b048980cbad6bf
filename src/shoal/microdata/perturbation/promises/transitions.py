"""What PRAM promises: shares that stay in expectation, no impossible change, no forbidden combination."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.microdata.perturbation.promises.promise import Outcome
from shoal.numbers import counted

if TYPE_CHECKING:
    from shoal.microdata.perturbation.forbidden import Forbidden
    from shoal.microdata.perturbation.pram import ColumnTransitions

_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class SharesExpected:
    """The matrices of a column keep its shares where ``exact``, and nothing happened that they give no chance."""

    column: str
    transitions: "ColumnTransitions" = field(repr=False)
    exact: bool = True

    @property
    def text(self) -> str:
        """What is promised."""
        if not self.exact:
            return f"every change of '{self.column}' is one that its matrix allows"
        return f"the shares of '{self.column}' stay the same in expectation, in every stratum"

    def check(self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]") -> Outcome:
        """Count the shares anew, send them through the matrices, and look at every change."""
        found = self.transitions
        was, now = read_values(before[self.column]), read_values(after[self.column])
        seen = pl.DataFrame({"group": found.group_of, "was": was.codes, "now": now.codes})
        counts: dict[int, Counter[str | None]] = defaultdict(Counter)
        moves = []
        for group, true, shown, number in seen.group_by(seen.columns).len().iter_rows():
            counts[group][was.texts[true]] += number
            moves.append((group, was.texts[true], now.texts[shown], number))
        worst, chances = 0.0, {}
        for number, group in enumerate(found.groups):
            names = [found.values[code] for code in group.categories.tolist()]
            total = sum(counts[number].values())
            for row, true in enumerate(names):
                for column, shown in enumerate(names):
                    chances[number, true, shown] = float(group.matrix[row, column])
                worst = max(worst, abs(fsum(group.matrix[row].tolist()) - 1.0))
            for column, shown in enumerate(names):
                expected = fsum(
                    counts[number][true] / total * float(group.matrix[row, column])
                    for row, true in enumerate(names)
                )
                if self.exact:
                    worst = max(worst, abs(expected - counts[number][shown] / total))
        impossible = sum(
            number
            for group, true, shown, number in moves
            if (true != shown if group < 0 else chances.get((group, true, shown), 0.0) <= 0.0)
        )
        kept = worst <= _CLOSE and impossible == 0
        measured = f"largest difference {worst:.1e}, " if self.exact else ""
        return Outcome(kept, f"{measured}{counted(int(impossible), 'change')} that could not be")


@dataclass(frozen=True, eq=False)
class NoneForbidden:
    """No record shows a combination that was declared impossible."""

    rule: "Forbidden" = field(repr=False)

    @property
    def text(self) -> str:
        """What is promised."""
        return f"no forbidden combination of {' and '.join(self.rule.columns)} is released"

    def check(self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]") -> Outcome:
        """Look at every record."""
        broken = np.ones(len(after), dtype=bool)
        for condition in self.rule.conditions:
            shown = read_values((after if condition.column in after.columns else before)[condition.column])
            meets = [_meets(condition.values, condition.low, condition.high, text) for text in shown.texts]
            broken &= np.array(meets, dtype=bool)[shown.codes]
        number = int(broken.sum())
        return Outcome(number == 0, counted(number, "record"))


def _meets(values: frozenset[str], low: float | None, high: float | None, value: str | None) -> bool:
    if value is None:
        return False
    if low is None or high is None:
        return value in values
    try:
        return low <= float(value) <= high
    except ValueError:
        return False
