"""The kernels of recoding against slow and obvious twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.microdata.recoding import class_kernels as kernels
from shoal.microdata.recoding.wildcard_kernels import matching_people, take_back

tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=30
    )
)


@settings(max_examples=80, deadline=None)
@given(tables, st.sampled_from([4, 1000, 2**31 - 1]))
def test_rows_are_numbered_by_first_appearance(rows: list[list[int]], card: int) -> None:
    table = np.array(rows, dtype=np.int32)
    # Large numbers of values take the way over hashes, and codes that do not fit into a machine word.
    numbers, first = kernels.numbered_rows(table, np.full(table.shape[1], card, dtype=np.int64))
    seen: dict[tuple[int, ...], int] = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in rows]
    assert numbers.tolist() == expected
    assert [rows[place] for place in first] == [list(row) for row in seen]


@settings(max_examples=60, deadline=None)
@given(tables, st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_classes_are_joined_by_coarser_nodes(rows: list[list[int]], coarse: list[int]) -> None:
    table = np.array(rows, dtype=np.int32)
    width = table.shape[1]
    maps = [np.arange(4) // 2 if coarse[column] else np.arange(4) for column in range(width)]
    flat = np.concatenate(maps).astype(np.int32)
    offsets = 4 * np.arange(width)
    cards = np.array([2 if coarse[column] else 4 for column in range(width)])
    groups, first = kernels.grouped(table, flat, offsets, cards)
    plain = [tuple(int(maps[column][value]) for column, value in enumerate(row)) for row in rows]
    seen: dict[tuple[int, ...], int] = {}
    assert groups.tolist() == [seen.setdefault(row, len(seen)) for row in plain]
    assert [tuple(row) for row in kernels.coarser(table, first, flat, offsets).tolist()] == list(seen)
    ones = np.arange(1, len(rows) + 1)
    sums = kernels.added(groups, ones, first.size)
    assert sums.tolist() == [sum(i + 1 for i, row in enumerate(plain) if row == own) for own in seen]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=4), min_size=1, max_size=8),
    st.sets(st.integers(0, 4)),
)
def test_people_with_several_tuples_are_counted_once(people: list[list[int]], chosen: set[int]) -> None:
    groups = np.array([group for own in people for group in own])
    starts = np.cumsum([0, *[len(own) for own in people]])
    found = kernels.spread_people(groups, starts, 5)
    assert found.tolist() == [sum(group in own for own in people) for group in range(5)]
    marked = np.array([group in chosen for group in range(5)])
    assert kernels.people_touched(groups, starts, marked) == sum(bool(chosen & set(own)) for own in people)


@settings(max_examples=60, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_losses_are_added_up(rows: list[list[int]], random: object) -> None:
    table = np.array(rows, dtype=np.int32)
    width = table.shape[1]
    rates = np.array([random.random() for _ in range(4 * width)])
    floors = np.array([random.random() for _ in range(width)])
    offsets = 4 * np.arange(width)
    plain = [[rates[offsets[column] + value] for column, value in enumerate(row)] for row in rows]
    assert np.allclose(kernels.added_rates(table, rates, offsets), [sum(own) for own in plain])
    floored = [sum(max(a, b) for a, b in zip(own, floors, strict=True)) for own in plain]
    assert np.allclose(kernels.floored_rates(table, rates, offsets, floors), floored)
    records = np.arange(1, len(rows) + 1)
    out = records % 2 == 0
    expected = sum(n * (7.0 if gone else sum(own)) for n, gone, own in zip(records, out, plain, strict=True))
    sums = kernels.added_rates(table, rates, offsets)
    assert np.isclose(kernels.total_loss(records, sums, out, 7.0), expected)


def _matches(labels: np.ndarray, blank: np.ndarray, people: np.ndarray) -> list[int]:
    agree = [
        [
            all(a == b or x or y for a, b, x, y in zip(labels[i], labels[j], blank[i], blank[j], strict=True))
            for j in range(len(labels))
        ]
        for i in range(len(labels))
    ]
    return [int(sum(people[j] for j in range(len(labels)) if agree[i][j])) for i in range(len(labels))]


@settings(max_examples=80, deadline=None)
@given(tables, st.data())
def test_blanks_are_taken_back_while_all_have_matches(rows: list[list[int]], data: st.DataObject) -> None:
    labels = np.array(rows, dtype=np.int64)
    blank = np.array(data.draw(st.lists(st.booleans(), min_size=labels.size, max_size=labels.size))).reshape(
        labels.shape
    )
    people = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows))))
    before = _matches(labels, blank, people)
    assert matching_people(labels, blank, people).tolist() == before
    k = min(before)
    order = np.flatnonzero(blank.ravel())
    after = take_back(labels, blank, people, order, k)
    assert not (after & ~blank).any()
    assert min(_matches(labels, after, people)) >= k
    # The same, one blank after the other.
    plain = blank.copy()
    for place in order:
        trial = plain.copy()
        trial.ravel()[place] = False
        if min(_matches(labels, trial, people)) >= k:
            plain = trial
    assert (plain == after).all()
