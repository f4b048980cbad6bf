"""The kernels of local recoding beside slow twins."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.recoding.local_recoding import plain

from shoal.microdata.recoding.local_recoding import spans as span_module
from shoal.microdata.recoding.local_recoding.bound import least_rates, lower_bound
from shoal.microdata.recoding.local_recoding.groups import Groups
from shoal.microdata.recoding.local_recoding.items import Items, Pieces
from shoal.microdata.recoding.local_recoding.layers import layers, levels_by_loss
from shoal.microdata.recoding.local_recoding.leftovers import placed
from shoal.microdata.recoding.local_recoding.requirements import nearest
from shoal.microdata.recoding.local_recoding.spans import Spans, box_levels, box_rates

seeds = st.integers(0, 10**6)
few = settings(max_examples=60, deadline=None)


def leaves_of(problem, column: int, value: int) -> list[int]:
    """The leaves under a value at the lowest level."""
    return np.flatnonzero(problem.hierarchies[column].nodes[problem.lowest[column]] == value).tolist()


@few
@given(seeds, st.booleans())
def test_runs_cost_what_the_lowest_node_over_them_costs(seed, looked_up):
    problem = plain.problem(seed)
    items = Items.of(problem)
    spans = items.spans
    if not looked_up:
        spans = spans._replace(tables=np.full(len(problem.hierarchies), -1))
    for column in range(len(problem.hierarchies)):
        for first, last in product(range(spans.cards[column]), repeat=2):
            if first > last:
                continue
            box = np.zeros((2, 1, len(problem.hierarchies)), dtype=np.int32)
            box[1] = -1
            box[:, 0, column] = first, last
            leaves = leaves_of(problem, column, first) + leaves_of(problem, column, last)
            expected = plain.rate(problem, column, leaves)
            assert box_rates(box[0], box[1], spans)[0] == pytest.approx(expected)
            if np.isfinite(expected):
                box[1] = np.maximum(box[1], 0)
                level = int(box_levels(box[0], box[1], spans)[0, column]) + problem.lowest[column]
                labels = {problem.hierarchies[column].rows[leaf][level] for leaf in leaves}
                assert len(labels) == 1


def test_large_trees_are_walked(monkeypatch):
    problem = plain.problem(3, records=(20, 21))
    quick = Items.of(problem).spans
    monkeypatch.setattr(span_module, "_LOOKED_UP", 0)
    walked = Spans.of(problem, Items.of(problem).loss)
    assert (walked.tables < 0).all()
    box = np.zeros((1, len(problem.hierarchies)), dtype=np.int32)
    last = (quick.cards - 1).astype(np.int32)[None]
    assert box_rates(box, last, walked) == pytest.approx(box_rates(box, last, quick))


@few
@given(seeds)
def test_layers_take_all_classes_with_enough_people_in_the_order_of_their_loss(seed):
    problem = plain.problem(seed, records=(2, 40))
    items = Items.of(problem)
    groups = layers(items, problem.k)
    rest = set(range(items.size))
    expected: list[set[int]] = []
    for levels in levels_by_loss(items, 10**6).tolist():
        classes: dict[tuple, set[int]] = {}
        for item in sorted(rest):
            nodes = tuple(
                int(tree.up(low, level)[items.keys[item, column]])
                for column, (tree, low, level) in enumerate(
                    zip(problem.hierarchies, problem.lowest, levels, strict=True)
                )
            )
            classes.setdefault(nodes, set()).add(item)
        for members in classes.values():
            if items.people[sorted(members)].sum() >= problem.k:
                expected.append(members)
                rest -= members
    assert [set(np.flatnonzero(groups == number)) for number in range(groups.max() + 1)] == expected
    assert set(np.flatnonzero(groups < 0)) == rest


def test_spent_work_leaves_only_the_highest_levels():
    problem = plain.problem(14, records=(60, 61), units=False)
    items = Items.of(problem)
    groups = layers(items, problem.k, work=1)
    assert (groups >= 0).all()
    assert groups.max() <= layers(items, problem.k).max()


@few
@given(seeds)
def test_the_least_rate_is_that_of_the_cheapest_labels_k_people_share(seed):
    problem = plain.problem(seed, records=(2, 30))
    items = Items.of(problem)
    full = items.loss.full
    found = least_rates(items, np.full(items.size, full))
    ranges = [range(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    expected = np.full(items.size, full)
    for levels in product(*ranges):
        nodes = np.stack(
            [
                tree.up(low, level)[items.keys[:, column]]
                for column, (tree, low, level) in enumerate(
                    zip(problem.hierarchies, problem.lowest, levels, strict=True)
                )
            ],
            axis=1,
        )
        rates = sum(items.loss.tables[column][level][nodes[:, column]] for column, level in enumerate(levels))
        for item in range(items.size):
            if items.present[(nodes == nodes[item]).all(axis=1)].sum() >= problem.k:
                expected[item] = min(expected[item], rates[item])
    assert found == pytest.approx(expected)


def test_a_bound_over_fewer_keys_is_no_higher():
    problem = plain.problem(24, records=(60, 61), units=False)
    items = Items.of(problem)
    rates = np.full(items.size, items.loss.full)
    all_keys = lower_bound(items, rates)
    for work in (1, 70, 200, 1000):
        fewer = lower_bound(items, rates, work=work)
        assert 0.0 <= fewer <= all_keys + 1e-12


@few
@given(seeds)
def test_what_remains_joins_the_cheapest_group(seed):
    problem = plain.problem(seed, records=(4, 30), units=False)
    items = Items.of(problem)
    groups = layers(items, problem.k)
    left = np.flatnonzero(groups < 0)
    if left.size != 1:
        return
    after = placed(items, groups, room=0)
    item, costs = int(left[0]), {}
    for group in range(groups.max() + 1):
        tried = np.where(np.arange(items.size) == item, group, groups)
        costs[group] = Groups.of(
            items.spans, items.keys, items.people, items.records, tried, groups.max() + 1
        ).total
    possible = {group: cost for group, cost in costs.items() if np.isfinite(cost)}
    if possible:
        assert costs[int(after[item])] == pytest.approx(min(possible.values()))
    else:
        assert after[item] == -1


@few
@given(seeds)
def test_the_nearest_group_is_the_cheapest_to_join_with(seed):
    problem = plain.problem(seed, records=(6, 30))
    items = Items.of(problem)
    groups = np.arange(items.size) // 2
    size = int(groups.max()) + 1
    given_groups = [items.spans, items.keys, items.people, items.records]
    found = Groups.of(*given_groups, groups, size)
    if not np.isfinite(found.rates).all():
        return
    other = nearest(0, found.firsts, found.lasts, found.records, found.rates, items.spans)
    costs = {
        one: Groups.of(*given_groups, np.where(groups == one, 0, groups), size).total
        for one in range(1, size)
    }
    finite = {one: cost for one, cost in costs.items() if np.isfinite(cost)}
    assert (other == -1) if not finite else costs[other] == pytest.approx(min(finite.values()))


@few
@given(seeds)
def test_pieces_are_the_records_of_the_items(seed):
    problem = plain.problem(seed, records=(2, 60))
    items = Items.of(problem)
    pieces = Pieces.of(items)
    assert np.bincount(pieces.items, weights=pieces.records).tolist() == items.records.tolist()
    assert np.bincount(pieces.items, weights=pieces.people).tolist() == items.people.tolist()
    assert int(items.people.sum()) == problem.units
    if not items.divisible:
        assert pieces.items.tolist() == list(range(items.size))
