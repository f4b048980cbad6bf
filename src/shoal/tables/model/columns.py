"""Columns of records and of ready-made tables: numbers one can compute with, and codes."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.errors import InputError, first_record, parameter
from shoal.numbers import first_unusable
from shoal.tables.model.costs import missing as gap

if TYPE_CHECKING:
    import narwhals as nw

Missing = Literal["refuse", "aside", "category"]
#: The code of missing values that are a category.
MISSING = "missing"


def numbers(data: "nw.DataFrame[Any]", name: str, *, gaps: bool = False) -> np.ndarray:
    """A column as numbers; with ``gaps`` missing ones are NaN, otherwise they are refused."""
    column = data[name]
    try:
        if column.dtype.is_nested():
            raise TypeError
        values = np.array(column.to_list(), dtype=np.float64)
    except (TypeError, ValueError):
        from shoal.sources.not_numbers import why_not_numeric

        raise InputError(f"column '{name}' is not numeric: {why_not_numeric(column)}") from None
    missing = np.isnan(values)
    if missing.any() and not gaps:
        raise InputError(f"column '{name}' has missing values: see {first_record(np.flatnonzero(missing))}")
    bad = first_unusable(np.where(missing, 0.0, values))
    if bad is not None:
        raise InputError(
            f"column '{name}' has a figure in record {bad + 1} that is too large to compute with"
        )
    return values


def codes_of(data: "nw.DataFrame[Any]", name: str, missing: Missing, *, optional: bool = True) -> list[str]:
    """A dimension as texts; a missing one is refused, or nothing (aside), or a code of its own (category).

    Where rows cannot be left out, as in a table, ``optional`` is false, and a message offers no such choice.
    """
    items = data[name].to_list()
    empty = [place for place, item in enumerate(items) if gap(item)]
    if empty and missing == "refuse":
        raise InputError(
            f"dimension '{name}' has missing values: see {first_record(empty)}; give them a code of their own"
            + (
                f", or say {parameter('missing', 'aside')} or {parameter('missing', 'category')}"
                if optional
                else ": rows are cells of a table, of which none can be left out"
            )
        )
    if empty and missing == "category" and any(str(item) == MISSING for item in items):
        raise InputError(
            f"dimension '{name}' has the code '{MISSING}' already, which missing values would get"
        )
    instead = MISSING if missing == "category" else ""
    return [instead if gap(item) else str(item) for item in items]
