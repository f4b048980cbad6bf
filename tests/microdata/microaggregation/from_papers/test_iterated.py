import numpy as np
import pytest
from tests.microdata import casc

from shoal.errors import InputError
from shoal.microdata.microaggregation.from_papers.iterated import IteratedOptions, ilsm, ilsmc
from shoal.microdata.microaggregation.from_papers.local_search import ls, lsc
from shoal.microdata.microaggregation.problem import Problem, standardise
from shoal.microdata.microaggregation.search.descent import Descent, group_limits
from shoal.microdata.microaggregation.search.kernels import pairs, perturbation
from shoal.microdata.microaggregation.search.kernels.groups import total_error
from shoal.microdata.microaggregation.search.kernels.space import working_space
from shoal.microdata.microaggregation.solution import squared_error
from shoal.microdata.microaggregation.verify import verify
from shoal.runtime import Budget, Seeds

FIRST_ROWS = {
    "tarragona": [-0.37861, -0.48639, -0.2837, -0.02597, -0.02308, 0.07261, -0.068, -0.41123, -0.1062, -0.03452,
                  -0.00071, -0.14978, -0.13883],
    "census": [0.739487803, -0.432373901, 0.713255797, -0.596032084, 0.013888974, -0.640145244, -0.419519668,
               -0.543431262, -0.371754498, 0.260923742, 0.362487702, 0.290109471, 0.341212348],
    "eia": [-0.427604166, -0.538286816, -0.32878662, -0.458881554, -0.539673926, -0.612108827, -0.061995332,
            -0.196206166, -0.430195776, -0.574804969],
}  # fmt: skip
SHAPES = {"tarragona": (834, 13), "census": (1080, 13), "eia": (4092, 10)}


@pytest.mark.parametrize("name", SHAPES)
def test_standardising_gives_the_published_first_rows(name: str) -> None:
    table = getattr(casc, name)()
    if name == "tarragona":  # columns 7 to 11 are printed in another order
        table = table[:, [0, 1, 2, 3, 4, 5, 8, 10, 7, 6, 9, 11, 12]]
    problem = Problem.standardised(table, 3)
    assert problem.points.shape == SHAPES[name]
    np.testing.assert_allclose(
        problem.points[0], FIRST_ROWS[name], atol=5.1e-6 if name == "tarragona" else 1e-9
    )
    assert problem.sst == pytest.approx((problem.n - 1) * problem.d, abs=1e-6)


def test_loss_of_extremes_and_of_another_divisor() -> None:
    points = np.random.default_rng(0).normal(size=(12, 3))
    problem = Problem.standardised(points, 3)
    assert problem.percent(squared_error(problem.points, np.zeros(12, dtype=int))) == pytest.approx(100)
    twins = Problem(np.repeat(points[:4], 3, axis=0), 3)
    assert twins.percent(squared_error(twins.points, np.repeat(np.arange(4), 3))) == pytest.approx(
        0, abs=1e-12
    )
    labels = np.arange(12) % 4
    scaled = Problem(standardise(points) * np.sqrt(12 / 11), 3)
    assert scaled.percent(squared_error(scaled.points, labels)) == pytest.approx(
        problem.percent(squared_error(problem.points, labels)), abs=1e-9
    )


LIMITS = {
    (834, 3): (256, 278), (834, 4): (191, 208), (834, 5): (152, 166), (834, 6): (127, 139), (834, 10): (76, 83),
    (1080, 3): (332, 360), (1080, 4): (247, 270), (1080, 5): (197, 216), (1080, 6): (164, 180), (1080, 10): (98, 108),
    (4092, 3): (1255, 1364), (4092, 4): (936, 1023), (4092, 5): (746, 818), (4092, 6): (620, 682),
    (4092, 10): (371, 409),
}  # fmt: skip


@pytest.mark.parametrize("case", LIMITS, ids=str)
def test_limits_of_the_number_of_groups(case: tuple[int, int]) -> None:
    n, k = case
    assert group_limits(Problem(np.zeros((n, 1)), k), 0.2) == LIMITS[case]


def is_fixed(problem: Problem, labels: np.ndarray) -> bool:
    """Whether a full pass over all pairs finds nothing to improve."""
    state = Descent(problem, working_space(problem.points, problem.k), Seeds(9).state())
    state.begin_at(labels)
    count, everything = int(state.groups.number[0]), True
    pairs.descend(state.space, state.groups, state.search, everything, count)
    return not state.search.standing[pairs.MOVED]


@pytest.mark.parametrize("method", [ls, lsc, ilsm, ilsmc])
def test_results_are_local_optima_and_add_up(method: object) -> None:
    problem = Problem.standardised(np.exp(np.random.default_rng(1).normal(size=(150, 4))), 4)
    found = method(problem, budget=Budget(iterations=30), seeds=Seeds(3))  # type: ignore[operator]
    verify(problem, found)
    assert is_fixed(problem, found.labels)
    counts = found.statistics
    assert counts.searches == (30 if method in (ls, lsc) else 31)
    assert counts.opened <= counts.pairs and counts.rejected == counts.pairs - counts.opened
    assert counts.swaps + counts.shifts <= counts.tested
    if method in (ilsm, ilsmc):
        assert (
            counts.improved + counts.accepted + counts.returned == counts.dissolved + counts.distilled == 30
        )
        assert (np.diff(counts.course) <= 0).all() and counts.course[-1] == pytest.approx(found.value)
        first = counts.initial_lists.sum() + counts.lists.sum() * 30
        assert counts.pairs == pytest.approx(first)


def test_the_search_ends_in_a_local_optimum_on_eia() -> None:
    """Fails if distilling forgets to test the group that gave the seed."""
    problem = Problem.standardised(casc.eia(), 3)
    for seed in range(3):
        found = ilsmc(problem, budget=Budget(iterations=3000), seeds=Seeds(seed))
        assert is_fixed(problem, found.labels)
        assert found.statistics.searches == 3001
        low, high = problem.fewest_groups, problem.most_groups
        assert low <= found.groups <= high


def test_cutting_the_work_changes_nothing() -> None:
    problem = Problem.standardised(np.random.default_rng(2).normal(size=(120, 3)), 3)
    whole = ilsmc(problem, budget=Budget(iterations=400), seeds=Seeds(1))
    ticks = iter(range(10**9))
    slow = Budget(iterations=400, clock=lambda: next(ticks) * 0.01)
    cut = ilsmc(problem, budget=slow, seeds=Seeds(1))
    assert cut.labels.tolist() == whole.labels.tolist()
    assert cut.statistics.course.tolist() == whole.statistics.course.tolist()
    assert cut.statistics.pairs == whole.statistics.pairs


def test_fewer_pairs_for_the_same_quality() -> None:
    problem = Problem.standardised(casc.census(), 5)
    all_pairs = ilsm(problem, budget=Budget(iterations=150))
    changed = ilsmc(problem, budget=Budget(iterations=150))
    assert changed.statistics.pairs * 10 < all_pairs.statistics.pairs
    assert changed.loss_percent == pytest.approx(all_pairs.loss_percent, rel=0.05)


@pytest.mark.parametrize("method", [ls, lsc, ilsm, ilsmc])
def test_a_start_is_honoured(method: object) -> None:
    problem = Problem(np.random.default_rng(2).normal(size=(40, 3)), 3)
    good = ilsmc(problem, budget=Budget(iterations=2000), seeds=Seeds(5))
    again = method(problem, budget=Budget(iterations=1), seeds=Seeds(6), start=good.labels)  # type: ignore[operator]
    assert again.value <= good.value
    one = method(problem, budget=Budget(iterations=1), start=np.zeros(40, dtype=int))  # type: ignore[operator]
    verify(problem, one)
    for wrong in (np.arange(40) // 2, np.zeros(3, dtype=int), np.zeros(40)):
        with pytest.raises(InputError):
            method(problem, start=wrong)  # type: ignore[operator]


@pytest.mark.parametrize("dissolve", ["uniform", "biased"])
@pytest.mark.parametrize("acceptance", ["static", "dynamic"])
def test_variants_reach_a_sound_loss(dissolve: str, acceptance: str) -> None:
    problem = Problem.standardised(casc.census(), 3)
    options = IteratedOptions(dissolve=dissolve, acceptance=acceptance)  # type: ignore[arg-type]
    found = ilsmc(problem, options, budget=Budget(iterations=2000), seeds=Seeds(1))
    verify(problem, found)
    assert found.loss_percent < 4.95
    if acceptance == "static":
        kept, returned = found.statistics.accepted, found.statistics.returned
        assert kept / (kept + returned) == pytest.approx(0.8, abs=0.03)


def test_the_kept_error_is_the_recomputed_one() -> None:
    problem = Problem.standardised(casc.tarragona(), 5)
    found = ilsmc(problem, budget=Budget(iterations=1000))
    assert found.statistics.course[-1] == pytest.approx(found.value, rel=1e-9)
    state = Descent(problem, working_space(problem.points, problem.k), Seeds(9).state())
    state.begin_at(found.labels)
    assert total_error(state.groups) * state.space.unit == pytest.approx(found.value, rel=1e-9)


def test_the_way_to_the_first_local_optimum_is_counted_apart_from_the_iterations() -> None:
    problem = Problem.standardised(np.random.default_rng(3).normal(size=(300, 3)), k=3)
    for method in (ilsm, ilsmc):
        only, more = (method(problem, budget=Budget(iterations=count), seeds=Seeds(4)) for count in (1, 40))
        # The first descent is the same however many iterations follow it.
        assert only.statistics.first_pairs == more.statistics.first_pairs > 0
        assert more.statistics.pairs == more.statistics.first_pairs + more.statistics.later_pairs
        assert only.statistics.later_pairs < more.statistics.later_pairs
        assert more.statistics.cpu >= more.statistics.first_cpu >= 0
        assert [work for work, _ in more.statistics.clock][-1] == 40
    slow, fast = (
        method(problem, budget=Budget(iterations=40), seeds=Seeds(4)).statistics for method in (ilsm, ilsmc)
    )
    # What the lists spare is hidden by the first descent, in which nearly all pairs are new to both.
    assert slow.later_pairs / fast.later_pairs > 1.2 * slow.pairs / fast.pairs


def test_naive_lists_begin_with_all_pairs_and_reach_a_local_optimum_of_the_full_search() -> None:
    problem = Problem.standardised(np.random.default_rng(3).normal(size=(200, 3)), k=3)
    plain, naive, everything = (
        method(problem, IteratedOptions(lists=lists), budget=Budget(iterations=30), seeds=Seeds(2)).statistics
        for method, lists in ((ilsmc, "changed"), (ilsmc, "all"), (ilsm, "changed"))
    )
    # Its first pass after a perturbation looks at all pairs, the later ones at those that changed.
    assert 3 * plain.lists[0] < naive.lists[0] == pytest.approx(everything.lists[0], rel=0.1)
    assert plain.later_pairs < naive.later_pairs < everything.later_pairs


def test_biased_distilling_begins_far_from_a_centre() -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    problem = Problem.standardised(points, k=3)
    away = {}
    for sample in (1, 20):
        distances = []
        for seed in range(40):
            state = Descent(problem, working_space(problem.points, 3), Seeds(seed).state())
            state.begin_at_random(*group_limits(problem, 1.0))
            labels = state.labels()
            centres = np.array([problem.points[labels == g].mean(axis=0) for g in range(labels.max() + 1)])
            if state.groups.number[0] >= problem.most_groups:
                continue
            perturbation.distill(state.space, state.groups, state.search, sample)
            new = int(state.groups.number[0]) - 1
            first = int(state.groups.members[new, 0])
            distances.append(float(np.linalg.norm(problem.points[first] - centres[labels[first]])))
        away[sample] = np.mean(distances)
    assert away[20] > 1.2 * away[1]
    found = ilsmc(problem, IteratedOptions(distill="biased"), budget=Budget(iterations=20))
    verify(problem, found)
