"""Whole numbers of a column as they are, also those too long for NumPy."""

import narwhals as nw
import numpy as np


def whole_numbers(column: nw.Series) -> np.ndarray:
    """The values of a column of integers without gaps; those of 128 bits as Python's own, which have no limit.

    >>> import polars as pl
    >>> whole_numbers(nw.from_native(pl.Series([2, 1], dtype=pl.Int128), series_only=True)).tolist()
    [2, 1]
    """
    if column.dtype in (nw.Int128, nw.UInt128):
        return np.array(column.to_list(), dtype=object)
    return np.asarray(column.to_numpy())
