"""The records at the highest risk, named by their position, and which risk most records do not exceed."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.risk.counts import Hiding
from shoal.microdata.risk.scenarios import ClassRisks

#: Shares of the records: half of them have at most the median.
_SHARES = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class RiskyRecord:
    """One record by its number, counted from 1: its count f, the sum F of their weights, its risk with interval.

    ``individual`` is the individual risk, which rests on the weights of the class alone.
    """

    record: int
    count: int
    population: float
    risk: float
    low: float
    high: float
    individual: float


def riskiest_records(
    hiding: Hiding, risks: ClassRisks, individual: np.ndarray, class_of: np.ndarray, number: int
) -> tuple[RiskyRecord, ...]:
    """The records with the largest risk; of equal ones those with smaller counts, then those that come first.

    ``risks`` and the ``individual`` risk are of each class, ``class_of`` is the class of each record.

    >>> hiding = Hiding(np.array([1, 2]), np.array([1, 2]), np.array([9.0, 4.0]))
    >>> risks = ClassRisks.of(None, np.array([0.1, 0.5]))
    >>> listed = riskiest_records(hiding, risks, risks.risk, np.array([1, 0, 1]), 2)
    >>> [one.record for one in listed]
    [1, 3]
    """
    occurring, of_class = np.flatnonzero(hiding.records > 0), risks.risk
    if number == 0:
        return ()
    risk = of_class[occurring]
    # Every class has a record at least, so that no more classes than records are needed.
    wanted = min(number, risk.size)
    least = np.partition(risk, risk.size - wanted)[risk.size - wanted]
    candidates = np.flatnonzero((of_class >= least)[class_of])
    classes = class_of[candidates]
    order = np.lexsort((candidates, hiding.counts[classes], -of_class[classes]))[:number]
    return tuple(
        RiskyRecord(
            int(i) + 1,
            int(hiding.counts[own]),
            float(hiding.populations[own]),
            *(float(one[own]) for one in (risks.risk, risks.low, risks.high, individual)),
        )
        for i, own in zip(candidates[order], classes[order], strict=True)
    )


def shares_at_most(risks: np.ndarray) -> dict[float, float]:
    """The smallest risk that at least this share of the records does not exceed.

    >>> shares_at_most(np.array([0.1, 0.4, 0.2, 0.3]))[0.5]
    0.2
    """
    ranks = [max(0, int(np.ceil(share * risks.size)) - 1) for share in _SHARES]
    parted = np.partition(risks, ranks)
    return {share: float(parted[rank]) for share, rank in zip(_SHARES, ranks, strict=True)}
