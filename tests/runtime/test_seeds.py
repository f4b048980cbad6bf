"""Seeds: streams that depend on their place and on nothing else."""

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.runtime import Seeds

places = st.lists(st.text("abc", min_size=1, max_size=3) | st.integers(0, 2**31), min_size=1, max_size=3)


@given(st.integers(0, 2**128), places, places)
def test_a_place_is_the_same_however_one_gets_there(seed, one, two):
    whole = Seeds(seed).child(*one, *two)
    steps = Seeds(seed).child(*one).child(*two)
    assert whole == steps
    assert whole.state().tolist() == steps.state().tolist()
    assert whole.generator().integers(0, 2**60) == steps.generator().integers(0, 2**60)


def test_streams_are_those_of_numpys_seed_sequence():
    sequence = np.random.SeedSequence(7, spawn_key=(crc32(b"start"), 3))
    seeds = Seeds(7).child("start", 3)
    assert seeds.integer() == int(sequence.generate_state(1, np.uint64)[0])
    assert seeds.state().tolist() == sequence.generate_state(4, np.uint64).tolist()
    assert seeds.state().dtype == np.uint64


def test_different_places_and_seeds_give_different_streams():
    streams = [
        Seeds(seed).child(*place)
        for seed in range(20)
        for place in [(), (0,), (1,), ("a",), ("a", 0), (0, "a")]
    ]
    assert len({stream.integer() for stream in streams}) == len(streams)
    assert len({tuple(stream.state().tolist()) for stream in streams}) == len(streams)


def test_neighbouring_streams_are_not_correlated():
    draws = np.array([Seeds(0).child(i).generator().standard_normal(400) for i in range(60)])
    correlations = np.corrcoef(draws)[np.triu_indices(60, 1)]
    # 1,770 correlations of deviation 1/20: none beyond five deviations.
    assert np.abs(correlations).max() < 0.25
    assert abs(correlations.mean()) < 0.005


def test_no_seed_means_a_new_one_that_can_be_repeated():
    one, other = Seeds(None), Seeds(None)
    assert one.seed != other.seed
    assert one.child("x").integer() == Seeds(one.seed).child("x").integer()


def test_negative_seeds_are_refused():
    with pytest.raises(InputError, match="at least 0"):
        Seeds(-1)
