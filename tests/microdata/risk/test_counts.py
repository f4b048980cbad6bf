"""Counts where missing values match anything: both ways against comparing all pairs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.risk.brute_force import alike

from shoal.microdata.risk import counts
from shoal.microdata.risk.counts import Hiding, classes_of, count_classes
from shoal.microdata.risk.verify import recount

ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=15, unique=True)
)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_two_ways_to_count_what_is_compatible(given_rows: list[tuple[int, ...]]) -> None:
    rows = np.array(given_rows, dtype=np.int32) - 1
    rng = np.random.default_rng(len(rows))
    records, weights = rng.integers(0, 5, len(rows)), rng.integers(1, 99, len(rows)) / 4
    blank = [tuple(None if value < 0 else value for value in row) for row in rows.tolist()]
    close = [[j for j, other in enumerate(blank) if alike(row, other, "wildcard")] for row in blank]
    index = counts._index(rows, 3)
    best, _ = counts._comparisons(rows, index)
    for f, F in (
        counts._by_pairs(rows, index, best, records, weights),
        counts._by_patterns(rows, records, weights),
    ):
        assert f.tolist() == [int(records[own].sum()) for own in close]
        assert np.allclose(F, [weights[own].sum() for own in close], rtol=1e-14, atol=0)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_comparisons_are_counted_by_the_key_with_fewest(given_rows: list[tuple[int, ...]]) -> None:
    rows = np.array(given_rows, dtype=np.int32) - 1
    _, comparisons = counts._comparisons(rows, counts._index(rows, 3))
    expected = 0
    for row in rows:
        if (row >= 0).all():
            continue
        near = [
            int(((rows[:, key] == own) | (rows[:, key] < 0)).sum()) for key, own in enumerate(row) if own >= 0
        ]
        expected += min(near, default=len(rows))
    assert comparisons == expected


def test_own_values_are_hidden_among_their_equals_alone() -> None:
    codes = np.array([[0, 1, 2]], dtype=np.int32)
    plain = classes_of(codes, [3], [2], np.array([4, 1, 1]), np.ones(3), wildcard=False)
    assert plain.counts.tolist() == [4, 1, 1]


def test_tally_counts_records_not_classes() -> None:
    hiding = Hiding(np.array([0, 1, 3, 2, 5]), np.array([1, 1, 2, 2, 6]), np.ones(5))
    assert hiding.tally() == (1, 1, 5)
    assert Hiding(np.array([0, 7]), np.array([1, 9]), np.ones(2)).tally() == (9, 0, 0)


@pytest.mark.parametrize("wildcard", [False, True])
def test_a_wrong_count_is_found_when_it_is_counted_again(wildcard: bool) -> None:
    columns = [np.array([0, 0, 1, 2], dtype=np.int32), np.array([0, 0, 1, 1], dtype=np.int32)]
    records, weights = np.ones(4, dtype=np.int64), np.array([5.0, 6.0, 7.0, 8.0])
    groups, right = count_classes(columns, [3, 2], [2, -1], records, weights, wildcard=wildcard)

    def check(claimed: Hiding) -> None:
        recount(
            columns,
            [2, -1],
            records,
            weights,
            claimed=claimed,
            class_of=groups.of_record,
            wildcard=wildcard,
        )

    check(right)
    for wrong in (
        replace(right, counts=right.counts + 1),
        replace(right, populations=right.populations * 1.001),
        replace(right, records=right.records + 1),
    ):
        with pytest.raises(AssertionError):
            check(wrong)
