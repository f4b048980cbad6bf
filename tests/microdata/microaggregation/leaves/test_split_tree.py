"""The split tree against slow and obvious twins: who goes where, and that nobody is left with fewer than k."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.microdata.microaggregation.leaves.leaf_search import canonical_order
from shoal.microdata.microaggregation.leaves.scale import STEPS, ColumnSums, scaling, step_of
from shoal.microdata.microaggregation.leaves.split_tree import LeafCount, Sample, SplitTree, leaf_numbers

MANY = settings(max_examples=150)


@st.composite
def crowds(draw: st.DrawFn) -> np.ndarray:
    """Points of few values, so that many are equal."""
    size, width = draw(st.integers(1, 60)), draw(st.integers(1, 3))
    values = draw(st.lists(st.integers(0, 4), min_size=size * width, max_size=size * width))
    return np.array(values, dtype=float).reshape(size, width)


def node_of(tree: SplitTree, point: np.ndarray, root: int = 0) -> int:
    node = root
    while tree.child[node] >= 0:
        node = int(tree.child[node]) + int(point[tree.axis[node]] > tree.threshold[node])
    return node


def grown(points: np.ndarray, target: int) -> SplitTree:
    distinct, counts = np.unique(points, axis=0, return_counts=True)
    return SplitTree.unsplit().split({0: (Sample(distinct, counts.astype(float)), len(points))}, target)


@MANY
@given(crowds(), st.integers(1, 20))
def test_every_record_goes_where_a_walk_leads(points: np.ndarray, target: int) -> None:
    tree = grown(points, target)
    nodes = tree.route(points)
    assert nodes.tolist() == [node_of(tree, point) for point in points]
    for node in set(nodes.tolist()):
        members = points[nodes == node]
        # Only what cannot be told apart stays together beyond the target.
        assert len(members) <= target or (members == members[0]).all()


@MANY
@given(crowds(), st.integers(1, 20), st.integers(2, 6), st.integers(4, 30))
def test_every_number_has_k_records_and_holds_them_all(
    points: np.ndarray, target: int, k: int, most: int
) -> None:
    tree = grown(points, target)
    nodes = tree.route(points)
    counts = {}
    for node in set(nodes.tolist()):
        members = points[nodes == node]
        counts[node] = LeafCount(len(members), 1, bool((members == members[0]).all()))
    leaves = leaf_numbers(tree, counts, k, most)
    numbers = [leaves.number_of[node] for node in nodes.tolist()]
    found = {number: numbers.count(number) for number in set(numbers)}
    assert found == leaves.records
    assert len(points) < k or min(found.values()) >= k
    for number in found:
        # Below 0 there is a crowded point; what joins it is fewer than k.
        if number < 0:
            members = points[np.array(numbers) == number]
            largest = max(counts[node].records for node in leaves.together[number])
            assert largest > most and len(members) - largest < k


def test_strata_never_share_a_number() -> None:
    sample = Sample(np.arange(20.0).reshape(-1, 1), np.ones(20))
    tree = SplitTree.unsplit(2).split({0: (sample, 20), 1: (sample, 20)}, 5)
    roots = np.repeat([0, 1], 20)
    nodes = tree.route(np.tile(sample.points, (2, 1)), roots)
    counts = {node: LeafCount(int((nodes == node).sum()), 9) for node in set(nodes.tolist())}
    leaves = leaf_numbers(tree, counts, 6, 100)
    mine = {leaves.number_of[node] for node in nodes[:20].tolist()}
    yours = {leaves.number_of[node] for node in nodes[20:].tolist()}
    assert mine and not mine & yours and min(leaves.records.values()) >= 6
    assert tree.roots()[nodes].tolist() == roots.tolist()


@MANY
@given(st.lists(st.integers(-(10**9), 10**9).map(lambda v: v / 128), min_size=2, max_size=50), st.randoms())
def test_the_scale_is_that_of_numpy_and_of_no_order(values: list[float], random) -> None:
    column = np.array(values)

    def sums(order: list[float]) -> ColumnSums:
        steps = step_of(np.array(order), column.min(), column.max())
        squares = sum(int(step) ** 2 for step in steps)
        return ColumnSums(len(order), column.min(), column.max(), int(steps.sum()), squares)

    shuffled = list(values)
    random.shuffle(shuffled)
    assert sums(shuffled) == sums(values)
    width = column.max() - column.min()
    assert abs(sums(values).spread * width - np.std(column, ddof=1)) <= 4 * width / STEPS
    # Told from its centre no two values become one, and none is further from it than the range is wide, or twice that.
    centre = sums(values).centre
    assert np.unique(column - centre).size == np.unique(column).size
    assert np.abs(column - centre).max() <= 2 * width
    if width == 0:
        assert scaling([sums(values)], [1.0]).points(column[:, None]).tolist() == [[0.0]] * len(values)


@MANY
@given(crowds(), st.randoms())
def test_the_order_of_a_leaf_is_its_own(points: np.ndarray, random) -> None:
    ties = np.arange(len(points)) % 3
    shuffled = list(range(len(points)))
    random.shuffle(shuffled)
    table = np.column_stack([points, ties])
    one = table[canonical_order(points, ties)]
    other = table[shuffled][canonical_order(points[shuffled], ties[shuffled])]
    assert one.tolist() == other.tolist() == sorted(table.tolist())
