from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.measures.tables import SMALL, pairs

from shoal.microdata.measures import probabilistic
from shoal.microdata.measures.probabilistic import link_by_agreement
from shoal.runtime import Seeds


@settings(deadline=None)
@given(pairs(SMALL, columns=5), st.sampled_from([0.0, 1.0]))
def test_patterns_are_counted_as_in_a_loop(tables, reach):
    one, two = tables
    reaches = np.full(one.shape[1], reach)
    ones = np.ones(len(one), dtype=np.int64)
    expected = np.zeros(2 ** one.shape[1])
    for a in one:
        for b in two:
            expected[sum((abs(x - y) <= reach) << j for j, (x, y) in enumerate(zip(a, b)))] += 1
    crowds = [probabilistic._Crowds(values, ones, np.arange(len(one))) for values in (one, two)]
    assert np.array_equal(probabilistic._count_patterns(*crowds, reaches), expected)


@settings(deadline=None)
@given(pairs(SMALL, most=6))
def test_the_assignment_has_the_largest_weight_of_all(tables):
    one, two = tables
    generator = np.random.default_rng(len(one))
    gain, penalty = generator.uniform(0, 3, one.shape[1]), -generator.uniform(0, 3, one.shape[1])
    weights = probabilistic._weights(one, two, np.zeros(one.shape[1]), gain, penalty)
    for i in range(len(one)):
        for j in range(len(two)):
            slow = sum(gain[a] if one[i, a] == two[j, a] else penalty[a] for a in range(one.shape[1]))
            assert weights[i, j] == pytest.approx(slow)
    places = np.arange(len(one))
    links = probabilistic._assign(weights, places, places)
    best = max(sum(weights[i, j] for i, j in enumerate(order)) for order in permutations(range(len(one))))
    assert links.sum(axis=0).tolist() == links.sum(axis=1).tolist() == [1.0] * len(one)
    assert (links * weights).sum() == pytest.approx(best)


@settings(deadline=None)
@given(pairs(SMALL))
def test_agreement_is_at_least_as_likely_for_a_true_pair(tables):
    links = link_by_agreement(*tables)
    assert (links.agreement > links.coincidence).all()
    assert 0 <= links.expected <= links.records + 1e-9


def test_distinct_records_released_unchanged_are_all_linked():
    generator = np.random.default_rng(2)
    table = generator.normal(size=(300, 6))
    links = link_by_agreement(table, table)
    assert links.percent > 99 and (links.agreement > 0.95).all()


def test_records_that_are_all_equal_are_linked_by_chance():
    table = np.random.default_rng(3).normal(size=(60, 3))
    assert link_by_agreement(table, np.zeros((60, 3))).expected == pytest.approx(1.0)


def test_noise_lowers_the_links():
    generator = np.random.default_rng(4)
    table = generator.normal(size=(400, 5))
    found = [
        link_by_agreement(table, table + generator.normal(size=table.shape) * s).percent
        for s in (0.02, 0.2, 2)
    ]
    assert found[0] > 90 and found[0] > found[1] > found[2] and found[2] < 10


def test_closeness_can_replace_tenths():
    generator = np.random.default_rng(4)
    table = generator.normal(size=(200, 4))
    assert link_by_agreement(table, table + 0.01, within=0.1).percent > 80


def test_many_records_are_sampled_by_seed():
    table = np.random.default_rng(5).normal(size=(500, 3))
    one, same, other = (link_by_agreement(table, table + 0.1, largest=100, seeds=Seeds(s)) for s in (0, 0, 1))
    assert one.records == 100 and one.expected == same.expected
    assert not np.array_equal(one.agreement, other.agreement)


def test_many_attributes_are_linked_too():
    table = np.random.default_rng(6).normal(size=(80, 40))
    assert link_by_agreement(table, table + 0.02).percent > 90
