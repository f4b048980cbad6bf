"""From groups to released values, and what that costs: pure functions on columns."""

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from shoal.microdata.columns.attributes import Attribute
from shoal.microdata.microaggregation.aggregate import Aggregate, aggregate_groups, ordinal_medians

_DAY = 86_400_000_000.0  # in microseconds


def scaled_points(attributes: Sequence[Attribute], factors: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The scaled points, and which cells were missing (they sit at the column's mean)."""
    columns = [
        scaled(attribute, attribute.values, factor)
        for attribute, factor in zip(attributes, factors, strict=True)
    ]
    table = np.column_stack(columns)
    gaps = np.isnan(table)
    table[gaps] = 0.0
    return table, gaps


def scaled(attribute: Attribute, values: np.ndarray, factor: float) -> np.ndarray:
    """Values on the scale of the attribute's own mean and sample deviation, times the root of its weight."""
    own = attribute.values[~attribute.missing]
    if own.size < 2 or (own == own[0]).all():
        return np.where(np.isnan(values), np.nan, 0.0)
    size = float(np.abs(own).max())
    centre = float((own / size).mean())
    deviation = float(np.sqrt(np.square(own / size - centre).sum() / (own.size - 1)))
    if deviation == 0:
        return np.where(np.isnan(values), np.nan, 0.0)
    result: np.ndarray = np.sqrt(factor) * (values / size - centre) / deviation
    return result


def released_values(
    attribute: Attribute, labels: np.ndarray, how: Aggregate, weights: np.ndarray | None
) -> np.ndarray:
    """What each record gets; for an ordinal column positions among the categories."""
    if attribute.kind == "ordinal":
        assert attribute.positions is not None
        return ordinal_medians(attribute.positions, labels)[labels]
    if how == "rounded-mean" and attribute.kind == "number":
        how = "mean"
    values = aggregate_groups(attribute.values, labels, how, weights)[labels]
    if attribute.kind == "moment" and attribute.dtype == nw.Date:
        values = np.floor(values / _DAY) * _DAY
    elif attribute.kind == "moment":
        values = np.rint(values)
    return values


def comparable(attribute: Attribute, released: np.ndarray) -> np.ndarray:
    """Released values on the scale of ``attribute.values``: categories become their mean rank."""
    if attribute.kind != "ordinal":
        return released
    assert attribute.positions is not None
    rank = np.full(len(attribute.categories), np.nan)
    present = attribute.positions >= 0
    rank[attribute.positions[present]] = attribute.values[present]
    missing = np.isnan(released)
    result: np.ndarray = np.where(missing, np.nan, rank[np.where(missing, 0, released).astype(int)])
    return result


def column_error(attribute: Attribute, released: np.ndarray, factor: float) -> tuple[float, float]:
    """The squared error of a released column and that of a single group, on the scale of the distances."""
    before = scaled(attribute, attribute.values, factor)
    after = scaled(attribute, comparable(attribute, released), factor)
    known = ~np.isnan(before)
    return float(np.square(before[known] - after[known]).sum()), float(np.square(before[known]).sum())


def loss(
    attributes: Sequence[Attribute], released: Sequence[np.ndarray], factors: Sequence[float]
) -> tuple[float, float]:
    """The squared errors of several columns, added up."""
    errors = [column_error(*item) for item in zip(attributes, released, factors, strict=True)]
    return sum(error for error, _ in errors), sum(total for _, total in errors)
