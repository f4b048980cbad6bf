"""The result of ``shoal.compare``: what a release lost and what an intruder could still do with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.microdata.measures.measured import Measured
from shoal.microdata.measures.pairing import Way
from shoal.report.glance import Glance

# What each measure is called in words, for tables and reports.
RISKS = {
    "id": "interval disclosure",
    "id_sd": "interval disclosure by standard deviation",
    "dld": "linkage by distance",
    "pld": "linkage by agreement",
}


@dataclass(frozen=True)
class AttributeComparison:
    """Loss and interval disclosure of one column; disclosure and squared error in percent."""

    column: str
    il1: float
    il1s: float
    il2: float
    il4: float
    sse_percent: float
    id: float
    id_sd: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Glance, Measured):
    """Every loss and risk measure of a protected table, over all columns and for each.

    ``k`` is K of the protected table over ``quasi`` (named, or else all that could be known: ``quasi_guessed``), and
    ``k_compared`` that over the columns compared alone. ``links_expected`` counts a true match among t nearest records 1/t,
    ``links_strict`` only sole nearest ones. ``records`` were compared; ``left_out`` have a missing value. ``pairing`` says
    how the records of the two tables were paired.
    """

    name: str
    records: int
    left_out: int
    columns: tuple[str, ...]
    quasi: tuple[str, ...]
    quasi_guessed: bool
    k: int
    k_compared: int
    pairing: Way
    attributes: tuple[AttributeComparison, ...]
    scenarios: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    references: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def glance(self) -> dict[str, Any]:
        """Loss, risk and K."""
        measure, risk = self.worst
        return {
            "records": self.records,
            "columns": self.columns,
            "il": self.il,
            "dr": self.dr,
            "score": self.score,
            "worst_risk": risk,
            "by": RISKS[measure],
            "k": self.k,
            "pairing": self.pairing,
        }

    @property
    def measured(self) -> Measured:
        """The measures alone."""
        return self

    @property
    def il1(self) -> float:
        """Mean relative change of a value."""
        return self.loss.il1.value

    @property
    def il1s(self) -> float:
        """Mean change of a value in units of √2 standard deviations."""
        return self.loss.il1s.value

    @property
    def il2(self) -> float:
        """Mean relative change of a mean."""
        return self.loss.il2.value

    @property
    def il3(self) -> float:
        """Mean relative change of a covariance."""
        return self.loss.il3.value

    @property
    def il4(self) -> float:
        """Mean relative change of a variance."""
        return self.loss.il4.value

    @property
    def il5(self) -> float:
        """Mean absolute change of a correlation."""
        return self.loss.il5.value

    @property
    def il(self) -> float:
        """100 times the mean of IL1 to IL5."""
        return self.loss.il

    @property
    def dld_worst(self) -> float:
        """Distance-based linkage of the worst scenario."""
        return max(self.by_scenario)

    @property
    def sse_percent(self) -> float:
        """100·SSE/SST on standardised columns."""
        return self.loss.sse_percent

    @property
    def links_expected(self) -> float:
        """How many records an intruder links who knows all columns, ties decided by chance."""
        return self.expected_links

    @property
    def links_strict(self) -> int:
        """How many records are nearer to their own protected record than to any other."""
        return self.strict_links

    @property
    def worst(self) -> tuple[str, float]:
        """The highest risk and its name: the headline, since a mean can hide it."""
        risks = {"id": self.id, "id_sd": self.id_sd, "dld": self.dld_worst, "pld": self.pld}
        name = max(risks, key=lambda key: risks[key])
        return name, risks[name]

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON."""
        from dataclasses import asdict

        name, risk = self.worst
        return {
            "name": self.name,
            "records": self.records,
            "left_out": self.left_out,
            "columns": list(self.columns),
            "pairing": self.pairing,
            **{
                key: getattr(self, key)
                for key in (
                    *("il1", "il1s", "il2", "il3", "il4", "il5", "il"),
                    *("id", "id_sd", "dld", "dld_worst", "pld", "dr", "score"),
                )
            },
            "fitness": self.fitness.value,
            "fitness_parts": {"il": self.fitness.il, "id": self.fitness.id, "dld": self.fitness.dld},
            "sse_percent": self.sse_percent,
            "k": self.k,
            "k_compared": self.k_compared,
            "quasi": list(self.quasi),
            "quasi_guessed": self.quasi_guessed,
            "worst_risk": {"measure": name, "percent": risk},
            "links_expected": self.links_expected,
            "links_strict": self.links_strict,
            "scenarios": [
                {"columns": list(known), "dld": percent}
                for known, percent in zip(self.scenarios, self.by_scenario, strict=True)
            ],
            "skipped_ratios": self.loss.skipped,
            "attributes": [asdict(attribute) for attribute in self.attributes],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.measures.report import page

        return page([self])
