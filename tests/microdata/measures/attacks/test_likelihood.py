"""Linkage by likelihood beside a plain loop, and beside an intruder who knows the true matrices."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.microdata.measures.attacks import likelihood, mixed_linkage
from shoal.microdata.measures.attacks.mixed_distance import Known
from shoal.microdata.measures.categories import pair_categories
from shoal.microdata.measures.mixed import MixedTables
from shoal.runtime import Seeds


def plain(known, released, own, weights):
    """Each person beside each record."""
    chances = []
    for i in range(len(own)):
        speaks = []
        for j in range(len(released.codes)):
            apart = known.numbers[i] - released.numbers[j]
            total = -float((weights.precisions * apart**2).sum())
            for c, (value, label) in enumerate(zip(known.codes[i], released.codes[j], strict=True)):
                total += weights.scores[weights.begins[c] + value * weights.labels[c] + label]
            speaks.append(total)
        mine = speaks[own[i]]
        better = sum(one > mine + 1e-7 for one in speaks)
        chances.append(0.0 if better else 1.0 / sum(abs(one - mine) <= 1e-7 for one in speaks))
    return chances


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(0, 2), st.integers(1, 3))
def test_the_kernel_finds_what_a_plain_loop_finds(seed, n, numbers, columns):
    draw = np.random.default_rng(seed)
    labels = draw.integers(2, 4, columns)
    # Few different scores, so that there are ties.
    tables = [draw.integers(-2, 3, (3, size)).astype(float) for size in labels]
    weights = likelihood.Weights(
        np.concatenate([table.reshape(-1) for table in tables]),
        np.concatenate([[0], np.cumsum([table.size for table in tables])]),
        labels,
        draw.choice([0.5, 2.0], numbers),
    )
    known = Known(draw.integers(0, 3, (n, numbers)).astype(float), draw.integers(0, 3, (n, columns)))
    released = Known(
        draw.integers(0, 3, (n, numbers)).astype(float),
        np.column_stack([draw.integers(0, size, n) for size in labels]),
    )
    own = draw.permutation(n)
    found = likelihood.links(known, released, np.ones(n, dtype=np.int64), own, weights)
    assert found.tolist() == pytest.approx(plain(known, released, own, weights))


def survey(n: int, seed: int) -> pl.DataFrame:
    """Columns as surveys have them: some with two values, some with many, some in which one prevails."""
    draw = np.random.default_rng(seed)
    columns = [[1, 1], [90, 6, 3, 1], [93, *[1] * 7], [6, 5, 4, 2, 2, 1], [37, *[1] * 13], [1] * 13, [3, 1]]
    codes = [draw.choice(len(often), n, p=np.array(often) / sum(often)).astype(str) for often in columns]
    return pl.DataFrame({"id": range(n), **{f"c{place}": own for place, own in enumerate(codes)}})


def test_randomised_categories_are_linked_as_by_who_has_the_matrices():
    frame = survey(1500, 0)
    names = frame.columns[1:]
    made = shoal.perturb(frame, "pram", names, key="id", options={"change": 0.2}, seed=1)
    pairs = tuple(pair_categories(name, frame[name].to_list(), made.frame[name].to_list()) for name in names)
    tables = MixedTables((), np.zeros((1500, 0)), np.zeros((1500, 0)), pairs)
    speaks = np.zeros((1500, 1500))
    for name, item in zip(names, made.details, strict=True):
        group = item.groups[0]
        codes = {value: place for place, value in enumerate(group.values)}
        old, new = ([codes[value] for value in table[name]] for table in (frame, made.frame))
        speaks += np.log(group.matrix / group.seen)[np.ix_(old, new)]
    tied = speaks >= speaks.max(axis=1, keepdims=True) - 1e-9
    best = 100 * (tied.diagonal() / tied.sum(axis=1)).mean()
    found = likelihood.attack(tables, seeds=Seeds(0)).percent
    by_distance = mixed_linkage.attack(tables, seeds=Seeds(0)).percent
    assert found > 1.25 * by_distance
    assert found == pytest.approx(best, rel=0.1)


def test_strangers_are_not_found():
    one, other = survey(800, 1), survey(800, 2)
    found = shoal.compare(one, other, key="id", columns=one.columns[1:], attacks=["likelihood"], utility=[])
    assert found.worst[0] == "likelihood" and found.worst[1] < 1.0


def test_a_rare_change_of_ones_own_does_not_give_anybody_away():
    # Everybody has a value of his own and shows a label drawn by chance: that it was this one nobody can know.
    draw = np.random.default_rng(4)
    old = [f"v{place}" for place in range(400)]
    new = [old[place] for place in draw.permutation(400)]
    tables = MixedTables((), np.zeros((400, 0)), np.zeros((400, 0)), (pair_categories("a", old, new),))
    assert likelihood.attack(tables, seeds=Seeds(0)).percent < 2.0


def test_numbers_help_as_far_as_they_were_left():
    draw = np.random.default_rng(5)
    town = draw.integers(0, 20, 600).astype(str).tolist()
    moved = [name if kept else "0" for name, kept in zip(town, draw.random(600) < 0.8, strict=True)]
    number = draw.normal(size=(600, 2))
    pair = pair_categories("town", town, moved)
    found = [
        likelihood.attack(
            MixedTables(("a", "b"), number, number + noise * draw.normal(size=(600, 2)), (pair,)),
            seeds=Seeds(0),
        ).percent
        for noise in (0.0, 0.05, 5.0)
    ]
    assert found[0] == pytest.approx(100.0) and found[0] > found[1] > 50 > 10 > found[2]


def test_equal_records_hide_each_other():
    old = [str(place) for place in range(60)]
    pair = pair_categories("age", old, [f"{int(value) // 5}" + "x" for value in old])
    tables = MixedTables((), np.zeros((60, 0)), np.zeros((60, 0)), (pair,))
    assert 0 < likelihood.attack(tables, seeds=Seeds(0)).percent <= 20.0 + 1e-9
    assert likelihood.attack(MixedTables.of_numbers(np.eye(3), np.eye(3)), seeds=Seeds(0)) is None
