import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.measures.tables import SMALL, pairs

from shoal.microdata.measures.attacks.rank_windows import Ranks, attack, count_windows, count_within
from shoal.microdata.measures.categories import pair_categories
from shoal.microdata.measures.mixed import MixedTables
from shoal.runtime import Seeds


def plain(before, after, reaches):
    """Each person beside each record, column by column."""
    n, d = after.shape
    gaps = np.zeros((len(before), n), dtype=int)
    for i in range(len(before)):
        for j in range(n):
            for c in range(d):
                known = [rank for rank, value in enumerate(sorted(after[:, c])) if value == before[i, c]]
                known = known or [sum(after[:, c] < before[i, c])]
                theirs = [rank for rank, value in enumerate(sorted(after[:, c])) if value == after[j, c]]
                gap = max(0, theirs[0] - known[-1], known[0] - theirs[-1])
                gaps[i, j] = max(gaps[i, j], gap)
    found = np.array([[(row <= reach).sum() for reach in reaches] for row in gaps])
    inside = [[gap for gap in row if gap <= reaches[-1]] for row in gaps]
    nearest = [[min(row), row.count(min(row))] if row else [-1, 0] for row in inside]
    return gaps, found, np.array(nearest)


@settings(max_examples=60, deadline=None)
@given(pairs(SMALL, most=9, columns=3), st.integers(0, 2))
def test_the_kernel_counts_what_a_plain_loop_counts(tables, leading):
    before, after = tables
    leading = min(leading, after.shape[1] - 1)
    reaches = np.array([0, 1, 3])
    released = Ranks.among(after, after)
    order = np.argsort(released.first[:, leading], kind="stable")
    ordered = Ranks(released.first[order].copy(), released.last[order].copy())
    found, nearest = count_windows(Ranks.among(after, before), ordered, reaches, leading)
    _, expected, expected_nearest = plain(before, after, reaches)
    assert found.tolist() == expected.tolist() and nearest.tolist() == expected_nearest.tolist()
    for place, reach in enumerate(reaches.tolist()):
        for most in (2, 100):
            own = np.full(after.shape[1], reach)
            within = count_within(Ranks.among(after, before), ordered, own, leading, most)
            assert within.tolist() == np.minimum(expected[:, place], most).tolist()


@settings(max_examples=40, deadline=None)
@given(pairs(SMALL, most=9, columns=3))
def test_the_share_is_that_of_the_best_window(tables):
    before, after = tables
    n = len(before)
    reaches = [0, *(int(share * n) for share in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2))]
    gaps, found, nearest = plain(before, after, reaches)
    own = np.diag(gaps)
    shares = [
        np.mean([(own[i] <= reach) / max(1, found[i, place]) for i in range(n)])
        for place, reach in enumerate(reaches)
    ]
    shares.append(np.mean([(own[i] == nearest[i, 0]) / max(1, nearest[i, 1]) for i in range(n)]))
    # How far values moved in each column is what an intruder who knows the method knows.
    by_column = [plain(before[:, [c]], after[:, [c]], reaches)[0] for c in range(after.shape[1])]
    within = np.logical_and.reduce([apart <= np.diag(apart).max() for apart in by_column])
    shares.append(np.mean(1 / within.sum(axis=1)))
    result = attack(MixedTables.of_numbers(before, after), seeds=Seeds(0))
    assert result.percent == pytest.approx(100 * max(shares))


def test_values_exchanged_in_a_window_are_found_and_distances_see_less():
    draw = np.random.default_rng(3)
    before = draw.lognormal(size=(600, 8))
    after = before.copy()
    for column in range(8):
        order = np.argsort(before[:, column])
        shifted = order.reshape(-1, 30)
        for block in shifted:
            after[block, column] = before[draw.permutation(block), column]
    found = attack(MixedTables.of_numbers(before, after), seeds=Seeds(0))
    assert found.percent > 95 and found.targets == 600
    sample = attack(MixedTables.of_numbers(before, after), seeds=Seeds(0), targets=200)
    assert sample.targets == 200 and abs(sample.percent - found.percent) < 5


@pytest.mark.parametrize("window", [0.12, 0.25, 0.3])
def test_whoever_knows_the_window_uses_it_whatever_it_is(window):
    draw = np.random.default_rng(5)
    n = 600
    before = draw.normal(size=(n, 12))
    after = before.copy()
    for column in range(12):
        order = np.argsort(before[:, column])
        for block in np.split(order, range(int(window * n), n, int(window * n))):
            after[block, column] = before[draw.permutation(block), column]
    ranks = [np.argsort(np.argsort(table, axis=0), axis=0) for table in (before, after)]
    apart = np.abs(ranks[1][None] - ranks[0][:, None])
    farthest = np.abs(ranks[1] - ranks[0]).max(axis=0)
    expected = 100 * np.mean(1.0 / (apart <= farthest).all(axis=2).sum(axis=1))
    found = attack(MixedTables.of_numbers(before, after), seeds=Seeds(0))
    assert found.percent == pytest.approx(expected) and expected > 15


def test_what_was_released_as_it_was_narrows_the_windows():
    draw = np.random.default_rng(6)
    n = 400
    before = draw.normal(size=(n, 3))
    after = before.copy()
    for column in range(3):
        for block in np.split(np.argsort(before[:, column]), 8):
            after[block, column] = before[draw.permutation(block), column]
    town = draw.integers(0, 40, n).astype(str).tolist()
    kept, exchanged = (pair_categories("town", town, now) for now in (town, [*town[1:], town[0]]))
    numbers, with_town, with_noise = (
        attack(MixedTables(("a", "b", "c"), before, after, pairs), seeds=Seeds(0)).percent
        for pairs in ((), (kept,), (exchanged,))
    )
    assert numbers < 60 and with_town > numbers + 30
    # A column that was changed itself tells who somebody is not.
    assert with_noise == numbers


def test_there_is_nothing_to_rank_without_numbers():
    assert attack(MixedTables.of_numbers(np.zeros((4, 0)), np.zeros((4, 0))), seeds=Seeds(0)) is None
