"""Kernels of selection and replacement against their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.evolution import twins
from tests.runtime.evolution.twins import key_arrays, rows, seeds, with_twin

from shoal.runtime import Seeds
from shoal.runtime.evolution import keys as key_kernels
from shoal.runtime.evolution import replacement, selection

sizes = st.integers(1, 5)
weights = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.25, 1e-3, 1e3]), min_size=1, max_size=9)


@given(key_arrays(min_members=2))
def test_order(keys):
    listed = rows(keys)
    for one in range(len(listed)):
        for other in range(len(listed)):
            assert key_kernels.fitter(keys[one], keys[other]) == (listed[one] < listed[other])
    assert key_kernels.fittest(keys) == twins.fittest(listed)
    assert key_kernels.least_fit(keys) == twins.least_fit(listed)
    assert key_kernels.ranking(keys).tolist() == twins.ranking(listed)


def test_order_of_a_pre_order():
    # Rooms too full, groups wrong, then the larger K: feasible beats infeasible whatever K is.
    keys = np.array([[1, 0, -1000], [0, 0, -1], [0, 1, -100], [0, 0, -7]])
    assert key_kernels.ranking(keys).tolist() == [3, 1, 2, 0]


def test_an_empty_population_has_an_empty_ranking():
    assert key_kernels.ranking(np.empty((0, 2))).tolist() == []


@given(seeds, st.integers(1, 50), st.integers(0, 9))
def test_at_random(seed, members, count):
    state, twin = with_twin(seed)
    assert selection.at_random(state, members, count).tolist() == twins.at_random(twin, members, count)


@given(seeds, key_arrays(), sizes)
def test_tournament(seed, keys, size):
    state, twin = with_twin(seed)
    assert selection.tournament(state, keys, size) == twins.tournament(twin, rows(keys), size)
    assert state.tolist() == twin.s


@given(seeds, key_arrays(min_members=3), sizes, st.integers(0, 3))
def test_distinct_tournaments(seed, keys, size, count):
    state, twin = with_twin(seed)
    winners = selection.distinct_tournaments(state, keys, size, count).tolist()
    assert winners == twins.distinct_tournaments(twin, rows(keys), size, count)
    assert len(set(winners)) == count
    assert state.tolist() == twin.s


@given(seeds, weights)
def test_roulette(seed, weights):
    state, twin = with_twin(seed)
    assert selection.roulette(state, np.array(weights)) == twins.roulette(twin, weights)
    assert state.tolist() == twin.s


@given(seeds, weights, st.integers(0, 9))
def test_distinct_roulette(seed, weights, count):
    count = min(count, len(weights))
    state, twin = with_twin(seed)
    drawn = selection.distinct_roulette(state, np.array(weights), count).tolist()
    assert drawn == twins.distinct_roulette(twin, weights, count)
    assert len(set(drawn)) == count


def test_a_ball_at_the_very_end_is_in_the_last_pocket_that_has_any_width():
    # From this state the next real number is the largest below 1.
    # Taking these weights away one by one leaves something of it, through rounding.
    for weights in ([0.7, 3.3], [1.1, 1.3, 0.7], [0.3, 0.2, 0.05, 0.3]):
        state = np.array([0, 0, 0, 2**64 - 1], dtype=np.uint64)
        assert selection.roulette(state, np.array([*weights, 0.0, 0.0])) == len(weights) - 1


@given(key_arrays(columns=1))
def test_inverse_costs(keys):
    costs = np.abs(keys)
    weights = selection.inverse_costs(costs)
    free = costs[:, 0] == 0
    if free.any():
        assert weights.tolist() == free.astype(float).tolist()
    elif np.isfinite(costs).any():
        assert weights == pytest.approx(costs.min() / costs[:, 0])


def test_roulette_needs_costs():
    with pytest.raises(ValueError, match="0 or more"):
        selection.inverse_costs(np.array([[3.0], [-1.0]]))


@given(key_arrays(), st.integers(0, 12))
def test_elite(keys, count):
    assert selection.elite(keys, count).tolist() == twins.ranking(rows(keys))[:count]


@given(seeds, key_arrays(min_members=2), st.integers(1, 11))
def test_elite_and_other(seed, keys, count):
    count = min(count, len(keys) - 1)
    state, twin = with_twin(seed)
    pair = selection.elite_and_other(state, keys, count).tolist()
    assert pair == twins.elite_and_other(twin, rows(keys), count)


def test_more_than_there_are_cannot_be_drawn():
    state, keys = Seeds(0).state(), np.zeros((3, 1))
    with pytest.raises(ValueError, match="fewer members"):
        selection.distinct_tournaments(state, keys, 2, 4)
    with pytest.raises(ValueError, match="fewer members"):
        selection.distinct_roulette(state, np.ones(3), 4)
    for count in (0, 3):
        with pytest.raises(ValueError, match="neither nobody nor everybody"):
            selection.elite_and_other(state, keys, count)


@given(key_arrays(min_members=2))
def test_steady_state(keys):
    members, child = keys[:-1], keys[-1]
    assert replacement.steady_state(members, child) == twins.steady_state(rows(members), rows(keys)[-1])


def _split(keys, at):
    cut = 1 + at % (len(keys) - 1) if len(keys) > 1 else 1
    return keys[:cut], keys[cut:]


@given(key_arrays(), st.integers(0, 11), st.integers(0, 6))
def test_elite_places(keys, at, count):
    members, offspring = _split(keys, at)
    places = replacement.elite_places(members, offspring, count).tolist()
    assert places == twins.elite_places(rows(members), rows(offspring), count)


@given(seeds, key_arrays(min_members=2), sizes)
def test_kill_tournament(seed, keys, size):
    state, twin = with_twin(seed)
    place = replacement.kill_tournament(state, keys[:-1], keys[-1], size)
    assert place == twins.kill_tournament(twin, rows(keys[:-1]), rows(keys)[-1], size)
    assert state.tolist() == twin.s


@given(seeds, key_arrays(min_members=2, columns=3), sizes)
def test_similar(seed, genes, size):
    state, twin = with_twin(seed)
    listed = rows(genes)
    place = replacement.similar(state, genes[:-1], genes[-1], size)
    assert place == twins.similar(twin, listed[:-1], listed[-1], size)
    assert replacement.hamming(genes[0], genes[-1]) == twins.hamming(listed[0], listed[-1])
    assert state.tolist() == twin.s


@given(key_arrays(), st.integers(0, 11))
def test_truncation_merge(keys, at):
    members, offspring = _split(keys, at)
    members, offspring = members[key_kernels.ranking(members)], offspring[key_kernels.ranking(offspring)]
    chosen = replacement.truncation_merge(members, offspring).tolist()
    assert chosen == twins.truncation_merge(rows(members), rows(offspring))
