"""All measures of one protected table, on arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.errors import InputError
from shoal.microdata.measures.fitness import Fitness, fitness
from shoal.microdata.measures.information_loss import InformationLoss, Mean, information_loss
from shoal.microdata.measures.intervals import WIDTHS, Around, deviation_disclosure, interval_disclosure
from shoal.microdata.measures.linkage import link_by_distance
from shoal.microdata.measures.probabilistic import LARGEST, ProbabilisticLinks, link_by_agreement
from shoal.microdata.measures.scaling import Scaling, on_common_scale
from shoal.numbers import number
from shoal.search import Seeds

Ties = Literal["expected", "strict"]


@dataclass(frozen=True)
class Definitions:
    """What the measures mean where they have more than one meaning.

    ``widths`` of the intervals and what they lie ``around``; ``scaling`` of values before distances and relative
    intervals; ``ties`` count as the links to expect or as none; ``within`` lets values agree for the probabilistic
    linkage that lie within that many standard deviations, instead of in the same tenth.
    """

    widths: tuple[float, ...] = WIDTHS
    around: Around = "protected"
    scaling: Scaling = "min-max"
    ties: Ties = "expected"
    within: float | None = None

    def __post_init__(self) -> None:
        if not self.widths:
            raise InputError("the measures need the width of at least one interval")
        for width in self.widths:
            number(width, "the width of an interval", above=0.0, most=1e6)
        if self.within is not None:
            number(self.within, "the distance within which values agree", least=0.0)

    def in_words(self) -> list[tuple[str, str]]:
        """What was decided, for a report."""
        widths = f"±{min(self.widths):.0%} to ±{max(self.widths):.0%} around the {self.around} value"
        agreeing = "same tenth of the original column"
        if self.within is not None:
            agreeing = f"within {self.within:g} standard deviations"
        return [
            ("scaling before distances", self.scaling),
            ("intervals", widths),
            ("ties in the linkage by distance", self.ties),
            ("agreement in the probabilistic linkage", agreeing),
        ]


@dataclass(frozen=True, eq=False)
class Measured:
    """Loss and risk; risks in percent.

    ``id`` and ``id_sd`` are interval disclosure, relative and by standard deviation; ``by_scenario`` is the linkage by
    distance for each set of attributes an intruder knows; ``fitness`` is the score by which groupings are judged.
    """

    loss: InformationLoss
    id: float
    id_sd: float
    id_by_column: np.ndarray
    id_sd_by_column: np.ndarray
    by_scenario: tuple[float, ...]
    strict_links: int
    expected_links: float
    probabilistic: ProbabilisticLinks
    fitness: Fitness

    @property
    def dld(self) -> float:
        """Distance-based linkage, averaged over the scenarios."""
        return sum(self.by_scenario) / len(self.by_scenario)

    @property
    def pld(self) -> float:
        """Probabilistic linkage."""
        return self.probabilistic.percent

    @property
    def dr(self) -> float:
        """Disclosure risk: half interval disclosure, a quarter of each linkage."""
        return 0.5 * self.id + 0.25 * self.dld + 0.25 * self.pld

    @property
    def score(self) -> float:
        """The classic score, the mean of information loss and disclosure risk."""
        return (self.loss.il + self.dr) / 2


def measure(
    original: np.ndarray,
    protected: np.ndarray,
    definitions: Definitions | None = None,
    *,
    scenarios: Sequence[Sequence[int]] = (),
    seeds: Seeds | None = None,
    threads: int = 1,
    largest: int = LARGEST,
) -> Measured:
    """Every measure; ``scenarios`` are sets of column numbers, by default all columns.

    >>> before = np.array([[1.0, 10.0], [2.0, 20.0], [8.0, 60.0], [9.0, 70.0]])
    >>> after = np.array([[1.5, 15.0], [1.5, 15.0], [8.5, 65.0], [8.5, 65.0]])
    >>> found = measure(before, after)
    >>> found.dld, found.pld, found.fitness.dld
    (50.0, 50.0, 0.0)
    """
    if original.shape[1] == 0:
        return _nothing(len(scenarios) or 1)
    using = definitions or Definitions()
    before, after = on_common_scale(original, protected, using.scaling)
    by_column = interval_disclosure(before, after, using.widths, using.around)
    sd_by_column = deviation_disclosure(original, protected, using.widths)
    everything = link_by_distance(before, after, threads=threads)
    found = [
        everything
        if len(columns) == before.shape[1]
        else link_by_distance(before[:, list(columns)], after[:, list(columns)], threads=threads)
        for columns in scenarios or [range(before.shape[1])]
    ]
    return Measured(
        loss=information_loss(original, protected),
        id=float(by_column.mean()),
        id_sd=float(sd_by_column.mean()),
        id_by_column=by_column,
        id_sd_by_column=sd_by_column,
        by_scenario=tuple(
            links.expected_percent if using.ties == "expected" else links.strict_percent for links in found
        ),
        strict_links=everything.strict,
        expected_links=everything.expected,
        probabilistic=link_by_agreement(
            original, protected, within=using.within, seeds=seeds, largest=largest
        ),
        fitness=fitness(
            original,
            protected,
            links=everything if using.scaling == "min-max" else None,
            threads=threads,
        ),
    )


def _nothing(scenarios: int) -> Measured:
    """Of no column of numbers there is nothing to tell."""
    nan = float("nan")
    unknown = Mean(nan, 0, 0)
    loss = InformationLoss(unknown, unknown, unknown, unknown, unknown, unknown, nan, ())
    none = np.zeros(0)
    linked = ProbabilisticLinks(0, nan, none, none)
    return Measured(loss, nan, nan, none, none, (nan,) * scenarios, 0, nan, linked, Fitness(nan, nan, nan))
