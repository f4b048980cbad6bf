"""Sensitivity rules for cells of magnitude and frequency tables, with the protection levels they ask for.

Formulas as in the Handbook on Statistical Disclosure Control (2nd edition, sections 4.2 and 4.3). x1 ≥ x2 ≥ … are the
contributions to a cell, X its total.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError, unknown
from shoal.numbers import number, whole


@dataclass(frozen=True, eq=False)
class Contributions:
    """Who contributes how much to which cell: entries sorted by cell, then by falling amount.

    ``total`` is what the cell publishes (weighted where there are weights), ``amount`` what an entry counts as.
    """

    starts: np.ndarray
    contributor: np.ndarray
    amount: np.ndarray
    total: np.ndarray

    @classmethod
    def of(
        cls, cell: np.ndarray, contributor: np.ndarray, amount: np.ndarray, total: np.ndarray
    ) -> "Contributions":
        """Entries in any order, sorted."""
        order = np.lexsort((contributor, -amount, cell))
        starts = np.searchsorted(cell[order], np.arange(total.size + 1))
        return cls(starts, contributor[order], amount[order], total)

    def __repr__(self) -> str:
        # Never the amounts: what is printed ends up in logs.
        return f"<Contributions: {self.amount.size} to {self.total.size} cells>"

    @property
    def counts(self) -> np.ndarray:
        """Number of contributors of each cell."""
        return np.diff(self.starts)

    def largest(self, n: int) -> np.ndarray:
        """x1 + … + xn of each cell."""
        first, counts = self.starts[:-1], self.counts
        found = np.zeros(counts.size)
        # One after the other, not by differences of running sums: those would carry the noise of the whole table.
        for place in range(min(n, int(counts.max(initial=0)))):
            has = counts > place
            found[has] += self.amount[first[has] + place]
        return found

    @property
    def noise(self) -> np.ndarray:
        """What sums of this size may be off by in floating point: no reason to call a cell sensitive."""
        found: np.ndarray = 1e-12 * np.abs(self.total)
        return found

    def together(self, cells: np.ndarray) -> "Contributions":
        """The cells as if they were one."""
        parts = [slice(self.starts[cell], self.starts[cell + 1]) for cell in cells]
        who = np.concatenate([self.contributor[part] for part in parts])
        amount = np.concatenate([self.amount[part] for part in parts])
        names, inverse = np.unique(who, return_inverse=True)
        merged = np.bincount(inverse.reshape(-1), weights=amount, minlength=names.size)
        total = np.array([float(self.total[cells].sum())])
        return Contributions.of(np.zeros(names.size), names, merged, total)


_MOST_CONTRIBUTORS = 10**9


@dataclass(frozen=True)
class MinimumFrequency:
    """Sensitive if there are fewer contributors than the minimum (but at least one)."""

    minimum: int = 3

    def __post_init__(self) -> None:
        whole(self.minimum, "the minimum of a frequency rule", least=1, most=_MOST_CONTRIBUTORS)

    def level(self, cells: Contributions) -> np.ndarray:
        """The upper protection level, NaN for cells that are not sensitive; 0 means "not a point"."""
        counts = cells.counts
        return np.where((counts > 0) & (counts < self.minimum), 0.0, np.nan)

    def __str__(self) -> str:
        return f"frequency({self.minimum})"


@dataclass(frozen=True)
class Dominance:
    """(n,k): sensitive if the n largest contributions are more than k percent of the total."""

    n: int = 1
    k: float = 75.0

    def __post_init__(self) -> None:
        whole(self.n, "n of a dominance rule", least=1, most=_MOST_CONTRIBUTORS)
        if not 0.0 < number(self.k, "k of a dominance rule") < 100.0:
            raise InputError("k of a dominance rule must be above 0 and below 100 percent")

    def level(self, cells: Contributions) -> np.ndarray:
        """The upper protection level, NaN for cells that are not sensitive."""
        top = cells.largest(self.n)
        sensitive = (cells.counts > 0) & (top > self.k / 100.0 * cells.total + cells.noise)
        return np.where(sensitive, np.maximum(100.0 / self.k * top - cells.total, 0.0), np.nan)

    def __str__(self) -> str:
        return f"dominance({self.n},{_shown(self.k)})"


@dataclass(frozen=True)
class PPercent:
    """p %: sensitive if a coalition of the next largest can estimate the largest to within p percent (p/q of it)."""

    p: float = 10.0
    coalition: int = 1
    q: float = 100.0

    def __post_init__(self) -> None:
        number(self.p, "p of a p % rule", above=0.0, most=1e6)
        number(self.q, "q of a (p,q) rule", above=0.0, most=100.0)
        whole(self.coalition, "the coalition of a p % rule", least=1, most=_MOST_CONTRIBUTORS)

    def level(self, cells: Contributions) -> np.ndarray:
        """The upper protection level, NaN for cells that are not sensitive."""
        first = cells.largest(1)
        rest = cells.total - cells.largest(1 + self.coalition)
        need = self.p / self.q * first
        sensitive = (cells.counts > 0) & (rest < need - cells.noise)
        return np.where(sensitive, need - rest, np.nan)

    def __str__(self) -> str:
        if self.q != 100.0:
            return f"pq({_shown(self.p)},{_shown(self.q)})"
        more = "" if self.coalition == 1 else f",{self.coalition}"
        return f"p-percent({_shown(self.p)}{more})"


def _shown(number: float) -> str:
    # All digits: a rule is read back from its text.
    return repr(float(number)).removesuffix(".0")


Rule = MinimumFrequency | Dominance | PPercent

_EXAMPLES = {
    "frequency": "frequency(3): at least 3 contributors",
    "dominance": "dominance(1,75): n and k percent",
    "p-percent": "p-percent(10), or p-percent(10,2) for a coalition of 2",
    "pq": "pq(10,80): p below q",
}
_FORM = re.compile(r"^\s*([a-z][a-z -]*?)\s*(?:[(:=]\s*([^)]*?)\s*\)?)?\s*$")


def parse_rule(text: str) -> Rule:
    """A rule from its text.

    >>> parse_rule("p-percent(10)"), parse_rule("dominance(2,85)")
    (PPercent(p=10.0, coalition=1, q=100.0), Dominance(n=2, k=85.0))
    >>> parse_rule("frequncy(3)")
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: rule 'frequncy' is not a rule; did you mean 'frequency'?
    """
    match = _FORM.match(text.lower())
    name = match.group(1).replace(" ", "-") if match else text
    if match is None or name not in _EXAMPLES:
        raise unknown("rule", name, tuple(_EXAMPLES), where="a rule")
    try:
        numbers = [float(part) for part in (match.group(2) or "").split(",") if part.strip()]
    except ValueError:
        raise InputError(f"rule '{text}': its parameters must be numbers, as in {_EXAMPLES[name]}") from None
    try:
        return _make(name, numbers)
    except (TypeError, ValueError):
        raise InputError(f"rule '{text}': write it as {_EXAMPLES[name]}") from None


def _whole(figure: float) -> int:
    if not figure.is_integer():
        raise ValueError
    return int(figure)


def _make(name: str, numbers: list[float]) -> Rule:
    if not np.isfinite(numbers).all():
        raise ValueError
    if name == "frequency":
        (minimum,) = numbers or [3.0]
        return MinimumFrequency(_whole(minimum))
    if name == "dominance":
        n, k = numbers or [1.0, 75.0]
        return Dominance(_whole(n), k)
    if name == "pq":
        p, q = numbers
        if not p < q:
            raise ValueError
        return PPercent(p, 1, q)
    p, *more = numbers or [10.0]
    if len(more) > 1:
        raise ValueError
    return PPercent(p, _whole(more[0]) if more else 1)


def concentration(rules: Sequence[Rule]) -> bool:
    """Whether one of the rules looks at amounts."""
    return any(not isinstance(rule, MinimumFrequency) for rule in rules)


@dataclass(frozen=True, eq=False)
class SumRule:
    """Whether the sum of some cells may be known: it must pass every rule as if it were a cell.

    A sum of the same contributions as a ``waived`` cell may be known as well: that cell was declared safe.
    """

    contributions: Contributions
    rules: tuple[Rule, ...]
    waived: tuple[int, ...] = ()

    def __call__(self, cells: np.ndarray) -> bool:
        """True if the sum of the cells is not sensitive itself."""
        merged = self.contributions.together(cells)
        if all(np.isnan(rule.level(merged)[0]) for rule in self.rules):
            return True
        return any(self._same(cell, merged) for cell in self.waived)

    def _same(self, cell: int, merged: Contributions) -> bool:
        mine = slice(self.contributions.starts[cell], self.contributions.starts[cell + 1])
        there = dict(zip(self.contributions.contributor[mine], self.contributions.amount[mine], strict=True))
        if set(there) != set(merged.contributor):
            return False
        pairs = zip(merged.contributor, merged.amount, strict=True)
        return all(abs(there[who] - amount) <= 1e-9 * abs(amount) for who, amount in pairs)
