"""What microaggregated columns lost, computed again from the columns before and after."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.microaggregation.verify import column_loss


def squared_errors(
    before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str], weights: Mapping[str, float]
) -> dict[str, Any]:
    """Squared errors, in all and of a single group, and their share; both frames have the records in one order.

    >>> frame = pl.DataFrame({"pay": [1.0, 2.0, 3.0, 4.0]})
    >>> squared_errors(frame, frame, ["pay"], {})["loss_percent"]
    0.0
    """
    sse = sst = 0.0
    for name in columns:
        values = [read_attribute(nw.from_native(frame, eager_only=True), name) for frame in (before, after)]
        error, total, _ = column_loss(values[0], values[1].values)
        weight = weights.get(name, 1.0)
        sse, sst = sse + weight * error, sst + weight * total
    return {"sse": sse, "sst": sst, "loss_percent": 100.0 * sse / sst if sst > 0 else 0.0}
