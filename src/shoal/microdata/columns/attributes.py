"""Columns of a frame as numbers a solver can work on, and back again: numbers, dates, categories with an order or none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.columns.orders import can_be_ordered, ordered_values
from shoal.microdata.columns.to_polars import for_frame
from shoal.microdata.measures.before_after import Scale
from shoal.sources.not_numbers import faults_in_numbers, why_not_numeric

Kind = Literal["number", "integer", "moment", "ordinal", "nominal"]

#: The most values of a column of categories without an order: each is a coordinate of its own in the distances.
MOST_CATEGORIES = 500


@dataclass(frozen=True, eq=False)
class Attribute:
    """One column: its values as floats (missing is NaN), and what is needed to turn released numbers back.

    For an ordinal column ``values`` are ranks (equal values share their mean rank, so distances do not depend on the
    spacing of the codes) and ``categories`` the values in order. For a nominal column ``values`` are the positions among the
    ``categories``, where a missing value is one too (``None``, the last). Where ``gap_is_value``, having no value counts in the
    distances, and a group without values for the most part is released without one.
    """

    name: str
    kind: Kind
    values: np.ndarray = field(repr=False)
    dtype: Any
    positions: np.ndarray | None = field(default=None, repr=False)
    categories: list[Any] = field(default_factory=list, repr=False)
    gap_is_value: bool = False

    @property
    def missing(self) -> np.ndarray:
        """Which records have no value."""
        return np.isnan(self.values)

    @property
    def categorical(self) -> bool:
        """Whether what is released are categories, not numbers or dates."""
        return self.kind in ("ordinal", "nominal")

    @property
    def scale(self) -> Scale:
        """How a mean of ``values`` is to be read."""
        if self.kind == "moment":
            return "date" if self.dtype == nw.Date else "time"
        return "rank" if self.kind == "ordinal" else "number"


def read_attribute(
    frame: nw.DataFrame,
    name: str,
    *,
    ordinal: bool = False,
    order: Sequence[Any] | None = None,
    nominal: bool = False,
) -> Attribute:
    """A column as numbers; an ``InputError`` if it cannot be one. Of an ordinal column ``order`` names the values."""
    column = frame[name]
    kind = column.dtype
    if nominal:
        return _nominal(column)
    if ordinal:
        return _ordinal(column, order)
    if kind.is_numeric():
        values = _floats(column)
        if np.isinf(values).any():
            raise InputError(
                f"column '{name}' holds {int(np.isinf(values).sum())} infinite values; remove or recode them"
            )
        _check_size(name, values)
        whole: Kind = "integer" if kind.is_integer() else "number"
        return Attribute(name, whole, values, kind)
    if is_moment(kind):
        moments = column.cast(nw.Datetime("us")) if kind == nw.Date else column
        missing = column.is_null().to_numpy()
        micros = moments.dt.timestamp("us").fill_null(0).to_numpy().astype(np.float64)
        values = np.where(missing, np.nan, micros)
        return Attribute(name, "moment", values, kind)
    raise InputError(f"column '{name}' is not numeric: {why_not_numeric(column)}; {_what_to_do(column)}")


def is_moment(kind: Any) -> bool:
    """Whether values of a type are dates, with or without the time of day."""
    return bool(kind == nw.Date or kind == nw.Datetime or isinstance(kind, nw.Datetime))


def _what_to_do(column: nw.Series) -> str:
    """How to go on with a column that cannot be averaged."""
    if not can_be_ordered(column.dtype):
        return f"leave it out of {parameter('columns')}"
    if isinstance(column.dtype, nw.String | nw.Object) and (faults := faults_in_numbers(column.to_list())):
        return f"its values are numbers but for {faults}: correct or empty what stands there"
    return (
        f"leave it out of {parameter('columns')}, or name it in {parameter('ordinal')} if its values have an order, in "
        f"{parameter('nominal')} if not"
    )


def _check_size(name: str, values: np.ndarray) -> None:
    """Refuse values so large that their sum, or twice their difference, would be no number any more."""
    most = np.finfo(float).max / (8.0 * max(1, values.size))
    beyond = int((np.abs(values) > most).sum())
    if beyond:
        raise InputError(
            f"column '{name}' holds {beyond} values beyond {most:.0e}, too large to be added up; give it another unit"
        )


def _floats(column: nw.Series) -> np.ndarray:
    values = np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values[column.is_null().to_numpy()] = np.nan
    return values


def _ordinal(column: nw.Series, order: Sequence[Any] | None) -> Attribute:
    missing = np.array(column.is_null().to_numpy(), dtype=bool)
    if column.dtype.is_float():
        missing |= np.isnan(_floats(column))
    raw = column.to_list()
    present = [value for value, gone in zip(raw, missing, strict=True) if not gone]
    categories = ordered_values(column, present, order)
    place = {value: position for position, value in enumerate(categories)}
    positions = np.array(
        [-1 if gone else place[value] for value, gone in zip(raw, missing, strict=True)], dtype=np.int64
    )
    counts = np.bincount(positions[~missing], minlength=len(categories))
    upto = np.cumsum(counts)
    mean_rank = upto - (counts - 1) / 2.0
    values = np.where(missing, np.nan, mean_rank[np.maximum(positions, 0)])
    return Attribute(column.name, "ordinal", values, column.dtype, positions, categories)


def _nominal(column: nw.Series) -> Attribute:
    missing = np.array(column.is_null().to_numpy(), dtype=bool)
    if column.dtype.is_float():
        missing |= np.isnan(_floats(column))
    items = [None if gone else value for value, gone in zip(column.to_list(), missing, strict=True)]
    try:
        # In an order that does not depend on that of the records.
        categories: list[Any] = sorted(
            {item for item in items if item is not None}, key=lambda item: (str(item), repr(item))
        )
    except TypeError:
        raise InputError(f"column '{column.name}' holds lists or records, which are no categories") from None
    if missing.any():
        categories.append(None)
    if len(categories) > MOST_CATEGORIES:
        raise InputError(
            f"column '{column.name}' has {len(categories):,} values, more than {MOST_CATEGORIES} categories; make it coarser "
            f"first (shoal recode), or leave it out of {parameter('nominal')}"
        )
    position_of = {value: position for position, value in enumerate(categories)}
    positions = np.array([position_of[item] for item in items], dtype=np.int64)
    return Attribute(
        column.name, "nominal", positions.astype(np.float64), column.dtype, positions, categories
    )


def write_attribute(attribute: Attribute, released: np.ndarray, *, whole: bool, backend: Any) -> nw.Series:
    """Released numbers as a column of the frame's kind; NaN becomes missing.

    For categories ``released`` holds positions among them. Integers become floats unless ``whole``.
    """
    name = attribute.name
    missing = np.isnan(released)
    if attribute.categorical:
        items = [
            None if gone else attribute.categories[int(position)]
            for position, gone in zip(released, missing, strict=True)
        ]
        return nw.new_series(name, items, attribute.dtype, backend=backend)
    if attribute.kind == "moment":
        micros = np.where(missing, 0.0, np.rint(released)).astype(np.int64)
        series = nw.new_series(name, micros.astype("datetime64[us]"), nw.Datetime("us"), backend=backend)
        zone = getattr(attribute.dtype, "time_zone", None)
        if zone is not None:
            series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        return _with_nulls(series.cast(attribute.dtype), missing)
    # The integers pandas makes by default cannot be missing; there a column with gaps stays one of floats.
    gaps_fit = not missing.any() or not nw.Implementation.from_backend(backend).is_pandas_like()
    if attribute.kind == "integer" and whole and gaps_fit:
        wide, kind = (np.uint64, nw.UInt64) if attribute.dtype == nw.UInt64 else (np.int64, nw.Int64)
        numbers = for_frame(np.where(missing, 0.0, released).astype(wide))
        series = nw.new_series(name, numbers, kind, backend=backend)
        return _with_nulls(series.cast(attribute.dtype) if not missing.any() else series, missing)
    return _with_nulls(
        nw.new_series(name, for_frame(np.where(missing, 0.0, released)), nw.Float64, backend=backend), missing
    )


def _with_nulls(series: nw.Series, missing: np.ndarray) -> nw.Series:
    if not missing.any():
        return series
    kept = [None if gone else value for value, gone in zip(series.to_list(), missing, strict=True)]
    return nw.new_series(series.name, kept, series.dtype, backend=series.implementation)
