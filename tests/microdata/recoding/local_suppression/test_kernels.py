"""Each kernel of local suppression beside a slow twin that says the same in plain words."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.recoding.local_suppression.brute_force import random_problem

from shoal.errors import Infeasible
from shoal.microdata.recoding.local_suppression.bound import least_costs
from shoal.microdata.recoding.local_suppression.instance import Instance
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.patterns import patterns_of
from shoal.microdata.recoding.local_suppression.relaxation import Relaxation
from shoal.microdata.recoding.local_suppression.relaxation_kernels import near_pairs, price_patterns
from shoal.microdata.recoding.local_suppression.search import Improvement
from shoal.microdata.recoding.local_suppression.suppression_kernels import (
    cheapest_cover,
    count_once,
    fill_groups,
)

SEEDS = st.integers(0, 10_000)


def masks_of(seed):
    return Masks.of(Instance.of(random_problem(seed)))


def units_under(pricing, prizes, pattern):
    """A cost for every record that could use a pattern, with its combination."""
    rows = pricing.members[pricing.starts[pattern] : pricing.starts[pattern + 1]]
    place = pricing.places[pattern]
    return [
        (pricing.costs[pricing.kinds[row], place] - prizes[row], int(row))
        for row in rows
        for _ in range(pricing.records[row])
    ]


def cheapest(units, k, forced=None):
    """The least cost of at least k of them, with one record of a combination if it is forced."""
    first = 0.0
    if forced is not None:
        own = next(unit for unit in units if unit[1] == forced)
        units = list(units)
        units.remove(own)
        first, k = own[0], k - 1
    costs = sorted(cost for cost, _ in units)
    return first + sum(cost for number, cost in enumerate(costs) if number < k or cost < 0.0)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_patterns_are_priced_as_their_cheapest_records(seed):
    masks = masks_of(seed)
    relaxation = Relaxation(masks, patterns_of(masks), least_costs(masks))
    pricing = relaxation.pricing
    rng = np.random.default_rng(seed)
    prizes = rng.integers(-2, 8, masks.instance.size) / 2.0
    worth, used = np.empty(pricing.places.size), np.zeros(masks.instance.size, dtype=np.int64)
    total = price_patterns(pricing, prizes, worth, used)
    expected = [cheapest(units_under(pricing, prizes, p), pricing.k) for p in range(pricing.places.size)]
    assert np.allclose(worth, expected)
    assert np.isclose(total, sum(value for value in expected if value < 0.0))
    taken = sum(
        max(0, sum(c < 0.0 for c, _ in units_under(pricing, prizes, p)))
        for p in range(worth.size)
        if worth[p] < 0.0
    )
    assert used.sum() >= taken


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, 12))
def test_pairs_are_those_that_cost_no_more_above_the_bound(seed, half):
    masks = masks_of(seed)
    relaxation = Relaxation(masks, patterns_of(masks), least_costs(masks))
    pricing = relaxation.pricing
    rng = np.random.default_rng(seed)
    prizes = rng.integers(0, 8, masks.instance.size) / 2.0
    worth, used = np.empty(pricing.places.size), np.zeros(masks.instance.size, dtype=np.int64)
    price_patterns(pricing, prizes, worth, used)
    rows = np.empty(pricing.members.size, dtype=np.int64)
    patterns = np.empty(pricing.members.size, dtype=np.int64)
    most = half / 2.0 + 0.25
    found = near_pairs(pricing, prizes, worth, most, rows, patterns)
    expected = set()
    for pattern in range(pricing.places.size):
        units = units_under(pricing, prizes, pattern)
        closed = min(0.0, cheapest(units, pricing.k))
        for row in {row for _, row in units}:
            if cheapest(units, pricing.k, row) - closed <= most:
                expected.add((row, pattern))
    assert set(zip(rows[:found].tolist(), patterns[:found].tolist(), strict=True)) == expected


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_search_keeps_its_books_and_never_gets_dearer(seed):
    masks = masks_of(seed)
    patterns = patterns_of(masks)
    improvement = Improvement(masks, patterns, np.arange(1, 5, dtype=np.uint64))
    try:
        improvement.begin()
    except Infeasible:
        return
    instance = masks.instance
    before = improvement.cost
    for _ in range(4):
        if improvement.idle:
            break
        improvement.step(20)
        assert improvement.cost <= before + 1e-9
        before = improvement.cost
        made = improvement.assignment
        assert np.isclose(made.cost(masks), improvement.cost)
        given = np.bincount(made.rows, weights=made.records, minlength=instance.size)
        assert (given == instance.records).all()
        assert made.people_left_out(instance) <= instance.limit
        kept = made.masks >= 0
        people = np.bincount(patterns.numbers[made.rows[kept], made.masks[kept]], weights=made.records[kept])
        assert (people[people > 0] >= instance.problem.k).all()


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True), max_size=6), SEEDS)
def test_people_are_counted_once_where_fewest_are(persons, seed):
    people = np.random.default_rng(seed).integers(0, 3, 5)
    expected = people.copy()
    for own in persons:
        expected[min(own, key=lambda row: (expected[row], own.index(row)))] += 1
    starts = np.concatenate([[0], np.cumsum([len(own) for own in persons])]).astype(np.int64)
    entries = np.array([row for own in persons for row in own], dtype=np.int64)
    count_once(people, entries, starts)
    assert people.tolist() == expected.tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=8), st.integers(1, 5))
def test_a_mask_is_cheapest_where_k_people_look_alike(rows, k):
    groups = np.array([group for group, _ in rows])
    least = np.array([float(cost) for _, cost in rows])
    people = np.bincount(groups, minlength=4)
    expected = [
        min(cost, 2.0) if sum(other == group for other, _ in rows) >= k else float(cost)
        for group, cost in rows
    ]
    cheapest_cover(groups, people, k, np.array([2.0]), np.zeros(groups.size, dtype=np.int32), least)
    assert least.tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), max_size=4),
    st.integers(1, 5),
    st.integers(0, 4),
)
def test_groups_are_filled_up_by_those_who_can_give(waiting, givers, k, most):
    groups = np.array([group for group, _ in waiting + givers], dtype=np.int64)
    weights = np.array([weight for _, weight in waiting], dtype=np.int64)
    spare = np.array([amount for _, amount in givers], dtype=np.int64)
    taken = np.zeros(spare.size, dtype=np.int64)
    chosen = fill_groups(groups, 3, weights, spare, weights.size, k, most, taken)
    for group in range(3):
        own = sum(weight for place, weight in waiting if place == group)
        gifts = sum(amount for place, amount in givers if place == group)
        lacking = max(0, k - own)
        assert chosen[group] == (own > 0 and lacking <= most and lacking <= gifts)
        given = sum(int(taken[i]) for i, (place, _) in enumerate(givers) if place == group)
        assert given == (lacking if chosen[group] else 0)
    assert (taken <= spare).all()
