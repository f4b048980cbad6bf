import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.microdata.microaggregation.construct import mdav
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import blocks
from shoal.microdata.microaggregation.search.blocks import BlocksOptions
from shoal.microdata.microaggregation.search.kernels.groups import empty_groups, load
from shoal.microdata.microaggregation.search.kernels.space import working_space
from shoal.microdata.microaggregation.solution import squared_error
from shoal.microdata.microaggregation.verify import verify
from shoal.runtime import Budget, Control, Seeds, StopReason


@settings(max_examples=80, deadline=None)
@given(
    st.integers(2, 5),
    st.integers(0, 150),
    st.none() | st.integers(0, 3),
    st.integers(1, 5),
    st.sampled_from([(2, 2, 0), (20, 5, 0), (20, 8, 3), (1000, 260, 0)]),
    st.integers(0, 2**32 - 1),
)
def test_every_result_holds(
    k: int, more: int, cap: int | None, d: int, shape: tuple[int, int, int], seed: int
) -> None:
    n = k + more
    largest = None if cap is None else k + cap
    if largest is not None and (n // k) * largest < n:
        return
    problem = Problem(np.round(np.random.default_rng(seed).normal(size=(n, d)), 1), k, largest)
    options = BlocksOptions(block=shape[0], groups=shape[1], refinement=shape[2])
    solution = blocks.solve(problem, options, budget=Budget(iterations=3), seeds=Seeds(seed))
    verify(problem, solution)
    values = [point.value for point in solution.history]
    assert values == sorted(values, reverse=True)


def test_threads_change_nothing() -> None:
    problem = Problem(np.random.default_rng(1).normal(size=(3000, 4)), 4)
    few = {"block": 100, "groups": 20}
    for options in (
        BlocksOptions(**few),
        BlocksOptions(**few, refinement=10),
        BlocksOptions(**few, costly=4),
    ):
        one, two = (blocks.solve(problem, options, threads=threads) for threads in (1, 2))
        assert one.labels.tolist() == two.labels.tolist()


def test_rounds_lower_the_loss_below_mdav() -> None:
    problem = Problem(np.random.default_rng(1).normal(size=(4000, 5)), 5)
    none, some, more = (
        blocks.solve(problem, BlocksOptions(block=200, groups=50), budget=Budget(iterations=rounds))
        for rounds in (0, 3, 8)
    )
    assert more.value < some.value < none.value
    assert more.value < 0.97 * mdav.solve(problem).value
    refined = blocks.solve(
        problem, BlocksOptions(block=200, groups=50, refinement=50), budget=Budget(iterations=3)
    )
    assert refined.value < some.value


def test_goes_on_from_a_start() -> None:
    problem = Problem(np.random.default_rng(1).normal(size=(600, 3)), 4)
    first = blocks.solve(problem, budget=Budget(iterations=1))
    again = blocks.solve(problem, budget=Budget(iterations=2), start=first.labels)
    verify(problem, again)
    assert again.value <= first.value
    unchanged = blocks.solve(problem, budget=Budget(iterations=0), start=first.labels)
    assert unchanged.labels.tolist() == first.labels.tolist()


def test_an_interrupt_in_the_middle_of_a_round_keeps_every_record() -> None:
    problem = Problem(np.random.default_rng(1).normal(size=(5000, 3)), 4)
    looks = 0

    class Later(Control):
        @property
        def cancelled(self) -> bool:
            nonlocal looks
            looks += 1
            return looks > 60

    options = BlocksOptions(block=100, groups=10)
    solution = blocks.solve(problem, options, budget=Budget(iterations=50, control=Later()))
    verify(problem, solution)
    assert solution.stopped_by is StopReason.INTERRUPT


COUNTS = np.zeros(7, dtype=np.int64)


def loaded(points: np.ndarray, labels: np.ndarray, k: int) -> tuple:
    space = working_space(points, k)
    groups = empty_groups(int(labels.max()) + 1, 2 * k - 1, space.points.shape[1])
    load(space, groups, labels.astype(np.int32), int(labels.max()) + 1)
    return space, groups


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(2, 15), st.integers(0, 2**32 - 1))
def test_a_pass_only_gains_and_says_what_changed(k: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(count), k))
    points = rng.normal(size=(k * count, 3))
    space, groups = loaded(points, labels, k)
    before = [set(groups.members[g, :k].tolist()) for g in range(count)]
    met = np.full(count, -1, dtype=np.int32)
    changed = np.zeros(count, dtype=np.bool_)
    blocks.one_pass(space, groups, met, changed, COUNTS)
    after = [set(groups.members[g, : groups.sizes[g]].tolist()) for g in range(count)]
    assert sorted(i for group in after for i in group) == list(range(k * count))
    new = np.empty(k * count, dtype=np.int64)
    for g, group in enumerate(after):
        new[list(group)] = g
        assert changed[g] or group == before[g]
    assert squared_error(points, new) <= squared_error(points, labels) + 1e-9


def test_groups_that_met_before_are_passed_over() -> None:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(10), 3))
    space, groups = loaded(rng.normal(size=(30, 3)), labels, 3)
    changed = np.zeros(10, dtype=np.bool_)
    blocks.one_pass(space, groups, np.zeros(10, dtype=np.int32), changed, COUNTS)
    assert not changed.any()
    blocks.one_pass(space, groups, np.full(10, -1, dtype=np.int32), changed, COUNTS)
    assert changed.any()


@pytest.mark.parametrize("dimensions", [1, 2, 7])
def test_random_axes_are_orthogonal(dimensions: int) -> None:
    axes = blocks.random_axes(dimensions, Seeds(5))
    np.testing.assert_allclose(axes.T @ axes, np.eye(dimensions), atol=1e-12)


def test_work_on_what_loses_most_pays() -> None:
    points = np.random.default_rng(1).standard_t(2, size=(4000, 4))
    problem = Problem(points, 4)
    few = {"block": 100, "groups": 20}
    plain, costly = (blocks.solve(problem, BlocksOptions(**few, costly=costly)) for costly in (0, 8))
    verify(problem, costly)
    assert costly.value < 0.995 * plain.value
    # Only the last of the usual three rounds differs, so a run of fewer is the same.
    for rounds in (0, 1, 2, 3):
        one, other = (
            blocks.solve(problem, BlocksOptions(**few, costly=costly), budget=Budget(iterations=rounds))
            for costly in (0, 8)
        )
        assert (one.value == other.value) == (rounds < 3)


def test_shares_go_by_what_was_lost() -> None:
    lost = np.random.default_rng(0).pareto(1.0, size=50)
    given = blocks.shares(lost, 200)
    assert abs(int(given.sum()) - 200) <= 25
    assert (np.abs(given - 200 * lost / lost.sum()) <= 0.5 + 1e-9).all()
    assert blocks.shares(np.zeros(3), 5).tolist() == [0, 0, 0]


def test_means_and_errors_are_those_of_the_groups() -> None:
    points = np.random.default_rng(0).normal(size=(40, 3))
    labels = np.sort(np.arange(40) % 9)
    state = blocks.state_of(labels.astype(np.int32), 5, np.pad(points, ((0, 0), (0, 1))), 3)
    for group in range(9):
        mine = points[labels == group]
        np.testing.assert_allclose(state.means[group], mine.mean(axis=0), rtol=1e-12)
        assert state.errors[group] == pytest.approx(np.square(mine - mine.mean(axis=0)).sum(), rel=1e-12)


@pytest.mark.parametrize("n", [37, 400, 1003])
def test_without_any_time_there_are_groups_all_the_same(n: int) -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(n, 3)), 5)
    found = blocks.solve(
        problem,
        BlocksOptions(block=50, groups=10),
        budget=Budget(seconds=1.0, clock=iter(range(10**6)).__next__),
    )
    verify(problem, found)
    assert found.stopped_by == StopReason.TIME and found.work == 0
    # Near records share a group even so.
    assert found.value < 0.9 * problem.sst
