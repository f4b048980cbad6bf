"""The generator for compiled code, against a twin in plain Python and against chance."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.runtime.xoshiro import WORD, Twin

from shoal.runtime import Seeds
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, next_bits, shuffle, uniform

states = st.lists(st.integers(0, WORD - 1), min_size=4, max_size=4).filter(any)


def test_published_first_numbers():
    # The vector that implementations of xoshiro256++ are tested with: the state (1, 2, 3, 4).
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    assert [int(next_bits(state)) for _ in range(5)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
    ]


@given(
    states,
    st.lists(st.sampled_from(["bits", "uniform", "below", "shuffle"]), max_size=12),
    st.integers(1, 2**31),
)
def test_twin(words, draws, n):
    state, twin = np.array(words, dtype=np.uint64), Twin(words)
    for draw in draws:
        if draw == "bits":
            assert int(next_bits(state)) == twin.next_bits()
        elif draw == "uniform":
            assert uniform(state) == twin.uniform()
        elif draw == "below":
            assert below(state, n) == twin.below(n)
        else:
            items, slow = np.arange(n % 20), list(range(n % 20))
            shuffle(state, items)
            twin.shuffle(slow)
            assert items.tolist() == slow
    assert state.tolist() == twin.s


@given(states)
def test_ranges(words):
    state = np.array(words, dtype=np.uint64)
    assert 0 <= uniform(state) < 1
    assert below(state, 1) == 0
    assert 0 <= below(state, 2**31) < 2**31


@kernel
def _many(state, count, n):
    reals, wholes = np.empty(count), np.empty(count, dtype=np.int64)
    for i in range(count):
        reals[i] = uniform(state)
        wholes[i] = below(state, n)
    return reals, wholes


@pytest.mark.parametrize("n", [2, 7, 100])
def test_draws_are_uniform_and_independent(n):
    reals, wholes = _many(Seeds(5).child(n).state(), 200_000, n)
    assert stats.kstest(reals, "uniform").pvalue > 1e-4
    assert stats.chisquare(np.bincount(wholes, minlength=n)).pvalue > 1e-4
    assert abs(np.corrcoef(reals[1:], reals[:-1])[0, 1]) < 5 / 200_000**0.5
    assert abs(np.corrcoef(reals, wholes)[0, 1]) < 5 / 200_000**0.5
    pairs = np.bincount(wholes[1:] * n + wholes[:-1], minlength=n * n)
    assert stats.chisquare(pairs).pvalue > 1e-4


def test_every_bit_is_set_half_of_the_time():
    state = Seeds(6).state()
    bits = np.array([next_bits(state) for _ in range(4000)], dtype=np.uint64)
    set_bits = np.unpackbits(bits.view(np.uint8)).reshape(-1, 64).sum(axis=0, dtype=np.int64)
    assert np.abs(set_bits - 2000).max() < 5 * 1000**0.5


@kernel
def _shuffles(state, count, size):
    out = np.empty((count, size), dtype=np.int64)
    for i in range(count):
        out[i] = np.arange(size)
        shuffle(state, out[i])
    return out


def test_all_orders_are_equally_likely():
    seen = Counter(map(tuple, _shuffles(Seeds(7).state(), 48_000, 4).tolist()))
    assert set(seen) == set(permutations(range(4)))
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4


def test_a_search_can_be_cut_anywhere():
    whole, _ = _many(Seeds(8).state(), 1000, 10)
    state = Seeds(8).state()
    parts = np.concatenate([_many(state, count, 10)[0] for count in (1, 399, 0, 600)])
    assert whole.tolist() == parts.tolist()
