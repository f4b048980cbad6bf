"""The compiled part of the relaxation: what each pattern is worth when every record brings a prize for being placed."""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel


class Pricing(NamedTuple):
    """Patterns with who could use them, and what they cost; see ``Patterns`` and ``Masks``."""

    k: int
    places: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    costs: np.ndarray
    kinds: np.ndarray
    records: np.ndarray


@kernel
def price_patterns(pricing: Pricing, prizes: np.ndarray, worth: np.ndarray, used: np.ndarray) -> float:
    """The sum of what patterns earn that earn something; ``worth`` is the least cost of each if it must be used.

    A pattern takes all records whose prize is above their cost, and fills up to k with those that cost least. ``used`` counts
    how often the records of each combination are taken by patterns that earn something.
    """
    k = pricing.k
    values = np.empty(k + 1)
    amounts = np.empty(k + 1, dtype=np.int64)
    total = 0.0
    used[:] = 0
    for pattern in range(pricing.places.size):
        place = pricing.places[pattern]
        begin, end = pricing.starts[pattern], pricing.starts[pattern + 1]
        sure, count, size, filled = 0.0, 0, 0, 0
        for item in range(begin, end):
            row = pricing.members[item]
            cost = pricing.costs[pricing.kinds[row], place] - prizes[row]
            records = pricing.records[row]
            if cost < 0.0:
                sure += cost * records
                count += records
            elif count < k and (filled < k or cost < values[size - 1]):
                at = size
                while at > 0 and values[at - 1] > cost:
                    values[at], amounts[at] = values[at - 1], amounts[at - 1]
                    at -= 1
                values[at], amounts[at] = cost, min(records, k)
                filled += amounts[at]
                size += 1
                while size > 1 and filled - amounts[size - 1] >= k:
                    size -= 1
                    filled -= amounts[size]
        lacking = k - count
        at = 0
        while lacking > 0 and at < size:
            amount = min(lacking, amounts[at])
            sure += amount * values[at]
            lacking -= amount
            at += 1
        worth[pattern] = sure if lacking <= 0 else np.inf
        if lacking > 0 or sure >= 0.0:
            continue
        total += sure
        lacking = k - count
        last = values[at - 1] if at > 0 else 0.0
        for item in range(begin, end):
            row = pricing.members[item]
            cost = pricing.costs[pricing.kinds[row], place] - prizes[row]
            if cost < 0.0:
                used[row] += pricing.records[row]
            elif lacking > 0 and cost < last:
                amount = min(lacking, pricing.records[row])
                used[row] += amount
                lacking -= amount
        if lacking > 0:
            for item in range(begin, end):
                row = pricing.members[item]
                if lacking > 0 and pricing.costs[pricing.kinds[row], place] - prizes[row] == last:
                    amount = min(lacking, pricing.records[row])
                    used[row] += amount
                    lacking -= amount
    return total


@kernel
def near_pairs(
    pricing: Pricing,
    prizes: np.ndarray,
    worth: np.ndarray,
    most: float,
    rows: np.ndarray,
    patterns: np.ndarray,
) -> int:
    """Pairs of a combination and a pattern that a release can have which costs at most so much above the bound.

    ``rows`` and ``patterns`` are filled as far as they go; returns how many pairs there are.
    """
    k = pricing.k
    found = 0
    for pattern in range(pricing.places.size):
        if worth[pattern] > most:
            continue
        place = pricing.places[pattern]
        begin, end = pricing.starts[pattern], pricing.starts[pattern + 1]
        # A record that comes in takes the place of the dearest that was needed to fill up to k.
        count, dearest = 0, 0.0
        costs = np.empty(end - begin)
        for item in range(begin, end):
            row = pricing.members[item]
            costs[item - begin] = pricing.costs[pricing.kinds[row], place] - prizes[row]
            if costs[item - begin] < 0.0:
                count += pricing.records[row]
        if count < k:
            for at in np.argsort(costs):
                if costs[at] < 0.0:
                    continue
                count += pricing.records[pricing.members[begin + at]]
                dearest = costs[at]
                if count >= k:
                    break
        base = max(0.0, worth[pattern])
        if worth[pattern] < 0.0:
            base = 0.0
        for item in range(begin, end):
            extra = max(0.0, costs[item - begin] - dearest)
            if base + extra <= most:
                if found < rows.size:
                    rows[found], patterns[found] = pricing.members[item], pattern
                found += 1
    return found


def warm_up() -> None:
    """Compile the kernels."""
    one, none = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int32)
    pricing = Pricing(1, none, np.array([0, 1]), none, np.zeros((1, 1)), none, one)
    worth, used, prizes = np.zeros(1), np.zeros(1, dtype=np.int64), np.ones(1)
    price_patterns(pricing, prizes, worth, used)
    near_pairs(pricing, prizes, worth, 1.0, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
