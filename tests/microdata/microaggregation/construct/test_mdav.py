import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata import casc

from shoal.errors import Infeasible
from shoal.microdata.microaggregation.construct import mdav
from shoal.microdata.microaggregation.construct.mdav import MdavOptions, mdav_labels
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import group_means
from shoal.microdata.microaggregation.verify import verify

PUBLISHED = {
    "tarragona": (16.9326, 19.5458, 22.4613, 26.3252, 33.1929),
    "census": (5.6922, 7.4947, 9.0884, 10.3847, 14.1559),
    "eia": (0.4829, 0.6714, 1.6667, 1.3078, 3.8397),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_reproduces_the_published_losses(name: str) -> None:
    table = casc.eia(columns=11) if name == "eia" else getattr(casc, name)()
    for k, published in zip((3, 4, 5, 6, 10), PUBLISHED[name], strict=True):
        loss = mdav.solve(Problem.standardised(table, k)).loss_percent
        # Ties decide the last digits of Tarragona 4 and 5; EIA 4 is printed as 0.6714 and as 0.67.
        tolerance = 6.5e-4 if name == "tarragona" and k in (4, 5) else 1.01e-4
        assert loss == pytest.approx(published, abs=tolerance)


def slow_mdav(
    points: np.ndarray, k: int, enough: int, manhattan: bool
) -> tuple[np.ndarray, list[np.ndarray]]:
    left = list(range(len(points)))
    labels = np.full(len(points), -1)
    means = []

    def away(origin: np.ndarray) -> np.ndarray:
        difference = points[left] - origin
        return np.abs(difference).sum(axis=1) if manhattan else np.square(difference).sum(axis=1)

    def take(centre: int, label: int) -> None:
        distance = away(points[centre])
        distance[left.index(centre)] = -1
        for x in [left[m] for m in np.argsort(distance, kind="stable")[:k]]:
            labels[x] = label
            left.remove(x)

    label = 0
    while len(left) >= 2 * k:
        means.append(points[left].mean(axis=0))
        r = left[int(np.argmax(away(means[-1])))]
        take(r, label)
        label += 1
        if len(left) >= enough:
            s = left[int(np.argmax(away(points[r])))]
            take(s, label)
            label += 1
    if left:
        labels[left] = label
    return labels, means


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 60),
    d=st.integers(1, 5),
    k=st.integers(2, 9),
    strict=st.booleans(),
    manhattan=st.booleans(),
    whole=st.booleans(),
)
def test_equals_the_slow_twin(
    seed: int, n: int, d: int, k: int, strict: bool, manhattan: bool, whole: bool
) -> None:
    rng = np.random.default_rng(seed)
    # Small whole numbers make ties and duplicates, and distances that are exact in both.
    points = rng.integers(0, 5, size=(n, d)).astype(float) if whole else rng.normal(size=(n, d))
    k = min(k, n)
    expected, means = slow_mdav(points, k, 2 * k if strict else k + 1, manhattan)
    centroids = np.empty((len(means), d))
    labels = np.empty(n, dtype=np.int32)
    mdav._mdav(points.T.copy(), k, 2 * k if strict else k + 1, manhattan, labels, centroids)
    if not whole:  # with ties the last digit of a mean may decide who is farthest
        assert labels.tolist() == expected.tolist()
        if means:
            np.testing.assert_allclose(centroids, means, rtol=0, atol=1e-9)
    assert sorted(np.bincount(labels)) == sorted(np.bincount(expected))


@pytest.mark.parametrize("m, k, sizes", [
    (380, 5, [5] * 76), (380, 10, [10] * 38), (380, 25, [25] * 14 + [30]), (380, 50, [50] * 6 + [80]),
    (380, 100, [100] * 2 + [180]), (1080, 25, [25] * 42 + [30]), (1080, 50, [50] * 20 + [80]),
    (1080, 100, [80] + [100] * 10),
])  # fmt: skip
def test_compatible_sizes(m: int, k: int, sizes: list[int]) -> None:
    points = np.random.default_rng(m).normal(size=(m, 3))
    assert sorted(np.bincount(mdav_labels(points, k, bounds="compatible"))) == sizes


@pytest.mark.parametrize("k", [2, 3, 7])
def test_strict_sizes(k: int) -> None:
    for m in range(2 * k, 5 * k + 1):
        sizes = np.bincount(mdav_labels(np.random.default_rng(m).normal(size=(m, 2)), k))
        assert k <= sizes.min() and sizes.max() <= 2 * k - 1


def test_worked_example() -> None:
    for column, protected in (
        ([1, 3, 5, 8, 12, 13], [2, 2, 6.5, 6.5, 12.5, 12.5]),
        ([2, 6, 3, 9, 8, 10], [2.5, 7, 2.5, 9.5, 7, 9.5]),
    ):
        points = np.array(column, dtype=float)[:, None]
        labels = mdav_labels(points, 2)
        assert group_means(points, labels)[labels, 0].tolist() == protected


def test_compatible_bounds_that_break_k_are_refused() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(108, 2)), k=10)
    with pytest.raises(Infeasible, match="strict"):
        mdav.solve(problem, MdavOptions(bounds="compatible"))


@pytest.mark.parametrize("largest", [5, 6])
def test_the_cap_is_honoured(largest: int) -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(39, 2)), k=5, largest=largest + 1)
    verify(problem, mdav.solve(problem))
