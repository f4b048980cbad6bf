"""All measures of one protected table, on arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.errors import InputError
from shoal.microdata.measures.fitness import Fitness, fitness
from shoal.microdata.measures.information_loss import InformationLoss, Mean, information_loss
from shoal.microdata.measures.intervals import WIDTHS, Around, deviation_disclosure, interval_disclosure
from shoal.microdata.measures.linkage import Links, link_by_distance
from shoal.microdata.measures.probabilistic import LARGEST, ProbabilisticLinks, link_by_agreement
from shoal.microdata.measures.scaling import Scaling, on_common_scale
from shoal.microdata.measures.time_limited import TimeLimit
from shoal.numbers import number
from shoal.runtime import Budget, Seeds

Ties = Literal["expected", "strict"]

#: What each measure of risk is called in words, for tables and reports.
RISKS = {
    "id": "interval disclosure",
    "id_sd": "interval disclosure by standard deviation",
    "dld": "linkage by distance",
    "pld": "linkage by agreement",
}
_NAN = float("nan")
_NOT_LINKED = ProbabilisticLinks(0, _NAN, np.zeros(0), np.zeros(0))


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

    @property
    def intervals(self) -> str:
        """The widths of the intervals in words, and what they lie around."""
        return f"±{min(self.widths):.0%} to ±{max(self.widths):.0%} around the {self.around} value"

    def in_words(self) -> list[tuple[str, str]]:
        """What was decided, for a report."""
        agreeing = "same tenth of the original column"
        if self.within is not None:
            agreeing = f"within {self.within:g} standard deviations"
        return [
            ("scaling before distances", self.scaling),
            ("intervals", self.intervals),
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
    strict_links: int | None
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
    left: TimeLimit | None = None,
) -> Measured:
    """Every measure; ``scenarios`` are sets of column numbers, by default all columns.

    Loss and intervals are measured in any case; linkage as long as there is time ``left``, else it is NaN.

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
    loss = information_loss(original, protected)
    left = left or TimeLimit(Budget().start())
    run = left.run if left.run.budget.seconds is not None else None

    def by_distance() -> tuple[Links, list[Links]]:
        everything = link_by_distance(before, after, threads=threads, run=run)
        return everything, [
            everything
            if len(columns) == before.shape[1]
            else link_by_distance(before[:, list(columns)], after[:, list(columns)], threads=threads, run=run)
            for columns in scenarios or [range(before.shape[1])]
        ]

    everything, found = left.measured(RISKS["dld"], by_distance) or (None, [])
    probabilistic = left.measured(
        RISKS["pld"],
        lambda: link_by_agreement(original, protected, within=using.within, seeds=seeds, largest=largest),
    )
    return Measured(
        loss=loss,
        id=float(by_column.mean()),
        id_sd=float(sd_by_column.mean()),
        id_by_column=by_column,
        id_sd_by_column=sd_by_column,
        by_scenario=tuple(
            links.expected_percent if using.ties == "expected" else links.strict_percent for links in found
        )
        or (_NAN,) * (len(scenarios) or 1),
        strict_links=None if everything is None else everything.strict,
        expected_links=_NAN if everything is None else everything.expected,
        probabilistic=probabilistic or _NOT_LINKED,
        fitness=_fitness(original, protected, everything, using, threads, left),
    )


def _fitness(
    original: np.ndarray,
    protected: np.ndarray,
    everything: Links | None,
    using: Definitions,
    threads: int,
    left: TimeLimit,
) -> Fitness:
    """The fitness, if there was time for its links."""
    links = everything if using.scaling == "min-max" else None
    if everything is None:
        return Fitness(_NAN, _NAN, _NAN)
    # With another scaling its links are others, and take as long once more.
    found = left.measured("fitness", lambda: fitness(original, protected, links=links, threads=threads))
    return found or Fitness(_NAN, _NAN, _NAN)


def _nothing(scenarios: int) -> Measured:
    """Of no column of numbers there is nothing to tell."""
    unknown = Mean(_NAN, 0, 0)
    loss = InformationLoss(unknown, unknown, unknown, unknown, unknown, unknown, _NAN, ())
    none = np.zeros(0)
    return Measured(
        *(loss, _NAN, _NAN, none, none, (_NAN,) * scenarios, 0, _NAN, _NOT_LINKED),
        fitness=Fitness(_NAN, _NAN, _NAN),
    )
