"""What a reader can still learn from groups: values everybody shares, a dominant member, records linked by distance."""

from typing import TYPE_CHECKING

import numpy as np

from shoal.microdata.microaggregation.release import comparable, indicators

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.result import Microaggregation

#: The definition of a link, the one that ``compare`` has: the same figure wherever it is shown.
LINKED_HOW = (
    "each column is scaled to its range (min-max), and a true match among t equally near records counts 1/t"
)

# Exact linkage looks at every record and every group; beyond this a report would keep its reader waiting.
MOST_LINKED = 50_000


def groups_without_range(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which groups hold a single value: their mean is everybody's true value.

    >>> groups_without_range(np.array([2.0, 2.0, 2.0, 5.0]), np.array([0, 0, 1, 1])).tolist()
    [True, False]
    """
    groups = int(labels.max()) + 1
    present = ~np.isnan(values)
    low = np.full(groups, np.inf)
    high = np.full(groups, -np.inf)
    np.minimum.at(low, labels[present], values[present])
    np.maximum.at(high, labels[present], values[present])
    return low == high


def dominated_groups(values: np.ndarray, labels: np.ndarray, percent: float = 10.0) -> np.ndarray:
    """Which groups let their second largest member estimate the largest to within so many percent from the group sum.

    The p % rule on the sum of a group (group size times released mean): it fires when what is left of the sum after the
    two largest is below p % of the largest. Only for values of 0 or more; a column with negative ones fires nowhere.

    >>> dominated_groups(np.array([100.0, 5.0, 1.0, 40.0, 30.0, 30.0]), np.array([0, 0, 0, 1, 1, 1])).tolist()
    [True, False]
    """
    groups = int(labels.max()) + 1
    present = ~np.isnan(values)
    values, labels = values[present], labels[present]
    if values.size == 0 or values.min() < 0:
        return np.zeros(groups, dtype=bool)
    order = np.lexsort((-values, labels))
    values, labels = values[order], labels[order]
    starts = np.searchsorted(labels, np.arange(groups))
    sizes = np.bincount(labels, minlength=groups)
    largest = np.where(sizes > 0, values[np.minimum(starts, values.size - 1)], 0.0)
    second = np.where(sizes > 1, values[np.minimum(starts + 1, values.size - 1)], 0.0)
    total = np.bincount(labels, weights=values, minlength=groups)
    fires: np.ndarray = (largest > 0) & (total - largest - second < percent / 100.0 * largest)
    return fires


def expected_links(result: "Microaggregation") -> list[tuple[str, float]]:
    """How many records an intruder links by distance, tied records counting in part, for each scenario.

    Columns are scaled as in ``compare``, so that both tell the same number. There is one scenario for each group of columns
    protected together, and one for an intruder who knows all of them. Records with gaps are left out; none are linked above
    50,000 records.
    """
    from shoal.microdata.measures.linkage import link_by_distance
    from shoal.microdata.measures.scaling import on_common_scale

    if result.records > MOST_LINKED:
        return []
    before, after, weight = {}, {}, {}
    for attribute, released in result.released_columns():
        weight[attribute.name] = np.sqrt(0.5) if attribute.kind == "nominal" else 1.0
        if attribute.kind == "nominal":
            before[attribute.name] = indicators(attribute, attribute.values)
            after[attribute.name] = indicators(attribute, released)
        else:
            before[attribute.name] = attribute.values[:, None]
            after[attribute.name] = comparable(attribute, released)[:, None]
    scenarios = [part.columns for part in result.parts]
    if len(scenarios) > 1:
        scenarios.append(result.columns)
    found = []
    for columns in scenarios:
        known = np.hstack([before[name] for name in columns])
        seen = np.hstack([after[name] for name in columns])
        whole = ~(np.isnan(known).any(axis=1) | np.isnan(seen).any(axis=1))
        # Two different categories are as far from each other as the two ends of a number's range.
        scale = np.concatenate([np.full(before[name].shape[1], weight[name]) for name in columns])
        links = link_by_distance(*(scale * table for table in on_common_scale(known[whole], seen[whole])))
        found.append((", ".join(columns), links.expected))
    return found
