"""What groups must be beyond their number of people: which fail a model, and how they are joined until none does."""

import numpy as np

from shoal.microdata.models.histogram import merged
from shoal.microdata.models.model import Evidence
from shoal.microdata.recoding.class_kernels import spread_people
from shoal.microdata.recoding.local_recoding.groups import Groups
from shoal.microdata.recoding.local_recoding.items import Items
from shoal.microdata.recoding.local_recoding.spans import Spans, walked_rate
from shoal.runtime.kernels import kernel


def evidence(items: Items, groups: np.ndarray, size: int) -> Evidence:
    """What models look at, of groups 0 … ``size`` − 1 of whole items; everybody counts once in each group."""
    problem = items.problem
    inside = np.where(groups < 0, size, groups)
    of_tuple = np.where(items.base < 0, size, inside[items.base])
    people = np.bincount(of_tuple, weights=problem.people, minlength=size + 1).astype(np.int64)
    if problem.spread is not None:
        people += spread_people(of_tuple[problem.spread.tuples], problem.spread.starts, size + 1)
    kinds = problem.confidential
    histograms = {
        name: merged(one, of_tuple, size + 1, kinds[name].kinds) for name, one in problem.histograms.items()
    }
    return Evidence(people, None, histograms, kinds)


def failing(items: Items, groups: np.ndarray, size: int) -> np.ndarray:
    """Which groups may not be released; empty ones are no groups."""
    given = evidence(items, groups, size)
    fails = given.people < items.problem.k
    for model in items.problem.models:
        fails = fails | model.fails(given)
    there = np.bincount(groups[groups >= 0], minlength=size) > 0
    found: np.ndarray = fails[:size] & there
    return found


def joined_until_allowed(items: Items, groups: np.ndarray) -> np.ndarray:
    """Join each group that fails with the one nearest to it until all hold; what can be joined with nothing is left out."""
    groups = groups.copy()
    while True:
        size = int(groups.max()) + 1
        bad = failing(items, groups, size)
        if not bad.any():
            return groups
        found = Groups.of(items.spans, items.keys, items.people, items.records, groups, size)
        target = np.arange(size)
        joined = np.zeros(size, dtype=bool)
        for group in np.flatnonzero(bad).tolist():
            if joined[group]:
                continue
            other = int(nearest(group, found.firsts, found.lasts, found.records, found.rates, items.spans))
            if other < 0:
                target[group] = -1
                continue
            # Whoever was joined in this round waits for the next: it may hold by now.
            joined[group] = joined[other] = True
            target[target == group] = target[other]
        groups = np.where(groups < 0, -1, target[groups])


@kernel
def nearest(
    group: int,
    firsts: np.ndarray,
    lasts: np.ndarray,
    records: np.ndarray,
    rates: np.ndarray,
    spans: Spans,
) -> int:
    """The group with which joining this one adds least to the loss; −1 if it can be joined with none."""
    cards, tables, table = spans.cards, spans.tables, spans.table
    d = firsts.shape[1]
    best, cost = -1, np.inf
    for other in range(records.size):
        if other == group or records[other] == 0:
            continue
        rate = 0.0
        for column in range(d):
            first = min(firsts[group, column], firsts[other, column])
            last = max(lasts[group, column], lasts[other, column])
            if tables[column] >= 0:
                rate += table[tables[column] + first * cards[column] + last]
            else:
                rate += walked_rate(spans, column, first, last)
        more = (records[group] + records[other]) * rate - records[other] * rates[other]
        if more < cost:
            best, cost = other, more
    return best


def warm_up() -> None:
    """Compile the kernel."""
    one, zero = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    spans = Spans(one, one, zero, np.zeros(1, dtype=np.int32), np.zeros(1), zero, np.zeros(1))
    box = np.zeros((1, 1), dtype=np.int32)
    nearest(0, box, box, one, np.zeros(1), spans)
