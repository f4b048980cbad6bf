"""The columns a measure needs, out of any kind of frame, as a Polars plan with names of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import polars as pl

from shoal.errors import InputError, unknown
from shoal.exact_names import exactly

UNIT = "unit"
CONFIDENTIAL = "confidential"
COUNT = "count"


@dataclass(frozen=True)
class Columns:
    """Quasi-identifiers (``keys``), and perhaps the unit and the confidential value, of every record, or of many at once.

    Missing is missing whatever the frame calls it: null, None, NaN, NaT. ``values`` translates the codes that stand for the
    values of a pandas column, whose values can be of mixed types.
    """

    frame: pl.LazyFrame
    names: Mapping[str, Any]
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    streaming: bool = False

    @property
    def keys(self) -> list[str]:
        """The quasi-identifiers."""
        return [name for name in self.names if name not in (UNIT, CONFIDENTIAL, COUNT)]

    def has(self, name: str) -> bool:
        """Whether there is a unit, a confidential column, or a count of the records that a row stands for."""
        return name in self.names

    def collect(self, plan: pl.LazyFrame) -> pl.DataFrame:
        """Run a plan on these columns."""
        try:
            return plan.collect(engine="streaming" if self.streaming else "auto")
        except pl.exceptions.PolarsError:
            # Not shown and not chained: the text may quote values of the data.
            if self.streaming:
                raise InputError("the lazy frame could not be computed; collect it to see why") from None
            kinds = ", ".join(
                f"{self.names[name]} ({kind})" for name, kind in self.frame.collect_schema().items()
            )
            raise InputError(f"these columns cannot be grouped by value: {kinds}") from None


def read_columns(
    frame: Any, quasi: Sequence[Any], unit: Any, confidential: Any, count: Any = None
) -> Columns:
    """Check the names and take the columns out of a pandas, Polars, Arrow or any other frame Narwhals knows.

    ``count`` is the column that says how many records each row stands for; by default it is one.
    """
    wrapped = read_any_frame(frame)
    available = list(wrapped.collect_schema().names())
    names = {f"key {place}": name for place, name in enumerate(quasi)}
    _check_quasi(quasi, available)
    for role, name in ((UNIT, unit), (CONFIDENTIAL, confidential), (COUNT, count)):
        if name is None:
            continue
        if name not in available:
            raise unknown("column", str(name), map(str, available), where="in the data")
        if name in quasi:
            raise InputError(f"column '{name}' cannot be a quasi-identifier and the {role} column at once")
        names[role] = name
    if unit is not None and unit == confidential:
        raise InputError(f"column '{unit}' cannot be the unit and the confidential column at once")

    if isinstance(wrapped, nw.LazyFrame):
        native = wrapped.to_native()
        if isinstance(native, pl.LazyFrame):
            # By exact name: a pattern such as "^a.*$" is a legal name of a column.
            plan = native.select(exactly(name).alias(role) for role, name in names.items())
            return Columns(_with_nulls(plan, names), names, streaming=True)
        wrapped = wrapped.select(*names.values()).collect(backend="polars")
    if wrapped.implementation.is_pandas_like():
        return _from_pandas(wrapped, names)
    taken = pl.DataFrame([wrapped.get_column(name).to_polars().alias(role) for role, name in names.items()])
    return Columns(_with_nulls(taken.lazy(), names), names)


def _with_nulls(plan: pl.LazyFrame, names: Mapping[str, Any]) -> pl.LazyFrame:
    """The same columns with null for NaN."""
    schema = plan.collect_schema()
    for role, kind in schema.items():
        if kind == pl.Object:
            raise InputError(f"column '{names[role]}' holds Python objects, which cannot be compared")
    floats = [role for role, kind in schema.items() if kind.is_float()]
    return plan.with_columns(exactly(*floats).fill_nan(None)) if floats else plan


def read_any_frame(frame: Any) -> "nw.DataFrame[Any] | nw.LazyFrame[Any]":
    """The frame as Narwhals sees it, in memory or not; an ``InputError`` if it is none, or has two columns of one name."""
    several = InputError("the data has several columns of one name; give each a name of its own")
    try:
        wrapped: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(frame)
    except nw.exceptions.DuplicateError:
        raise several from None
    except TypeError:
        raise InputError(
            f"the data must be a pandas, Polars or Arrow frame, not {type(frame).__name__}"
        ) from None
    names = wrapped.collect_schema().names()
    if len(set(names)) < len(names):
        raise several
    return wrapped


def _check_quasi(quasi: Sequence[Any], available: Sequence[Any]) -> None:
    if not quasi:
        raise InputError("name at least one quasi-identifier column")
    for place, name in enumerate(quasi):
        if name not in available:
            raise unknown("column", str(name), map(str, available), where="in the data")
        if name in quasi[:place]:
            raise InputError(f"column '{name}' is named twice among the quasi-identifiers")


def _from_pandas(wrapped: "nw.DataFrame[Any]", names: Mapping[str, Any]) -> Columns:
    """Number the values of each column: pandas knows how to compare what one of its columns holds."""
    native = wrapped.to_pandas()
    codes, values = {}, {}
    for role, name in names.items():
        try:
            column, found = native[name].factorize()
        except TypeError:
            raise InputError(f"column '{name}' holds values that cannot be compared, such as lists") from None
        codes[role] = pl.Series(role, column)
        values[role] = found.tolist()
    frame = pl.DataFrame(codes).lazy()
    return Columns(frame.select(pl.when(pl.all() >= 0).then(pl.all())), names, values)
