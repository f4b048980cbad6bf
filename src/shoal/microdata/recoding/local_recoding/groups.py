"""Groups of pieces: their boxes, people and records, and what they lose."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.recoding.local_recoding.spans import Spans, box_rates
from shoal.runtime.kernels import kernel


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups by number: from the first to the last value of each key, people, records and what a record loses."""

    firsts: np.ndarray
    lasts: np.ndarray
    people: np.ndarray
    records: np.ndarray
    rates: np.ndarray

    @classmethod
    def of(
        cls,
        spans: Spans,
        keys: np.ndarray,
        people: np.ndarray,
        records: np.ndarray,
        groups: np.ndarray,
        size: int,
    ) -> "Groups":
        """The groups 0 … ``size`` − 1 that pieces are in; −1 is none."""
        firsts, lasts, persons, counts = boxed(keys, people, records, groups, size)
        return cls(firsts, lasts, persons, counts, box_rates(firsts, lasts, spans))

    @property
    def total(self) -> float:
        """What all records in groups lose."""
        there = self.records > 0
        return float((self.records[there] * self.rates[there]).sum())


@kernel
def boxed(
    keys: np.ndarray, people: np.ndarray, records: np.ndarray, groups: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The first and last value of each key in each group, its people and its records."""
    d = keys.shape[1]
    firsts = np.full((size, d), 2**31 - 1, dtype=np.int32)
    lasts = np.full((size, d), -1, dtype=np.int32)
    persons = np.zeros(size, dtype=np.int64)
    counts = np.zeros(size, dtype=np.int64)
    for piece in range(groups.size):
        group = groups[piece]
        if group < 0:
            continue
        persons[group] += people[piece]
        counts[group] += records[piece]
        for column in range(d):
            key = keys[piece, column]
            firsts[group, column] = min(firsts[group, column], key)
            lasts[group, column] = max(lasts[group, column], key)
    return firsts, lasts, persons, counts


def warm_up() -> None:
    """Compile the kernel."""
    one = np.ones(1, dtype=np.int64)
    boxed(np.zeros((1, 1), dtype=np.int32), one, one, one - 1, 1)
