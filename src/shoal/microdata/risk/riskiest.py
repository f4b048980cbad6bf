"""The records at the highest risk, named by their position."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.risk.counts import Hiding


@dataclass(frozen=True)
class RiskyRecord:
    """One record by its number, counted from 1: its count f, what F is (estimated), and its risk."""

    record: int
    count: int
    population: float
    risk: float


def riskiest_records(
    hiding: Hiding, of_class: np.ndarray, class_of: np.ndarray, number: int
) -> tuple[RiskyRecord, ...]:
    """The records with the largest risk; of equal ones those with smaller counts, then those that come first.

    ``of_class`` is the risk of each class, ``class_of`` the class of each record.

    >>> hiding = Hiding(np.array([1, 2]), np.array([1, 2]), np.array([9.0, 4.0]))
    >>> listed = riskiest_records(hiding, np.array([0.1, 0.5]), np.array([1, 0, 1]), 2)
    >>> [one.record for one in listed]
    [1, 3]
    """
    occurring = np.flatnonzero(hiding.records > 0)
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
        RiskyRecord(int(i) + 1, int(hiding.counts[own]), float(hiding.populations[own]), float(of_class[own]))
        for i, own in zip(candidates[order], classes[order], strict=True)
    )
