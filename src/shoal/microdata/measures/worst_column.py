"""Interval disclosure as a risk: that of the column whose values are given away most often, since a mean can hide it.

A column of one value alone is left out: there is nothing in it to give away.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.classic import RISKS

if TYPE_CHECKING:
    from shoal.microdata.measures.result import AttributeComparison

KNOWS = "nothing but the release: a value near the released one is given away"


class WorstColumn:
    """What a comparison tells of its worst column by interval disclosure; NaN without columns of numbers."""

    attributes: "tuple[AttributeComparison, ...]"
    records: int

    @property
    def id_worst(self) -> float:
        """Interval disclosure of the worst column."""
        return max((one.id for one in self._varying), default=self._nothing)

    @property
    def id_sd_worst(self) -> float:
        """The same by standard deviation."""
        return max((one.id_sd for one in self._varying), default=self._nothing)

    @property
    def nearness(self) -> tuple[Attack, ...]:
        """Both as attacks that need nothing but the release, with the column and the mean over all beside."""
        if not self._varying:
            return ()
        return tuple(self._as_attack(name, self._varying) for name in ("id", "id_sd"))

    @property
    def _nothing(self) -> float:
        return 0.0 if self.attributes else float("nan")

    @property
    def _varying(self) -> "tuple[AttributeComparison, ...]":
        return tuple(one for one in self.attributes if not one.constant)

    def _as_attack(self, name: str, attributes: "Sequence[AttributeComparison]") -> Attack:
        shares = [float(getattr(one, name)) for one in attributes]
        worst = max(range(len(shares)), key=shares.__getitem__)
        details: tuple[tuple[str, Any], ...] = (
            ("mean", sum(shares) / len(shares) / 100.0),
            ("worst_column", attributes[worst].column),
        )
        return Attack(name, RISKS[name], KNOWS, shares[worst], self.records, self.records, details)

    def where(self, attacks: Sequence[Attack], name: str) -> str:
        """Which column a risk is about, in words, if it is about one of them."""
        details = next((dict(one.details) for one in attacks if one.name == name), {})
        return f", column '{details['worst_column']}'" if "worst_column" in details else ""
