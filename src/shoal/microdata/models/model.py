"""The models of privacy by name: what a class must be so that nothing can be learnt from sharing its keys.

A model judges classes by their ``Evidence``. ``fails`` is the model itself. ``hopeless`` is weaker and never changes its mind:
a class that is hopeless has only parts that fail, so nothing finer can save it. Models of confidential values speak of one
column each.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from shoal.microdata.models import model_kernels as kernels
from shoal.microdata.models.histogram import Histogram

Distance = Literal["equal", "ordered", "hierarchical"]

# Shares are sums of rounded numbers; a limit that is met exactly must not fail by the last digit.
_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class ConfidentialColumn:
    """A confidential column in all data: the share of each value, in order, and which of them stands for missing ones.

    ``tree`` holds the node over each value for every level below the root, if there is a hierarchy.
    """

    name: str
    shares: np.ndarray
    missing: int = -1
    tree: np.ndarray | None = None

    @property
    def kinds(self) -> int:
        """How many values there are."""
        return int(self.shares.size)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of each class: its people, those of it in the population, and its confidential values by column."""

    people: np.ndarray
    population: np.ndarray | None = None
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    columns: Mapping[str, ConfidentialColumn] = field(default_factory=dict)


class Model(ABC):
    """One demand on every class."""

    #: Whether the worst class is the one of which least is measured.
    more_is_better: ClassVar[bool] = False

    @abstractmethod
    def measured(self, evidence: Evidence) -> np.ndarray:
        """What the model looks at, of each class."""

    @abstractmethod
    def fails(self, evidence: Evidence) -> np.ndarray:
        """Which classes do not meet the demand."""

    @abstractmethod
    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """Which classes have no part that could meet it."""

    @property
    @abstractmethod
    def limit(self) -> float | tuple[float, float]:
        """What is measured is held against this, or must lie between two."""

    @property
    @abstractmethod
    def text(self) -> str:
        """As a person writes it: ``distinct(3)``."""

    def worst(self, evidence: Evidence) -> float:
        """What is measured of the worst class."""
        values = self.measured(evidence)
        return float(values.min() if self.more_is_better else values.max())


@dataclass(frozen=True)
class ValueModel(Model):
    """A demand on the confidential values of every class."""

    column: str = ""

    @property
    def compares(self) -> bool:
        """Whether it holds the shares in a class against those in a reference."""
        return isinstance(self, Closeness | Likeness)

    def _evidence_of(self, evidence: Evidence) -> tuple[Histogram, ConfidentialColumn]:
        return evidence.histograms[self.column], evidence.columns[self.column]

    def _distinct(self, evidence: Evidence) -> np.ndarray:
        histogram, column = self._evidence_of(evidence)
        found: np.ndarray = kernels.distinct_values(*histogram, column.missing)
        return found


@dataclass(frozen=True)
class DistinctDiversity(ValueModel):
    """At least l different values (A. Machanavajjhala and others, l-diversity, ICDE 2006). Missing ones say nothing."""

    more_is_better: ClassVar[bool] = True

    l: int = 2

    @property
    def limit(self) -> float:
        """What the worst class is held against."""
        return self.l

    @property
    def text(self) -> str:
        """As a person writes it."""
        return f"distinct({self.l})"

    def measured(self, evidence: Evidence) -> np.ndarray:
        """How many different values there are."""
        return self._distinct(evidence)

    def fails(self, evidence: Evidence) -> np.ndarray:
        """Fewer than l."""
        return self.measured(evidence) < self.l

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """The same: a part has no more values than the whole."""
        return self.fails(evidence)


@dataclass(frozen=True)
class EntropyDiversity(ValueModel):
    """An entropy of at least ln l (the same paper)."""

    more_is_better: ClassVar[bool] = True

    l: float = 2.0

    @property
    def limit(self) -> float:
        """What the worst class is held against."""
        return self.l

    @property
    def text(self) -> str:
        """As a person writes it."""
        return f"entropy({self.l:g})"

    def measured(self, evidence: Evidence) -> np.ndarray:
        """How many equally frequent values would be as uncertain."""
        histogram, column = self._evidence_of(evidence)
        found: np.ndarray = kernels.effective_values(*histogram, column.missing)
        return found

    def fails(self, evidence: Evidence) -> np.ndarray:
        """Fewer than l of them."""
        return self.measured(evidence) < self.l * (1.0 - _SLACK)

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """Fewer than l different values: their entropy cannot reach ln l in any part."""
        return self._distinct(evidence) < self.l * (1.0 - _SLACK)


@dataclass(frozen=True)
class RecursiveDiversity(ValueModel):
    """The most frequent value is rarer than c times all from the l-th most frequent on (the same paper)."""

    c: float = 3.0
    l: int = 2

    @property
    def limit(self) -> float:
        """What the worst class is held against."""
        return self.c

    @property
    def text(self) -> str:
        """As a person writes it."""
        return f"recursive({self.c:g},{self.l})"

    def measured(self, evidence: Evidence) -> np.ndarray:
        """The ratio of the two."""
        histogram, column = self._evidence_of(evidence)
        found: np.ndarray = kernels.recursion_ratios(*histogram, column.missing, self.l)
        return found

    def fails(self, evidence: Evidence) -> np.ndarray:
        """The ratio is c or more."""
        return self.measured(evidence) >= self.c

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """Fewer than l different values."""
        return self._distinct(evidence) < self.l


@dataclass(frozen=True)
class Closeness(ValueModel):
    """Shares within t of those in all data (N. Li and others, t-closeness, ICDE 2007). A missing value is one of its own."""

    t: float = 0.2
    distance: Distance = "equal"

    @property
    def limit(self) -> float:
        """What the worst class is held against."""
        return self.t

    @property
    def text(self) -> str:
        """As a person writes it."""
        return (
            f"closeness({self.t:g})" if self.distance == "equal" else f"closeness({self.t:g},{self.distance})"
        )

    def measured(self, evidence: Evidence) -> np.ndarray:
        """The distance of each class."""
        histogram, column = self._evidence_of(evidence)
        found: np.ndarray
        if self.distance == "ordered":
            found = kernels.ordered_distances(*histogram, column.shares)
        elif self.distance == "hierarchical":
            found = kernels.tree_distances(*histogram, column.shares, column.tree)
        else:
            found = kernels.equal_distances(*histogram, column.shares)
        return found

    def fails(self, evidence: Evidence) -> np.ndarray:
        """Farther than t."""
        return self.measured(evidence) > self.t + _SLACK

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """What absent values need to be moved is too much, and in a part no fewer are absent."""
        histogram, column = self._evidence_of(evidence)
        if self.distance == "ordered":
            least = kernels.least_moves(*histogram, column.shares)
        else:
            least = 1.0 - kernels.present_shares(*histogram, column.shares)
            if self.distance == "hierarchical":
                least = least / column.tree.shape[0] if column.tree is not None else 0.0 * least
        hopeless: np.ndarray = least > self.t + _SLACK
        return hopeless


@dataclass(frozen=True)
class Likeness(ValueModel):
    """No share grows by more than β times itself (J. Cao and P. Karras, β-likeness, VLDB 2012).

    The enhanced form also allows no more than −ln of the share, so that frequent values are protected too.
    """

    beta: float = 1.0
    enhanced: bool = False

    @property
    def limit(self) -> float:
        """What the worst class is held against."""
        return self.beta

    @property
    def text(self) -> str:
        """As a person writes it."""
        return f"{'enhanced-' if self.enhanced else ''}likeness({self.beta:g})"

    def measured(self, evidence: Evidence) -> np.ndarray:
        """The largest relative gain."""
        histogram, column = self._evidence_of(evidence)
        found: np.ndarray = kernels.largest_gains(*histogram, column.shares)
        return found

    def fails(self, evidence: Evidence) -> np.ndarray:
        """More than β, or in the enhanced form more than −ln of the share."""
        failing = self.measured(evidence) > self.beta + _SLACK
        if self.enhanced:
            histogram, column = self._evidence_of(evidence)
            failing |= kernels.excess_gains(*histogram, column.shares) > _SLACK
        return failing

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """Even grown by β the shares of the values present do not add up to 1."""
        histogram, column = self._evidence_of(evidence)
        present = kernels.present_shares(*histogram, column.shares)
        hopeless: np.ndarray = (1.0 + self.beta) * present < 1.0 - _SLACK
        return hopeless


@dataclass(frozen=True)
class PopulationModel(Model):
    """A demand on every class beside the population."""


@dataclass(frozen=True)
class KMap(PopulationModel):
    """At least k people of the population share the keys (L. Sweeney 2002)."""

    more_is_better: ClassVar[bool] = True

    k: int = 5

    @property
    def limit(self) -> float:
        """What the worst class is held against."""
        return self.k

    @property
    def text(self) -> str:
        """As a person writes it."""
        return f"k-map({self.k})"

    def measured(self, evidence: Evidence) -> np.ndarray:
        """People of the population in each class."""
        assert evidence.population is not None
        return evidence.population

    def fails(self, evidence: Evidence) -> np.ndarray:
        """Fewer than k, where somebody of the data is in the class."""
        return (self.measured(evidence) < self.k) & (evidence.people > 0)

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """The same: a part has no more people."""
        return self.fails(evidence)


@dataclass(frozen=True)
class Presence(PopulationModel):
    """The share of the population that is in the data lies within limits (M. E. Nergiz and others, δ-presence, SIGMOD 2007).

    A class of people of whom nobody is in the data shows that they are not: with a lower limit above 0 no release may have one.
    """

    least: float = 0.0
    most: float = 1.0

    @property
    def limit(self) -> tuple[float, float]:
        """Between which shares the worst class should lie."""
        return self.least, self.most

    def worst(self, evidence: Evidence) -> float:
        """The share that is farthest out of the limits, or nearest to one of them; 0 and 1 are none."""
        shares = self.measured(evidence)
        below = self.least - shares if self.least > 0.0 else np.full(shares.size, -np.inf)
        above = shares - self.most if self.most < 1.0 or self.least == 0.0 else np.full(shares.size, -np.inf)
        return float(shares[np.maximum(below, above).argmax()])

    @property
    def text(self) -> str:
        """As a person writes it."""
        return f"presence({self.least:g},{self.most:g})"

    def measured(self, evidence: Evidence) -> np.ndarray:
        """The share of each class that is in the data."""
        assert evidence.population is not None
        return evidence.people / np.maximum(1, evidence.population)

    def fails(self, evidence: Evidence) -> np.ndarray:
        """Outside of the limits."""
        share = self.measured(evidence)
        return (share < self.least - _SLACK) | (share > self.most + _SLACK)

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """So few others of the population that any part with somebody in it is above the upper limit."""
        assert evidence.population is not None
        others = evidence.population - evidence.people
        return (others < (1.0 / self.most - 1.0) - _SLACK) & (evidence.people > 0)


@dataclass(frozen=True)
class AverageRisk(Model):
    """The mean chance to be singled out, classes by people, over the whole release."""

    share: float = 0.05

    @property
    def limit(self) -> float:
        """What the mean is held against."""
        return self.share

    @property
    def text(self) -> str:
        """As a person writes it."""
        return f"average-risk({self.share:g})"

    def measured(self, evidence: Evidence) -> np.ndarray:
        """The chance in each class."""
        return 1.0 / np.maximum(1, evidence.people)

    def worst(self, evidence: Evidence) -> float:
        """The mean: as many classes as there are, by people."""
        return evidence.people.size / max(1, int(evidence.people.sum()))

    def fails(self, evidence: Evidence) -> np.ndarray:
        """No class alone does."""
        return np.zeros(evidence.people.size, dtype=bool)

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """No class alone is."""
        return np.zeros(evidence.people.size, dtype=bool)

    def holds_for(self, mean: float) -> bool:
        """Whether a mean chance is within the limit."""
        return mean <= self.share * (1.0 + _SLACK)

    def allows(self, classes: int, people: int) -> bool:
        """Whether a release of so many classes and people is within the limit."""
        return people == 0 or bool(self.allow(np.array(classes), np.array(people)))

    def allow(self, classes: np.ndarray, people: np.ndarray) -> np.ndarray:
        """Which releases of so many classes and people are within the limit."""
        within: np.ndarray = classes <= self.share * people * (1.0 + _SLACK)
        return within


@dataclass(frozen=True)
class LargestRisk(Model):
    """The largest chance to be singled out: at least 1/share people in every class."""

    share: float

    @property
    def k(self) -> int:
        """The k that says the same."""
        return int(np.ceil(1.0 / self.share - _SLACK))

    @property
    def limit(self) -> float:
        """What the chance in the smallest class is held against."""
        return self.share

    @property
    def text(self) -> str:
        """As a person writes it."""
        return f"largest-risk({self.share:g})"

    def measured(self, evidence: Evidence) -> np.ndarray:
        """The chance in each class."""
        return 1.0 / np.maximum(1, evidence.people)

    def fails(self, evidence: Evidence) -> np.ndarray:
        """Fewer than k people."""
        return evidence.people < self.k

    def hopeless(self, evidence: Evidence) -> np.ndarray:
        """The same: a part has no more people."""
        return self.fails(evidence)
