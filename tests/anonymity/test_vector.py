"""The anonymity vector as a value: order, figures, what it refuses."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from itertools import pairwise, zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.anonymity.partition_twins import vectors

from shoal import InputError
from shoal.anonymity import AnonymityVector, ranks

COUNTS = st.lists(st.integers(0, 4), max_size=8)


def twin_order(one: list[int], other: list[int]) -> int:
    """−1 if the first is smaller, by padding with zeros and looking entry by entry."""
    for left, right in zip_longest(one, other, fillvalue=0):
        if left != right:
            return -1 if left < right else 1
    return 0


def test_trailing_zeros_do_not_matter():
    vector = AnonymityVector((5, 2, 2, 0, 0))
    assert vector == AnonymityVector((5, 2, 2)) == AnonymityVector({3: 2, 1: 5, 2: 2, 9: 0})
    assert hash(vector) == hash(AnonymityVector((5, 2, 2)))
    assert (len(vector), vector.population, vector.classes) == (3, 15, 9)
    assert AnonymityVector(vector) == vector


@given(COUNTS, COUNTS)
def test_order_is_lexicographic_with_padding(one, other):
    left, right = AnonymityVector(one), AnonymityVector(other)
    expected = twin_order(one, other)
    assert (left < right, left == right, left > right) == (expected < 0, expected == 0, expected > 0)
    assert (left <= right, left >= right) == (expected <= 0, expected >= 0)


@given(COUNTS)
def test_figures_agree_with_their_definition(counts):
    vector = AnonymityVector(counts)
    sizes = [size for size, count in enumerate(counts, 1) for _ in range(count)]
    assert vector == AnonymityVector.from_sizes(sizes)
    assert vector.population == sum(sizes)
    assert vector.classes == len(sizes)
    assert vector.k == min(sizes, default=0)
    assert len(vector) == max(sizes, default=0)
    assert bool(vector) == bool(sizes)
    assert list(vector) == counts[: len(vector)]
    assert vector.to_dict() == dict(vector.items())
    assert sum(vector.people.values()) == vector.population
    assert [vector[size] for size in range(1, 12)] == [sizes.count(size) for size in range(1, 12)]
    assert vector.below(3) == sum(size for size in sizes if size < 3)
    if sizes:
        assert vector.maximum_risk == 1 / min(sizes)
        # The chance to be singled out, averaged over people.
        assert vector.average_risk == pytest.approx(sum(size * (1 / size) for size in sizes) / sum(sizes))
        assert vector.weighted_mean_size == pytest.approx(sum(s * s for s in sizes) / sum(sizes))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.data())
def test_splitting_a_class_is_always_worse(sizes, data):
    place = data.draw(st.integers(0, len(sizes) - 1))
    if sizes[place] == 1:
        return
    part = data.draw(st.integers(1, sizes[place] - 1))
    split = [*sizes[:place], part, sizes[place] - part, *sizes[place + 1 :]]
    assert AnonymityVector.from_sizes(sizes) < AnonymityVector.from_sizes(split)


def test_order_agrees_with_rank_and_k():
    ordered = [AnonymityVector(dict(pairs)) for pairs in vectors(12)]
    assert ordered == sorted(ordered, reverse=True)
    assert ranks(ordered) == list(range(len(ordered)))
    for worse, better in pairwise(ordered):
        assert better < worse
        assert better.k >= worse.k


def test_rank_and_back():
    vector = AnonymityVector((2, 3, 2, 4))
    assert vector.vectors == 5604
    assert AnonymityVector.from_rank(30, vector.rank) == vector
    assert AnonymityVector.from_rank(30, np.int64(0)) == AnonymityVector((30,))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 5603), st.integers(0, 5603), st.integers(1, 5603))
def test_difference_distance_and_improvement(one, other, base):
    left, right, root = (AnonymityVector.from_rank(30, rank) for rank in (one, other, base))
    assert left.difference(right) == one - other
    assert (left <= right) == (left.difference(right) >= 0)
    assert left.distance(right) == right.distance(left) == abs(one - other)
    assert left.improvement(right, root) == (one - other) / base
    assert left.improvement_counted_from_one(right, root) == (one - other) / (base + 1)


def test_improvement_over_a_base_of_singles_is_not_defined():
    worst, best = AnonymityVector((4,)), AnonymityVector((0, 2))
    with pytest.raises(InputError, match="rank is 0"):
        best.improvement(worst, worst)
    assert best.improvement_counted_from_one(worst, worst) == 3.0


def test_improvement_of_a_large_population_is_a_plain_number():
    base = AnonymityVector({50: 200})
    random = AnonymityVector({1: 4000, 2: 3000})
    assert 0 < base.improvement(random, base) <= 1


def test_vectors_of_different_populations_have_no_common_rank():
    with pytest.raises(InputError, match="one population"):
        AnonymityVector((4,)).difference(AnonymityVector((5,)))


def test_sizes_may_be_an_array_of_any_shape():
    matrix = np.array([[0, 0, 4, 0, 0], [4, 0, 0, 0, 0], [0, 0, 0, 3, 2], [0, 2, 0, 0, 0]])
    assert AnonymityVector.from_sizes(matrix) == AnonymityVector((0, 2, 1, 2))


def test_a_billion_people_are_no_burden():
    vector = AnonymityVector({10**9 - 7: 1, 7: 1})
    assert (len(vector), vector.population, vector.k) == (10**9 - 7, 10**9, 7)
    assert vector < AnonymityVector({1: 1, 10**9 - 1: 1})
    assert str(vector) == "{7: 1, 999999993: 1}"
    assert vector[10**9 - 7] == 1
    with pytest.raises(InputError, match="6,000,000"):
        _ = vector.rank


def test_nobody():
    nobody = AnonymityVector()
    assert (nobody.population, nobody.k, nobody.classes, len(nobody)) == (0, 0, 0, 0)
    assert (nobody.maximum_risk, nobody.average_risk, nobody.weighted_mean_size) == (0.0, 0.0, 0.0)
    assert (nobody.rank, nobody.vectors, str(nobody)) == (0, 1, "()")


@pytest.mark.parametrize("counts", [(0, 2, 1, 2), {1: 3, 4000: 2}, dict.fromkeys(range(1, 40), 1)])
def test_text(counts):
    vector = AnonymityVector(counts)
    if len(vector.pairs) < 9:
        assert eval(repr(vector)) == vector
    else:
        assert str(vector) == "{1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, …, 39: 1}"


def test_it_is_a_value():
    vector = AnonymityVector((0, 2))
    assert pickle.loads(pickle.dumps(vector)) == vector == copy.copy(vector)
    assert len({vector, AnonymityVector((0, 2)), AnonymityVector((1,))}) == 2
    with pytest.raises(FrozenInstanceError):
        vector.pairs = ()
    assert vector != (0, 2)
    with pytest.raises(TypeError):
        _ = vector < (0, 2)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((1, -1), "negative"),
        ({0: 3}, "begin at 1"),
        ({-2: 3}, "begin at 1"),
        ((1.5, 2), "whole number"),
        ("12", "made of counts"),
        (7, "made of counts"),
        ({"a": 1}, "whole number"),
    ],
)
def test_what_is_no_vector_is_refused(counts, words):
    with pytest.raises(InputError, match=words):
        AnonymityVector(counts)


def test_sizes_begin_at_one():
    with pytest.raises(IndexError, match="begin at 1"):
        AnonymityVector((1,))[0]
    with pytest.raises(InputError, match="begin at 1"):
        AnonymityVector.from_sizes([3, -1])
    with pytest.raises(InputError, match="whole number"):
        AnonymityVector.from_rank(4, 1.5)
