"""Generated slots always have room for everybody."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import InputError
from shoal.generate.slots import slots
from shoal.runtime import Seeds


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 30), st.integers(0, 400), st.integers(1, 20), st.integers(0, 20), st.integers(0, 50))
def test_there_is_room_and_capacities_are_in_range(count, persons, smallest, span, seed):
    largest = smallest + span
    made = slots(count, persons, min_capacity=smallest, max_capacity=largest, seeds=Seeds(seed))
    assert made.schema == {"RESOURCE": pl.Int64, "CAPACITY": pl.Int64}
    assert made["CAPACITY"].sum() >= persons
    assert made["CAPACITY"].is_between(smallest, largest).all()
    assert made["RESOURCE"].to_list() == list(range(made.height))
    # More slots than asked for only where full ones would not do.
    assert made.height == max(count, -(-persons // largest))


@pytest.mark.parametrize("seed", range(20))
def test_the_published_request(seed):
    made = slots(5, 100, seeds=Seeds(seed))
    assert made.height == 5
    assert made["CAPACITY"].sum() >= 100


def test_an_impossible_request_gets_more_slots():
    made = slots(2, 100)
    assert made.height == 4
    assert made["CAPACITY"].to_list() == [25] * 4


def test_capacities_are_uniform_where_there_is_room():
    made = slots(20_000, 0, min_capacity=3, max_capacity=6)
    shares = made.group_by("CAPACITY").len().sort("CAPACITY")
    assert shares["CAPACITY"].to_list() == [3, 4, 5, 6]
    assert (shares["len"] / 20_000).to_list() == pytest.approx([0.25] * 4, abs=0.015)


def test_the_same_seed_gives_the_same_slots_and_another_does_not():
    assert slots(9, 50, seeds=Seeds(1)).equals(slots(9, 50, seeds=Seeds(1)))
    assert not slots(9, 50, seeds=Seeds(1)).equals(slots(9, 50, seeds=Seeds(2)))


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((0, 10), {}),
        ((3, -1), {}),
        ((3, 10), {"min_capacity": 0}),
        ((3, 10), {"min_capacity": 9, "max_capacity": 8}),
    ],
)
def test_wrong_options_are_refused(arguments, options):
    with pytest.raises(InputError):
        slots(*arguments, **options)
