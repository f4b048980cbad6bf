"""From groups to released values, and what that costs: pure functions on columns."""

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from shoal.microdata.columns.attributes import Attribute
from shoal.microdata.microaggregation.aggregate import (
    Aggregate,
    aggregate_groups,
    mostly_missing,
    nominal_modes,
    ordinal_medians,
)
from shoal.microdata.microaggregation.problem import CATEGORY_DISTANCE

_DAY = 86_400_000_000.0  # in microseconds


def scaled_points(attributes: Sequence[Attribute], factors: Sequence[float]) -> tuple[np.ndarray, bool]:
    """The scaled points, and whether some were filled in (what is missing sits at the column's mean)."""
    blocks = []
    filled_in = False
    for attribute, factor in zip(attributes, factors, strict=True):
        if attribute.kind == "nominal":
            blocks.append(np.sqrt(factor * CATEGORY_DISTANCE / 2.0) * indicators(attribute, attribute.values))
            continue
        column = scaled(attribute, attribute.values, factor)
        gaps = np.isnan(column)
        blocks.append(np.where(gaps, 0.0, column)[:, None])
        if gaps.any() and attribute.gap_is_value:
            blocks.append(np.sqrt(factor * CATEGORY_DISTANCE) * gaps[:, None])
        filled_in = filled_in or (bool(gaps.any()) and not attribute.gap_is_value)
    return np.hstack(blocks), filled_in


def indicators(attribute: Attribute, values: np.ndarray) -> np.ndarray:
    """One column for each category: 1 for records that have it, 0 for the others."""
    result: np.ndarray = (values[:, None] == np.arange(len(attribute.categories))).astype(np.float64)
    return result


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
    """What each record gets; of categories their positions."""
    values = _released_values(attribute, labels, how, weights)
    if attribute.gap_is_value:
        values = np.where(mostly_missing(attribute.missing, labels)[labels], np.nan, values)
    return values


def _released_values(
    attribute: Attribute, labels: np.ndarray, how: Aggregate, weights: np.ndarray | None
) -> np.ndarray:
    if attribute.kind == "nominal":
        assert attribute.positions is not None
        return nominal_modes(attribute.positions, labels)[labels].astype(np.float64)
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
    if attribute.kind == "nominal":
        return _category_error(attribute.values, released, factor)
    before = scaled(attribute, attribute.values, factor)
    after = scaled(attribute, comparable(attribute, released), factor)
    known = ~np.isnan(before)
    if not attribute.gap_is_value:
        return float(np.square(before[known] - after[known]).sum()), float(np.square(before[known]).sum())
    error, total = _category_error(known.astype(np.float64), (~np.isnan(after)).astype(np.float64), factor)
    before, after = np.nan_to_num(before), np.nan_to_num(after)
    return error + float(np.square(before - after).sum()), total + float(np.square(before).sum())


def _category_error(before: np.ndarray, after: np.ndarray, factor: float) -> tuple[float, float]:
    """The squared error of categories, numbered from 0 on."""
    counts = np.bincount(before.astype(np.int64))
    apart = before.size - float(np.square(counts.astype(np.float64)).sum()) / max(1, before.size)
    return factor * CATEGORY_DISTANCE * float(
        (before != after).sum()
    ), factor * CATEGORY_DISTANCE / 2.0 * apart


def loss(
    attributes: Sequence[Attribute], released: Sequence[np.ndarray], factors: Sequence[float]
) -> tuple[float, float]:
    """The squared errors of several columns, added up."""
    errors = [column_error(*item) for item in zip(attributes, released, factors, strict=True)]
    return sum(error for error, _ in errors), sum(total for _, total in errors)
