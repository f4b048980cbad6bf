"""The independent check of a release: sizes, values, loss and K computed again from the frame. Imports no solver."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from shoal.microdata.columns.attributes import Attribute, read_attribute
from shoal.microdata.columns.integers import whole_numbers
from shoal.microdata.microaggregation.aggregate import Aggregate
from shoal.microdata.microaggregation.release import column_error

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.api import Microaggregation


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """The independent check of a release: everything is computed again from the original columns and the frame."""

    attributes: tuple[Attribute, ...]
    factors: tuple[float, ...]
    strata: Sequence[np.ndarray]
    permutation: np.ndarray
    aggregate: Aggregate
    weights: np.ndarray | None = field(repr=False)
    units: nw.Series | None = field(default=None, repr=False)

    def __call__(self, result: "Microaggregation", released: Any) -> None:
        """Raise ``AssertionError`` unless the frame holds what the result says."""
        data = nw.from_native(released, eager_only=True)
        assert len(data) == result.records, f"{len(data)} records, not {result.records}"
        stratum = np.empty(result.records, dtype=np.int64)
        for number, rows in enumerate(self.strata):
            stratum[rows] = number
        for part in result.parts:
            assert part.sizes.min() >= result.k, (
                f"a group has {part.sizes.min()} records, fewer than k = {result.k}"
            )
            stratum_of_group = np.full(part.sizes.size, -1)
            stratum_of_group[part.labels] = stratum
            assert (stratum_of_group[part.labels] == stratum).all(), "a group crosses strata"
            total = 0.0
            for attribute, factor in zip(self.attributes, self.factors, strict=True):
                if attribute.name not in part.columns:
                    continue
                seen = self.released_values(data, attribute)
                for_group = np.full(part.sizes.size, np.nan)
                for_group[part.labels] = seen
                assert np.array_equal(for_group[part.labels], seen, equal_nan=True), (
                    f"column '{attribute.name}' differs within a group"
                )
                self._expect_aggregate(attribute, part.labels, for_group)
                self._expect_contributors(attribute, part.labels, result.k)
                total += column_error(attribute, seen, factor)[0]
            assert abs(total - part.sse) <= 1e-7 * max(part.sst, 1e-300), (
                f"the loss is {total}, not {part.sse}"
            )
        self._expect_k(data, result.columns, result.k_protected)
        self._expect_k(data, result.quasi, result.k_release)

    def _expect_k(self, data: nw.DataFrame, columns: Sequence[str], stated: int) -> None:
        # A file may know no difference between an empty text and none: then K of the file is the larger one.
        members = None if self.units is None else _codes(self.units)[self.permutation]
        counted = smallest_class([_codes(data[name]) for name in columns], members)
        assert counted >= stated, f"K over {', '.join(columns)} is {counted}, not {stated}"

    def released_values(self, data: nw.DataFrame, attribute: Attribute) -> np.ndarray:
        """A column of the released frame as numbers, in the order of the original records."""
        back = np.empty(len(self.permutation))
        if attribute.kind == "ordinal":
            place = {value: position for position, value in enumerate(attribute.categories)}
            column = data[attribute.name]
            items = zip(column.to_list(), column.is_null().to_list(), strict=True)
            seen = np.array([np.nan if gone else place.get(item, -1) for item, gone in items], dtype=float)
        else:
            seen = read_attribute(data, attribute.name).values
        back[self.permutation] = seen
        return back

    def _expect_aggregate(self, attribute: Attribute, labels: np.ndarray, released: np.ndarray) -> None:
        # A slow, obvious recount of some groups; the loss covers all of them.
        for group in np.unique(np.linspace(0, released.size - 1, 25).astype(int)):
            members = np.flatnonzero(labels == group)
            if attribute.kind == "ordinal":
                assert attribute.positions is not None
                right = _is_middle(attribute.positions[members], released[group])
            else:
                values = attribute.values[members]
                right = self._is_aggregate(attribute, values[~np.isnan(values)], float(released[group]))
            assert right, f"column '{attribute.name}' does not hold the {self.aggregate} of its group"

    def _expect_contributors(self, attribute: Attribute, labels: np.ndarray, k: int) -> None:
        """No value is made of fewer than k records, or of one that weighs over ten times as much as the others."""
        known = ~np.isnan(attribute.values)
        weights = np.ones(labels.size) if self.weights is None else self.weights
        if attribute.kind == "ordinal":
            weights = np.ones(labels.size)
        if known.all() and (weights == 1).all():
            return  # every member contributes the same, and the sizes are counted already
        order = np.lexsort((-weights[known], labels[known]))
        of, heavy = labels[known][order], weights[known][order]
        starts = np.flatnonzero(np.diff(of, prepend=-1))
        sizes = np.diff(starts, append=of.size)
        weighing = np.add.reduceat((heavy > 0).astype(np.int64), starts) if starts.size else sizes
        contributors = np.where(weighing > 0, weighing, sizes)
        assert contributors.size == 0 or contributors.min() >= k, (
            f"a value of column '{attribute.name}' is made of {contributors.min()} records, fewer than k = {k}"
        )
        others = np.add.reduceat(heavy, starts) - heavy[starts] if starts.size else heavy
        assert (10.0 * others >= heavy[starts] * (1 - 1e-9)).all(), (
            f"one record dominates a value of column '{attribute.name}' by its weight"
        )

    def _is_aggregate(self, attribute: Attribute, values: np.ndarray, released: float) -> bool:
        if values.size == 0:
            return bool(np.isnan(released))
        slack = 1e-9 * max(1.0, float(np.abs(values).max()))
        if attribute.kind == "moment":
            slack += 86_400_000_000.0  # dates are released as whole days
        elif attribute.kind == "integer" and self.aggregate == "rounded-mean":
            slack += 0.5
        if self.weights is not None or self.aggregate == "median":
            return bool(values.min() - slack <= released <= values.max() + slack)
        return abs(released - sum(values.tolist()) / values.size) <= slack


def _is_middle(positions: np.ndarray, released: float) -> bool:
    ranked = sorted(position for position in positions.tolist() if position >= 0)
    return ranked[(len(ranked) - 1) // 2] == released if ranked else bool(np.isnan(released))


def smallest_class(columns: Sequence[np.ndarray], units: np.ndarray | None = None) -> int:
    """The size of the smallest class of records that agree in all columns; with units, distinct ones are counted.

    >>> smallest_class([np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])], np.array([5, 5, 6, 7]))
    1
    """
    classes = np.zeros(columns[0].size, dtype=np.int64)
    for codes in columns:
        _, classes = np.unique(classes * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    if units is not None:
        classes = np.unique(np.column_stack([classes, units]), axis=0)[:, 0]
    return int(np.bincount(classes).min())


def _codes(column: nw.Series) -> np.ndarray:
    """Whole numbers, the same where values are the same; all that is missing is one value."""
    gone = np.array(column.is_null().to_numpy(), dtype=bool)
    if column.dtype.is_integer():
        _, codes = np.unique(whole_numbers(column.fill_null(0)), return_inverse=True)
        return np.where(gone, 0, codes + 1)
    if column.dtype.is_numeric():
        values = np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        gone |= np.isnan(values)
        _, codes = np.unique(np.where(gone, 0.0, values), return_inverse=True)
        return np.where(gone, 0, codes + 1)
    numbers: dict[Any, int] = {}
    nested = column.dtype.is_nested()
    return np.array(
        [
            # Lists and records within records have no hash; written out they are the same when their values are.
            0 if none else numbers.setdefault(repr(value) if nested else value, len(numbers) + 1)
            for value, none in zip(column.to_list(), gone, strict=True)
        ],
        dtype=np.int64,
    )
