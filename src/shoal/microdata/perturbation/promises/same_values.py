"""What exchanging values keeps: each column has the same values as before, and none went far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.perturbation.promises.promise import Outcome
from shoal.microdata.perturbation.promises.reading import floats, in_strata, parts, same_numbers
from shoal.microdata.perturbation.promises.untouched import common_codes
from shoal.numbers import counted


@dataclass(frozen=True, eq=False)
class SameValues:
    """Each column has in each stratum the same values as before, each as often."""

    columns: tuple[str, ...]
    strata: np.ndarray = field(repr=False)

    @property
    def text(self) -> str:
        """What is promised."""
        return f"each perturbed column has the same values as before{in_strata(self.strata)}, each as often"

    def check(self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]") -> Outcome:
        """Sort both, and compare."""
        differing, strata = 0, list(parts(self.strata))
        for name in self.columns:
            old, new = _alike(before[name], after[name])
            for members in strata:
                differing += int((~same_numbers(np.sort(old[members]), np.sort(new[members]))).sum())
        return Outcome(differing == 0, f"{counted(differing, 'value differs', 'values differ')}")


@dataclass(frozen=True, eq=False)
class RanksMoved:
    """No value is released for a record that is farther than the window from where it stood."""

    columns: tuple[str, ...]
    window: float
    strata: np.ndarray = field(repr=False)
    orders: Mapping[str, Sequence[Any] | None] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """What is promised."""
        return f"no value moves by more than {self.window:g} % of the ranks of its stratum, or by one rank"

    def check(self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]") -> Outcome:
        """Count for each record the values that lie between its old one and its new one."""
        farthest, too_far, strata = 0.0, 0, list(parts(self.strata))
        for name in self.columns:
            old, new = self._numbers(before, after, name)
            for members in strata:
                own = members[~np.isnan(old[members])]
                passed = _passed(old[own], new[own])
                too_far += int((passed > max(1.0, own.size * self.window / 100.0 * (1.0 + 1e-9))).sum())
                farthest = max(farthest, float(passed.max(initial=0) / max(1, own.size)))
        return Outcome(
            too_far == 0,
            f"the farthest moved by {100 * farthest:.4g} % of the ranks; {counted(too_far, 'value')} too far",
        )

    def _numbers(
        self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]", name: str
    ) -> tuple[np.ndarray, np.ndarray]:
        attribute = read_attribute(before, name, ordinal=name in self.orders, order=self.orders.get(name))
        if attribute.kind in ("number", "integer"):
            return attribute.values, floats(after[name])
        codes, released = common_codes(before[name], after[name])
        number = np.full(int(max(codes.max(), released.max())) + 1, np.nan)
        number[codes] = attribute.values
        return attribute.values, number[released]


def _alike(old: "nw.Series[Any]", new: "nw.Series[Any]") -> tuple[np.ndarray, np.ndarray]:
    """Both columns as numbers that are equal where the values are."""
    if old.dtype.is_numeric() and new.dtype.is_numeric():
        return floats(old), floats(new)
    return common_codes(old, new)


def _passed(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """How many ranks each value lies from where it stood: 0 for the same, 1 for the next, and all for one that was nowhere."""
    by_old, by_new = np.argsort(old), np.argsort(new)
    line = old[by_old]
    begins = np.concatenate(([True], line[1:] != line[:-1]))[: line.size]
    ends = np.concatenate((begins[1:], [True]))[: line.size]
    ranks = np.arange(line.size)
    # For each rank the first and the last of the same value; what is released is at its rank, too, if it has the same values.
    first = np.maximum.accumulate(np.where(begins, ranks, 0))
    last = np.minimum.accumulate(np.where(ends, ranks, line.size)[::-1])[::-1]
    bounds = np.empty((2, 2, line.size), dtype=np.int64)
    for place, order in enumerate((by_old, by_new)):
        bounds[place, 0, order], bounds[place, 1, order] = first, last
    (old_first, old_last), (new_first, new_last) = bounds
    passed = np.maximum(new_first - old_last, old_first - new_last)
    passed[by_new[~same_numbers(line, new[by_new])]] = line.size + 1
    return np.maximum(passed, 0)
