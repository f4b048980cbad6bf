"""Means, deviations and correlations of columns, summed on the cluster."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.microdata.microaggregation.leaves.moments import Moments
from shoal.microdata.microaggregation.leaves.overview import Overview

if TYPE_CHECKING:
    from pyspark.sql import Column


def moment_columns(columns: Sequence[str], known: Overview) -> "list[Column]":
    """What to ask of all records; values are taken near the middle of their range, so that large ones keep their digits."""
    from pyspark.sql import functions as f

    moved = _moved(columns, known)
    return [
        *(f.avg(column).alias(f"mean{place}") for place, column in enumerate(moved)),
        *(f.covar_samp(moved[i], moved[j]).alias(f"with{i}_{j}") for i, j in _pairs(len(columns))),
    ]


def moments_of(row: Any, known: Overview) -> Moments:
    """The moments from the answer."""
    size, units = len(known.least), known.units
    mean = np.array([float(row[f"mean{place}"]) for place in range(size)])
    products = np.zeros((size, size))
    for i, j in _pairs(size):
        products[i, j] = products[j, i] = float(row[f"with{i}_{j}"] or 0.0) * (known.records - 1)
    middle = known.middle + mean * units
    return Moments.of_sums(known.records, middle, np.zeros(size), products, known.varying, units)


def sum_columns(columns: Sequence[str], known: Overview) -> "list[Column]":
    """The same as plain sums: of parts of the records, which add up."""
    from pyspark.sql import functions as f

    moved = _moved(columns, known)
    return [
        *(f.sum(column).alias(f"sum{place}") for place, column in enumerate(moved)),
        *(f.sum(moved[i] * moved[j]).alias(f"with{i}_{j}") for i, j in _pairs(len(columns))),
    ]


def moments_of_sums(rows: Sequence[Any], known: Overview) -> Moments:
    """The moments from such sums, of which each row has those of some records."""
    size = len(known.least)
    total = np.array([sum(float(row[f"sum{place}"]) for row in rows) for place in range(size)])
    products = np.zeros((size, size))
    for i, j in _pairs(size):
        products[i, j] = products[j, i] = sum(float(row[f"with{i}_{j}"]) for row in rows)
    return Moments.of_sums(known.records, known.middle, total, products, known.varying, known.units)


def _moved(columns: Sequence[str], known: Overview) -> "list[Column]":
    from pyspark.sql import functions as f

    places = zip(columns, known.middle.tolist(), known.units.tolist(), strict=True)
    return [(f.col(name) - middle) / unit for name, middle, unit in places]


def _pairs(size: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(size) for j in range(i + 1)]
