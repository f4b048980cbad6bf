"""Sensitivity rules for cells of magnitude and frequency tables, with the protection levels they ask for.

Formulas as in the Handbook on Statistical Disclosure Control (2nd edition, sections 4.2 and 4.3). x1 ≥ x2 ≥ … are the
contributions to a cell, X its total.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from shoal.errors import InputError, unknown
from shoal.numbers import number, whole
from shoal.tables.model.contributions import Known
from shoal.tables.model.count_rules import Empty, Group

_MOST_CONTRIBUTORS = 10**9


#: What a cell with a rule of its own, but without levels, is protected by: percent of its value on both sides.
USUAL_RANGE = 20.0
_LARGEST_RANGE = 1e6


@dataclass(frozen=True)
class MinimumFrequency:
    """Sensitive if there are fewer contributors than the minimum (but at least one).

    Such a cell is protected by ``range`` percent of its value on both sides; 0 means that it only must not be a point.
    """

    minimum: int = 3
    range: float = USUAL_RANGE

    def __post_init__(self) -> None:
        whole(self.minimum, "the minimum of a frequency rule", least=1, most=_MOST_CONTRIBUTORS)
        number(self.range, "the range of a frequency rule, in percent,", least=0.0, most=_LARGEST_RANGE)

    def level(self, cells: Known) -> np.ndarray:
        """The upper protection level, NaN for cells that are not sensitive; 0 means "not a point"."""
        counts = cells.counts
        few = (counts > 0) & (counts < self.minimum)
        return np.where(few, self.range / 100.0 * np.abs(cells.total), np.nan)

    def __str__(self) -> str:
        more = "" if self.range == USUAL_RANGE else f",{_shown(self.range)}"
        return f"frequency({self.minimum}{more})"


@dataclass(frozen=True)
class Zero:
    """Sensitive if there are contributors and all of them together come to 0; ``range`` is how far the cell may rise.

    A share of 0 would be 0, so this range is an amount.
    """

    range: float

    def __post_init__(self) -> None:
        number(self.range, "the range of a zero rule, an amount,", least=0.0, most=1e15)

    def level(self, cells: Known) -> np.ndarray:
        """The upper protection level, NaN for cells that are not sensitive."""
        return np.where((cells.counts > 0) & (cells.total == 0), self.range, np.nan)

    def __str__(self) -> str:
        return f"zero({_shown(self.range)})"


@dataclass(frozen=True)
class Manual:
    """Calls no cell sensitive: the range, in percent of the value, of cells that somebody declares so without levels."""

    range: float = USUAL_RANGE

    def __post_init__(self) -> None:
        number(self.range, "the range of a manual rule, in percent,", least=0.0, most=_LARGEST_RANGE)

    def level(self, cells: Known) -> np.ndarray:
        """No cell is sensitive by it."""
        return np.full(cells.total.size, np.nan)

    def __str__(self) -> str:
        return f"manual({_shown(self.range)})"


def manual_range(rules: "Sequence[Rule]") -> float:
    """The range in percent of cells that somebody declares sensitive without levels.

    >>> manual_range([parse_rule("manual(5)")]), manual_range([])
    (5.0, 20.0)
    """
    return next((rule.range for rule in rules if isinstance(rule, Manual)), USUAL_RANGE)


@dataclass(frozen=True)
class Dominance:
    """(n,k): sensitive if the n largest contributions are more than k percent of the total."""

    n: int = 1
    k: float = 75.0

    def __post_init__(self) -> None:
        whole(self.n, "n of a dominance rule", least=1, most=_MOST_CONTRIBUTORS)
        if not 0.0 < number(self.k, "k of a dominance rule") < 100.0:
            raise InputError("k of a dominance rule must be above 0 and below 100 percent")

    def level(self, cells: Known) -> np.ndarray:
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

    def level(self, cells: Known) -> np.ndarray:
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


Rule = MinimumFrequency | Dominance | PPercent | Zero | Manual | Group | Empty

_EXAMPLES = {
    "frequency": "frequency(3): at least 3 contributors, or frequency(3,20) with the range in percent",
    "dominance": "dominance(1,75): n and k percent",
    "p-percent": "p-percent(10), or p-percent(10,2) for a coalition of 2",
    "pq": "pq(10,80): p below q",
    "zero": "zero(10): how far a cell of 0 may rise, an amount",
    "group": "group(1): all that a total counts are in one cell, but for fewer than so many",
    "empty": "empty(1): nobody of a group is in a cell, which must be able to rise by so many",
    "manual": "manual(20): the range in percent of cells that somebody declares sensitive",
}
# What users of τ-ARGUS are used to write.
_OF_ARGUS = {"p": "p-percent", "nk": "dominance", "freq": "frequency", "man": "manual"}
# What others call these rules; one that is called so is asked for by its name.
_OTHER_NAMES = {
    "threshold": "frequency",
    "minimum": "frequency",
    "minimum-frequency": "frequency",
    "contributors": "frequency",
    "count": "frequency",
    "n-k": "dominance",
    "concentration": "dominance",
    "percent": "p-percent",
    "p%": "p-percent",
    "p-rule": "p-percent",
    "prior-posterior": "pq",
    "p-q": "pq",
    "zeros": "empty",
    "group-disclosure": "group",
}
_FORM = re.compile(r"^\s*([a-z][a-z %_-]*?)\s*(?:\(([^()]*)\)|[:=]([^()]*))?\s*$")


def parse_rule(text: str) -> Rule:
    """A rule from its text.

    >>> parse_rule("p-percent(10)"), parse_rule("dominance(2,85)")
    (PPercent(p=10.0, coalition=1, q=100.0), Dominance(n=2, k=85.0))
    >>> parse_rule("P(10,1)") == parse_rule("p-percent(10)"), parse_rule("NK(2,85)") == parse_rule("dominance(2,85)")
    (True, True)
    >>> parse_rule("dominace(1,75)")
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: rule 'dominace' is not a rule; did you mean 'dominance'? Write dominance(1,75): n and k percent
    """
    if not isinstance(text, str):
        raise InputError(f"a rule is a text like 'frequency(3)', not {type(text).__name__}")
    match = _FORM.match(text.lower())
    name = re.sub("[ _]", "-", match.group(1)) if match else text
    name = _OF_ARGUS.get(name, name)
    if match is None or name not in _EXAMPLES:
        raise _no_rule(name if match else text)
    said = (match.group(2) or match.group(3) or "").strip()
    try:
        numbers = [float(part) for part in said.split(",")] if said else []
    except ValueError:
        raise InputError(f"rule '{text}': its parameters must be numbers, as in {_EXAMPLES[name]}") from None
    if name == "dominance" and len(numbers) == 2 and _turned(*numbers):
        k, n = map(_shown, numbers)
        raise InputError(
            f"rule '{text}' asks whether the {k} largest contributions are more than {n} percent, which holds of nearly every "
            f"cell; the number comes first, then the percent: dominance({n},{k})"
        )
    if name == "dominance" and len(numbers) == 2 and 0.0 < numbers[1] < 1.0:
        percent = _shown(100.0 * numbers[1])
        raise InputError(
            f"rule '{text}': the second number is in percent: dominance({_shown(numbers[0])},{percent})"
        )
    try:
        return _make(name, numbers)
    except (TypeError, ValueError):
        raise InputError(f"rule '{text}': write it as {_EXAMPLES[name]}") from None


def _no_rule(name: str) -> InputError:
    """The error for a rule that there is not, with the one that is meant and how it is written."""
    called = re.sub(r"\(.*", "", name.lower()).strip()
    if _OF_ARGUS.get(called, called) in _EXAMPLES:
        return InputError(f"rule '{name}': write it as {_EXAMPLES[_OF_ARGUS.get(called, called)]}")
    close = get_close_matches(called, [*_EXAMPLES, *_OTHER_NAMES], n=1, cutoff=0.6)
    if not close:
        return unknown("rule", called or name, tuple(_EXAMPLES), where="a rule")
    meant = _OTHER_NAMES.get(close[0], close[0])
    return InputError(f"rule '{called}' is not a rule; did you mean '{meant}'? Write {_EXAMPLES[meant]}")


def _turned(n: float, k: float) -> bool:
    """Whether the number and the percent of a dominance rule stand in each other's place: 50 firms, and 3 percent."""
    return k.is_integer() and 1 <= k <= 10 < 50 <= n < 100


def _whole(figure: float) -> int:
    if not figure.is_integer():
        raise ValueError
    return int(figure)


def _make(name: str, numbers: list[float]) -> Rule:
    if not np.isfinite(numbers).all():
        raise ValueError
    if name == "frequency":
        minimum, *rest = numbers
        (share,) = rest or [USUAL_RANGE]
        return MinimumFrequency(_whole(minimum), share)
    if name == "dominance":
        n, k = numbers
        return Dominance(_whole(n), k)
    if name == "pq":
        p, q = numbers
        if not p < q:
            raise ValueError
        return PPercent(p, 1, q)
    if name in ("group", "empty"):
        (figure,) = numbers
        return Group(_whole(figure)) if name == "group" else Empty(_whole(figure))
    if name in ("zero", "manual"):
        (figure,) = numbers
        return Zero(figure) if name == "zero" else Manual(figure)
    p, *more = numbers
    if len(more) > 1:
        raise ValueError
    return PPercent(p, _whole(more[0]) if more else 1)


def concentration(rules: Sequence[Rule]) -> bool:
    """Whether one of the rules looks at amounts."""
    return any(isinstance(rule, Dominance | PPercent) for rule in rules)


def largest_needed(rule: Rule) -> int:
    """How many of the largest contributions of a cell the rule looks at one by one.

    >>> largest_needed(parse_rule("dominance(2,85)")), largest_needed(parse_rule("p-percent(10)"))
    (2, 2)
    """
    if isinstance(rule, Dominance):
        return rule.n
    return 1 + rule.coalition if isinstance(rule, PPercent) else 0


def room_below(level: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The lower level that goes with an upper one: as much, but never more than what the cell holds, unless that is negative.

    >>> room_below(np.array([20.0, 20.0, 20.0]), np.array([100.0, 5.0, -100.0])).tolist()
    [20.0, 5.0, 20.0]
    """
    return np.where(values < 0.0, level, np.minimum(level, values))
