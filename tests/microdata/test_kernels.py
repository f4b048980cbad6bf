"""The search kernels against their slow twins, and the safety of what they skip."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata import plain_search

from shoal.microdata.microaggregation.search.kernels import iterated, pairs, perturbation, vectors
from shoal.microdata.microaggregation.search.kernels.groups import (
    RADIUS,
    REACH,
    Groups,
    empty_groups,
    load,
    total_error,
)
from shoal.microdata.microaggregation.search.kernels.space import Space, working_space
from shoal.runtime import Seeds
from shoal.runtime.kernels import kernel

EPS = 1e-11


@kernel
def visit(space, groups, i, j, counts):  # type: ignore[no-untyped-def]
    square = vectors.squared_distance(groups.centres, i, groups.centres, j)
    _, sizes, members, away, centres, facts = groups
    points, k, eps, _ = space
    return pairs.visit(points, k, eps, sizes, members, away, centres, facts, i, j, square, counts)


@kernel
def swap_gain(points, x, y, groups, i, j):  # type: ignore[no-untyped-def]
    return vectors.swap_gain(
        points, x, y, groups.centres, i, j, 1.0 / groups.sizes[i] + 1.0 / groups.sizes[j]
    )


@kernel
def products(points, centres):  # type: ignore[no-untyped-def]
    return (
        vectors.squared_distance(points, 1, centres, 2),
        vectors.towards(points, 0, centres, 1, 2),
        vectors.swap_gain(points, 0, 1, centres, 0, 2, 0.75),
    )


def cloud(seed: int, n: int, d: int) -> np.ndarray:
    """Points of the kind that makes trouble: clumps, outliers, duplicates."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 5.0], size=(n, 1))
    points[rng.integers(0, n, size=n // 5)] = points[rng.integers(0, n)]
    padded = np.zeros((n, -(-d // 4) * 4))
    padded[:, :d] = points
    return padded


def space_of(points: np.ndarray, k: int) -> Space:
    return Space(points, k, EPS, 1.0)


def grouped(points: np.ndarray, lists: list[list[int]], k: int, most: int, capacity: int) -> Groups:
    labels = np.empty(len(points), dtype=np.int64)
    for g, members in enumerate(lists):
        labels[members] = g
    groups = empty_groups(most, capacity, points.shape[1])
    load(space_of(points, k), groups, labels, len(lists))
    for g, members in enumerate(lists):  # the order of members decides the order of moves
        groups.members[g, : len(members)] = members
        for m, x in enumerate(members):
            groups.away[g, m] = np.sqrt(np.square(points[x] - groups.centres[g]).sum())
    return groups


def listed(groups: Groups) -> list[list[int]]:
    return [groups.members[g, : groups.sizes[g]].tolist() for g in range(groups.number[0])]


def random_lists(seed: int, n: int, k: int, count: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n).tolist()
    lists = [order[g * k : (g + 1) * k] for g in range(count)]
    for x in order[count * k :]:
        lists[rng.integers(count)].append(x)
    return lists


def test_vector_sums() -> None:
    rng = np.random.default_rng(0)
    for width in (4, 8, 12, 100):
        points, centres = rng.normal(size=(2, width)), rng.normal(size=(3, width))
        square, product, gain = products(points, centres)
        x, y = points
        assert square == pytest.approx(np.square(y - centres[2]).sum())
        assert product == pytest.approx((x - centres[1]) @ (centres[2] - centres[1]))
        assert gain == pytest.approx(0.75 * np.square(x - y).sum() - 2 * (x - y) @ (centres[0] - centres[2]))


@pytest.mark.parametrize("d", [1, 2, 5, 13, 40])
def test_working_space_keeps_distances(d: int) -> None:
    points = np.random.default_rng(d).normal(size=(30, d)) @ np.random.default_rng(1).normal(size=(d, d)) + 7
    space = working_space(points, 2)
    apart = np.square(points[:, None] - points[None]).sum(axis=2)
    there = np.square(space.points[:, None] - space.points[None]).sum(axis=2) * space.unit
    np.testing.assert_allclose(there, apart, rtol=1e-9, atol=1e-9)
    spread = np.square(space.points).sum(axis=0)
    assert (np.diff(spread) <= 1e-9 * spread.sum()).all(), "the first coordinates carry the most"


def test_gains_are_exact_and_quick_tests_safe_on_many_pairs() -> None:
    """10,000 random pairs of groups of 2 to 7: both gains, both tests, both quick tests, against recomputation."""
    rng = np.random.default_rng(5)
    rejected = {"swap": 0, "shift": 0}
    for _ in range(10_000):
        d = int(rng.integers(1, 6))
        sizes = rng.integers(2, 8, size=2)
        points = np.zeros((sizes.sum(), -(-d // 4) * 4))
        points[:, :d] = rng.normal(size=(sizes.sum(), d))
        points[sizes[0] :, 0] += rng.choice([0.0, 1.0, 3.0])
        one, other = list(range(sizes[0])), list(range(sizes[0], sizes.sum()))
        groups = grouped(points, [one, other], 2, 2, 16)
        distance = np.sqrt(np.square(groups.centres[0] - groups.centres[1]).sum())
        before = plain_search.error(points, one) + plain_search.error(points, other)
        may_swap = groups.facts[RADIUS].sum() > distance
        x, y = int(rng.integers(sizes[0])), int(rng.integers(sizes[1]))
        swapped = one[:x] + [other[y]] + one[x + 1 :], other[:y] + [one[x]] + other[y + 1 :]
        gain = before - sum(plain_search.error(points, group) for group in swapped)
        computed = swap_gain(points, one[x], other[y], groups, 0, 1)
        assert computed == pytest.approx(gain, abs=1e-9)
        if abs(gain) > 1e-9:
            assert (computed > 0) == (gain > 0)
        if not may_swap:
            rejected["swap"] += 1
            best = max(swap_gain(points, a, b, groups, 0, 1) for a in one for b in other)
            assert best <= 1e-9, "a swap that gains was ruled out"
        if sizes[0] > 2:
            leave, enter = sizes[0] / (sizes[0] - 1), sizes[1] / (sizes[1] + 1)
            radius = groups.facts[RADIUS, 0]
            may_shift = leave * radius**2 > enter * (distance - radius) ** 2
            u, v = (np.square(points[one] - groups.centres[g]).sum(axis=1) for g in (0, 1))
            gains = leave * u - enter * v
            rest = one[:x] + one[x + 1 :]
            gain = before - plain_search.error(points, rest) - plain_search.error(points, [*other, one[x]])
            assert gains[x] == pytest.approx(gain, abs=1e-9)
            if not may_shift:
                rejected["shift"] += 1
                assert gains.max() <= 1e-9, "a shift that gains was ruled out"
            if distance >= max(groups.facts[REACH, 0], radius):
                assert gains.max() <= 1e-9, "a shift that gains was out of reach"
    assert min(rejected.values()) > 500


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 9), k=st.integers(2, 5), extra=st.integers(0, 6))
def test_a_visit_makes_the_moves_of_its_twin(seed: int, d: int, k: int, extra: int) -> None:
    n = 2 * k + extra
    points = cloud(seed, n, d)
    lists = random_lists(seed, n, k, 2)
    groups = grouped(points, lists, k, 2, 8 * k)
    moved = visit(space_of(points, k), groups, 0, 1, np.zeros(7, dtype=np.int64))
    assert plain_search.visit(points, k, EPS, lists, 0, 1) == moved
    assert listed(groups) == lists


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 7),
    k=st.integers(2, 4),
    count=st.integers(2, 9),
    extra=st.integers(0, 6),
    everything=st.booleans(),
)
def test_a_descent_makes_the_moves_of_its_twin(
    seed: int, d: int, k: int, count: int, extra: int, everything: bool
) -> None:
    n = k * count + extra
    points, lists = cloud(seed, n, d), random_lists(seed, n, k, count)
    groups = grouped(points, lists, k, count, 8 * k)
    search = pairs.new_search(count, n, Seeds(seed).state())
    search.changed[:] = True
    before = total_error(groups)
    while not pairs.descend(space_of(points, k), groups, search, everything, 3):
        pass
    tried = plain_search.descend(
        points, k, EPS, lists, set(range(count)), Seeds(seed).state(), everything=everything
    )
    assert listed(groups) == lists
    assert search.counts[pairs.PAIRS] == tried == search.lists.sum()
    assert total_error(groups) <= before + 1e-9
    assert total_error(groups) == pytest.approx(plain_search.total(points, lists), rel=1e-9, abs=1e-9)
    assert not search.changed.any() and not search.done.any()
    for i in range(count):
        for j in range(i):
            assert not plain_search.visit(points, k, EPS, lists, i, j), "not a local optimum"


def test_changed_groups_alone_give_the_same_as_all_in_the_first_pass() -> None:
    points, lists = cloud(3, 40, 4), random_lists(3, 40, 3, 12)
    results = []
    for everything in (False, True):
        groups, search = grouped(points, lists, 3, 12, 24), pairs.new_search(12, 40, Seeds(1).state())
        search.changed[:] = True
        pairs.descend(space_of(points, 3), groups, search, everything, 12)
        results.append(listed(groups))
    assert results[0] == results[1]


@pytest.mark.parametrize("targets, pairs_tried", [(1000, 499_500), (4, 3_990), (2, 1_997)])
def test_length_of_the_list_of_pairs(targets: int, pairs_tried: int) -> None:
    points = np.zeros((2000, 4))
    points[:, 0] = np.repeat(np.arange(1000.0), 2) * 10
    groups, search = empty_groups(1000, 16, 4), pairs.new_search(1000, 2000, Seeds(0).state())
    load(space_of(points, 2), groups, np.repeat(np.arange(1000), 2), 1000)
    search.changed[:targets] = True
    everything = False
    assert pairs.descend(space_of(points, 2), groups, search, everything, 10**6)
    assert search.counts[pairs.PAIRS] == pairs_tried


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 6), k=st.integers(2, 4), count=st.integers(2, 8))
def test_perturbations_equal_their_twins(seed: int, d: int, k: int, count: int) -> None:
    n = k * count + k + 1
    points, lists = cloud(seed, n, d), random_lists(seed, n, k, count)
    for more in (False, True):
        plain = [list(group) for group in lists]
        groups = grouped(points, lists, k, count + 1, 8 * k)
        search = pairs.new_search(count + 1, n, Seeds(seed).state())
        if more:
            perturbation.distill(space_of(points, k), groups, search)
            changed = plain_search.distill(points, k, plain, Seeds(seed).state())
            assert len(plain) == count + 1 and len(plain[-1]) == k
        else:
            perturbation.dissolve(space_of(points, k), groups, search, seed % count)
            changed = plain_search.dissolve(points, plain, seed % count)
            assert len(plain) == count - 1
        assert listed(groups) == plain
        assert set(np.flatnonzero(search.changed)) == changed
        assert sorted(x for group in plain for x in group) == list(range(n))
        assert min(len(group) for group in plain) >= k


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 4),
    everything=st.booleans(),
    sample=st.sampled_from([1, 5]),
    temperature=st.sampled_from([0.0, 1e-3]),
    capacity=st.integers(0, 20),
)
def test_iterations_equal_their_twin(
    seed: int, k: int, everything: bool, sample: int, temperature: float, capacity: int
) -> None:
    n, most = 10 * k + 1, 10
    fewest = 8
    points = np.random.default_rng(seed).normal(size=(n, 4))
    capacity = max(capacity, -(-n // fewest), k + 1)
    lists = random_lists(seed, n, k, 9)
    if max(map(len, lists)) > capacity:
        return
    groups, best = grouped(points, lists, k, most + 1, capacity), empty_groups(most + 1, capacity, 4)
    space, search = space_of(points, k), pairs.new_search(most + 1, n, Seeds(seed).state())
    search.changed[:9] = True
    search.dirty[:] = True
    pairs.descend(space, groups, search, everything, 10**9)
    plain_random = search.random.copy()
    plain = listed(groups)
    iterated.copy_dirty(groups, best, search.dirty)
    leading = np.array([total_error(groups)])
    decisions = np.zeros(iterated.DECISIONS, dtype=np.int64)
    course = np.empty(12)
    for part in (slice(0, 5), slice(5, 12)):
        rules = iterated.Rules(everything, sample, 0.8, temperature)
        iterated.iterate(space, groups, search, best, leading, rules, fewest, most, decisions, course[part])
    expected, errors = plain_search.iterate(
        points, k, EPS, plain, 12, fewest, most, plain_random,
        everything=everything, sample=sample, chance=0.8, temperature=temperature, capacity=capacity,
    )  # fmt: skip
    assert sorted(map(sorted, listed(best))) == sorted(map(sorted, expected))
    np.testing.assert_allclose(course, errors, rtol=1e-9)
    assert decisions[: iterated.RETURNED + 1].sum() == 12
    assert leading[0] == pytest.approx(plain_search.total(points, expected), rel=1e-9)


def test_the_lossy_are_picked_as_often_as_they_should_be() -> None:
    count = 50
    points = np.zeros((2 * count, 4))
    points[1::2, 0] = np.arange(1, count + 1)
    groups = empty_groups(count, 16, 4)
    load(space_of(points, 2), groups, np.repeat(np.arange(count), 2), count)
    for sample in (1, 5):
        drawn = _picks(groups, sample, 400_000, Seeds(2).state())
        ranks = np.arange(1, count + 1)
        expected = (ranks**sample - (ranks - 1) ** sample) / count**sample
        np.testing.assert_allclose(np.bincount(drawn, minlength=count) / drawn.size, expected, atol=0.003)
        if sample == 5:
            assert (drawn >= 40).mean() == pytest.approx(0.672, abs=0.005)


@kernel
def _picks(groups, sample, times, random):  # type: ignore[no-untyped-def]
    drawn = np.empty(times, dtype=np.int64)
    for t in range(times):
        drawn[t] = perturbation.pick_lossy(groups, sample, random)
    return drawn


@kernel
def _share_kept(error, best, rules, times, random):  # type: ignore[no-untyped-def]
    kept = 0
    for _ in range(times):
        kept += 1 if iterated.accepts(error, best, rules, random) else 0
    return kept / times


def test_acceptance_rates() -> None:
    random = Seeds(4).state()
    times = 100_000
    for excess, share, tolerance in (
        (0.0, 1.0, 0.0),
        (1e-5, 0.368, 0.005),
        (2.2314e-6, 0.8, 0.005),
        (1e-4, 0.0, 2e-4),
    ):
        kept = _share_kept(
            1.0 + excess,
            1.0,
            iterated.Rules(everything=False, sample=1, chance=0.8, temperature=1e-5),
            times,
            random,
        )
        assert kept == pytest.approx(share, abs=tolerance)
    assert _share_kept(
        2.0, 1.0, iterated.Rules(everything=False, sample=1, chance=0.8, temperature=0.0), times, random
    ) == pytest.approx(0.8, abs=0.005)
