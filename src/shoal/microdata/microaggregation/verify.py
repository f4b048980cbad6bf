"""The independent checks: of a partition in the space of the distances, and of a release from its frame.

Nothing here is shared with what searches or releases: losses, middles and K are computed again by other means.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.microdata.columns.attributes import Attribute, read_attribute
from shoal.microdata.columns.integers import whole_numbers
from shoal.microdata.columns.to_polars import for_frame
from shoal.microdata.microaggregation.problem import CATEGORY_DISTANCE, Problem
from shoal.microdata.microaggregation.solution import Partition

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.aggregate import Aggregate
    from shoal.microdata.microaggregation.result import Microaggregation, Part

_DAY = 86_400_000_000.0  # in microseconds


def verify(problem: Problem, partition: Partition) -> None:
    """Raise ``AssertionError`` unless the partition is one, obeys the sizes, and has the loss it claims."""
    labels = np.asarray(partition.labels)
    records = len(problem.points)
    assert labels.shape == (records,), f"{labels.shape} labels for {records} records"
    assert np.issubdtype(labels.dtype, np.integer), "labels must be integers"
    assert labels.min() == 0, "groups must be numbered from 0"
    sizes = np.bincount(labels)
    assert sizes.min() >= problem.k, f"a group has {sizes.min()} records, fewer than k = {problem.k}"
    assert problem.largest is None or sizes.max() <= problem.largest, (
        f"a group has {sizes.max()} records, more than {problem.largest}"
    )
    sse, sst = _squared_errors(problem.points, labels, sizes)
    tolerance = 1e-9 * max(sst, 1e-300)
    assert abs(sse - partition.value) <= tolerance, f"the loss is {sse}, not {partition.value} as claimed"
    assert abs(sst - partition.sst) <= tolerance, f"the loss of one group is {sst}, not {partition.sst}"
    assert partition.bound is None or partition.bound <= sse + tolerance, "the bound is above the loss"
    assert not partition.optimal or partition.bound is not None, "optimal without a bound to show it"


def _squared_errors(points: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """The squared error of the groups and that of a single one: records sorted by group, column by column."""
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    within = overall = 0.0
    for column in points.T:
        values = column[order]
        values -= values.mean()
        overall += float(values @ values)
        values -= np.repeat(np.add.reduceat(values, starts) / sizes, sizes)
        within += float(values @ values)
    return within, overall


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """The independent check of a release: everything is computed again from the original columns and the frame."""

    attributes: tuple[Attribute, ...]
    factors: tuple[float, ...]
    strata: Sequence[np.ndarray]
    permutation: np.ndarray
    aggregate: "Aggregate"
    weights: np.ndarray | None = field(repr=False)
    units: nw.Series | None = field(default=None, repr=False)

    def __call__(self, result: "Microaggregation", released: Any) -> None:
        """Raise ``AssertionError`` unless the frame holds what the result says."""
        data = nw.from_native(released, eager_only=True)
        assert len(data) == result.records, f"{len(data)} records, not {result.records}"
        stratum = np.empty(result.records, dtype=np.int64)
        for number, rows in enumerate(self.strata):
            stratum[rows] = number
        owners = None if self.units is None else _codes(self.units)
        for part in result.parts:
            self._expect_groups(part, result.k, stratum, owners)
            self._expect_columns(part, result.k, data, owners)
        self._expect_k(data, result.columns, result.k_protected)
        if set(result.quasi) != set(result.columns) or result.k_release > result.k_protected:
            self._expect_k(data, result.quasi, result.k_release)

    def _expect_groups(self, part: "Part", k: int, stratum: np.ndarray, owners: np.ndarray | None) -> None:
        sizes = np.bincount(part.labels)
        assert sizes.min() >= k, f"a group has {sizes.min()} records, fewer than k = {k}"
        if owners is not None:
            units = int(_distinct_owners(part.labels, owners).min())
            assert units >= k, f"a group has {units} distinct units, fewer than k = {k}"
        stratum_of_group = np.full(sizes.size, -1)
        stratum_of_group[part.labels] = stratum
        assert (stratum_of_group[part.labels] == stratum).all(), "a group crosses strata"

    def _expect_columns(self, part: "Part", k: int, data: nw.DataFrame, owners: np.ndarray | None) -> None:
        sse = sst = tolerance = 0.0
        for attribute, factor in zip(self.attributes, self.factors, strict=True):
            if attribute.name not in part.columns:
                continue
            seen = self.released_values(data, attribute)
            for_group = np.full(int(part.labels.max()) + 1, np.nan)
            for_group[part.labels] = seen
            assert np.array_equal(for_group[part.labels], seen, equal_nan=True), (
                f"column '{attribute.name}' differs within a group"
            )
            self._expect_contributors(attribute, part.labels, k, owners, released=~np.isnan(seen))
            assert self._is_aggregate(attribute, part.labels, for_group), (
                f"column '{attribute.name}' does not hold the {self.aggregate} of its group"
            )
            error, total, uncertain = column_loss(attribute, seen)
            sse, sst = sse + factor * error, sst + factor * total
            tolerance += factor * total * (1e-7 + uncertain)
        tolerance = max(tolerance, 1e-300)
        assert abs(sse - part.sse) <= tolerance, f"the loss is {sse}, not {part.sse}"
        assert abs(sst - part.sst) <= tolerance, f"the loss of one group is {sst}, not {part.sst}"
        assert part.bound is None or part.bound <= sse + tolerance, "the bound is above the loss"
        assert not part.optimal or part.bound is not None, "optimal without a bound to show it"

    def _expect_k(self, data: nw.DataFrame, columns: Sequence[str], stated: int) -> None:
        # A file may know no difference between an empty text and none: then K of the file is the larger one.
        members = None if self.units is None else _codes(self.units)[self.permutation]
        counted = smallest_class([_codes(data[name]) for name in columns], members)
        assert counted >= stated, f"K over {', '.join(columns)} is {counted}, not {stated}"

    def released_values(self, data: nw.DataFrame, attribute: Attribute) -> np.ndarray:
        """A column of the released frame as numbers, in the order of the original records."""
        back = np.empty(len(self.permutation))
        if attribute.categorical:
            place = {value: position for position, value in enumerate(attribute.categories)}
            # A file may know no difference between an empty text and none.
            none = place.get(None, place.get("", -1)) if attribute.kind == "nominal" else np.nan
            column = data[attribute.name]
            items = zip(column.to_list(), _missing(column).tolist(), strict=True)
            seen = np.array([none if gone else place.get(item, -1) for item, gone in items], dtype=float)
        else:
            seen = read_attribute(data, attribute.name).values
        back[self.permutation] = seen
        return back

    def _is_aggregate(self, attribute: Attribute, labels: np.ndarray, released: np.ndarray) -> bool:
        """Whether every group got what its known values come to, and one without any got nothing."""
        if attribute.kind == "nominal":
            return _are_most_frequent(labels, attribute.values, released)
        unknown = np.isnan(attribute.values)
        if attribute.gap_is_value:
            # A group without values for the most part got nothing, too, and is looked at no further.
            without = (
                pl.DataFrame({"group": labels, "unknown": unknown})
                .group_by("group")
                .agg(pl.col("unknown").mean())
            )
            empty_groups = without.filter(pl.col("unknown") > 0.5)["group"].to_numpy()
            if not np.isnan(released[empty_groups]).all():
                return False
            unknown |= np.isin(labels, empty_groups)
        of_groups = np.where(unknown, np.nan, attribute.values)
        if attribute.kind == "ordinal":
            assert attribute.positions is not None
            values = np.where(unknown, np.nan, attribute.positions)
            # Of two middle categories the lower one.
            made = _by_group(labels, values, made=pl.col("value").quantile(0.5, "lower"))["made"]
            return bool(np.array_equal(made, released, equal_nan=True))
        rounding = 0.5 if attribute.kind == "integer" and self.aggregate == "rounded-mean" else 0.0
        rounding = _DAY if attribute.kind == "moment" else rounding  # dates are released as whole days
        value, weight = pl.col("value"), pl.col("weight")
        middle = value.median() if self.aggregate == "median" else value.mean()
        if self.weights is not None and self.aggregate == "median":
            return _is_weighted_median(labels, of_groups, self.weights, released, rounding)
        if self.weights is not None:
            # Where nobody weighs anything all count the same.
            middle = pl.when(weight.sum() > 0).then((value * weight).sum() / weight.sum()).otherwise(middle)
        groups = _by_group(labels, of_groups, self.weights, made=middle, size=value.abs().max())
        slack = 1e-9 * np.maximum(1.0, groups["size"]) + rounding
        empty = np.isnan(groups["size"])
        return bool(((np.abs(released - groups["made"]) <= slack) | (empty & np.isnan(released))).all())

    def _expect_contributors(
        self,
        attribute: Attribute,
        labels: np.ndarray,
        k: int,
        owners: np.ndarray | None,
        *,
        released: np.ndarray,
    ) -> None:
        """No released value is of fewer than k records or units, or of one that weighs ten times as much as the others."""
        known = ~np.isnan(attribute.values) & released
        weights = np.ones(labels.size) if self.weights is None else self.weights
        if attribute.categorical:
            weights = np.ones(labels.size)
        if known.all() and (weights == 1).all():
            return  # every member contributes the same, and the sizes are counted already
        labels, weights = labels[known], weights[known]
        if owners is not None:
            # What somebody's records in a group weigh, they weigh together.
            shares = pl.DataFrame({"group": labels, "owner": owners[known], "weight": weights})
            together = shares.group_by("group", "owner").agg(pl.col("weight").sum())
            labels, weights = together["group"].to_numpy(), together["weight"].to_numpy()
        order = np.lexsort((-weights, labels))
        of, heavy = labels[order], weights[order]
        starts = np.flatnonzero(np.diff(of, prepend=-1))
        sizes = np.diff(starts, append=of.size)
        weighing = np.add.reduceat((heavy > 0).astype(np.int64), starts) if starts.size else sizes
        contributors = np.where(weighing > 0, weighing, sizes)
        assert contributors.size == 0 or contributors.min() >= k, (
            f"a value of column '{attribute.name}' is made of {contributors.min()} contributors, fewer than k = {k}"
        )
        if self.weights is None:
            return
        others = np.add.reduceat(heavy, starts) - heavy[starts] if starts.size else heavy
        assert (10.0 * others >= heavy[starts] * (1 - 1e-9)).all(), (
            f"one record dominates a value of column '{attribute.name}' by its weight"
        )


def _distinct_owners(labels: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """How many distinct owners the records of each group have."""
    frame = pl.DataFrame({"group": labels, "owner": owners})
    return frame.group_by("group").agg(pl.col("owner").n_unique())["owner"].to_numpy()


def _by_group(
    labels: np.ndarray, values: np.ndarray, weights: np.ndarray | None = None, **aggregates: pl.Expr
) -> dict[str, np.ndarray]:
    """What is asked of the known values of each group, in the order of the groups; NaN where nothing is known."""
    weights = np.ones(len(labels)) if weights is None else weights
    frame = pl.DataFrame(
        {"group": for_frame(labels), "value": for_frame(values), "weight": for_frame(weights)}
    )
    found = frame.filter(pl.col("value").is_not_nan()).group_by("group").agg(**aggregates)
    answers = {}
    for name in aggregates:
        answers[name] = np.full(int(labels.max()) + 1, np.nan)
        answers[name][found["group"].to_numpy()] = found[name].to_numpy()
    return answers


def _is_weighted_median(
    labels: np.ndarray, values: np.ndarray, weights: np.ndarray, released: np.ndarray, rounding: float
) -> bool:
    """Whether at most half of the weight is below what each group got, and at least half up to it."""
    slack = 1e-9 * np.maximum(1.0, np.abs(values)) + rounding
    given = released[labels]
    below = np.where(values < given - slack, weights, 0.0)
    upto = np.where(values <= given + slack, weights, 0.0)
    total, weight = pl.col("value").sum(), pl.col("weight")
    known = np.where(np.isnan(values), np.nan, weights)
    all_, low, high = (
        _by_group(labels, known, part, total=total, part=weight.sum()) for part in (weights, below, upto)
    )
    half = all_["total"] / 2
    lower = _by_group(labels, values, made=pl.col("value").quantile(0.5, "lower"))["made"]
    fair = (low["part"] <= half * (1 + 1e-9)) & (high["part"] >= half * (1 - 1e-9))
    bare = np.abs(released - lower) <= 1e-9 * np.maximum(1.0, np.abs(lower)) + rounding
    empty = np.isnan(lower) & np.isnan(released)
    return bool((np.where(half > 0, fair, bare) | empty).all())


def column_loss(attribute: Attribute, released: np.ndarray) -> tuple[float, float, float]:
    """The squared error of a column and that of a single group, both in units of its variance.

    Third, the share of the latter that the last digits of the values leave open: with values of 10 digits that differ
    in the last one, the scale itself is known to few digits.
    """
    before, after = attribute.values, released
    known = ~np.isnan(before)
    if attribute.kind == "nominal":
        return *_category_loss(before, after), 0.0
    if attribute.kind == "ordinal":
        assert attribute.positions is not None
        places = attribute.positions[known]
        ranks = pl.Series(places).rank().to_numpy()
        rank_of = np.full(len(attribute.categories) + 1, np.nan)
        rank_of[places] = ranks
        before = np.where(known, rank_of[attribute.positions], np.nan)
        after = rank_of[np.where(np.isnan(released), -1, released).astype(int)]
    of_gaps = (0.0, 0.0)
    if attribute.gap_is_value:
        of_gaps = _category_loss(known.astype(np.float64), (~np.isnan(after)).astype(np.float64))
    if known.sum() < 2:
        return *of_gaps, 0.0
    largest = float(np.abs(before[known]).max()) or 1.0
    deviation = float(np.std(before[known] / largest, ddof=1))
    if deviation == 0 or np.ptp(before[known]) == 0:
        return *of_gaps, 0.0
    if attribute.gap_is_value:
        # What is missing is as far from every value as the mean of those that are there.
        middle = float(np.mean(before[known]))
        change = np.where(known, before, middle) - np.where(np.isnan(after), middle, after)
    else:
        change = before[known] - after[known]
    change = change / largest / deviation
    open_ = 2.5e-16 / deviation
    error, total = of_gaps
    return error + float(change @ change), total + float(known.sum() - 1), 2 * open_ + open_**2


def _category_loss(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The squared error of categories, and that of a single group: half the distance of each record to each other, on average."""
    shares = pl.Series(before).value_counts(normalize=True)["proportion"].to_numpy()
    apart = before.size * float(1.0 - np.sum(shares * shares))
    return CATEGORY_DISTANCE * float(np.count_nonzero(before != after)), CATEGORY_DISTANCE / 2.0 * apart


def _are_most_frequent(labels: np.ndarray, values: np.ndarray, released: np.ndarray) -> bool:
    """Whether each group got its most frequent value; of several the one that is more frequent in all, then the first."""
    frame = pl.DataFrame({"group": labels, "value": values})
    overall = frame.group_by("value").agg(pl.len().alias("overall"))
    ranked = (
        frame.group_by("group", "value")
        .agg(pl.len().alias("own"))
        .join(overall, on="value")
        .sort("own", "overall", "value", descending=[True, True, False])
        .group_by("group", maintain_order=True)
        .first()
        .sort("group")
    )
    return bool(np.array_equal(ranked["value"].to_numpy(), released))


def smallest_class(columns: Sequence[np.ndarray], units: np.ndarray | None = None) -> int:
    """The size of the smallest class of records that agree in all columns; with units, distinct ones are counted.

    >>> smallest_class([np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])], np.array([5, 5, 6, 7]))
    1
    """
    frame = pl.DataFrame({f"column {number}": for_frame(codes) for number, codes in enumerate(columns)})
    if units is not None:
        frame = frame.with_columns(pl.Series("unit", for_frame(units))).unique()
    return int(frame.group_by(frame.columns[: len(columns)]).len()["len"].to_numpy().min())


def _missing(column: nw.Series) -> np.ndarray:
    gone = np.array(column.is_null().to_numpy(), dtype=bool)
    if column.dtype.is_float():
        gone |= np.isnan(np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64))
    return gone


def _codes(column: nw.Series) -> np.ndarray:
    """Whole numbers, the same where values are the same; all that is missing is one value."""
    gone = np.array(column.is_null().to_numpy(), dtype=bool)
    if column.dtype.is_integer():
        _, codes = np.unique(whole_numbers(column.fill_null(0)), return_inverse=True)
        return np.where(gone, 0, codes + 1)
    if column.dtype.is_numeric():
        values = np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        gone |= np.isnan(values)
        # As they lie in memory, where 0 has no sign any more and all that is missing is one number that is none.
        return np.where(gone, np.nan, values + 0.0).view(np.int64)
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
