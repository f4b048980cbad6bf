"""The search over groups: what its kernels keep true, and that it finds what layers miss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.recoding.local_recoding import plain

from shoal.microdata.recoding.local_recoding import spans
from shoal.microdata.recoding.local_recoding.groups import Groups
from shoal.microdata.recoding.local_recoding.items import Items, Pieces
from shoal.microdata.recoding.local_recoding.layers import layers
from shoal.microdata.recoding.local_recoding.neighbourhood_kernels import (
    Field,
    chained,
    regroup,
    surroundings,
)
from shoal.microdata.recoding.local_recoding.release import Grouping
from shoal.microdata.recoding.local_recoding.solve import solve
from shoal.runtime import Budget, Seeds


def a_field(seed: int, spare: int = 5) -> tuple[Grouping, Field] | None:
    """The field of a problem in layers; ``None`` if somebody is in no group."""
    problem = plain.problem(seed, records=(10, 80), units=False)
    items = Items.of(problem)
    pieces = Pieces.of(items)
    groups = layers(items, problem.k)[pieces.items]
    if (groups < 0).any():
        return None
    found = Grouping(items, pieces, groups)
    size = found.size + spare
    made = Groups.of(items.spans, pieces.keys, pieces.people, pieces.records, groups, size)
    heads, nexts = chained(groups, size)
    return found, Field(
        pieces.keys,
        pieces.people,
        pieces.records,
        groups.copy(),
        nexts,
        heads,
        made.firsts,
        made.lasts,
        made.people,
        made.records,
        made.rates,
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-1, 4), max_size=20))
def test_chains_hold_the_pieces_of_each_group_in_order(groups):
    heads, nexts = chained(np.array(groups, dtype=np.int64), 5)
    for group in range(5):
        chain, piece = [], int(heads[group])
        while piece >= 0:
            chain.append(piece)
            piece = int(nexts[piece])
        assert chain == [piece for piece, own in enumerate(groups) if own == group]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_surroundings_are_the_groups_cheapest_to_join_with(seed, wanted):
    made = a_field(seed)
    if made is None:
        return
    found, field = made
    taken = np.zeros(field.sizes.size, dtype=bool)
    taken[found.size // 2] = found.size > 1
    before = taken.copy()
    block = surroundings(field, found.items.spans, 0, wanted, taken).tolist()
    now = found.described()
    costs = {}
    for other in range(1, found.size):
        joined = np.where(found.groups == other, 0, found.groups)
        cost = Grouping(found.items, found.pieces, joined).described().total - now.total
        if not before[other] and np.isfinite(cost):
            costs[other] = cost
    assert block[0] == 0
    assert len(block) == min(wanted, 1 + len(costs))
    assert set(block[1:]) <= set(costs)
    rest = [cost for other, cost in costs.items() if other not in block]
    if rest and len(block) > 1:
        assert max(costs[other] for other in block[1:]) <= min(rest) + 1e-9
    assert (taken == (before | np.isin(np.arange(taken.size), block))).all()


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 6), st.integers(0, 3))
def test_regrouping_loses_less_and_keeps_everything_in_step(seed, room, spare):
    made = a_field(seed)
    if made is None:
        return
    found, field = made
    k, full = found.items.problem.k, found.items.loss.full
    block = np.arange(found.size)
    free = np.arange(found.size, found.size + spare)
    gone = regroup(
        field, found.items.spans, block, free, k, full, room, 100, Seeds(seed).child("test").state()
    )
    after = Grouping(found.items, found.pieces, field.groups)
    assert after.total <= found.total + 1e-9
    assert gone == found.pieces.people[field.groups < 0].sum() <= room
    made_anew = Groups.of(
        found.items.spans,
        found.pieces.keys,
        found.pieces.people,
        found.pieces.records,
        field.groups,
        field.sizes.size,
    )
    alive = field.sizes > 0
    assert (field.sizes == made_anew.people).all()
    assert (field.sizes[alive] >= k).all()
    assert (field.counts == made_anew.records).all()
    assert field.rates[alive] == pytest.approx(made_anew.rates[alive])
    assert (field.firsts[alive] == made_anew.firsts[alive]).all()
    assert (field.lasts[alive] == made_anew.lasts[alive]).all()
    heads, _ = chained(field.groups, field.sizes.size)
    assert ((heads >= 0) == (field.heads >= 0)).all()
    for group in np.flatnonzero(alive):
        chain, piece = set(), int(field.heads[group])
        while piece >= 0:
            chain.add(piece)
            piece = int(field.nexts[piece])
        assert chain == set(np.flatnonzero(field.groups == group))


def test_the_search_gains_on_layers_and_says_what_it_spent():
    gained = 0
    for seed in range(30):
        problem = plain.problem(seed, records=(60, 61), units=False)
        first = solve(problem, budget=Budget(iterations=1))
        found = solve(problem, budget=Budget(iterations=3000))
        assert found.work <= 3000
        assert found.value <= first.value + 1e-12
        gained += found.value < first.value - 1e-9
    assert gained >= 5


def test_a_longer_search_goes_the_way_of_the_shorter_one():
    problem = plain.problem(77, records=(400, 401), units=False)
    short = solve(problem, budget=Budget(iterations=1600))
    long = solve(problem, budget=Budget(iterations=3200))
    at = [point.value for point in long.history.points if point.work <= 1600]
    assert short.value == pytest.approx(at[-1])


def test_trees_too_large_for_a_table_give_the_same_groups(monkeypatch):
    problem = plain.problem(77, records=(200, 201), units=False)
    quick = solve(problem, budget=Budget(iterations=1600))
    monkeypatch.setattr(spans, "_LOOKED_UP", 0)
    walked = solve(problem, budget=Budget(iterations=1600))
    assert walked.value == pytest.approx(quick.value)
    assert walked.levels.tolist() == quick.levels.tolist()
