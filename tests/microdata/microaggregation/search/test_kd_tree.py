import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.microdata.microaggregation.search.kd_tree import nearest, split, tree_of


def cloud(n: int, d: int, seed: int, twins: bool) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(n, d))
    return np.round(points) if twins else points


clouds = st.builds(cloud, st.integers(2, 80), st.integers(1, 4), st.integers(0, 2**32 - 1), st.booleans())


@settings(max_examples=100, deadline=None)
@given(clouds, st.integers(1, 9), st.integers(1, 20))
def test_nearest_neighbours_are_the_nearest(points: np.ndarray, leaf: int, count: int) -> None:
    n = len(points)
    count = min(count, n - 1)
    tree = tree_of(points, leaf)
    assert sorted(tree.order.tolist()) == list(range(n))
    assert (tree.points == points[tree.order]).all()
    distances = np.empty((n, count))
    places = np.empty((n, count), dtype=np.int32)
    nearest(tree, 0, n, count, distances, places)
    for i in range(n):
        away = np.square(tree.points - tree.points[i]).sum(axis=1)
        others = np.delete(away, i)
        np.testing.assert_allclose(distances[i], np.sort(others)[:count], rtol=1e-12)
        assert i not in places[i] and len(set(places[i].tolist())) == count
        np.testing.assert_allclose(away[places[i]], distances[i], rtol=1e-12)


@settings(max_examples=100, deadline=None)
@given(clouds, st.integers(1, 9), st.integers(1, 6))
def test_blocks_cover_all_points_in_multiples(points: np.ndarray, leaf: int, multiple: int) -> None:
    n = len(points)
    order = np.arange(n, dtype=np.int64)
    ends = np.empty(n + 1, dtype=np.int64)
    count = split(points, order, 0, n, leaf, multiple, ends)
    assert sorted(order.tolist()) == list(range(n))
    sizes = np.diff(ends[:count], prepend=0)
    assert ends[count - 1] == n and sizes.min() > 0
    assert all(size <= leaf or size < 2 * multiple for size in sizes)
    assert all(size % multiple == 0 for size in sizes[:-1])


@settings(max_examples=50, deadline=None)
@given(st.integers(4, 60), st.integers(0, 2**32 - 1))
def test_a_split_is_at_the_median_of_the_widest_coordinate(n: int, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(n, 2)) * np.array([1.0, 50.0])
    order = np.arange(n, dtype=np.int64)
    ends = np.empty(n + 1, dtype=np.int64)
    split(points, order, 0, n, (n + 1) // 2, 1, ends)
    left, right = points[order[: n // 2]], points[order[n // 2 :]]
    assert left[:, 1].max() <= right[:, 1].min()
