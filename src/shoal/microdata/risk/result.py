"""The result of ``shoal.risk``: who is at risk in a sample, by scenario, with what each estimate is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.microdata.risk.counts import Hiding
from shoal.microdata.risk.loglinear import LoglinearRisk
from shoal.microdata.risk.per_variable import Contribution
from shoal.microdata.risk.riskiest import RiskyRecord
from shoal.microdata.risk.scenarios import Basis, Scenario
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance
from shoal.runtime.budget import StopReason

if TYPE_CHECKING:
    import polars as pl

    from shoal.microdata.risk.special_uniques.search import SpecialUniques

Respondents = Literal["known", "unknown"]
#: The shares of the records whose risk is told: half of them have at most the median.
QUANTILES = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class RecordRisks:
    """The count f, the size F in the population, the risk and the risk of the household of every record; internal.

    ``of_class`` is the risk of each class and ``class_of`` the class of each record; likewise for households.
    """

    hiding: Hiding
    of_class: np.ndarray
    class_of: np.ndarray
    of_household: np.ndarray | None
    household_of: np.ndarray | None

    @property
    def individual(self) -> np.ndarray:
        """The risk of every record alone."""
        risks: np.ndarray = self.of_class[self.class_of]
        return risks

    @property
    def household(self) -> np.ndarray | None:
        """The risk of every record through its household."""
        if self.of_household is None or self.household_of is None:
            return None
        risks: np.ndarray = self.of_household[self.household_of]
        return risks

    def frame(self) -> "pl.DataFrame":
        """A row for each record, numbered from 1."""
        import polars as pl

        columns = {
            "record": np.arange(1, self.class_of.size + 1),
            "sample_count": self.hiding.counts[self.class_of],
            "population_count": self.hiding.populations[self.class_of],
            "individual_risk": self.individual,
        }
        if self.household is not None:
            columns["household_risk"] = self.household
        return pl.DataFrame(columns)


@dataclass(frozen=True, eq=False, repr=False)
class Risk(Remarked, Glance):
    """Who is at risk in a sample.

    ``unknown`` is the scenario of an intruder who does not know who responded, ``known`` that of one who does; ``respondents``
    says which of them is to be reckoned with. ``basis`` says where the population behind a record comes from: sample weights, one
    fraction for all, a file of the population, or nothing but the sample. ``population_uniques`` and ``loglinear`` hold estimates
    by name, ``contributions`` what is left without each key, ``records_at_risk`` every record's own risk (internal),
    and ``special_uniques`` every record's minimal uniques, if they were asked for (internal).
    ``not_measured`` says in words what there was no time for, and ``stopped_by`` why, if there is any.
    """

    quasi: tuple[str, ...]
    null: str
    basis: Basis
    respondents: Respondents
    records: int
    unit: str | None
    units: int
    population: float | None
    k: int
    uniques: int
    pairs: int
    classes: int
    households: int | None
    unknown: Scenario
    known: Scenario
    quantiles: Mapping[float, float]
    population_uniques: Mapping[str, float]
    uniques_in_sample: Mapping[str, float]
    loglinear: Mapping[str, LoglinearRisk]
    equal_weights: bool
    contributions: tuple[Contribution, ...]
    riskiest: tuple[RiskyRecord, ...]
    remarks: tuple[Remark, ...]
    records_at_risk: RecordRisks
    special_uniques: "SpecialUniques | None" = None
    not_measured: tuple[str, ...] = ()
    stopped_by: StopReason | None = None
    _values: tuple[tuple[Any, ...], ...] = field(default=(), repr=False)

    @property
    def settings(self) -> tuple[tuple[str, Any], ...]:
        """What was chosen in the call that made it, by the names of its parameters."""
        chosen = () if self.made_by is None else self.made_by.arguments
        return tuple((item.label, item.value) for item in chosen if not item.default)

    def glance(self) -> dict[str, Any]:
        """How many are at risk, and how much, for the intruder who is reckoned with."""
        chosen = self.chosen
        return {
            "respondents": self.respondents,
            "records": self.records,
            "uniques": self.uniques,
            "pairs": self.pairs,
            f"expected_persons_{self.respondents}": chosen.expected_persons,
            f"expected_households_{self.respondents}": chosen.expected_households,
            f"largest_risk_{self.respondents}": chosen.largest_risk,
            "quasi": self.quasi,
            "null": self.null,
        }

    @property
    def chosen(self) -> Scenario:
        """The scenario of the intruder whom ``respondents`` names."""
        return self.known if self.respondents == "known" else self.unknown

    @property
    def expected_persons(self) -> float:
        """Records found by somebody who does not know who responded: with households, all members of those found."""
        return self.unknown.expected_persons

    @property
    def expected_households(self) -> float | None:
        """Households of which somebody is found by who does not know who responded."""
        return self.unknown.expected_households

    @property
    def largest_risk(self) -> float:
        """The largest risk of a record for who does not know who responded."""
        return self.unknown.largest_risk

    @property
    def estimates(self) -> dict[str, float]:
        """Expected re-identifications by every estimate that the chosen scenario reckons with.

        Uniques of the population that are in the sample are re-identified for certain, so that they are estimates, too.
        """
        own = "population file" if self.basis == "population" else "individual risk"
        joined = "" if self.households is None else ", with households"
        values = {own + joined: self.unknown.expected_persons}
        names = {"main": "log-linear, main effects", "two_way": "log-linear, two-way effects"}
        values |= {names[name] + joined: model.persons for name, model in self.loglinear.items()}
        estimators = {"zayatz": "Zayatz", "pitman": "Pitman"}
        values |= {
            estimators[name]: value for name, value in self.uniques_in_sample.items() if name in estimators
        }
        if self.respondents == "known":
            values["respondents known" + joined] = self.known.expected_persons
        return values

    @property
    def worst_risk(self) -> float:
        """The largest risk in the scenarios that are reckoned with, alone or through the household."""
        known = self.known.worst_risk if self.respondents == "known" else 0.0
        return max(self.unknown.worst_risk, known)

    def values_of_riskiest(self) -> tuple[tuple[Any, ...], ...]:
        """The keys of the riskiest records, in their order. These values are confidential."""
        return self._values

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.risk.report import DEFINITIONS, assurances, page
        from shoal.report.python_call import completed

        return completed(page(self), self, assurances(self), DEFINITIONS)
