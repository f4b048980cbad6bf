from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.measures.census import census12_pair
from tests.microdata.measures.tables import REAL, pairs

from shoal.microdata.measures.categories import pair_categories
from shoal.microdata.measures.information_loss import information_loss
from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility.coefficients import coefficients
from shoal.microdata.measures.utility.eigenvalues import eigenvalues
from shoal.microdata.measures.utility.marginals import distances, marginals
from shoal.runtime import Seeds

CODES = st.lists(st.integers(0, 4), min_size=1, max_size=12)


@settings(max_examples=100, deadline=None)
@given(CODES.flatmap(lambda one: st.tuples(st.just(one), st.permutations(one) | st.just([0] * len(one)))))
def test_distances_of_cells_are_those_of_shares(pair):
    one, two = pair
    p, q = ({cell: count / len(codes) for cell, count in Counter(codes).items()} for codes in (one, two))
    apart = sum(abs(p.get(cell, 0) - q.get(cell, 0)) for cell in range(5)) / 2
    shared = sum((p.get(cell, 0) * q.get(cell, 0)) ** 0.5 for cell in range(5))
    found = distances(np.array(one), np.array(two), 5)
    assert found[0] == pytest.approx(apart)
    assert found[1] ** 2 == pytest.approx(max(0.0, 1 - shared), abs=1e-9)


def test_every_table_is_counted_and_the_worst_named():
    draw = np.random.default_rng(0)
    texts = [draw.choice(["a", "b", "c"], 200).tolist() for _ in range(4)]
    after = [list(column) for column in texts]
    draw.shuffle(after[2])
    names = "wxyz"
    tables = MixedTables(
        (),
        np.zeros((200, 0)),
        np.zeros((200, 0)),
        tuple(
            pair_categories(name, *pair)
            for name, pair in zip(names, zip(texts, after, strict=True), strict=True)
        ),
    )
    for ways in (1, 2, 3):
        found = marginals(tables, ways, seeds=Seeds(0))
        expected = {}
        for places in combinations(range(4), ways):
            p, q = (
                Counter(zip(*(columns[place] for place in places), strict=True)) for columns in (texts, after)
            )
            cells = set(p) | set(q)
            expected[tuple(names[place] for place in places)] = sum(abs(p[c] - q[c]) for c in cells) / 400
        assert {table.columns: table.total_variation for table in found.every} == pytest.approx(expected)
        assert found.worst.total_variation == max(expected.values())
    assert "y" in found.worst.columns
    assert marginals(tables, 5, seeds=Seeds(0)) is None


def test_wide_tables_and_samples():
    draw = np.random.default_rng(1)
    codes = [[str(value) for value in draw.integers(0, 900, 3000)] for _ in range(3)]
    tables = MixedTables(
        (),
        np.zeros((3000, 0)),
        np.zeros((3000, 0)),
        tuple(pair_categories(f"c{i}", column, column[::-1]) for i, column in enumerate(codes)),
    )
    p = Counter(zip(*codes, strict=True))
    q = Counter(zip(*(column[::-1] for column in codes), strict=True))
    # The same combinations at other records: far too many cells for a dense table, and no difference.
    assert p == q and marginals(tables, 3, seeds=Seeds(0)).worst.total_variation == 0.0
    assert marginals(tables, 1, seeds=Seeds(0), work=100).records == 1000


def test_eigenvalues_of_the_oracle_and_of_singular_data():
    before, after = census12_pair()
    found = eigenvalues(before, after)
    assert found.relative == pytest.approx(6.29406652741584, rel=1e-9)
    assert found.mean_change == pytest.approx(0.0555312941, rel=1e-7)
    assert information_loss(before, after).il1s.value == pytest.approx(0.0900130399838911, rel=1e-12)
    total = np.column_stack([before, before.sum(axis=1)])
    singular = eigenvalues(total, np.column_stack([after, after.sum(axis=1)]))
    assert singular.relative is None and singular.mean_change < 1


@settings(max_examples=60, deadline=None)
@given(pairs(REAL, most=12))
def test_eigenvalues_are_those_of_correlations(tables):
    before, after = tables
    varying = before.std(axis=0) > 1e-6 * np.abs(before).max(initial=1.0)
    found = eigenvalues(before[:, varying], after[:, varying])
    if varying.sum() < 2:
        assert found is None
        return
    values = []
    for table in (before[:, varying], after[:, varying]):
        flat = (table == table[0]).all(axis=0)
        matrix = np.corrcoef(table[:, ~flat].T) if (~flat).any() else np.zeros((0, 0))
        own = np.linalg.eigvalsh(np.atleast_2d(matrix)) if matrix.size else []
        values.append(np.sort([*own, *[0.0] * int(flat.sum())]))
    assert found.mean_change == pytest.approx(np.abs(values[0] - values[1]).mean(), abs=1e-6)


def least_squares(table, response, reach):
    """Coefficients and the halves of their intervals, by the textbook."""
    others = [column for column in range(table.shape[1]) if column != response]
    x = np.column_stack([np.ones(len(table)), table[:, others]])
    inverse = np.linalg.inv(x.T @ x)
    slopes = inverse @ x.T @ table[:, response]
    error = np.sum((table[:, response] - x @ slopes) ** 2) / (len(x) - x.shape[1])
    return slopes, reach * np.sqrt(error * np.diag(inverse))


def test_regressions_are_those_of_the_textbook_and_of_the_oracle():
    from scipy.special import stdtrit

    draw = np.random.default_rng(2)
    before = draw.normal(size=(60, 4)) @ draw.normal(size=(4, 4)) + 3.0
    after = before + 0.3 * draw.normal(size=(60, 4))
    found = coefficients(MixedTables.of_numbers(before, after), seeds=Seeds(0))
    for response in range(4):
        (a, wide_a), (b, wide_b) = (least_squares(t, response, stdtrit(56, 0.975)) for t in (before, after))
        shared = np.minimum(a + wide_a, b + wide_b) - np.maximum(a - wide_a, b - wide_b)
        overlap = np.clip((shared / (2 * wide_a) + shared / (2 * wide_b)) / 2, 0, 1)
        assert found.regressions[response].mean == pytest.approx(overlap.mean(), abs=1e-9)
        assert found.regressions[response].minimum == pytest.approx(overlap.min(), abs=1e-9)
    swapped = coefficients(MixedTables.of_numbers(*census12_pair()), seeds=Seeds(0)).regressions[0]
    assert swapped.mean == pytest.approx(0.867255949113388, rel=1e-9)
    assert swapped.minimum == pytest.approx(0.715724222228153, rel=1e-9)


def test_a_sum_of_others_is_dropped_and_said():
    draw = np.random.default_rng(3)
    table = draw.normal(size=(50, 3))
    table = np.column_stack([table, table.sum(axis=1)])
    found = coefficients(MixedTables(("a", "b", "c", "sum"), table, table + 0.0), seeds=Seeds(0))
    assert found.dropped == ("sum",) and found.worst.minimum == pytest.approx(1.0)
    flat = table.copy()
    flat[:, 1] = 0.0
    assert "b" in coefficients(MixedTables(("a", "b", "c", "sum"), table, flat), seeds=Seeds(0)).dropped
    assert coefficients(MixedTables.of_numbers(table[:4], table[:4]), seeds=Seeds(0)) is None


def test_categories_explain_too():
    draw = np.random.default_rng(4)
    town = draw.choice(["a", "b"], 300)
    income = np.where(town == "a", 1.0, 5.0) + 0.1 * draw.normal(size=300)
    for new, least in ((town, 1.0), (draw.permutation(town), 0.0)):
        pair = pair_categories("town", town.tolist(), new.tolist())
        tables = MixedTables(("income",), income[:, None], income[:, None], (pair,))
        found = coefficients(tables, seeds=Seeds(0))
        assert found.worst.minimum == pytest.approx(least, abs=1e-6)
    assert found.worst.worst in ("town", "the constant")
