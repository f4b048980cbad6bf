"""Rules on numbers: classes between cuts, with open classes at both ends.

Rules on numbers take whole numbers, others, and texts that are numbers. Arithmetic is that of decimal fractions, so that a
value on a cut is where it should be. Where all numbers are whole the class from 20 up to 25 is ``20-24``, else ``[20, 25)``;
open classes are ``<20`` and ``>=85``. A rule keeps which of the two it is (``numbers=``), and for whole numbers which of them
belong to the hierarchy although nobody has them (``cover=0..119``): what is lost is measured by how many values a class
holds, and that should not depend on who happened to answer.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.exact_numbers import Number, number_of
from shoal.microdata.columns.hierarchies.hierarchy import Values
from shoal.microdata.columns.hierarchies.rule import Rule
from shoal.microdata.columns.hierarchies.rule_text import RuleText, plain

Kind = Literal["whole", "decimal"]

_COVER = re.compile(r"(-?\d{1,15})\.\.(-?\d{1,15})")
# A hierarchy covers no more values than these that nobody has.
MOST_COVERED = 1_000
_LARGEST_COVER = 100_000


@dataclass(frozen=True)
class Numbers(Rule):
    """What rules on numbers share: classes between cuts, told in the same way."""

    takes: ClassVar[str] = "numbers"

    numbers: Kind | None = None
    cover: tuple[int, int] | None = None

    @staticmethod
    def _common(text: RuleText, own: Sequence[str], cuts: Iterable[Number]) -> dict[str, Any]:
        """The options that all have, checked; with cuts that are not whole, numbers are not."""
        text.check_options(*own, "numbers", "cover")
        numbers = text.options.get("numbers")
        if numbers not in (None, "whole", "decimal"):
            raise InputError(f"'{text.name}' needs numbers=whole or numbers=decimal")
        if any(cut != int(cut) for cut in cuts):
            if numbers == "whole":
                raise InputError(
                    f"'{text.name}' has a cut that is no whole number, so numbers=whole cannot be"
                )
            numbers = "decimal"
        cover = None
        if "cover" in text.options:
            match = _COVER.fullmatch(text.options["cover"])
            if match is None or not 0 <= int(match[2]) - int(match[1]) < _LARGEST_COVER:
                raise InputError(
                    f"'{text.name}' needs cover=FIRST..LAST, at most {_LARGEST_COVER:,} whole numbers"
                )
            if numbers == "decimal":
                raise InputError(f"'{text.name}' can cover whole numbers only")
            cover = int(match[1]), int(match[2])
            numbers = "whole"
        return {"numbers": numbers, "cover": cover}

    def _options(self) -> dict[str, object]:
        cover = None if self.cover is None else f"{self.cover[0]}..{self.cover[1]}"
        return {"numbers": self.numbers, "cover": cover}

    def _kind(self, values: Values) -> Kind:
        """Whether the numbers are whole, if nothing says so."""
        if self.numbers is not None:
            return self.numbers
        return "decimal" if any(isinstance(number, Decimal) for number in values.numbers) else "whole"

    def position(self, value: Any, text: str) -> Number | None:
        """Its number."""
        found = number_of(value)
        return None if self.numbers == "whole" and not isinstance(found, int) else found

    def covered(self) -> Iterable[str]:
        """The whole numbers that belong to it in any case."""
        return () if self.cover is None else map(str, range(self.cover[0], self.cover[1] + 1))

    @cached_property
    def _digits(self) -> int:
        """How many decimals the cuts have, so that all are written alike."""
        exponents = (Decimal(plain(cut)).as_tuple().exponent for cut in self._all_cuts())
        return max((-exponent for exponent in exponents if isinstance(exponent, int)), default=0)

    def _all_cuts(self) -> Iterable[Number]:
        return ()

    def _named(self, low: Number | None, high: Number | None) -> str:
        """The class from one cut up to the next; an end that is not there is open."""
        if low is None and high is None:
            return "*"
        if low is None:
            return f"<{self._cut(high)}"
        if high is None:
            return f">={self._cut(low)}"
        if self.numbers != "whole":
            return f"[{self._cut(low)}, {self._cut(high)})"
        last = int(high) - 1
        if last == low:
            return str(last)
        return f"{low}-{last}" if low >= 0 else f"{low} to {last}"

    def _cut(self, number: Number | None) -> str:
        assert number is not None
        return str(int(number)) if self.numbers == "whole" else f"{Decimal(number):.{self._digits}f}"


def counted(values: Values) -> tuple[list[Number], np.ndarray]:
    """The numbers from the smallest to the largest, and how many records have at most each."""
    records = np.bincount(values.codes, minlength=len(values.texts))
    pairs = zip(values.numbers, records.tolist(), strict=True)
    known = sorted((number, count) for number, count in pairs if number is not None)
    return [number for number, _ in known], np.cumsum([count for _, count in known])


def at_rank(numbers: list[Number], reach: np.ndarray, rank: float) -> Number:
    """The number of the record of this rank, from 0 for the first."""
    return numbers[int(np.searchsorted(reach, math.floor(rank), side="right").clip(0, len(numbers) - 1))]
