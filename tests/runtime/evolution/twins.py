"""Every kernel of the kit once more, slow and obvious: lists, tuples, ``sorted``, and a plain Python generator."""

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st
from tests.runtime.xoshiro import Twin

from shoal.runtime import Seeds

seeds = st.integers(0, 2**32)


def key_arrays(min_members=1, max_members=12, columns=None):
    """Arrays of whole or real keys of one to three columns, with many equals."""
    whole = st.integers(-3, 3)
    real = st.sampled_from([-1.5, 0.0, 0.25, 1.0, float("inf")])

    def arrays(shape):
        kind, width = shape
        element = whole if kind is np.int64 else real
        rows = st.lists(st.tuples(*[element] * width), min_size=min_members, max_size=max_members)
        return rows.map(lambda made: np.array(made, dtype=kind).reshape(-1, width))

    widths = st.integers(1, 3) if columns is None else st.just(columns)
    return st.tuples(st.sampled_from([np.int64, np.float64]), widths).flatmap(arrays)


def with_twin(seed):
    state = Seeds(seed).state()
    return state, Twin(state)


def rows(keys):
    return [tuple(key) for key in keys.tolist()]


def fittest(keys):
    return keys.index(min(keys))


def least_fit(keys):
    return keys.index(max(keys))


def ranking(keys):
    return sorted(range(len(keys)), key=lambda member: keys[member])


def at_random(twin, members, count):
    return [twin.below(members) for _ in range(count)]


def tournament(twin, keys, size):
    return min((twin.below(len(keys)) for _ in range(size)), key=lambda member: keys[member])


def distinct_tournaments(twin, keys, size, count):
    left, winners = list(range(len(keys))), []
    for _ in range(count):
        drawn = [twin.below(len(left)) for _ in range(size)]
        won = min(drawn, key=lambda place: keys[left[place]])
        winners.append(left[won])
        left[won] = left[-1]
        left.pop()
    return winners


def roulette(twin, weights):
    """The pocket in which the ball lies, by exact fractions."""
    total = sum(map(Fraction, weights))
    if total == 0:
        return twin.below(len(weights))
    ball = Fraction(twin.uniform()) * total
    for member, weight in enumerate(weights):
        if ball < weight:
            return member
        ball -= Fraction(weight)
    raise AssertionError("the ball fell off the wheel")


def distinct_roulette(twin, weights, count):
    left, pockets, drawn = list(range(len(weights))), list(weights), []
    for _ in range(count):
        at = roulette(twin, pockets)
        drawn.append(left[at])
        left[at], pockets[at] = left[-1], pockets[-1]
        left.pop()
        pockets.pop()
    return drawn


def elite_and_other(twin, keys, count):
    order = ranking(keys)
    return [order[:count][twin.below(count)], order[count:][twin.below(len(keys) - count)]]


def steady_state(keys, child):
    worst = least_fit(keys)
    return worst if child < keys[worst] else -1


def elite_places(keys, offspring, count):
    pairs = zip(ranking(offspring)[:count], ranking(keys)[::-1], strict=False)
    places = {child: member for child, member in pairs if offspring[child] < keys[member]}
    return [places.get(child, -1) for child in range(len(offspring))]


def kill_tournament(twin, keys, child, size):
    victim = max((twin.below(len(keys)) for _ in range(size)), key=lambda member: keys[member])
    return victim if child < keys[victim] else -1


def hamming(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


def similar(twin, genes, child, size):
    return min(
        (twin.below(len(genes)) for _ in range(size)), key=lambda member: hamming(genes[member], child)
    )


def truncation_merge(keys, offspring):
    union = keys + offspring
    return sorted(range(len(union)), key=lambda one: (union[one], one >= len(keys)))[: len(keys)]


def chances(rule, members, draws):
    """How likely each result of a rule is, if its draws are uniform: by trying them all."""
    result = {}
    for drawn in product(*(range(n) for n in draws(members))):
        made = rule(drawn)
        result[made] = result.get(made, 0) + 1
    whole = sum(result.values())
    return {made: number / whole for made, number in result.items()}
