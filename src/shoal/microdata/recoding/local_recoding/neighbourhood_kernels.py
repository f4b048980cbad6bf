"""A few groups near each other are taken apart and put together anew, and stay so if less is lost."""

from typing import NamedTuple

import numpy as np

from shoal.microdata.recoding.local_recoding.spans import Spans, walked_rate
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, uniform

# Pieces in a pool; groups with more together are left as they are.
LARGEST_POOL = 512
# Groups in a pool besides the first.
_OTHERS = 3


class Field(NamedTuple):
    """Pieces with their group, and groups with their pieces (a chain from ``heads`` through ``nexts``), boxes and sizes.

    A group without people is a number that is free.
    """

    keys: np.ndarray
    people: np.ndarray
    records: np.ndarray
    groups: np.ndarray
    nexts: np.ndarray
    heads: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray
    rates: np.ndarray


@kernel
def chained(groups: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The pieces of each group as a chain, those with small numbers first: where it begins, and what comes next."""
    heads = np.full(size, -1, dtype=np.int64)
    nexts = np.full(groups.size, -1, dtype=np.int64)
    for piece in range(groups.size - 1, -1, -1):
        if groups[piece] >= 0:
            nexts[piece] = heads[groups[piece]]
            heads[groups[piece]] = piece
    return heads, nexts


@kernel
def _more(field: Field, spans: Spans, one: int, others: np.ndarray, more: np.ndarray) -> None:
    """What a group and each of some others lose more when they are joined; infinitely much if that cannot be."""
    cards, tables, table = spans.cards, spans.tables, spans.table
    firsts, lasts, sizes, counts, rates = field.firsts, field.lasts, field.sizes, field.counts, field.rates
    d = firsts.shape[1]
    for place in range(others.size):
        other = others[place]
        more[place] = np.inf
        if other == one or sizes[other] == 0:
            continue
        rate = 0.0
        for column in range(d):
            first = min(firsts[one, column], firsts[other, column])
            last = max(lasts[one, column], lasts[other, column])
            if tables[column] >= 0:
                rate += table[tables[column] + first * cards[column] + last]
            else:
                rate += walked_rate(spans, column, first, last)
        more[place] = (
            (counts[one] + counts[other]) * rate - counts[one] * rates[one] - counts[other] * rates[other]
        )


@kernel
def surroundings(field: Field, spans: Spans, centre: int, wanted: int, taken: np.ndarray) -> np.ndarray:
    """The groups that are cheapest to join with one of them, which comes first; those taken before are passed over."""
    size = field.sizes.size
    more = np.empty(size)
    _more(field, spans, centre, np.arange(size), more)
    more[taken] = np.inf
    limit = np.partition(more, min(wanted, size) - 1)[min(wanted, size) - 1]
    found = np.empty(wanted, dtype=np.int64)
    found[0] = centre
    filled = 1
    # Ties at the limit go to the smallest numbers.
    for group in range(size):
        if more[group] < limit and filled < wanted:
            found[filled] = group
            filled += 1
    for group in range(size):
        if more[group] == limit and limit < np.inf and filled < wanted:
            found[filled] = group
            filled += 1
    for place in range(filled):
        taken[found[place]] = True
    return found[:filled].copy()


@kernel
def _drawn(field: Field, spans: Spans, block: np.ndarray, chosen: np.ndarray, state: np.ndarray) -> int:
    """Fill ``chosen`` with a random group that loses something and some of those nearest to it; how many there are."""
    first = -1
    for _ in range(8):
        group = block[below(state, block.size)]
        if field.sizes[group] > 0 and field.rates[group] > 0.0:
            first = group
            break
    if first < 0:
        return 0
    others = below(state, _OTHERS + 1)
    chosen[0] = first
    filled = 1
    if others == 0:
        return filled
    best = np.full(others, np.inf)
    costs = np.empty(block.size)
    _more(field, spans, first, block, costs)
    for number in range(block.size):
        group = block[number]
        if costs[number] == np.inf:
            continue
        # Not always the very nearest, else the same pools would be tried again and again.
        more = costs[number] * (0.5 + uniform(state))
        place = others
        while place > 0 and more < best[place - 1]:
            place -= 1
        if place == others:
            continue
        for later in range(others - 1, place, -1):
            best[later] = best[later - 1]
            chosen[later + 1] = chosen[later]
        best[place] = more
        chosen[place + 1] = group
    for place in range(others):
        if best[place] < np.inf:
            filled += 1
    return filled


@kernel
def _rate_with(
    spans: Spans, keys: np.ndarray, piece: int, firsts: np.ndarray, lasts: np.ndarray, box: int
) -> float:
    """What a record of a box loses when a piece is added to it."""
    cards, tables, table = spans.cards, spans.tables, spans.table
    rate = 0.0
    for column in range(keys.shape[1]):
        first = min(firsts[box, column], keys[piece, column])
        last = max(lasts[box, column], keys[piece, column])
        if tables[column] >= 0:
            rate += table[tables[column] + first * cards[column] + last]
        else:
            rate += walked_rate(spans, column, first, last)
    return rate


@kernel
def _best_fit(
    spans: Spans,
    keys: np.ndarray,
    pool: np.ndarray,
    target: np.ndarray,
    pieces: int,
    firsts: np.ndarray,
    lasts: np.ndarray,
    box: int,
) -> tuple[int, float]:
    """The waiting piece of a pool with which a box loses least, and how much; −1 if none can join it."""
    cards, tables, table = spans.cards, spans.tables, spans.table
    best, least = -1, np.inf
    for place in range(pieces):
        if target[place] != -2:
            continue
        piece = pool[place]
        rate = 0.0
        for column in range(keys.shape[1]):
            first = min(firsts[box, column], keys[piece, column])
            last = max(lasts[box, column], keys[piece, column])
            if tables[column] >= 0:
                rate += table[tables[column] + first * cards[column] + last]
            else:
                rate += walked_rate(spans, column, first, last)
        if rate < least:
            best, least = place, rate
    return best, least


@kernel
def regroup(
    field: Field,
    spans: Spans,
    block: np.ndarray,
    spare: np.ndarray,
    k: int,
    full: float,
    room: int,
    pools: int,
    state: np.ndarray,
) -> int:
    """Part so many random pools of near groups of a block anew; returns how many people are left out more than before.

    A pool is parted by growing one group after the other from a random piece, always by the piece that fits best, until it has
    k people. What remains, too few for a group, goes where it costs least, or is left out if that is cheaper and there is
    ``room``. ``spare`` are numbers for groups that come to be.
    """
    keys, people_of, records_of = field.keys, field.people, field.records
    d = keys.shape[1]
    pool = np.empty(LARGEST_POOL, dtype=np.int64)
    target = np.empty(LARGEST_POOL, dtype=np.int64)
    chosen = np.empty(_OTHERS + 1, dtype=np.int64)
    free = np.empty(spare.size + block.size, dtype=np.int64)
    free[: spare.size] = spare
    freed = spare.size
    members = np.empty(block.size + spare.size, dtype=np.int64)
    members[: block.size] = block
    inside = block.size
    most = LARGEST_POOL // max(1, k) + 2
    firsts = np.empty((most, d), dtype=np.int32)
    lasts = np.empty((most, d), dtype=np.int32)
    sizes = np.zeros(most, dtype=np.int64)
    counts = np.zeros(most, dtype=np.int64)
    rates = np.zeros(most)
    gone = 0
    for _ in range(pools):
        groups = _drawn(field, spans, members[:inside], chosen, state)
        if groups == 0:
            continue
        # The pool and what it loses now.
        pieces, people, before = 0, 0, 0.0
        for place in range(groups):
            group = chosen[place]
            before += field.counts[group] * field.rates[group]
            people += field.sizes[group]
            piece = field.heads[group]
            while piece >= 0:
                if pieces < LARGEST_POOL:
                    pool[pieces] = piece
                    target[pieces] = -2
                pieces += 1
                piece = field.nexts[piece]
        if pieces > LARGEST_POOL or (people < 2 * k and groups == 1):
            continue
        # Grow groups.
        new, rest, waiting, after = 0, people, pieces, 0.0
        while rest >= k and new < most and after < before:
            number = below(state, waiting)
            place = 0
            while target[place] != -2 or number > 0:
                if target[place] == -2:
                    number -= 1
                place += 1
            piece = pool[place]
            for column in range(d):
                firsts[new, column] = keys[piece, column]
                lasts[new, column] = keys[piece, column]
            rate = _rate_with(spans, keys, piece, firsts, lasts, new)
            sizes[new] = 0
            counts[new] = 0
            while True:
                target[place] = new
                waiting -= 1
                rest -= people_of[piece]
                sizes[new] += people_of[piece]
                counts[new] += records_of[piece]
                rates[new] = rate
                if sizes[new] >= k:
                    break
                place, rate = _best_fit(spans, keys, pool, target, pieces, firsts, lasts, new)
                if place < 0:
                    break
                piece = pool[place]
                for column in range(d):
                    firsts[new, column] = min(firsts[new, column], keys[piece, column])
                    lasts[new, column] = max(lasts[new, column], keys[piece, column])
            if sizes[new] < k:
                # Those who are left are of other classes at the highest levels.
                after = np.inf
                break
            after += counts[new] * rates[new]
            new += 1
        left_out = 0
        while waiting > 0 and after < before:
            best, into, cost, best_rate = -1, -1, np.inf, 0.0
            for place in range(pieces):
                if target[place] != -2:
                    continue
                piece = pool[place]
                # A piece of nobody has people who are counted elsewhere: whether they may be left out is not known here.
                persons = people_of[piece]
                if 0 < persons <= room - gone - left_out and full * records_of[piece] < cost:
                    best, into, cost = place, -1, full * records_of[piece]
                for group in range(new):
                    tried = _rate_with(spans, keys, piece, firsts, lasts, group)
                    more = (counts[group] + records_of[piece]) * tried - counts[group] * rates[group]
                    if more < cost:
                        best, into, cost, best_rate = place, group, more, tried
            if best < 0:
                after = np.inf
                break
            piece = pool[best]
            target[best] = into
            waiting -= 1
            after += cost
            if into < 0:
                left_out += people_of[piece]
                continue
            sizes[into] += people_of[piece]
            counts[into] += records_of[piece]
            rates[into] = best_rate
            for column in range(d):
                firsts[into, column] = min(firsts[into, column], keys[piece, column])
                lasts[into, column] = max(lasts[into, column], keys[piece, column])
        if after >= before - 1e-9 * (1.0 + before) or waiting > 0 or new > groups + freed:
            continue
        # Less is lost: the pool stays like this.
        for place in range(groups):
            group = chosen[place]
            field.sizes[group] = 0
            field.counts[group] = 0
            field.rates[group] = 0.0
            field.heads[group] = -1
            free[freed] = group
            freed += 1
        for group in range(new):
            freed -= 1
            number = free[freed]
            field.sizes[number] = sizes[group]
            field.counts[number] = counts[group]
            field.rates[number] = rates[group]
            for column in range(d):
                field.firsts[number, column] = firsts[group, column]
                field.lasts[number, column] = lasts[group, column]
            for place in range(pieces):
                if target[place] == group:
                    piece = pool[place]
                    field.groups[piece] = number
                    field.nexts[piece] = field.heads[number]
                    field.heads[number] = piece
            known = False
            for place in range(inside):
                if members[place] == number:
                    known = True
                    break
            if not known:
                members[inside] = number
                inside += 1
        for place in range(pieces):
            if target[place] == -1:
                field.groups[pool[place]] = -1
        gone += left_out
    return gone


def warm_up() -> None:
    """Compile the kernels."""
    one, zero = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    spans = Spans(one, one, zero, np.zeros(1, dtype=np.int32), np.zeros(1), zero, np.zeros(1))
    heads, nexts = chained(zero, 1)
    box = np.zeros((1, 1), dtype=np.int32)
    field = Field(
        box, one, one, zero.copy(), nexts, heads, box.copy(), box.copy(), one.copy(), one.copy(), np.zeros(1)
    )
    block = surroundings(field, spans, 0, 1, np.zeros(1, dtype=bool))
    regroup(field, spans, block, one[:0], 1, 1.0, 0, 1, np.ones(4, dtype=np.uint64))
