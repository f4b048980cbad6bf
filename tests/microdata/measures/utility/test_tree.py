from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility.auc import area
from shoal.microdata.measures.utility.classification import classify
from shoal.microdata.measures.utility.tree import folds_of, separability
from shoal.microdata.measures.utility.tree_kernels import Tree, grow, read
from shoal.runtime import Seeds


@st.composite
def cases(draw):
    n, columns = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    bins = draw(hnp.arrays(np.int64, (n, columns), elements=st.integers(0, 3)))
    positive = np.array(draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)))
    ordered = np.array(draw(st.lists(st.booleans(), min_size=columns, max_size=columns)))
    return bins, positive, ordered


def gini(positive):
    return len(positive) * np.mean(positive) * (1 - np.mean(positive)) if len(positive) else 0.0


def best_fall(bins, positive, ordered, fewest):
    """Every way to part the bins of every column; those of ordered ones at a value."""
    best = 0.0
    for column in range(bins.shape[1]):
        values = range(4)
        ways = [set(left) for size in (1, 2, 3) for left in combinations(values, size)]
        if ordered[column]:
            ways = [set(range(upto)) for upto in (1, 2, 3)]
        for left in ways:
            goes = np.isin(bins[:, column], list(left))
            if min(goes.sum(), (~goes).sum()) >= fewest:
                fall = gini(positive) - gini(positive[goes]) - gini(positive[~goes])
                best = max(best, fall)
    return best


@settings(max_examples=120, deadline=None)
@given(cases(), st.integers(1, 2))
def test_one_question_is_the_best_there_is(case, fewest):
    bins, positive, ordered = case
    # The order of shares is the best one of all ways only while a leaf may be of any size.
    fewest = fewest if ordered.all() else 1
    sizes = np.full(bins.shape[1], 4)
    rows = np.arange(len(bins))
    tree = Tree(*grow(bins, positive, rows, ordered, sizes, 1, fewest))
    shares = read(tree, bins, rows)
    after = sum(gini(positive[shares == share]) for share in np.unique(shares))
    # Equal shares in both leaves make no difference to the sum.
    assert gini(positive) - after == pytest.approx(best_fall(bins, positive, ordered, fewest), abs=1e-9)
    for share in np.unique(shares):
        assert np.mean(positive[shares == share]) == pytest.approx(share)


def test_a_deep_tree_learns_an_exclusive_or():
    draw = np.random.default_rng(0)
    bins = draw.integers(0, 4, size=(400, 3))
    positive = ((bins[:, 0] > 1) ^ (bins[:, 1] > 1)).astype(float)
    tree = Tree(*grow(bins, positive, np.arange(400), np.ones(3, bool), np.full(3, 4), 6, 5))
    assert np.mean((read(tree, bins, np.arange(400)) > 0.5) == positive) > 0.95


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=15))
def test_the_area_is_the_share_of_pairs_in_order(cases):
    high = [score for score, positive in cases if positive]
    low = [score for score, positive in cases if not positive]
    won = [(a > b) + 0.5 * (a == b) for a in high for b in low]
    scores, positive = (np.array(part) for part in zip(*cases, strict=True))
    assert area(scores, positive) == pytest.approx(np.mean(won) if won else 0.5)


def test_people_are_in_one_fold_and_equal_tables_cannot_be_told_apart():
    people = np.random.default_rng(0).integers(0, 40, 200)
    fold = folds_of(people, Seeds(1))
    assert all(len(set(fold[people == person])) == 1 for person in set(people)) and len(set(fold)) == 5
    table = np.random.default_rng(1).normal(size=(300, 3))
    assert separability(MixedTables.of_numbers(table, table), seeds=Seeds(0)) == (0.0, 0.5)


def test_a_release_that_lost_a_relation_predicts_worse():
    draw = np.random.default_rng(3)
    first = draw.normal(size=(900, 1))
    before = np.hstack([first, first + 0.2 * draw.normal(size=(900, 1))])
    after = np.column_stack([before[:, 0], draw.permutation(before[:, 1])])
    lost, kept = (
        classify(MixedTables.of_numbers(before, release), seeds=Seeds(0)).predictions[0]
        for release in (after, before)
    )
    assert kept.release == kept.original > 0.9 and lost.original == pytest.approx(kept.original, abs=0.05)
    assert lost.release < 0.65
