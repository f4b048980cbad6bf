"""Groups and leaves of enough distinct units, against slow and obvious twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.microaggregation.leaves.test_split_tree import crowds, grown

from shoal.microdata.microaggregation.leaves.split_tree import LeafCount, leaf_numbers
from shoal.microdata.microaggregation.leaves.units import with_enough_units

MANY = settings(max_examples=150)


def joined_slowly(points: np.ndarray, labels: np.ndarray, units: np.ndarray, k: int) -> list[set[int]]:
    """The group of fewest units joins another until none has too few; ties go to the first."""
    groups = {label: set(np.flatnonzero(labels == label).tolist()) for label in sorted(set(labels.tolist()))}
    while len(groups) > 1:
        owners = {label: {units[i] for i in members} for label, members in groups.items()}
        label = min(groups, key=lambda one: (len(owners[one]), one))
        if len(owners[label]) >= k:
            break
        own = points[sorted(groups[label])]

        def cost(other: int, own: np.ndarray = own) -> float:
            theirs = points[sorted(groups[other])]
            gone = float(np.square(own.mean(axis=0) - theirs.mean(axis=0)).sum())
            return gone * len(theirs) / (len(theirs) + len(own))

        other = min((one for one in groups if one != label), key=lambda one: (round(cost(one), 9), one))
        groups[other] |= groups.pop(label)
    return sorted(groups.values(), key=min)


@MANY
@given(crowds(), st.integers(1, 12), st.integers(1, 6), st.randoms(use_true_random=False))
def test_groups_of_too_few_units_join_the_cheapest(points: np.ndarray, groups: int, k: int, random) -> None:
    # Apart from each other, so that no two ways cost the same but for rounding.
    points = points + np.array([[random.random() for _ in row] for row in points])
    drawn = np.array([random.randrange(groups) for _ in points])
    labels = np.unique(drawn, return_inverse=True)[1].reshape(-1)
    units = np.array([random.randrange(8) for _ in points])
    found = with_enough_units(points, labels, units, k)
    mine = sorted((set(np.flatnonzero(found == label).tolist()) for label in set(found.tolist())), key=min)
    assert mine == joined_slowly(points, labels, units, k)
    enough = all(len({units[i] for i in members}) >= k for members in mine)
    assert enough or len(mine) == 1


@MANY
@given(crowds(), st.integers(1, 20), st.integers(2, 5), st.integers(4, 30), st.randoms(use_true_random=False))
def test_every_number_of_a_leaf_has_k_units(
    points: np.ndarray, target: int, k: int, most: int, random
) -> None:
    units = np.array([random.randrange(6) for _ in points])
    tree = grown(points, target)
    nodes = tree.route(points)
    counts = {}
    for node in set(nodes.tolist()):
        members = points[nodes == node]
        owners = len(set(units[nodes == node].tolist()))
        # What is sure may be less than what is.
        sure = random.randint(1, owners)
        counts[node] = LeafCount(len(members), 1, bool((members == members[0]).all()), sure)
    leaves = leaf_numbers(tree, counts, k, most)
    numbers = np.array([leaves.number_of[node] for node in nodes.tolist()])
    assert {number: int((numbers == number).sum()) for number in set(numbers.tolist())} == leaves.records
    for number in leaves.records:
        owners = len(set(units[numbers == number].tolist()))
        assert owners >= k or len(leaves.records) == 1
