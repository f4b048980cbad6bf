"""What protection changed: means, variances and correlations before and after."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ColumnChange:
    """Mean and standard deviation of one column before and after."""

    column: str
    mean_before: float
    mean_after: float
    deviation_before: float
    deviation_after: float

    @property
    def variance_kept_percent(self) -> float | None:
        """How much of the variance is left; ``None`` for a constant column."""
        if self.deviation_before == 0:
            return None
        return 100.0 * (self.deviation_after / self.deviation_before) ** 2


@dataclass(frozen=True, eq=False)
class Changes:
    """Column by column, and the correlations between all of them."""

    columns: tuple[ColumnChange, ...]
    correlations_before: np.ndarray
    correlations_after: np.ndarray

    @property
    def largest_correlation_change(self) -> float:
        """The largest absolute change of a correlation between two columns."""
        difference = np.abs(self.correlations_after - self.correlations_before)
        return float(np.nanmax(difference)) if difference.size and not np.isnan(difference).all() else 0.0


def measure_changes(names: Sequence[str], before: np.ndarray, after: np.ndarray) -> Changes:
    """Compare two tables of the same shape; missing values are passed over column by column."""
    rows = [
        ColumnChange(
            name,
            _mean(before[:, place]),
            _mean(after[:, place]),
            _deviation(before[:, place]),
            _deviation(after[:, place]),
        )
        for place, name in enumerate(names)
    ]
    return Changes(tuple(rows), correlations(before), correlations(after))


def _mean(values: np.ndarray) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if present.size else float("nan")


def _deviation(values: np.ndarray) -> float:
    present = values[~np.isnan(values)]
    size = float(np.abs(present).max(initial=0.0))
    # Divided by the largest first, so that no finite column is too large or too small to be squared.
    return size * float((present / size).std(ddof=1)) if present.size > 1 and size > 0 else 0.0


def correlations(table: np.ndarray) -> np.ndarray:
    """Correlations over complete records; NaN where a column is constant."""
    whole = table[~np.isnan(table).any(axis=1)]
    d = table.shape[1]
    if whole.shape[0] < 2:
        return np.full((d, d), np.nan)
    largest = np.abs(whole).max(axis=0, initial=0.0)
    whole = whole / np.where(largest > 0, largest, 1.0)
    centred = whole - whole.mean(axis=0)
    scale = np.sqrt(np.square(centred).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = centred / scale
    # A column whose spread is rounding noise has no correlation.
    unit[:, scale <= 1e-12] = np.nan
    result: np.ndarray = unit.T @ unit
    return result
