"""Two intruders: one may know who is in the sample, the other does not; each has a risk for every class of records.

Who knows that somebody responded finds that person among the f records with the same keys: 1/f. Who does not has to reckon with
everybody in the population, F people: 1/F where the population is known, else its expectation given the sample.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.microdata.risk.counts import Hiding
from shoal.microdata.risk.households import Households
from shoal.microdata.risk.individual import expected_reidentifications, individual_risk

#: Where F comes from: the weights of the records, one weight for all, a file of the population, or nowhere.
Basis = Literal["weights", "fraction", "population", "sample"]


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
