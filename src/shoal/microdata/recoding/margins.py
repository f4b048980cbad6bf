"""What an analyst keeps: how the released labels of each key are distributed before and after, and what was blanked where."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy


@dataclass(frozen=True)
class Margin:
    """A label of a key: its share of all records before, of the released ones after, and how often it was blanked or left out.

    Shares are weighted where records have weights. ``people`` is how many people had it, ``records`` how many records.
    """

    label: str | None
    people: int
    records: int
    before: float
    after: float
    hidden: int


def compare_margins(
    hierarchy: Hierarchy,
    leaves: np.ndarray,
    levels: np.ndarray,
    released: np.ndarray,
    weights: np.ndarray,
    base: int,
    people: np.ndarray,
) -> tuple[Margin, ...]:
    """The labels of one key at a common level before and after; what is released coarser than that, or blank, counts as hidden.

    >>> ages = Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49")])
    >>> kept, one = np.ones(3, dtype=bool), np.ones(3)
    >>> [m.after for m in compare_margins(ages, np.array([0, 1, 2]), np.array([1, 1, 2]), kept, one, 1, np.arange(3))]
    [1.0, 0.0]
    """
    nodes = hierarchy.nodes[base][leaves]
    size = len(hierarchy.labels[base])
    shown = released & (levels <= base) & (levels < hierarchy.height)
    records = np.bincount(nodes, minlength=size)
    distinct = np.unique(np.stack([nodes, people], axis=1), axis=0)
    persons = np.bincount(distinct[:, 0], minlength=size)
    before = np.bincount(nodes, weights=weights, minlength=size)
    after = np.bincount(nodes[shown], weights=weights[shown], minlength=size)
    hidden = np.bincount(nodes[~shown], minlength=size)
    return tuple(
        Margin(
            hierarchy.labels[base][node],
            int(persons[node]),
            int(records[node]),
            float(before[node] / max(before.sum(), 1e-300)),
            float(after[node] / max(after.sum(), 1e-300)),
            int(hidden[node]),
        )
        for node in range(size)
        if records[node]
    )


def largest_change(margins: Sequence[Margin]) -> float:
    """The largest difference of a share before and after; 1 where nothing is shown.

    >>> largest_change([Margin("*", 3, 3, 1.0, 0.0, 3)])
    1.0
    """
    return max((abs(margin.after - margin.before) for margin in margins), default=0.0)
