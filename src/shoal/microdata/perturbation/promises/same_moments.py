"""What exact noise keeps: means, variances and covariances."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import narwhals as nw
import numpy as np

from shoal.microdata.perturbation.promises.promise import Outcome
from shoal.microdata.perturbation.promises.reading import floats, in_strata, parts

# In shares of standard deviations and of their products.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class SameMoments:
    """Means and covariances of the columns are in each stratum as they were, over the records that have the values."""

    columns: tuple[str, ...]
    strata: np.ndarray = field(repr=False)

    @property
    def text(self) -> str:
        """What is promised."""
        several = ", variances and covariances" if len(self.columns) > 1 else " and variances"
        return f"means{several} of the perturbed columns are as they were{in_strata(self.strata)}"

    def check(self, before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]") -> Outcome:
        """Compute them from both."""
        old, new = [], []
        for name in self.columns:
            values = floats(before[name])
            # Squares of very large or very small numbers would be no numbers.
            unit = float(np.nanmax(np.abs(values)))
            old.append(values / unit)
            new.append(floats(after[name]) / unit)
        worst, kept = 0.0, True
        for rows in parts(self.strata):
            for difference, allowed in _differences([x[rows] for x in old], [x[rows] for x in new]):
                worst = max(worst, difference)
                kept = kept and difference <= allowed
        return Outcome(kept, f"the largest difference is {worst:.1e} of the standard deviations")


def _differences(old: list[np.ndarray], new: list[np.ndarray]) -> Iterator[tuple[float, float]]:
    """How much each mean and covariance differs, in standard deviations of the old values, and how much it may."""
    for i, j in combinations_with_replacement(range(len(old)), 2):
        here = ~np.isnan(old[i]) & ~np.isnan(old[j])
        if not here.any():
            continue
        x, y, u, v = old[i][here], old[j][here], new[i][here], new[j][here]
        if np.isnan(u).any() or np.isnan(v).any():
            yield np.inf, 0.0
            return
        # Whatever is written has sixteen digits, and a column far from zero loses those before its spread.
        digits = _TOLERANCE + 1e-13 * (np.abs(x).max() / _unit(x) + np.abs(y).max() / _unit(y))
        if i == j:
            yield abs(float(np.mean(u - x))) / _unit(x), digits
        change = np.mean((u - u.mean()) * (v - v.mean())) - np.mean((x - x.mean()) * (y - y.mean()))
        yield abs(float(change)) / (_unit(x) * _unit(y)), digits


def _unit(values: np.ndarray) -> float:
    """The standard deviation, or the size of the values where they do not vary."""
    deviation = float(values.std())
    return deviation if deviation > 0 else max(1.0, float(np.abs(values).max(initial=0.0)))
