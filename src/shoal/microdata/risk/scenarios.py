"""Two intruders: the prosecutor knows who is in the sample, the journalist does not; each has a risk for every class of records.

The prosecutor finds somebody among the f records with the same keys: 1/f. The journalist has to reckon with everybody in the
population, F units: 1/F where the population is known, else its expectation given the sample. A ``Scenario`` holds the figures by
one formula for each class, an ``Intruder`` the best figures there are, with their intervals.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from shoal.microdata.risk.counts import Hiding
from shoal.microdata.risk.households import Households
from shoal.microdata.risk.individual import expected_reidentifications, individual_risk
from shoal.microdata.risk.matches.estimate import Estimated, MatchEstimate

#: Where F comes from: the weights of the records, one weight for all, a file of the population, or nowhere.
Basis = Literal["weights", "fraction", "population", "sample"]

#: How 1/F or 1/f was obtained.
Source = Literal["latent classes", "individual risk", "population file", "sample"]


@dataclass(frozen=True)
class Scenario:
    """The risk of all records for one intruder.

    ``expected_reidentifications`` is the sum of the risk of every record alone. ``expected_persons`` counts all members of a
    household of which somebody is found, where households are known; ``expected_households`` those households.
    """

    expected_reidentifications: float
    expected_persons: float
    expected_households: float | None
    largest_risk: float
    largest_household_risk: float | None
    mean_risk: float

    @property
    def worst_risk(self) -> float:
        """The largest risk of a person: alone, or by somebody of the household."""
        return max(self.largest_risk, self.largest_household_risk or 0.0)


@dataclass(frozen=True, eq=False)
class ClassRisks:
    """The risk of a record of each class, with the ends of its interval."""

    risk: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, estimate: MatchEstimate | None, otherwise: np.ndarray) -> "ClassRisks":
        """Those of the estimate, or others that have no interval."""
        if estimate is None:
            return cls(otherwise, otherwise, otherwise)
        return cls(estimate.risks, estimate.low, estimate.high)


@dataclass(frozen=True)
class Intruder:
    """What one intruder finds, by the best estimate there is; ``source`` says by which.

    ``expected_matches`` is how many records are matched rightly if each is looked for. ``population_uniques`` is how many sample
    uniques are unique in the population, and ``matches_among_uniques`` how many of them are matched; both only where the
    population is estimated or known. Each figure has its 90 % interval, of no length where it is counted.
    """

    source: Source
    expected_matches: Estimated
    largest_risk: Estimated
    mean_risk: float
    expected_persons: Estimated
    expected_households: Estimated | None
    largest_household_risk: Estimated | None
    population_uniques: Estimated | None = None
    matches_among_uniques: Estimated | None = None

    @property
    def worst_risk(self) -> float:
        """The upper end of the largest risk: alone, or by somebody of the household."""
        joint = self.largest_household_risk
        return max(self.largest_risk.high, 0.0 if joint is None else joint.high)

    @classmethod
    def counted(cls, source: Source, scenario: Scenario, **more: Any) -> "Intruder":
        """An intruder whose figures have no interval."""
        households, joint = scenario.expected_households, scenario.largest_household_risk
        return cls(
            source,
            Estimated.counted(scenario.expected_reidentifications),
            Estimated.counted(scenario.largest_risk),
            scenario.mean_risk,
            Estimated.counted(scenario.expected_persons),
            None if households is None else Estimated.counted(households),
            None if joint is None else Estimated.counted(joint),
            **more,
        )

    @classmethod
    def estimated(
        cls,
        estimate: MatchEstimate,
        classes: Hiding,
        class_of: np.ndarray,
        households: Households | None,
        known: Scenario,
    ) -> "Intruder":
        """The journalist by the estimate, who finds no more than what is ``known`` of the prosecutor.

        The figures of households are as uncertain as the expected matches are.
        """
        middle, low, high = (
            scenario(of_class, classes, class_of, households)[0]
            for of_class in (estimate.risks, estimate.low, estimate.high)
        )
        matches = estimate.matches
        joint, households_found = middle.largest_household_risk, middle.expected_households
        persons, together = matches, None
        if households_found is not None and known.expected_households is not None:
            persons = matches.scaled(middle.expected_persons, known.expected_persons)
            together = matches.scaled(households_found, known.expected_households)
        return cls(
            "latent classes",
            matches,
            Estimated(middle.largest_risk, low.largest_risk, high.largest_risk),
            middle.mean_risk,
            persons,
            together,
            None
            if joint is None
            else Estimated(joint, low.largest_household_risk or 0.0, high.largest_household_risk or joint),
            estimate.population_uniques,
            estimate.matches_among_uniques,
        )


def risk_when_unknown(classes: Hiding, basis: Basis) -> np.ndarray:
    """The risk of each class for somebody who does not know who responded."""
    if basis == "population":
        return 1.0 / classes.populations
    return individual_risk(classes.counts, classes.populations)


def risk_when_known(classes: Hiding) -> np.ndarray:
    """The risk of each class for somebody who knows who responded; classes of the population alone have none."""
    return 1.0 / np.maximum(classes.counts, 1)


def expected_when_unknown(classes: Hiding, basis: Basis) -> float:
    """The sum over all records."""
    if basis == "population":
        return float((classes.records / classes.populations).sum())
    return expected_reidentifications(classes.counts, classes.populations, classes.records)


def expected_when_known(classes: Hiding) -> float:
    """The sum over all records: the number of classes, where these do not overlap."""
    return float((classes.records / np.maximum(classes.counts, 1)).sum())


def scenario(
    of_class: np.ndarray, classes: Hiding, class_of: np.ndarray, households: Households | None
) -> tuple[Scenario, np.ndarray | None]:
    """The scenario, and the risk of each household."""
    occurring = classes.records > 0
    total = float((of_class * classes.records).sum())
    largest = float(of_class[occurring].max())
    mean = total / float(classes.records.sum())
    if households is None:
        return Scenario(total, total, None, largest, None, mean), None
    joint = households.risk(of_class, class_of)
    persons = float((joint * households.sizes).sum())
    return Scenario(total, persons, float(joint.sum()), largest, float(joint.max()), mean), joint
