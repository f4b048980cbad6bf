"""Frames of any kind come in; the same kind goes out, with the columns of the slot added."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from shoal.appointments.people.slots import Slots
from shoal.errors import InputError
from shoal.exact_names import refuse_patterns


def as_polars(frame: Any, what: str) -> pl.DataFrame:
    """The frame as a Polars frame."""
    if isinstance(frame, pl.DataFrame):
        refuse_patterns(frame.columns, f"the {what}")
        return frame
    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"the {what} must be a pandas, Polars or Arrow frame, not {type(frame).__name__}"
        ) from None
    refuse_patterns(wrapped.columns, f"the {what}")
    return wrapped.to_polars()


def with_columns(original: Any, frame: pl.DataFrame, slots: Slots, slot_of: np.ndarray) -> Any:
    """The people with everybody's slot and its attributes, as the kind of frame that came in."""
    added = pl.DataFrame([slots.ids, *slots.attributes.get_columns()])[slot_of]
    if isinstance(original, pl.DataFrame):
        return original.with_columns(added)
    wrapped = nw.from_native(original, eager_only=True)
    if wrapped.implementation.is_pandas_like():
        result = original.copy()
        for name in added.columns:
            result[name] = added[name].to_list()
        return result
    return nw.from_native(frame.with_columns(added), eager_only=True).to_arrow()
