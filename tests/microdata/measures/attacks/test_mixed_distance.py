import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.microdata.measures.attacks.mixed_distance import links, nearest, posed
from shoal.microdata.measures.categories import pair_categories
from shoal.microdata.measures.mixed import MixedTables

VALUES = st.sampled_from(["a", "b", "c", None])
LABELS = st.sampled_from(["a", "b", "c", "a or b", "*", None])


@st.composite
def mixed(draw):
    n = draw(st.integers(2, 8))
    numbers = draw(st.integers(0, 2))
    table = st.lists(st.integers(-2, 2), min_size=n * numbers, max_size=n * numbers)
    before, after = (np.array(draw(table), dtype=float).reshape(n, numbers) for _ in range(2))
    texts = [
        [draw(st.lists(kind, min_size=n, max_size=n)) for kind in (VALUES, LABELS)]
        for _ in range(draw(st.integers(1 - min(1, numbers), 2)))
    ]
    categories = tuple(pair_categories(f"t{i}", *pair) for i, pair in enumerate(texts))
    return MixedTables(tuple(f"n{i}" for i in range(numbers)), before, after, categories), texts


def plain_distances(tables, texts, but=-1):
    """From the texts, without codes or tables."""
    n = tables.records
    total = np.zeros((n, n))
    for c in range(tables.before.shape[1]):
        if c == but:
            continue
        x, y = tables.before[:, c], tables.after[:, c]
        spread = x.std(ddof=1) or 1.0
        total += ((x[:, None] - y[None, :]) / spread) ** 2
    for c, (old, new) in enumerate(texts):
        if c + tables.before.shape[1] == but:
            continue
        evenness = 1 - sum((old.count(v) / n) ** 2 for v in set(old))
        weight = 2 / evenness if evenness > 1e-12 else 0.0
        for i in range(n):
            for j in range(n):
                if new[j] in (None, "*"):
                    behind = list(old)
                elif new[j] in old:
                    behind = [new[j]]
                else:
                    seen = {v for v, label in zip(old, new, strict=True) if label == new[j]}
                    behind = [v for v in old if v in seen]
                total[i, j] += weight * (1 - behind.count(old[i]) / len(behind))
    return total


@settings(max_examples=80, deadline=None)
@given(mixed())
def test_links_are_those_of_plain_distances(made):
    tables, texts = made
    known, released, fit = posed(tables)
    apart = plain_distances(tables, texts)
    expected = []
    for i in range(tables.records):
        least = apart[i].min()
        tied = np.abs(apart[i] - least) < 1e-5
        expected.append(1 / tied.sum() if tied[i] else 0.0)
    assert links(known, released, np.arange(tables.records), fit) == pytest.approx(expected)


@settings(max_examples=80, deadline=None)
@given(mixed(), st.integers(-1, 3))
def test_the_nearest_record_is_read_as_by_hand(made, but):
    tables, texts = made
    numbers = tables.before.shape[1]
    but = min(but, len(tables.columns) - 1)
    known, released, fit = posed(tables)
    least, hits = nearest(known, released, fit, but, 0.1)
    apart = plain_distances(tables, texts, but)
    assert least == pytest.approx(apart.min(axis=1), abs=1e-5)
    for i in range(tables.records):
        tied = np.flatnonzero(np.abs(apart[i] - apart[i].min()) < 1e-5)
        if but < 0:
            right = [False]
        elif but < numbers:
            right = np.abs(known.numbers[i, but] - released.numbers[tied, but]) <= 0.1
        else:
            old, new = texts[but - numbers]
            right = [new[j] is not None and old[i] == new[j] for j in tied]
        assert hits[i] == pytest.approx(np.mean(right))
