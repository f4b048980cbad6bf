"""The result of ``shoal.risk``: who is at risk in a sample, by intruder, with what each estimate is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.microdata.risk.counts import Hiding
from shoal.microdata.risk.linking import ListLinkage
from shoal.microdata.risk.loglinear import LoglinearRisk
from shoal.microdata.risk.per_variable import Contribution
from shoal.microdata.risk.riskiest import RiskyRecord
from shoal.microdata.risk.scenarios import Basis, ClassRisks, Intruder, Scenario
from shoal.remarks import Remark, Remarked
from shoal.report.glance import Glance
from shoal.runtime.budget import StopReason

if TYPE_CHECKING:
    import polars as pl

    from shoal.microdata.risk.special_uniques.search import SpecialUniques

Respondents = Literal["known", "unknown"]


@dataclass(frozen=True, eq=False)
class RecordRisks:
    """The count f, the sum F of the weights, the risk with its interval and that of the household of every record; internal.

    ``best`` is the risk of each class by the best estimate there is, ``of_class`` the individual risk and ``class_of`` the class
    of each record; likewise for households.
    """

    hiding: Hiding
    best: ClassRisks
    of_class: np.ndarray
    class_of: np.ndarray
    of_household: np.ndarray | None
    household_of: np.ndarray | None

    @property
    def risk(self) -> np.ndarray:
        """The risk of every record for the journalist, by the best estimate there is."""
        risks: np.ndarray = self.best.risk[self.class_of]
        return risks

    @property
    def individual(self) -> np.ndarray:
        """The individual risk of every record alone, which rests on the weights of its class."""
        risks: np.ndarray = self.of_class[self.class_of]
        return risks

    @property
    def household(self) -> np.ndarray | None:
        """The individual risk of every record through its household."""
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
            "risk": self.risk,
            "risk_low": self.best.low[self.class_of],
            "risk_high": self.best.high[self.class_of],
            "individual_risk": self.individual,
        }
        if self.household is not None:
            columns["household_risk"] = self.household
        return pl.DataFrame(columns)


@dataclass(frozen=True, eq=False, repr=False)
class Risk(Remarked, Glance):
    """Who is at risk in a sample.

    ``prosecutor`` is an intruder who knows who responded (1/f), ``journalist`` one who does not (1/F, by the best estimate there
    is, with intervals); ``respondents`` says whether the prosecutor is to be reckoned with. ``known`` and ``unknown`` are the
    same two by counts and by the individual risk. ``basis`` says where the population behind a record comes from: sample weights,
    one fraction for all, a file of the population, or nothing but the sample. ``population_uniques`` and ``loglinear`` hold
    estimates by name, ``contributions`` what is left without each key, ``records_at_risk`` every record's own risk (internal),
    ``linkage`` whom a list of names finds, and ``special_uniques`` every record's minimal uniques (internal), if asked for.
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
    prosecutor: Intruder
    journalist: Intruder
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
    linkage: ListLinkage | None = None
    not_measured: tuple[str, ...] = ()
    stopped_by: StopReason | None = None
    _values: tuple[tuple[Any, ...], ...] = field(default=(), repr=False)

    @property
    def settings(self) -> tuple[tuple[str, Any], ...]:
        """What was chosen in the call that made it, by the names of its parameters."""
        chosen = () if self.made_by is None else self.made_by.arguments
        return tuple((item.label, item.value) for item in chosen if not item.default)

    def glance(self) -> dict[str, Any]:
        """How many are at risk, and how much, for both intruders."""
        figures: dict[str, Any] = {"records": self.records, "uniques": self.uniques, "pairs": self.pairs}
        for name, intruder in (("prosecutor", self.prosecutor), ("journalist", self.journalist)):
            matches = intruder.expected_matches
            figures[f"{name}_expected_matches"] = matches.value
            if matches.low < matches.high:
                figures[f"{name}_expected_matches_interval"] = (
                    float(f"{matches.low:.6g}"),
                    float(f"{matches.high:.6g}"),
                )
            if intruder.expected_households is not None:
                figures[f"{name}_expected_households"] = intruder.expected_households.value
            figures[f"{name}_largest_risk"] = intruder.largest_risk.value
        return figures | {"quasi": self.quasi, "null": self.null}

    @property
    def chosen(self) -> Scenario:
        """The scenario of the intruder whom ``respondents`` names."""
        return self.known if self.respondents == "known" else self.unknown

    @property
    def expected_persons(self) -> float:
        """Records the journalist finds by the individual risk: with households, all members of those found."""
        return self.unknown.expected_persons

    @property
    def expected_households(self) -> float | None:
        """Households of which the journalist finds somebody, by the individual risk."""
        return self.unknown.expected_households

    @property
    def largest_risk(self) -> float:
        """The largest individual risk of a record, for the journalist."""
        return self.unknown.largest_risk

    @property
    def estimates(self) -> dict[str, float]:
        """Expected re-identifications by which what is required is judged: the upper end of the journalist's interval, the
        prosecutor's where respondents may be known, those of a list of names. With households all members of those found count.
        """
        joined = "" if self.households is None else ", with households"
        source = "individual risk" if self.basis == "sample" else self.journalist.source
        end = ", upper end of the interval" if source == "latent classes" else ""
        values = {source + end + joined: self.journalist.expected_persons.high}
        if self.respondents == "known":
            values["respondents known" + joined] = self.prosecutor.expected_persons.high
        if self.linkage is not None:
            values["the list"] = self.linkage.expected_matches
        return values

    @property
    def worst_risk(self) -> float:
        """The largest risk that is reckoned with, alone or through the household, at the upper end of its interval."""
        known = self.prosecutor.worst_risk if self.respondents == "known" else 0.0
        return max(self.journalist.worst_risk, known)

    def values_of_riskiest(self) -> tuple[tuple[Any, ...], ...]:
        """The keys of the riskiest records, in their order. These values are confidential."""
        return self._values

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.risk.report import DEFINITIONS, assurances, page
        from shoal.report.python_call import completed

        return completed(page(self), self, assurances(self), DEFINITIONS)
