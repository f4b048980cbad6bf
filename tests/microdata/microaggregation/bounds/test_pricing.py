"""The search for groups worth more than they cost against all groups of tiny problems."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.microdata.microaggregation.bounds.pricing import Kinds, Wanted, dearest_groups, kinds_of
from shoal.microdata.microaggregation.problem import Problem

Group = tuple[int, ...]


def worth_of_all(
    problem: Problem, kinds: Kinds, prices: np.ndarray, sizes: tuple[int, int]
) -> dict[Group, float]:
    """What every group is worth, by its kinds."""
    worth = {}
    for size in range(sizes[0], sizes[1] + 1):
        for group in combinations(range(problem.n), size):
            members = problem.points[list(group)]
            of = kinds.of[list(group)]
            worth[tuple(sorted(of.tolist()))] = float(
                prices[of].sum() - np.square(members - members.mean(axis=0)).sum()
            )
    return worth


def look(
    kinds: Kinds, prices: np.ndarray, wanted: Wanted, room: int
) -> tuple[np.ndarray, np.ndarray, list[list[Group]]]:
    """The order of the kinds, what each place has in excess, and the groups found there."""
    count = prices.size
    order = np.argsort(-prices, kind="stable")
    excess, found = np.full(count, np.nan), np.zeros(count, dtype=np.int64)
    groups, sizes = np.empty((count, room, wanted.largest), np.int32), np.zeros((count, room), np.int32)
    dearest_groups(kinds, prices, order, 0, count, wanted, excess, found, groups, sizes)
    listed = [
        [tuple(sorted(groups[x, g, : sizes[x, g]].tolist())) for g in range(min(found[x], room))]
        for x in range(count)
    ]
    return order, excess, listed


def case(
    n: int, k: int, d: int, seed: int, twins: bool
) -> tuple[Problem, Kinds, np.ndarray, tuple[int, int]]:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d)) * rng.exponential(size=(n, 1))
    problem = Problem(np.round(points) if twins else points, k)
    sizes = k, min(2 * k - 1, n)
    kinds = kinds_of(problem, problem.points.copy(), sizes[1])
    return problem, kinds, rng.normal(loc=0.4, size=kinds.counts.size), sizes


CASES = (st.integers(4, 9), st.integers(2, 4), st.integers(1, 3), st.integers(0, 2**32 - 1), st.booleans())


@settings(max_examples=80, deadline=None)
@given(*CASES, st.integers(1, 4))
def test_the_best_groups_are_found_from_their_dearest_records(
    n: int, k: int, d: int, seed: int, twins: bool, keep: int
) -> None:
    problem, kinds, prices, sizes = case(n, k, d, seed, twins)
    worth = worth_of_all(problem, kinds, prices, sizes)
    order, excess, found = look(kinds, prices, Wanted(*sizes, 1e-12, 10**9, 0.01, every=False), keep)
    places = {int(kind): place for place, kind in enumerate(order)}
    for place in range(order.size):
        mine = [w for group, w in worth.items() if min(places[kind] for kind in group) == place and w > 1e-12]
        best = sorted(mine, reverse=True)[:keep]
        assert len(set(found[place])) == len(found[place]) == len(best)
        assert [worth[group] for group in found[place]] == pytest.approx(best, abs=1e-9)
        assert excess[place] == pytest.approx(best[0] if best else 0.0, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(*CASES, st.floats(-3.0, 1.0))
def test_every_group_is_found_once(n: int, k: int, d: int, seed: int, twins: bool, least: float) -> None:
    problem, kinds, prices, sizes = case(n, k, d, seed, twins)
    worth = worth_of_all(problem, kinds, prices, sizes)
    _, _, found = look(kinds, prices, Wanted(*sizes, least, 10**9, 0.01, every=True), 600)
    listed = [group for groups in found for group in groups]
    assert len(set(listed)) == len(listed)
    for group in worth.keys() | set(listed):
        # What is worth as much as is wanted, to the last digit, may be found or not.
        assert abs(worth[group] - least) < 1e-9 or (group in listed) == (worth[group] > least)


@settings(max_examples=60, deadline=None)
@given(*CASES, st.integers(1, 5))
def test_what_is_given_up_is_not_worth_more_than_is_said(
    n: int, k: int, d: int, seed: int, twins: bool, patience: int
) -> None:
    problem, kinds, prices, sizes = case(n, k, d, seed, twins)
    order, excess, _ = look(kinds, prices, Wanted(*sizes, 1e-12, patience, 0.05, every=False), 2)
    lowered = prices.copy()
    lowered[order] -= excess
    assert max(worth_of_all(problem, kinds, lowered, sizes).values()) <= 1e-9


def test_there_may_be_more_groups_than_room() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(9, 2)), 3)
    kinds = kinds_of(problem, problem.points, 5)
    prices, order = np.full(9, 9.0), np.arange(9)
    found, excess = np.zeros(9, np.int64), np.zeros(9)
    groups, sizes = np.zeros((9, 4, 5), np.int32), np.zeros((9, 4), np.int32)
    wanted = Wanted(3, 5, 0.0, 10**9, 0.01, every=True)
    dearest_groups(kinds, prices, order, 0, 9, wanted, excess, found, groups, sizes)
    assert found[0] > 4 and (sizes[0] > 0).all() and found[8] == 0
