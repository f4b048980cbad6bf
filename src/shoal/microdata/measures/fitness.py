"""The score by which attribute groupings are judged: half information loss, half disclosure risk.

It is the cost function of a grouping genetic algorithm for multivariate microaggregation (GOMM, Universitat Politècnica
de Catalunya) in the form that reproduces its published tables: values scaled to [0, 1] by minimum and maximum, ten
intervals around the protected value, and a tie in the linkage is no link.
"""

from dataclasses import dataclass, field

import numpy as np

from shoal.microdata.measures.intervals import WIDTHS, Around, interval_disclosure
from shoal.microdata.measures.linkage import Links, link_by_distance
from shoal.microdata.measures.scaling import Scaling, on_common_scale


@dataclass(frozen=True)
class Fitness:
    """Information loss, interval disclosure and linkage in percent; smaller is better.

    ``loss_weight`` is how much of the score is loss; disclosure and linkage share the rest.

    >>> Fitness(il=13.67, id=22.12, dld=2.87).value
    13.0825
    >>> Fitness(il=10.0, id=20.0, dld=40.0, loss_weight=0.2).value
    26.0
    """

    il: float
    id: float
    dld: float
    loss_weight: float = field(default=0.5, repr=False)

    @property
    def value(self) -> float:
        """w·IL + (1 − w)·(ID + DLD)/2; with the usual weight IL/2 + ID/4 + DLD/4."""
        risk = (1.0 - self.loss_weight) / 2.0
        return self.loss_weight * self.il + risk * self.id + risk * self.dld


def fitness(
    original: np.ndarray,
    protected: np.ndarray,
    *,
    scaling: Scaling = "min-max",
    widths: tuple[float, ...] = WIDTHS,
    around: Around = "protected",
    links: Links | None = None,
    threads: int = 1,
) -> Fitness:
    """The fitness of a protected table, computed from nothing but the two tables; ``links`` if they are known already.

    >>> before = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> fitness(before, np.array([[0.5], [0.5], [9.5], [9.5]]))
    Fitness(il=1.219512195121951, id=25.0, dld=0.0)
    """
    before, after = on_common_scale(original, protected, scaling)
    total = float(np.square(before - before.mean(axis=0)).sum()) if before.size else 0.0
    lost = float(np.square(before - after).sum())
    return Fitness(
        il=100.0 * lost / total if total > 0 else 0.0,
        id=float(interval_disclosure(before, after, widths, around).mean()),
        dld=(links or link_by_distance(before, after, threads=threads)).strict_percent,
    )
