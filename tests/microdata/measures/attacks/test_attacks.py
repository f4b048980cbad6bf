"""Attacks as a whole: what each finds where the answer is known, and on the file they were first measured on."""

from dataclasses import replace

import numpy as np
import pytest
from tests.microdata.measures.census import census12_pair, correlated_noise

from shoal.errors import InputError
from shoal.microdata.measures.attacks import (
    attribute_inference,
    mahalanobis,
    membership,
    mixed_linkage,
    rank_windows,
)
from shoal.microdata.measures.attacks.all_attacks import ATTACKS, attacked, chosen
from shoal.microdata.measures.attacks.halves import halves
from shoal.microdata.measures.categories import pair_categories
from shoal.microdata.measures.linkage import link_by_distance
from shoal.microdata.measures.mixed import MixedTables
from shoal.runtime import Seeds


def test_a_swapped_census_is_found_by_ranks_and_inferred():
    tables = MixedTables.of_numbers(*census12_pair())
    assert rank_windows.attack(tables, seeds=Seeds(0)).percent == pytest.approx(99.95, abs=0.01)
    inferred = [dict(attribute_inference.attack(tables, seeds=Seeds(s)).details) for s in range(6)]
    assert np.mean([one["mean"] for one in inferred]) == pytest.approx(0.377, abs=0.04)
    areas = [dict(membership.attack(tables, seeds=Seeds(s)).details)["auc"] for s in range(6)]
    assert np.mean(areas) == pytest.approx(0.844, abs=0.02)


def test_noise_that_follows_the_data_falls_to_mahalanobis():
    before, _ = census12_pair()
    after = correlated_noise(before, 0.1, seed=1)
    low, high = before.min(axis=0), before.max(axis=0)
    plain = link_by_distance((before - low) / (high - low), (after - low) / (high - low)).expected_percent
    found = mahalanobis.attack(MixedTables.of_numbers(before, after), seeds=Seeds(0)).percent
    assert plain == pytest.approx(44.6, abs=5) and found == pytest.approx(74.4, abs=4)
    auc = dict(membership.attack(MixedTables.of_numbers(before, after), seeds=Seeds(0)).details)["auc"]
    assert auc == pytest.approx(0.670, abs=0.04)


def test_mahalanobis_is_the_distance_of_the_textbook():
    draw = np.random.default_rng(5)
    before = draw.normal(size=(40, 3)) @ draw.normal(size=(3, 3))
    after = before + 0.5 * draw.normal(size=(40, 3))
    inverse = np.linalg.inv(np.cov(after.T))
    apart = np.array([[(x - y) @ inverse @ (x - y) for y in after] for x in before])
    expected = 100 * np.mean(apart.argmin(axis=1) == np.arange(40))
    assert mahalanobis.attack(MixedTables.of_numbers(before, after), seeds=Seeds(0)).percent == pytest.approx(
        expected
    )


def test_a_column_that_is_a_sum_of_others_does_no_harm():
    draw = np.random.default_rng(6)
    before = draw.normal(size=(50, 3))
    before = np.column_stack([before, before.sum(axis=1), np.ones(50)])
    found = mahalanobis.attack(MixedTables.of_numbers(before, before), seeds=Seeds(0))
    assert found.percent == pytest.approx(100.0)


def test_some_targets_are_linked_as_all_are():
    draw = np.random.default_rng(7)
    before, after = draw.normal(size=(80, 2)), draw.normal(size=(80, 2))
    everybody = link_by_distance(before, after)
    some = np.array([3, 17, 64])
    found = link_by_distance(before[some], after, own=some)
    assert found.beaten.tolist() == everybody.beaten[some].tolist()
    assert found.tied.tolist() == everybody.tied[some].tolist()


def test_what_statistics_tell_anyway_is_no_inference():
    # The second column is a function of the first: it is as well known of people who are not in the release.
    first = np.random.default_rng(0).integers(0, 4, 400).astype(float)
    tables = MixedTables.of_numbers(np.column_stack([first, 2 * first]), np.column_stack([first, 2 * first]))
    found = attribute_inference.attack(tables, seeds=Seeds(0))
    rows = dict(found.details)["by_column"]
    assert found.percent == 0.0 and all(row["released"] == row["control"] == 1.0 for row in rows)


def test_nobody_is_in_both_halves():
    people = np.random.default_rng(1).integers(0, 30, 100)
    tables = MixedTables(("a",), np.zeros((100, 1)), np.zeros((100, 1)), (), people)
    parts = halves(tables, Seeds(4), targets=20)
    assert not set(people[parts.released]) & set(people[parts.outside])
    assert parts.inside.size == 20 and set(parts.inside) <= set(parts.released)
    one = MixedTables(("a",), np.zeros((3, 1)), np.zeros((3, 1)), (), np.zeros(3, dtype=int))
    assert halves(one, Seeds(0)) is None
    assert membership.attack(one, seeds=Seeds(0)) is None
    assert attribute_inference.attack(one, seeds=Seeds(0)) is None


def test_a_release_of_strangers_gives_no_membership_away():
    draw = np.random.default_rng(2)
    tables = MixedTables.of_numbers(draw.normal(size=(600, 3)), draw.normal(size=(600, 3)))
    found = membership.attack(tables, seeds=Seeds(0))
    assert dict(found.details)["auc"] == pytest.approx(0.5, abs=0.06)


def test_coarser_labels_and_blanks_are_linked_by_what_they_may_stand_for():
    old = ["20", "21", "35", "36"]
    pair = pair_categories("age", old, ["20-29", "20-29", "30-39", None])
    tables = MixedTables((), np.zeros((4, 0)), np.zeros((4, 0)), (pair,))
    # Of the two in their twenties each is found half of the time. 35 is known to be the other label; 36 fits only the blank.
    assert mixed_linkage.attack(tables, seeds=Seeds(0)).percent == pytest.approx(
        100 * (0.5 + 0.5 + 1 + 1) / 4
    )


def test_the_set_of_columns_with_which_an_attack_does_best_counts():
    draw = np.random.default_rng(3)
    table = draw.normal(size=(60, 3))
    other = table.copy()
    other[:, 0] = draw.normal(size=60)
    tables = MixedTables(("a", "b", "c"), table, other)
    alone = attacked(tables, ["mahalanobis"], scenarios=[["a"], ["b", "c"]], seeds=Seeds(0))
    assert alone[0].percent == pytest.approx(100.0)
    assert attacked(tables, ["mahalanobis"], scenarios=[["a"]], seeds=Seeds(0))[0].percent < 30


def test_names_of_attacks_are_checked():
    assert chosen(None, list(ATTACKS), "attack") == tuple(ATTACKS)
    assert chosen([], list(ATTACKS), "attack") == chosen(["none"], list(ATTACKS), "attack") == ()
    for wrong in (["mahalanobi"], ["none", "membership"]):
        with pytest.raises(InputError):
            chosen(wrong, list(ATTACKS), "attack")


def test_of_very_many_columns_the_confidential_ones_are_inferred_first():
    table = np.random.default_rng(3).normal(size=(60, 4))
    tables = MixedTables.of_numbers(table, table)
    every = dict(attribute_inference.attack(tables, seeds=Seeds(0)).details)
    assert attribute_inference.NOT_TRIED not in every
    last = replace(tables, unknown=("column 4",), first=("column 3",))
    # Two of four: 60 people among 30 released, three columns known.
    some = dict(attribute_inference.attack(last, seeds=Seeds(0), work=2 * 60 * 30 * 3).details)
    assert [row["column"] for row in some["by_column"]] == ["column 3", "column 4"]
    assert some[attribute_inference.NOT_TRIED] == ["column 1", "column 2"]
    # Nobody knows the last: what is found out of others comes from the rest alone.
    assert last.known == ("column 1", "column 2", "column 3")
