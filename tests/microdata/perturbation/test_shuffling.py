"""Shuffling: the same values on other records, with the rank correlations of the data."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from tests.microdata.perturbation.problems import SECRET, broken, problem_of, released

import shoal
from shoal.errors import InputError
from shoal.microdata.perturbation import shuffling
from shoal.microdata.perturbation.shuffling import ShuffleOptions, conditional, correlations


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-3, 8)),
            st.one_of(st.none(), st.floats(-9, 9)),
            st.integers(0, 2),
        ),
        min_size=2,
        max_size=60,
    )
)
def test_each_column_keeps_its_values(rows: list[tuple[int | None, float | None, int]]) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.Int64, "y": pl.Float64, "s": pl.Int64}, orient="row")
    if any(frame[name].drop_nulls().n_unique() < 2 for name in ("x", "y")):
        return
    problem = problem_of(frame, ["x", "y"], strata=frame["s"].to_list())
    change = shuffling.perturb(problem, ShuffleOptions(), secret=SECRET)
    after = released(frame, change)
    assert broken(frame, after, change) == []
    for name in ("x", "y"):
        assert after[name].is_null().equals(frame[name].is_null())


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), st.integers(0, 10**6))
def test_correlations_go_together(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = rng.normal(size=(12, d))
    ranks[rng.random(ranks.shape) < 0.3] = np.nan
    found = correlations(ranks)
    assert np.allclose(np.diag(found), 1)
    assert np.linalg.eigvalsh(found).min() > 0
    slopes, root = conditional(found, d - 1)
    # What depends on the others and what is left make up the whole.
    left = root.T @ root
    assert np.allclose(left + np.outer(slopes[0], slopes[0]), found[:-1, :-1], atol=1e-7)


def test_the_model_has_the_rank_correlations_of_normal_numbers() -> None:
    rng = np.random.default_rng(0)
    normals = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=40_000)
    ranks = np.argsort(np.argsort(normals, axis=0), axis=0) - 19_999.5
    assert correlations(ranks)[0, 1] == pytest.approx(0.7, abs=0.01)


def test_rank_correlations_are_kept_with_predictors_and_lost_without() -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 70, 8000)
    income = np.exp(age / 20 + rng.normal(size=8000))
    tax = income**1.2 * np.exp(0.3 * rng.normal(size=8000))
    frame = pl.DataFrame({"age": age, "income": income, "tax": tax})
    problem = problem_of(frame, ["income", "tax"])
    before = spearmanr(frame.to_numpy()).statistic
    with_age = released(frame, shuffling.perturb(problem, ShuffleOptions(predictors=("age",)), secret=SECRET))
    assert np.abs(spearmanr(with_age.to_numpy()).statistic - before).max() < 0.03
    change = shuffling.perturb(problem, ShuffleOptions(), secret=SECRET)
    alone = spearmanr(released(frame, change).to_numpy()).statistic
    assert alone[1, 2] == pytest.approx(before[1, 2], abs=0.03)
    assert abs(alone[0, 1]) < 0.04
    assert any("predictors" in text for text in change.warnings)
    # A record's own value does not enter: what it gets is no nearer to it than chance makes it.
    own = spearmanr(frame["income"], released(frame, change)["income"]).statistic
    assert abs(own) < 0.04


def test_the_order_of_the_file_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"x": rng.integers(0, 30, 400), "y": rng.normal(size=400).round(1), "s": rng.integers(0, 3, 400)}
    )
    turned = frame.sample(fraction=1.0, shuffle=True, seed=5)
    after = []
    for own in (frame, turned):
        problem = problem_of(own, ["x", "y"], strata=own["s"].to_list())
        change = shuffling.perturb(problem, ShuffleOptions(), secret=SECRET)
        after.append(released(own, change).sort(own.columns))
    assert after[0].equals(after[1])


def test_gaps_of_predictors_stand_in_the_middle() -> None:
    rng = np.random.default_rng(3)
    age = rng.normal(size=3000)
    frame = pl.DataFrame(
        {
            "age": pl.Series(age).set(pl.Series(rng.random(3000) < 0.2), None),
            "x": age + 0.2 * rng.normal(size=3000),
        }
    )
    change = shuffling.perturb(problem_of(frame, ["x"]), ShuffleOptions(predictors=("age",)), secret=SECRET)
    after = released(frame, change)
    known = frame["age"].is_not_null()
    assert spearmanr(frame["age"].filter(known), after["x"].filter(known)).statistic > 0.9
    assert abs(spearmanr(age[~known.to_numpy()], after["x"].filter(~known)).statistic) < 0.15


@pytest.mark.parametrize(
    ("predictors", "message"),
    [
        (("agee",), "did you mean 'age'"),
        (("x",), "at once"),
        (("age", "age"), "twice"),
        (("name",), "numeric"),
    ],
)
def test_predictors_without_sense_are_refused(predictors: tuple[str, ...], message: str) -> None:
    frame = pl.DataFrame({"age": [1, 2, 3], "x": [3.0, 1.0, 2.0], "name": ["a", "b", "c"]})
    with pytest.raises(InputError, match=message):
        shuffling.perturb(problem_of(frame, ["x"]), ShuffleOptions(predictors=predictors), secret=SECRET)


def test_predictors_are_no_columns_to_shuffle_unless_somebody_says_so() -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"age": rng.integers(18, 90, 200), "income": rng.lognormal(8, 1, 200).round(2)})
    assert shoal.perturb(frame, "shuffle", seed=1).columns == ("age", "income")
    for columns in (None, ["*"], ["income"]):
        found = shoal.perturb(frame, "shuffle", columns, options={"predictors": "age"}, seed=1)
        assert found.columns == ("income",)
        assert found.frame["age"].equals(frame["age"])
    ordered = shoal.perturb(frame, "shuffle", ordinal="age", options={"predictors": "age"}, seed=1)
    assert ordered.columns == ("income",)
    with pytest.raises(
        InputError, match=r"'age' cannot be shuffled .* at once; take it out of columns= or of"
    ):
        shoal.perturb(frame, "shuffle", ["age", "income"], options={"predictors": "age"}, seed=1)


def test_columns_that_cannot_change_are_refused() -> None:
    frame = pl.DataFrame({"x": [1, 1, None]})
    with pytest.raises(InputError, match="column 'x' has the same value everywhere"):
        shuffling.perturb(problem_of(frame, ["x"]), ShuffleOptions(), secret=SECRET)
