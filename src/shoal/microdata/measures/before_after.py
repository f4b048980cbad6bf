"""What protection changed: means, variances and correlations before and after."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Scale = Literal["number", "date", "time", "rank"]
_DAY = 86_400e6  # microseconds


@dataclass(frozen=True)
class ColumnChange:
    """Mean and standard deviation of one column before and after; those of dates are in microseconds."""

    column: str
    mean_before: float
    mean_after: float
    deviation_before: float
    deviation_after: float
    scale: Scale = "number"

    @property
    def variance_kept_percent(self) -> float | None:
        """How much of the variance is left; ``None`` for a constant column."""
        if self.deviation_before == 0:
            return None
        return 100.0 * (self.deviation_after / self.deviation_before) ** 2

    def row(self) -> tuple[float | str | None, ...]:
        """What a reader is shown: name, means, deviations, variance kept; dates as dates and days.

        >>> ColumnChange("born", 0.0, 86_400e6, 172_800e6, 86_400e6, "date").row()
        ('born', '1970-01-01', '1970-01-02', '2 days', '1 days', 25.0)
        """
        name = f"{self.column} (ranks)" if self.scale == "rank" else self.column
        means: tuple[float | str, ...] = (self.mean_before, self.mean_after)
        deviations: tuple[float | str, ...] = (self.deviation_before, self.deviation_after)
        if self.scale in ("date", "time"):
            means = tuple(_moment(mean, self.scale) for mean in (self.mean_before, self.mean_after))
            deviations = tuple(
                f"{deviation / _DAY:,.4g} days" for deviation in (self.deviation_before, self.deviation_after)
            )
        return name, *means, *deviations, self.variance_kept_percent


@dataclass(frozen=True, eq=False)
class Changes:
    """Column by column, and the correlations between all of them."""

    columns: tuple[ColumnChange, ...]
    correlations_before: np.ndarray
    correlations_after: np.ndarray

    @property
    def largest_correlation_change(self) -> float:
        """The largest absolute change of a correlation between two different columns; 0 where there is none."""
        change = self._known_changes()
        return float(change.max()) if change.size else 0.0

    def _known_changes(self) -> np.ndarray:
        difference = np.abs(self.correlations_after - self.correlations_before)
        pairs = difference[np.triu_indices(difference.shape[0], k=1)]
        known: np.ndarray = pairs[~np.isnan(pairs)]
        return known

    def largest_change_in_words(self) -> str:
        """The largest change of a correlation, or that none is known.

        >>> Changes((), np.full((2, 2), np.nan), np.full((2, 2), np.nan)).largest_change_in_words()
        'unknown'
        """
        return f"{self.largest_correlation_change:.4f}" if self._known_changes().size else "unknown"


def measure_changes(
    names: Sequence[str],
    before: np.ndarray,
    after: np.ndarray,
    *,
    scales: Sequence[Scale] | None = None,
    weights: np.ndarray | None = None,
) -> Changes:
    """Compare two tables of the same shape; missing values are passed over column by column.

    With ``weights`` everything is weighted; equal weights change nothing.
    """
    share = np.ones(before.shape[0]) if weights is None else weights
    rows = [
        ColumnChange(
            name,
            _mean(before[:, place], share),
            _mean(after[:, place], share),
            _deviation(before[:, place], share),
            _deviation(after[:, place], share),
            "number" if scales is None else scales[place],
        )
        for place, name in enumerate(names)
    ]
    return Changes(tuple(rows), correlations(before, weights), correlations(after, weights))


def _moment(micros: float, scale: Scale) -> str:
    if np.isnan(micros):
        return ""
    unit = "datetime64[D]" if scale == "date" else "datetime64[m]"
    return str(np.datetime64(round(micros), "us").astype(unit)).replace("T", " ")


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    known = ~np.isnan(values)
    present, share = values[known], weights[known]
    if share.sum() <= 0:
        return float("nan")
    mean = float(np.average(present, weights=share))
    # A mean that rounding alone explains is 0 for all one can know.
    noise = (
        4.0 * np.finfo(float).eps * np.sqrt(present.size) * float(np.average(np.abs(present), weights=share))
    )
    return mean if abs(mean) > noise else 0.0


def _deviation(values: np.ndarray, weights: np.ndarray) -> float:
    known = ~np.isnan(values)
    present, share = values[known], weights[known]
    size = float(np.abs(present).max(initial=0.0))
    if present.size < 2 or size == 0 or share.sum() == 0:
        return 0.0
    # Divided by the largest first, so that no finite column is too large or too small to be squared.
    present = present / size
    variance = np.average(np.square(present - np.average(present, weights=share)), weights=share)
    return size * float(np.sqrt(variance * present.size / (present.size - 1)))


def correlations(table: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Correlations, of each pair of columns over the records that have both values; NaN where a column is constant there."""
    d = table.shape[1]
    known = ~np.isnan(table).any(axis=1)
    if d > 2 and not known.all():
        return _pairwise(table, weights)
    whole = table[known]
    if whole.shape[0] < 2:
        return np.full((d, d), np.nan)
    # One copy of the records, changed in place: there may be millions of them.
    largest = np.maximum(whole.max(axis=0), -whole.min(axis=0))
    whole /= np.where(largest > 0, largest, 1.0)
    if weights is None:
        whole -= whole.mean(axis=0)
    else:
        share = weights[known]
        if share.sum() == 0:
            return np.full((d, d), np.nan)
        whole -= np.average(whole, axis=0, weights=share)
        # Weights enter as roots, on the scale of one per record.
        whole *= np.sqrt(share / share.mean())[:, None]
    scale = np.sqrt(np.einsum("ij,ij->j", whole, whole))
    with np.errstate(invalid="ignore", divide="ignore"):
        whole /= scale
    # A column whose spread is rounding noise has no correlation.
    whole[:, scale <= 1e-12] = np.nan
    result: np.ndarray = whole.T @ whole
    return result


def _pairwise(table: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The same where values are missing: each pair over its own records."""
    d = table.shape[1]
    result = np.full((d, d), np.nan)
    for i in range(d):
        for j in range(i + 1):
            pair = table[:, [i, j]] if i != j else table[:, [i]]
            result[i, j] = result[j, i] = correlations(pair, weights)[0, -1]
    return result
