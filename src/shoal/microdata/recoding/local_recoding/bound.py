"""How little a local recoding could lose: every record alone at the cheapest labels that k people could share.

In any release a record shares its labels with at least k people whose values are under them, so it loses no less than at the
cheapest such labels. They are found for all records in one walk (``bound_kernels``); where that takes too long, over fewer
keys, and the others are taken to lose nothing.
"""

import numpy as np

from shoal.microdata.recoding.local_recoding.bound_kernels import lowered
from shoal.microdata.recoding.local_recoding.items import Items

# Items looked at in one walk.
_WORK = 600_000_000


def lower_bound(items: Items, rates: np.ndarray, *, work: int = _WORK) -> float | None:
    """What no local recoding falls below; ``rates`` is what a record of each item loses in one that was found.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> from shoal.microdata.recoding.problem import Problem
    >>> ages = Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49"), ("48", "40-49")])
    >>> items = Items.of(Problem.of([np.array([0, 0, 1, 2, 3])], [ages], k=2))
    >>> round(lower_bound(items, np.ones(4)), 4)
    0.2
    """
    problem, loss = items.problem, items.loss
    least = least_rates(items, rates, work=work)
    own = np.zeros(items.size)
    if problem.measure == "entropy":
        own = lowest_rates(items, range(items.keys.shape[1]), at_leaves=True)
        if problem.limit > 0:
            # Bits that tell a few records from each other may be next to none: those left out may have lost nothing.
            return _without_the_worst(items, least - own)
    kinds = np.bincount(items.kinds, weights=items.present)[items.kinds]
    least = np.where(kinds < problem.k, loss.full, least)
    total = float((items.records * (least - own)).sum())
    return total / problem.size if problem.measure == "loss" else total


def least_rates(items: Items, rates: np.ndarray, *, work: int = _WORK) -> np.ndarray:
    """What a record of each item loses at least, none more than it was found to lose."""
    spans = items.spans
    keys = np.ascontiguousarray(items.keys.T)
    columns = np.argsort(spans.cards, kind="stable").astype(np.int64)
    best = lowest_rates(items, range(columns.size))
    for used in range(columns.size, 0, -1):
        # The fewer values a key has the more it joins: the keys with most are given up first.
        rest = lowest_rates(items, columns[used:].tolist())
        least = np.maximum(rates - rest, 0.0)
        if lowered(keys, items.present, spans, columns[:used], items.problem.k, least, work) > 0:
            best = np.maximum(best, least + rest)
            break
    return np.minimum(best, rates)


def lowest_rates(items: Items, columns: "range | list[int]", *, at_leaves: bool = False) -> np.ndarray:
    """What a record of each item loses in some keys at the lowest levels allowed, or at its own values."""
    spans, problem = items.spans, items.problem
    lost = np.zeros(items.size)
    for column in columns:
        if at_leaves and problem.lowest[column] > 0:
            # Items join several values here: the mean of what their records lose.
            own = items.loss.tables[column][0][problem.keys[:, column]] * problem.records
            there = items.base >= 0
            lost += np.bincount(items.base[there], weights=own[there], minlength=items.size) / items.records
        else:
            lost += spans.rates[spans.trees[column] + items.keys[:, column]]
    return lost


def _without_the_worst(items: Items, lost: np.ndarray) -> float | None:
    """What is lost when those who may be left out are the ones who lose most, in parts of a person if need be."""
    problem = items.problem
    if problem.spread is not None:
        return None
    order = np.argsort(-lost * items.records / items.people, kind="stable")
    people = items.people[order]
    before = np.cumsum(people) - people
    kept = 1.0 - np.clip(problem.limit - before, 0, people) / people
    return float((kept * items.records[order] * lost[order]).sum())
