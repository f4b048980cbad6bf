from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata import casc, plain_search

from shoal.errors import InputError
from shoal.microdata.microaggregation.methods import METHODS
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.descent import Descent
from shoal.microdata.microaggregation.search.ils import IlsOptions, solve
from shoal.microdata.microaggregation.search.kernels import annealed, pricing
from shoal.microdata.microaggregation.search.kernels.groups import total_error
from shoal.microdata.microaggregation.search.kernels.space import Space, working_space
from shoal.microdata.microaggregation.search.recombination import GroupPool, groups_of
from shoal.microdata.microaggregation.solution import squared_error
from shoal.microdata.microaggregation.verify import verify
from shoal.runtime import Budget, Seeds, StopReason

SHORT = IlsOptions(first_cycle=40)


def never() -> bool:
    return False


@pytest.fixture(scope="module")
def skewed() -> Problem:
    return Problem.standardised(np.exp(np.random.default_rng(3).normal(size=(150, 4))), 3)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 5), extra=st.integers(0, 7))
def test_a_split_lowers_the_error_and_keeps_the_sizes(seed: int, k: int, extra: int) -> None:
    points = np.random.default_rng(seed).normal(size=(3 * k + extra, 3))
    problem = Problem(points, k)
    state = Descent(problem, working_space(points, k), Seeds(seed).state())
    labels = np.zeros(problem.n, dtype=np.int64)
    labels[:k] = 1
    state.begin_at(labels)
    before = total_error(state.groups)
    annealed.split(state.space, state.groups, state.search, 1)
    assert state.groups.number[0] == 3
    assert total_error(state.groups) <= before + 1e-9
    sizes = np.bincount(state.labels())
    assert sizes.min() >= k and sizes.sum() == problem.n
    recomputed = squared_error(points, state.labels())
    assert total_error(state.groups) * state.space.unit == pytest.approx(recomputed, rel=1e-9)


def test_threads_and_cuts_change_nothing(skewed: Problem) -> None:
    budget = Budget(iterations=500)
    whole = solve(skewed, SHORT, budget=budget, seeds=Seeds(4))
    both = solve(skewed, SHORT, budget=budget, seeds=Seeds(4), threads=2)
    assert both.labels.tolist() == whole.labels.tolist() and both.work == whole.work == 500
    ticks = iter(range(10**9))
    cut = solve(skewed, SHORT, budget=Budget(seconds=6.0, clock=lambda: next(ticks) * 0.01), seeds=Seeds(4))
    assert cut.stopped_by == StopReason.TIME
    again = solve(skewed, SHORT, budget=Budget(iterations=cut.work), seeds=Seeds(4), threads=2)
    assert again.work == cut.work
    assert again.value == cut.value, "the work at which time ran out repeats the run"


def test_options_and_start(skewed: Problem) -> None:
    plain = solve(skewed, IlsOptions(recombine=False, streams=1), budget=Budget(iterations=300))
    verify(skewed, plain)
    better = solve(skewed, SHORT, budget=Budget(iterations=10), start=plain.labels)
    assert better.value <= plain.value
    capped = Problem(skewed.points, 3, largest=4)
    found = solve(capped, SHORT, budget=Budget(iterations=300))
    verify(capped, found)
    assert found.sizes.max() <= 4


def test_no_room_for_another_number_of_groups() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(8, 2)), 4)
    found = solve(problem, budget=Budget(iterations=30))
    verify(problem, found)
    assert found.work == 30 and found.groups == 2


def test_recombining_takes_the_best_of_two() -> None:
    """Two far clumps, each well parted in one of two partitions: only a mixture is good on both."""
    rng = np.random.default_rng(1)
    clumps = [rng.normal(size=(4, 2)) + 20 * np.array([i % 4, i // 4]) for i in range(8)]
    points = np.concatenate(clumps)
    problem = Problem(points, 4)
    good = np.repeat(np.arange(8), 4)
    left, right = good.copy(), good.copy()
    left[:16] = np.tile(np.arange(4), 4)
    right[16:] = 4 + np.tile(np.arange(4), 4)
    pool = GroupPool(problem, working_space(points, 4))
    pool.add_partition(left)
    assert len(pool) == 8 and pool.add_partition(left) == 0
    found = pool.recombine(right, never, np.random.default_rng(0), effort=10_000)
    assert found is not None
    assert squared_error(points, found) == pytest.approx(squared_error(points, good))
    assert pool.recombine(good, never, np.random.default_rng(0), effort=10_000) is None


def test_recombining_improves_on_every_partition_it_came_from(skewed: Problem) -> None:
    pool = GroupPool(skewed, working_space(skewed.points, skewed.k))
    partitions = [
        solve(skewed, IlsOptions(recombine=False, streams=1), budget=Budget(iterations=60), seeds=Seeds(s))
        for s in range(5)
    ]
    for partition in partitions:
        pool.add_partition(partition.labels)
    best = min(partitions, key=lambda partition: partition.value)
    found = pool.recombine(best.labels, never, np.random.default_rng(0), effort=20_000)
    assert found is not None and squared_error(skewed.points, found) < best.value
    assert np.bincount(found).min() >= skewed.k
    assert pool.recombine(best.labels, lambda: True, np.random.default_rng(0), effort=20_000) is None


def test_groups_of() -> None:
    labels = np.array([2, 0, 1, 0, 2, 1, 1])
    assert [group.tolist() for group in groups_of(labels)] == [[1, 3], [2, 5, 6], [0, 4]]


def test_nearest_neighbours_equal_sorting() -> None:
    points = np.zeros((40, 4))
    points[:, :3] = np.random.default_rng(0).normal(size=(40, 3))
    out = np.empty((40, 7), dtype=np.int64)
    pricing.nearest_neighbours(points, out)
    for x in range(40):
        away = np.square(points - points[x]).sum(axis=1)
        away[x] = np.inf
        assert out[x].tolist() == np.argsort(away, kind="stable")[:7].tolist()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4))
def test_pricing_goes_down_by_the_steepest_step(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    n, largest = 14, 2 * k - 1
    points = rng.normal(size=(n, 4))
    prices = rng.uniform(0, 2, size=n)
    neighbours = np.empty((n, n - 1), dtype=np.int64)
    pricing.nearest_neighbours(points, neighbours)
    group = rng.permutation(n)[:k].tolist()

    def reduced(members: list[int]) -> float:
        return plain_search.error(points, members) - prices[members].sum()

    def steps(members: list[int]) -> list[list[int]]:
        others = [x for x in range(n) if x not in members]
        made = [[y if m == x else m for m in members] for x in members for y in others]
        if len(members) < largest:
            made += [[*members, y] for y in others]
        if len(members) > k:
            made += [[m for m in members if m != x] for x in members]
        return made

    members = np.zeros((1, largest + 1), dtype=np.int64)
    members[0, :k] = group
    sizes, found = np.array([k]), np.empty(1)
    pricing.improve_groups(Space(points, k, 0.0, 1.0), prices, neighbours, largest, 3, members, sizes, found)
    for _ in range(3):
        best = min(steps(group), key=reduced)
        if reduced(best) >= reduced(group) - 1e-9:
            break
        group = best
    assert sorted(members[0, : sizes[0]].tolist()) == sorted(group)
    assert found[0] == pytest.approx(reduced(group), abs=1e-9)


@pytest.mark.parametrize("name, k, average", [("census", 5, 7.44), ("eia", 6, 0.96)])
def test_reaches_the_published_average_within_the_default_work(name: str, k: int, average: float) -> None:
    problem = Problem.standardised(getattr(casc, name)(), k)
    losses = []
    for seed in range(5):
        found = solve(problem, seeds=Seeds(seed), threads=2)
        verify(problem, found)
        assert found.work == 5000
        losses.append(found.loss_percent)
        if losses[-1] <= average:
            break
    assert min(losses) <= average


def two_groups(points: np.ndarray, k: int) -> float:
    """The least error of two groups of at least k, by trying them all."""
    n = len(points)
    return min(
        squared_error(points, np.isin(np.arange(n), members).astype(np.int64))
        for size in range(k, n // 2 + 1)
        for members in combinations(range(n), size)
    )


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 2), (8, 3), (10, 5), (12, 5), (14, 5)])
def test_records_for_two_groups_only_are_grouped_at_best_without_wasting_iterations(n: int, k: int) -> None:
    points = np.random.default_rng(n).normal(size=(n, 2))
    found = solve(Problem(points, k))
    verify(Problem(points, k), found)
    assert found.value == pytest.approx(two_groups(points, k), rel=1e-9)
    assert found.work < 2000, "the same partition was found hundreds of times: there is nothing more to find"


def test_random_starts_count_as_iterations_and_stop_with_the_budget() -> None:
    # Groups of exactly three: no perturbation is possible, and 40 groups are not found twice.
    problem = Problem(np.random.default_rng(9).normal(size=(120, 3)), 3, largest=3)
    once = solve(problem, SHORT, budget=Budget(iterations=101), seeds=Seeds(2))
    both = solve(problem, SHORT, budget=Budget(iterations=101), seeds=Seeds(2), threads=2)
    assert once.work == both.work == 101 and once.labels.tolist() == both.labels.tolist()
    assert (once.sizes == 3).all()
    longer = solve(problem, SHORT, budget=Budget(iterations=400), seeds=Seeds(2))
    assert longer.work == 400 and longer.value <= once.value


@pytest.mark.parametrize("option", [{"growth": 1e300}, {"growth": float("inf")}, {"first_cycle": 10**30}])
def test_cycles_cannot_be_asked_to_outgrow_every_number(option: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(option))):
        METHODS["ils"].configure(option)
