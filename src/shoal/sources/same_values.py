"""Whether columns that were written and read again are what they were."""

import math

import numpy as np
import polars as pl


def same_values(before: pl.Series, after: pl.Series) -> bool:
    """Whether two columns hold the same; numbers may differ in their last digits."""
    if before.dtype.is_numeric() and after.dtype.is_numeric():
        one, two = (item.cast(pl.Float64).fill_null(math.nan).to_numpy() for item in (before, after))
        return bool(np.isclose(one, two, rtol=1e-9, atol=0.0, equal_nan=True).all())
    return before.cast(pl.String).to_list() == after.cast(pl.String).to_list()
