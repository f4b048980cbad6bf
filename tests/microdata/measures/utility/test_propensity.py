from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.microdata.measures.census import census12_pair, correlated_noise

from shoal.microdata.measures.categories import pair_categories
from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility.design import Terms, main_terms, products_of, with_products
from shoal.microdata.measures.utility.logistic import design, fit
from shoal.microdata.measures.utility.moment_kernels import independent, weighted_products
from shoal.microdata.measures.utility.propensity import distinguish, null_of
from shoal.runtime import Seeds

NUMBERS = st.integers(-4, 4).map(float)
TABLES = hnp.arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(1, 5)), elements=NUMBERS)


@settings(max_examples=80, deadline=None)
@given(TABLES, st.data())
def test_products_are_those_of_matrices(table, data):
    weights = data.draw(hnp.arrays(np.float64, table.shape[0], elements=st.floats(0, 2)))
    assert weighted_products(table, weights) == pytest.approx(table.T @ np.diag(weights) @ table, abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(TABLES)
def test_columns_kept_are_those_that_raise_the_rank(table):
    kept = independent(weighted_products(table, np.ones(table.shape[0])), 1e-9)
    ranks = [np.linalg.matrix_rank(table[:, : upto + 1]) for upto in range(table.shape[1])]
    assert kept.tolist() == [rank > before for rank, before in zip(ranks, [0, *ranks], strict=False)]


def test_the_fit_has_no_score_left():
    draw = np.random.default_rng(0)
    matrix = design(draw.normal(size=(300, 3)))
    outcome = (draw.random(300) < 1 / (1 + np.exp(-matrix[:, 1]))).astype(float)
    found = fit(matrix, outcome)
    assert found.converged and found.parameters == 4
    # The likelihood is greatest where what is observed and what is fitted have the same sums.
    assert matrix.T @ (outcome - found.probabilities) == pytest.approx(np.zeros(4), abs=1e-6)


def test_a_sure_outcome_does_not_settle_and_does_not_fail():
    table = np.arange(40.0).reshape(-1, 1)
    found = fit(design(table), (table[:, 0] > 19).astype(float))
    assert not found.converged and np.isfinite(found.probabilities).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(1, 2), st.integers(0, 1000))
def test_the_paired_null_is_that_of_all_exchanges(pairs, columns, seed):
    draw = np.random.default_rng(seed)
    before = draw.normal(size=(pairs, columns))
    matrix = design(np.vstack([before, before + draw.normal(size=(pairs, columns))]))
    x = matrix[:, 1:]
    inverse = np.linalg.inv(x.T @ x)
    values = []
    for signs in product([-0.5, 0.5], repeat=pairs):
        score = x.T @ np.concatenate([-np.array(signs), np.array(signs)])
        values.append(score @ inverse @ score / (2 * pairs))
    mean, deviation = null_of(matrix, "paired")
    assert mean == pytest.approx(np.mean(values)) and deviation == pytest.approx(np.std(values), abs=1e-9)


@pytest.mark.parametrize("made", ["independent", "synthetic"])
def test_the_nulls_of_samples_are_met_by_samples(made):
    # A new sample is independent; a sample from a model fitted to the data has half its error.
    draw = np.random.default_rng(4)
    ratios = []
    for _ in range(60):
        before = draw.normal(size=(300, 3))
        if made == "independent":
            after = draw.normal(size=(300, 3))
        else:
            after = draw.multivariate_normal(before.mean(axis=0), np.cov(before.T), size=300)
        found = distinguish(MixedTables.of_numbers(before, after), made, seeds=Seeds(0))
        ratios.append(found.models[0].ratio)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.25)


def test_the_wrong_null_praises_noise():
    before, _ = census12_pair()
    tables = MixedTables.of_numbers(before, correlated_noise(before, 0.1, seed=1))
    wrong, right = (distinguish(tables, made, seeds=Seeds(0)).models[1] for made in ("independent", "paired"))
    assert wrong.pmse == right.pmse
    assert wrong.ratio < 0.6 and right.ratio > 1.3 and right.z > 2


def test_the_oracle_of_a_swapped_census():
    found = distinguish(MixedTables.of_numbers(*census12_pair()), seeds=Seeds(0))
    assert found.models[0].pmse == pytest.approx(0.0, abs=1e-20)
    assert found.models[1].pmse == pytest.approx(0.0031562655532275, rel=1e-9)
    assert (found.models[0].parameters, found.models[1].parameters) == (13, 79)


def test_a_tree_sees_noise_that_keeps_means_and_covariances():
    draw = np.random.default_rng(8)
    before = draw.integers(0, 3, size=(800, 2)).astype(float)
    after = before + draw.normal(size=before.shape) * 0.2
    found = distinguish(MixedTables.of_numbers(before, after), seeds=Seeds(0))
    assert found.tree_auc > 0.8 and found.models[1].pmse < 0.01


def test_other_categories_are_seen():
    draw = np.random.default_rng(9)
    old = draw.choice(["a", "b", "c"], 500).tolist()
    new = [value if draw.random() < 0.6 else "c" for value in old]
    pair = pair_categories("town", old, new)
    tables = MixedTables((), np.zeros((500, 0)), np.zeros((500, 0)), (pair,))
    found = distinguish(tables, seeds=Seeds(0))
    assert found.models[0].pmse > 0.01
    assert dict(found.by_column)["town"] == pytest.approx(found.models[0].pmse)
    assert found.models[0].z > 5 and len(found.models) == 1


def test_rare_categories_are_taken_together():
    texts = [str(number % 40) for number in range(400)]
    pair = pair_categories("code", texts, texts)
    tables = MixedTables((), np.zeros((400, 0)), np.zeros((400, 0)), (pair,))
    terms = main_terms(tables, categories=10)
    assert len(terms.of) == 10 and terms.before[:, -1].sum() == 300
    assert terms.before.sum(axis=1).tolist() == [0.0 if text == "0" else 1.0 for text in texts]


def test_products_are_of_different_columns():
    terms = Terms(np.array([[2.0, 3.0, 5.0]]), np.array([[1.0, 1.0, 1.0]]), ((0,), (1,), (1,)))
    found = with_products(terms)
    assert found.before.tolist() == [[2.0, 3.0, 5.0, 6.0, 10.0]] and products_of(terms) == 5


def test_too_many_terms_are_left_out_and_said():
    table = np.random.default_rng(0).normal(size=(60, 6))
    found = distinguish(MixedTables.of_numbers(table, table), seeds=Seeds(0), terms=10)
    assert len(found.models) == 1 and found.left_out == ("two-way: 21 terms, more than 10",)
