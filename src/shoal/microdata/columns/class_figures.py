"""K of a file and what follows from it, by plain counting, for checks that share nothing with what made it."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.microdata.columns.hierarchies.hierarchy import read_values


def class_figures(keys: pl.DataFrame, units: pl.Series | None) -> dict[str, Any]:
    """K, classes and chances to be singled out, by plain counting.

    >>> import polars as pl
    >>> class_figures(pl.DataFrame({"sex": ["f", "f", "m", "m", "m"]}), None)["k"]
    2
    """
    # Polars takes some names of columns for patterns.
    keys = pl.DataFrame([column.alias(f"key {i}") for i, column in enumerate(keys)])
    who = pl.Series("who of it", np.arange(keys.height)) if units is None else units.alias("who of it")
    sizes = keys.with_columns(who).with_columns(
        pl.col("who of it").n_unique().over(keys.columns).alias("size of it")
    )
    smallest = (
        sizes.group_by("who of it").agg(pl.col("size of it").min())["size of it"].to_numpy().astype(float)
    )
    k = int(smallest.min())
    return {
        "k": k,
        "classes": keys.n_unique(),
        "below": {str(limit): int((smallest < limit).sum()) for limit in (3, 5, 10)},
        "maximum_risk": 1 / k,
        "average_risk": float((1 / smallest).mean()),
    }


def as_texts(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The values of columns as hierarchies name them.

    >>> as_texts(pl.DataFrame({"age": [31.0, None], "sex": ["f", "m"]}), ["age"]).rows()
    [('31',), (None,)]
    """
    columns = {}
    for name in names:
        values = read_values(nw.from_native(frame[name], series_only=True))
        texts = np.array(values.texts, dtype=object)
        columns[name] = pl.Series(texts[values.codes].tolist(), dtype=pl.String)
    return pl.DataFrame(columns)
