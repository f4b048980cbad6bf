"""Sorting a release by what it shows, so that the order of the records tells nothing."""

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from shoal.errors import parameter
from shoal.remarks import note

#: What is said where the records keep their order.
ORIGINAL_ORDER = note(
    "original-order",
    f"records are in their original order, by which they can be linked; {parameter('order', 'sorted')} removes that",
)


def sorted_by_release(frame: nw.DataFrame, names: Sequence[str]) -> tuple[nw.DataFrame, np.ndarray]:
    """The frame sorted by what is released, all columns of it, and without an index that tells the old order.

    Beside it the former place of each record.
    """
    place = "place before sorting"
    while place in frame.columns:
        place += "'"
    others = [name for name in frame.columns if name not in names]
    # Under names that no engine takes for patterns.
    keys = {name: f"{place} {number}" for number, name in enumerate([*names, *others])}
    ordered = frame.rename(keys).with_row_index(place).sort(*keys.values(), nulls_last=True)
    permutation = np.asarray(ordered[place].to_numpy(), dtype=np.int64)
    ordered = ordered.drop(place).rename({own: name for name, own in keys.items()})
    if frame.implementation.is_pandas_like():
        ordered = nw.from_native(ordered.to_native().reset_index(drop=True), eager_only=True)
    return ordered, permutation
