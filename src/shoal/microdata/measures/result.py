"""The result of ``shoal.compare``: what a release lost and what an intruder could still do with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from shoal.errors import Message
from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.classic import RISKS, Definitions, Measured
from shoal.microdata.measures.loss_figures import LossFigures
from shoal.microdata.measures.pairing import Way
from shoal.microdata.measures.problem import RESTRICTION
from shoal.microdata.measures.utility.all_utility import Utility
from shoal.microdata.measures.worst_column import WorstColumn
from shoal.remarks import Remark, Remarked, remarks_in_json
from shoal.report.glance import Glance
from shoal.runtime.budget import StopReason

#: What an intruder has to know to link records.
KNOWS = {
    "dld": "the numbers of a record",
    "pld": "the numbers of a record, roughly",
}


@dataclass(frozen=True)
class CategoryComparison:
    """What became of one column of categories, in percent.

    ``changed_percent`` of the records show something else than their value, ``blanked_percent`` nothing; ``kept_percent`` is the
    mutual information of values and labels over the entropy of the values. ``recoded`` says that there are labels the original
    does not have. ``total_variation`` compares values in the words of the release.
    """

    column: str
    changed_percent: float
    blanked_percent: float
    kept_percent: float
    recoded: bool
    total_variation: float


@dataclass(frozen=True)
class AttributeComparison:
    """Loss and interval disclosure of one column; disclosure and squared error in percent.

    A ``constant`` column had one value alone, which is no secret.
    """

    column: str
    il1: float
    il1s: float
    il2: float
    il4: float
    sse_percent: float
    id: float
    id_sd: float
    constant: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Glance, Remarked, WorstColumn, Measured, LossFigures):
    """Every loss and risk measure of a protected table, over all columns and for each.

    ``k`` is K of the protected table over ``quasi`` (named, or else all that could be known: ``quasi_guessed``), and
    ``k_compared`` that over the columns compared alone. ``links_expected`` counts a true match among t nearest records 1/t,
    ``links_strict`` only sole nearest ones. ``records`` were compared; ``left_out`` have a missing value. ``pairing`` says
    how the records of the two tables were paired. Loss and classic risk are of the columns of numbers, NaN if there is none;
    ``categories`` tells of the others, ``utility`` of all, and ``tried`` are further attacks. ``not_measured`` names what there
    was no time for (figures made of it are NaN), and ``stopped_by`` says why, if there is any. ``restrictions`` are those of the
    ``warnings`` that say in what the risks are of less than an intruder may know and try.
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
    remarks: tuple[Remark, ...] = ()
    definitions: Definitions = field(default_factory=Definitions)
    references: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    categories: tuple[CategoryComparison, ...] = ()
    utility: Utility = field(default_factory=Utility)
    tried: tuple[Attack, ...] = ()
    not_measured: tuple[str, ...] = ()
    stopped_by: StopReason | None = None

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """What was chosen in the call that made it, by the names of its parameters."""
        return () if self.made_by is None else self.made_by.settings

    @property
    def restrictions(self) -> tuple[Message, ...]:
        """In what the risks are of less than an intruder may know and try."""
        return tuple(item.text for item in self.remarks if item.kind == RESTRICTION)

    def glance(self) -> dict[str, Any]:
        """Loss, risk and K."""
        measure, risk = self.worst
        return {
            "records": self.records,
            "columns": self.columns,
            **({"il": self.il, "dr": self.dr, "score": self.score} if self.numbers else {}),
            "worst_risk": None if self.untried else risk,
            "by": "not known" if self.untried else self.titled(measure),
            "k": self.k,
            "pairing": self.pairing,
            **({"not_measured": self.not_measured} if self.not_measured else {}),
        }

    @property
    def measured(self) -> Measured:
        """The measures alone."""
        return self

    @property
    def dld_worst(self) -> float:
        """Distance-based linkage of the worst scenario."""
        return max(self.by_scenario)

    @property
    def numbers(self) -> bool:
        """Whether any column was compared as numbers."""
        return bool(self.attributes)

    @property
    def attacks(self) -> tuple[Attack, ...]:
        """Every attack that was tried, the classic ones too, the most successful first."""
        linked = {"dld": (self.dld_worst, self.records), "pld": (self.pld, self.probabilistic.records)}
        found = [
            Attack(name, RISKS[name], KNOWS[name], percent, targets, self.records)
            for name, (percent, targets) in linked.items()
            if self.numbers and not isnan(percent)
        ]
        return tuple(sorted([*self.nearness, *found, *self.tried], key=lambda attack: -attack.percent))

    @property
    def worst(self) -> tuple[str, float]:
        """The highest risk over all attacks and its name: the headline, since a mean can hide it.

        NaN, which no limit allows, if there was no time for some attack.
        """
        return ("not measured", float("nan")) if self.untried else self.worst_tried

    @property
    def worst_tried(self) -> tuple[str, float]:
        """The highest risk over the attacks that were tried, and its name."""
        attacks = self.attacks
        return (attacks[0].name, attacks[0].percent) if attacks else ("none", 0.0)

    @property
    def untried(self) -> tuple[str, ...]:
        """The attacks that there was no time for: as long as there are any, the worst risk is not known."""
        classic = (RISKS["dld"], RISKS["pld"])
        return tuple(name for name in self.not_measured if name in classic or name.startswith("attack "))

    @property
    def worst_risk(self) -> dict[str, Any]:
        """The same by name, as the JSON of the command has it; unknown if there was no time for some attack.

        ``{"measure": "dld", "percent": 12.5}``
        """
        if self.untried:
            return {"measure": None, "percent": None}
        name, risk = self.worst
        return {"measure": name, "percent": risk}

    def worst_in_words(self) -> str:
        """The worst risk and by which attack; if some were not tried, what it is at least."""
        name, risk = self.worst_tried
        less = "; restricted, see the warnings" if self.restrictions else ""
        if not self.untried:
            return f"{risk:.2f} % ({self.titled(name)}{self.where(self.attacks, name)}){less}"
        least = (
            f"at least {risk:.2f} % ({self.titled(name)}{self.where(self.attacks, name)})"
            if self.attacks
            else "not known"
        )
        return f"{least}; not measured in time: {', '.join(self.untried)}{less}"

    def titled(self, attack: str) -> str:
        """What an attack is called in words."""
        return next((one.title for one in self.attacks if one.name == attack), "no attack was tried")

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON; what needs columns of numbers is null without any."""
        from dataclasses import asdict

        measures = (
            *("il1", "il1s", "il2", "il3", "il4", "il5", "il"),
            *("id", "id_worst", "id_sd", "id_sd_worst", "dld", "dld_worst", "pld", "dr", "score"),
        )
        fitness = {part: _known(getattr(self.fitness, part)) for part in ("il", "id", "dld")}
        return {
            "name": self.name,
            "records": self.records,
            "left_out": self.left_out,
            "columns": list(self.columns),
            "pairing": self.pairing,
            **{key: _known(getattr(self, key)) for key in measures},
            "fitness": _known(self.fitness.value),
            "fitness_parts": fitness,
            "sse_percent": _known(self.sse_percent),
            "k": self.k,
            "k_compared": self.k_compared,
            "quasi": list(self.quasi),
            "quasi_guessed": self.quasi_guessed,
            "worst_risk": self.worst_risk,
            "links_expected": _known(self.links_expected),
            "links_strict": self.links_strict,
            "scenarios": [
                {"columns": list(known), "dld": _known(percent)}
                for known, percent in zip(self.scenarios, self.by_scenario, strict=True)
            ],
            "skipped_ratios": self.loss.skipped,
            "attributes": [asdict(attribute) for attribute in self.attributes],
            "categories": [asdict(category) for category in self.categories],
            "attacks": [attack.to_dict() for attack in self.attacks],
            "utility": self.utility.to_dict(),
            "not_measured": list(self.not_measured),
            "stopped_by": self.stopped_by,
            **remarks_in_json(self.remarks),
            "restrictions": list(self.restrictions),
        }

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.measures.report import DEFINITIONS, assurances, page
        from shoal.report.python_call import completed

        return completed(page([self]), self, assurances([self]), DEFINITIONS)


def _known(value: float) -> float | None:
    return None if isnan(value) else value
