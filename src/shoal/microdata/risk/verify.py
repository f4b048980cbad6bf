"""Counting some records again, straight from the keys: no groups, no tables, no packed numbers."""

from collections.abc import Sequence

import numpy as np

from shoal.microdata.risk.counts import Hiding

# Comparing a record with all others costs as much as a look at every value, so a few are taken.
RECOUNTED = 5


def recount(
    columns: Sequence[np.ndarray],
    missing: Sequence[int],
    records: np.ndarray,
    weights: np.ndarray,
    *,
    claimed: Hiding,
    class_of: np.ndarray,
    wildcard: bool,
) -> None:
    """Raise ``AssertionError`` unless the totals are right, and what a few records are hidden in, the least hidden among them.

    ``records`` and ``weights`` are what every row of the columns stands for; rows of the sample come first.
    """
    size = int(records.sum())
    assert int(claimed.records.sum()) == size, "the classes hold other records than the sample"
    own = class_of[:size]
    positions = np.linspace(0, size - 1, RECOUNTED - 1).astype(np.int64)
    for i in {int(claimed.counts[own].argmin()), *positions.tolist()}:
        alike = np.ones(columns[0].size, dtype=bool)
        for column, gone in zip(columns, missing, strict=True):
            value = column[i]
            if wildcard and value == gone:
                continue
            same = column == value
            alike &= (same | (column == gone)) if wildcard and gone >= 0 else same
        count, people = int(records[alike].sum()), float(weights[alike].sum())
        claim, estimated = int(claimed.counts[own[i]]), float(claimed.populations[own[i]])
        assert count == claim, f"record {i + 1} is like {count} records, not {claim}"
        assert abs(people - estimated) <= 1e-9 * people, (
            f"record {i + 1} stands for other people than claimed"
        )
