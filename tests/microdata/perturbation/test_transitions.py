"""Transition matrices: shares that are kept, counts that are corrected, against chance and against sdcMicro."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.benchmark_data import benchmark_file

import shoal
from shoal.microdata.perturbation.transitions import Transition, corrected, invariant, mixing


@st.composite
def shares_of(draw: st.DrawFn) -> np.ndarray:
    counts = np.array(draw(st.lists(st.integers(1, 1000), min_size=2, max_size=7)), dtype=float)
    return counts / counts.sum()


@given(shares_of(), st.floats(0.001, 0.999))
def test_mixing_keeps_shares_and_changes_what_was_asked_for(shares, change):
    matrix, as_asked = mixing(shares, change)
    assert (matrix >= 0).all()
    assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert shares @ matrix == pytest.approx(shares, abs=1e-12)
    changed = sum(
        shares[true] * matrix[true, seen]
        for true in range(shares.size)
        for seen in range(shares.size)
        if true != seen
    )
    assert Transition(np.arange(shares.size), shares, 1, matrix).expected_change == pytest.approx(changed)
    assert changed <= change * (1 + 1e-9)
    assert as_asked == (changed == pytest.approx(change, rel=1e-6))
    assert np.linalg.svd(matrix, compute_uv=False)[-1] > 1e-9


def test_one_category_cannot_change():
    matrix, as_asked = mixing(np.array([1.0]), 0.3)
    assert matrix.tolist() == [[1.0]]
    assert not as_asked


@given(shares_of(), st.data(), st.floats(0.01, 1))
def test_any_matrix_becomes_one_that_keeps_shares(shares, data, alpha):
    size = shares.size
    raw = data.draw(
        st.lists(
            st.lists(st.floats(0, 1), min_size=size, max_size=size).filter(lambda row: sum(row) > 0.01),
            min_size=size,
            max_size=size,
        )
    )
    given_rows = np.array(raw) / np.array(raw).sum(axis=1)[:, None]
    found = invariant(given_rows, shares, alpha)
    assert (found >= -1e-15).all()
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-9)
    assert shares @ found == pytest.approx(shares, abs=1e-9)
    # The definition, entry by entry.
    seen = shares @ given_rows
    for row in range(size):
        for column in range(size):
            plain = sum(
                given_rows[row, k] * given_rows[column, k] * shares[column] / seen[k]
                for k in range(size)
                if seen[k] > 0
            )
            assert found[row, column] == pytest.approx(
                alpha * plain + (1 - alpha) * (row == column), abs=1e-9
            )


def test_the_invariant_matrix_of_sdcmicro():
    oracle = pl.read_csv(benchmark_file("oracles/pram_water_seed5.csv"))
    kept = oracle["pds"].to_numpy()
    water = pl.read_csv(benchmark_file("casc/testdata.csv"), infer_schema_length=None)["water"]
    counts = water.value_counts().sort("water")
    assert [str(code) for code in counts["water"]] == oracle.columns[1:]
    chances = np.repeat((1 - kept)[:, None] / (kept.size - 1), kept.size, axis=1)
    np.fill_diagonal(chances, kept)
    shares = counts["count"].to_numpy() / water.len()
    expected = oracle.drop("pds").to_numpy()
    assert invariant(chances, shares, 0.5) == pytest.approx(expected, abs=1e-12)


@given(shares_of(), st.floats(0.05, 0.9))
def test_counts_are_corrected(shares, change):
    matrix, _ = mixing(shares, change)
    transition = Transition(np.arange(shares.size), shares, 1000, matrix)
    before = 1000 * shares
    found, _ = transition.estimate(before @ matrix)
    assert found == pytest.approx(before, abs=1e-6)


def test_the_estimate_is_unbiased_and_spread_as_it_says():
    rng = np.random.default_rng(3)
    matrix = np.array([[0.8, 0.15, 0.05], [0.1, 0.85, 0.05], [0.3, 0.1, 0.6]])
    before = np.array([60, 30, 10])
    transition = Transition(np.arange(3), before / 100, 100, matrix)
    released = [
        sum(rng.multinomial(count, row) for count, row in zip(before, matrix, strict=True))
        for _ in range(20_000)
    ]
    found = np.array([transition.estimate(counts)[0] for counts in released])
    covariance = transition.estimate(before @ matrix)[1]
    error = np.sqrt(np.diag(covariance) / len(released))
    assert (np.abs(found.mean(axis=0) - before) < 5 * error).all()
    assert np.cov(found.T) == pytest.approx(covariance, rel=0.06, abs=0.3)


def test_the_chance_that_a_seen_value_is_true():
    shares, matrix = np.array([0.75, 0.25]), np.array([[0.9, 0.1], [0.3, 0.7]])
    truth = Transition(np.arange(2), shares, 4, matrix).truth
    assert truth.tolist() == pytest.approx([0.675 / 0.75, 0.175 / 0.25])


def test_groups_have_names_and_counts_are_given_by_them():
    frame = pl.DataFrame({"job": ["smith", "clerk", "clerk", "nurse"] * 60, "region": list("nnns") * 60})
    released = shoal.perturb(frame, "pram", "job", by="region", options={"change": 0.2}, seed=1)
    north, south = released.details[0].groups
    assert (north.stratum, south.stratum) == (("n",), ("s",))
    assert (north.values, south.values) == (("clerk", "smith"), ("nurse",))
    by_name = north.estimate({"smith": 70, "clerk": 110})[0]
    assert by_name.tolist() == north.estimate([110, 70])[0].tolist()
    assert north.estimate({"clerk": 180})[0].tolist() == north.estimate([180, 0])[0].tolist()
    with pytest.raises(shoal.InputError, match="did you mean 'smith'"):
        north.estimate({"smit": 70})


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([2, float("nan")], "not a missing value"),
        ([2, -1], "0 or more"),
        ([2], "2 categories"),
        ([[2, 1]], "2 categories"),
    ],
)
def test_counts_that_are_none_are_refused(counts, message):
    with pytest.raises(shoal.InputError, match=message):
        corrected([[0.9, 0.1], [0.1, 0.9]], counts)


def test_a_singular_matrix_corrects_nothing():
    even = Transition(np.arange(2), np.array([0.5, 0.5]), 4, np.full((2, 2), 0.5))
    with pytest.raises(shoal.InputError, match="singular"):
        even.estimate(np.array([2, 2]))
