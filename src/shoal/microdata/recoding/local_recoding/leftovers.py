"""What no layer took: it joins the group where that costs least, or is left out."""

import numpy as np

from shoal.microdata.recoding.local_recoding.groups import Groups
from shoal.microdata.recoding.local_recoding.items import Items
from shoal.microdata.recoding.local_recoding.spans import Spans, walked_rate
from shoal.runtime.kernels import kernel


def placed(items: Items, groups: np.ndarray, *, room: int) -> np.ndarray:
    """The groups with everybody in one who can be; ``room`` people may be left out where joining costs more."""
    left = np.flatnonzero(groups < 0)
    if left.size == 0:
        return groups
    groups = groups.copy()
    size = int(groups.max()) + 1
    found = Groups.of(items.spans, items.keys, items.people, items.records, groups, size)
    # Those of many records first: what they change they change for many.
    left = left[np.argsort(-items.records[left], kind="stable")]
    join_cheapest(
        left,
        items.keys,
        items.records,
        items.present,
        groups,
        found.firsts,
        found.lasts,
        found.records,
        found.rates,
        items.spans,
        items.loss.full,
        room,
    )
    return _those_without_a_group(items, groups)


def _those_without_a_group(items: Items, groups: np.ndarray) -> np.ndarray:
    """Where a class at the highest levels has no group at all but enough people, it is one."""
    kinds = items.kinds
    alone = np.ones(int(kinds.max()) + 1, dtype=bool)
    alone[kinds[groups >= 0]] = False
    highest = items.classes.at(items.problem.highest)
    enough = highest.people >= items.problem.k
    new = (groups < 0) & alone[kinds] & enough[kinds]
    if new.any():
        numbers = np.unique(kinds[new], return_inverse=True)[1]
        groups[new] = int(groups.max()) + 1 + numbers
    return groups


@kernel
def join_cheapest(
    left: np.ndarray,
    keys: np.ndarray,
    records: np.ndarray,
    people: np.ndarray,
    groups: np.ndarray,
    firsts: np.ndarray,
    lasts: np.ndarray,
    sizes: np.ndarray,
    rates: np.ndarray,
    spans: Spans,
    full: float,
    room: int,
) -> None:
    """Put each item into the group that then loses least more; leave it out where that is cheaper and there is room."""
    cards, tables, table = spans.cards, spans.tables, spans.table
    d = keys.shape[1]
    for item in left:
        best, cost, best_rate = -1, np.inf, 0.0
        for group in range(sizes.size):
            rate = 0.0
            for column in range(d):
                key = keys[item, column]
                first, last = min(firsts[group, column], key), max(lasts[group, column], key)
                if tables[column] >= 0:
                    rate += table[tables[column] + first * cards[column] + last]
                else:
                    rate += walked_rate(spans, column, first, last)
            if rate == np.inf:
                continue
            more = (sizes[group] + records[item]) * rate - sizes[group] * rates[group]
            if more < cost:
                best, cost, best_rate = group, more, rate
        if best < 0:
            continue
        if cost > full * records[item] and people[item] <= room:
            room -= people[item]
            continue
        groups[item] = best
        sizes[best] += records[item]
        rates[best] = best_rate
        for column in range(d):
            firsts[best, column] = min(firsts[best, column], keys[item, column])
            lasts[best, column] = max(lasts[best, column], keys[item, column])


def warm_up() -> None:
    """Compile the kernel."""
    one, zero = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    spans = Spans(one, one, zero, np.zeros(1, dtype=np.int32), np.zeros(1), zero, np.zeros(1))
    box = np.zeros((1, 1), dtype=np.int32)
    join_cheapest(zero, box, one, one, -one, box.copy(), box.copy(), one.copy(), np.zeros(1), spans, 1.0, 0)
