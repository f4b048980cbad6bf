"""Random instances follow the rule of the published experiments."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import InputError
from shoal.generate.instances import Instance, Ranges, capacities, groups, instance
from shoal.runtime import Seeds

RANGES = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda pair: (pair[0], sum(pair)))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 60), RANGES, st.integers(0, 99))
def test_groups(population, span, seed):
    smallest, largest = span
    made = groups(population, smallest, largest, seeds=Seeds(seed))
    assert sum(made) == population
    assert len(made) <= population
    # All but the last are in range; the last is cut to fit, or takes what is left when no more groups are possible.
    assert all(smallest <= size <= largest for size in made[:-1])
    if made and len(made) < population:
        assert 0 < made[-1] <= largest


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 60), RANGES, st.integers(0, 99))
def test_capacities(population, span, seed):
    smallest, largest = span[0], max(1, span[1])
    made = capacities(population, smallest, largest, seeds=Seeds(seed))
    assert all(smallest <= capacity <= largest for capacity in made)
    assert sum(made) >= population
    assert sum(made[:-1]) < population or not made


def test_the_last_possible_group_takes_everybody_left():
    assert groups(5, 0, 0) == (0, 0, 0, 0, 5)
    assert groups(1, 0, 0) == (1,)
    assert groups(0, 3, 7) == ()


def test_an_overshooting_group_is_cut():
    assert groups(10, 4, 4) == (4, 4, 2)
    assert capacities(10, 4, 4) == (4, 4, 4)


def test_long_instances_are_drawn_from_the_whole_range():
    made = groups(10_000, 0, 6)
    assert set(made[:-1]) == set(range(7))
    assert len(made) == pytest.approx(10_000 / 3, rel=0.05)
    counts = [made.count(size) / len(made) for size in range(7)]
    assert counts == pytest.approx([1 / 7] * 7, abs=0.03)


@pytest.mark.parametrize("population", [1, 2, 5, 40])
def test_without_ranges_every_draw_is_below_the_population(population):
    made = instance(population, seeds=Seeds(3))
    assert sum(made.groups) == population
    assert max(made.capacities) <= max(1, population - 1)
    assert sum(made.capacities) >= population


def test_groups_and_capacities_have_streams_of_their_own():
    made = instance(25, Ranges(3, 7, 3, 7), seeds=Seeds(1))
    assert isinstance(made, Instance)
    assert made == instance(25, Ranges(3, 7, 3, 7), seeds=Seeds(1))
    assert made.groups == instance(25, Ranges(3, 7, 1, 2), seeds=Seeds(1)).groups
    assert made != instance(25, Ranges(3, 7, 3, 7), seeds=Seeds(2))


@pytest.mark.parametrize(
    "call",
    [
        lambda: groups(-1, 0, 3),
        lambda: groups(5, -1, 3),
        lambda: groups(5, 4, 3),
        lambda: capacities(5, 0, 0),
        lambda: capacities(-5, 0, 1),
    ],
)
def test_wrong_ranges_are_refused(call):
    with pytest.raises(InputError):
        call()
