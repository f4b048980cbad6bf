"""Means, deviations and correlations of the protected columns, before and after."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.microdata.measures.before_after import Changes, ColumnChange

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.leaves.request import Request


@dataclass(frozen=True, eq=False)
class Moments:
    """Of several columns; those that do not vary have no correlation."""

    means: np.ndarray
    deviations: np.ndarray
    correlations: np.ndarray

    @classmethod
    def of_sums(
        cls,
        records: int,
        near: np.ndarray,
        total: np.ndarray,
        products: np.ndarray,
        varying: np.ndarray,
        units: np.ndarray | float = 1.0,
    ) -> "Moments":
        """From the sums of values and of their products, both taken ``near`` a value of each column, in ``units``.

        >>> moved = np.array([[1.0], [2.0], [3.0]])
        >>> found = Moments.of_sums(3, np.array([10.0]), moved.sum(axis=0), moved.T @ moved, np.array([True]))
        >>> found.means.tolist(), found.deviations.tolist()
        ([12.0], [1.0])
        """
        mean = total / records
        covariance = (products - records * np.outer(mean, mean)) / max(1, records - 1)
        deviations = np.where(varying, np.sqrt(np.maximum(np.diag(covariance), 0.0)), 0.0)
        known = deviations > 0
        correlations = np.full(covariance.shape, np.nan)
        inside = np.ix_(known, known)
        correlations[inside] = covariance[inside] / np.outer(deviations[known], deviations[known])
        return cls(near + mean * units, deviations * units, correlations)


def changes(request: "Request", before: Moments, after: Moments) -> Changes:
    """What protection changed."""
    scales: dict[str, Any] = {"date": "date", "time": "time"}
    rows = [
        ColumnChange(
            name,
            float(before.means[place]),
            float(after.means[place]),
            float(before.deviations[place]),
            float(after.deviations[place]),
            scales.get(request.kinds[place], "number"),
        )
        for place, name in enumerate(request.columns)
    ]
    return Changes(tuple(rows), before.correlations, after.correlations)
