"""Policies on populations of Python objects: the same kernels in a thin coat."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.runtime.evolution.twins import hamming, key_arrays, rows, seeds

from shoal.errors import InputError
from shoal.runtime import Seeds
from shoal.runtime.evolution import (
    AnyParents,
    EliteAndOtherParents,
    EliteParents,
    KillTournament,
    MergeAndTruncate,
    OnlyNovel,
    Population,
    Portfolio,
    ReplaceByElite,
    ReplaceLeastFit,
    ReplaceSimilar,
    ReplaceWorst,
    RouletteParents,
    Strategy,
    TournamentParents,
    replacement,
    selection,
)
from shoal.runtime.evolution.population import as_keys


def _population(keys, first=0):
    numbers = np.arange(first, first + len(keys))
    return Population([f"{number}" for number in numbers], keys.copy(), numbers)


def _is_whole(population, *sources):
    """Whether every member still has its own key and number."""
    known = {
        number: (member, key)
        for source in sources
        for number, member, key in zip(
            source.numbers.tolist(), source.members, rows(source.keys), strict=True
        )
    }
    for number, member, key in zip(
        population.numbers.tolist(), population.members, rows(population.keys), strict=True
    ):
        assert known[number] == (member, key)
    assert len(set(population.numbers.tolist())) == len(population)


@st.composite
def families(draw):
    keys = draw(key_arrays(min_members=2, max_members=14))
    cut = draw(st.integers(2, len(keys)))
    return _population(keys[:cut]), _population(keys[cut:], first=1000)


@pytest.mark.parametrize("replace", [MergeAndTruncate(), ReplaceWorst(), ReplaceByElite()])
@given(family=families())
def test_three_ways_to_keep_the_fittest(replace, family):
    population, offspring = family
    before, size = _population(population.keys), len(population)
    replace(Seeds(0).state(), population, offspring)
    _is_whole(population, before, offspring)
    assert sorted(rows(population.keys)) == sorted(rows(before.keys) + rows(offspring.keys))[:size]


@given(family=families())
def test_a_merged_population_is_in_order_and_old_members_win_ties(family):
    population, offspring = family
    before = _population(population.keys)
    MergeAndTruncate()(Seeds(0).state(), population, offspring)
    union = before.numbers.tolist() + offspring.numbers.tolist()
    key = dict(zip(union, rows(before.keys) + rows(offspring.keys), strict=True))
    assert (
        population.numbers.tolist() == sorted(union, key=lambda number: (key[number], number))[: len(before)]
    )


@given(family=families(), count=st.integers(0, 4))
def test_by_elite_admits_at_most_so_many(family, count):
    population, offspring = family
    before = _population(population.keys)
    ReplaceByElite(count)(Seeds(0).state(), population, offspring)
    _is_whole(population, before, offspring)
    fittest = sorted(rows(offspring.keys))[:count]
    assert sorted(rows(population.keys)) == sorted(rows(before.keys) + fittest)[: len(before)]


@given(family=families(), count=st.integers(0, 4))
def test_least_fit_make_room_for_whatever_comes(family, count):
    population, offspring = family
    before = _population(population.keys)
    ReplaceLeastFit(count)(Seeds(0).state(), population, offspring)
    _is_whole(population, before, offspring)
    admitted = min(count, len(before), len(offspring))
    stayed = sorted(rows(before.keys))[: len(before) - admitted]
    assert sorted(rows(population.keys)) == sorted(stayed + sorted(rows(offspring.keys))[:admitted])


@given(seed=seeds, family=families(), size=st.integers(1, 4))
def test_kill_tournament_lets_one_child_in_after_the_other(seed, family, size):
    population, offspring = family
    before, state = _population(population.keys), Seeds(seed).state()
    expected, again = population.numbers.copy(), Seeds(seed).state()
    keys = population.keys.copy()
    for child, key in enumerate(offspring.keys):
        place = replacement.kill_tournament(again, keys, key, size)
        if place >= 0:
            keys[place], expected[place] = key, offspring.numbers[child]
    KillTournament(size)(state, population, offspring)
    _is_whole(population, before, offspring)
    assert population.numbers.tolist() == expected.tolist()


@given(
    seed=seeds,
    genes=st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=9),
    size=st.integers(1, 4),
)
def test_similar_by_a_given_distance_agrees_with_the_kernel(seed, genes, size):
    state, again = Seeds(seed).state(), Seeds(seed).state()
    population = Population(genes[:-1], as_keys(range(len(genes) - 1)), np.arange(len(genes) - 1))
    child = Population(genes[-1:], as_keys([10**6]), np.array([99]))
    ReplaceSimilar(hamming, size)(state, population, child)
    place = replacement.similar(again, np.array(genes[:-1]), np.array(genes[-1]), size)
    # The child is less fit than everybody and takes the place all the same.
    assert population.numbers.tolist().index(99) == place
    assert population.members[place] == genes[-1]
    assert population.keys[place].tolist() == [10**6]


@given(family=families())
def test_only_novel_keys_are_let_in(family):
    population, offspring = family
    assume(len(set(rows(population.keys))) == len(population))
    before = _population(population.keys)
    OnlyNovel(ReplaceLeastFit(len(population)))(Seeds(0).state(), population, offspring)
    _is_whole(population, before, offspring)
    assert len(set(rows(population.keys))) == len(population)
    first = {}
    for number, key in zip(offspring.numbers.tolist(), rows(offspring.keys), strict=True):
        first.setdefault(key, number)
    newcomers = {number for number in population.numbers.tolist() if number >= 1000}
    assert newcomers <= {number for key, number in first.items() if key not in rows(before.keys)}


@pytest.mark.parametrize(
    ("select", "kernel"),
    [
        (AnyParents(), lambda state, keys: selection.at_random(state, len(keys), 2)),
        (
            RouletteParents(),
            lambda state, keys: selection.distinct_roulette(state, selection.inverse_costs(keys), 2),
        ),
        (TournamentParents(4), lambda state, keys: selection.distinct_tournaments(state, keys, 4, 2)),
        (EliteParents(), lambda state, keys: selection.elite(keys, 2)),
        (EliteAndOtherParents(0.25), lambda state, keys: selection.elite_and_other(state, keys, 3)),
    ],
)
def test_parents_are_those_of_the_kernel(select, kernel):
    population = _population(np.arange(10.0, 20.0)[::-1].reshape(-1, 1))
    for seed in range(20):
        chosen = select(Seeds(seed).state(), population, 2).tolist()
        assert chosen == kernel(Seeds(seed).state(), population.keys).tolist()


def test_an_elite_is_never_nobody_or_everybody():
    for size in (2, 3):
        population = _population(np.arange(float(size)).reshape(-1, 1))
        for share in (0.0, 1.0):
            pair = EliteAndOtherParents(share)(Seeds(0).state(), population, 2).tolist()
            assert len(set(pair)) == 2
    with pytest.raises(ValueError, match="two parents"):
        EliteAndOtherParents()(Seeds(0).state(), population, 3)


@pytest.mark.parametrize("shares", [[], [0.0, 0.0], [1.0, -0.1], [float("nan")], [float("inf")]])
def test_impossible_shares_are_refused(shares):
    with pytest.raises(InputError, match="shares"):
        Portfolio([Strategy(AnyParents(), ReplaceWorst(), share) for share in shares])


def test_keys_are_whole_or_real_and_never_nan():
    assert as_keys([3, 1]).tolist() == [[3], [1]]
    assert as_keys([3, 1]).dtype == np.int64
    assert as_keys([(0, 1.5)]).dtype == np.float64
    assert as_keys([np.float32(2.5)]).tolist() == [[2.5]]
    assert as_keys([], like=np.zeros((4, 3), dtype=np.int64)).shape == (0, 3)
    assert as_keys([2, 3], like=np.zeros((4, 1))).dtype == np.float64
    with pytest.raises(TypeError):
        as_keys([2.5], like=np.zeros((4, 1), dtype=np.int64))
    with pytest.raises(AssertionError, match="NaN"):
        as_keys([1.0, float("nan")])
