"""No released value is that of one record: every mean is made of k records, and none of them outweighs the others."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal as command

import shoal
from shoal import InputError


def protect(frame, k=5, columns=("a", "b"), **keywords):
    return shoal.microaggregate(frame, k, columns=list(columns), **{"method": "mdav", **keywords})


def expect_contributors(before, result, columns, k, weights=None):
    """A recount from the two frames: who has a value in which group, and what does it weigh?"""
    share = np.ones(len(before)) if weights is None else before[weights].to_numpy().astype(float)
    for part in result.parts:
        for name in set(part.columns) & set(columns):
            values, released = before[name].to_list(), result.frame[name].to_list()
            for group in range(int(part.labels.max()) + 1):
                rows = np.flatnonzero(part.labels == group).tolist()
                known = [row for row in rows if values[row] is not None]
                assert len({released[row] for row in rows}) == 1
                if not known:
                    assert released[rows[0]] is None
                    continue
                weighing = [row for row in known if share[row] > 0] or known
                assert len(weighing) >= k, f"{name}: a value of {len(weighing)} records"
                heaviest = max(share[row] for row in known)
                assert 10 * (sum(share[row] for row in known) - heaviest) >= heaviest * (1 - 1e-9)


def gappy(n=60, seed=0, share=0.2) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    table = {
        name: [None if draw.random() < share else float(draw.normal()) for _ in range(n)] for name in "ab"
    }
    return pl.DataFrame({**table, "c": draw.normal(size=n), "area": draw.choice(["x", "y"], n)})


def test_a_gap_is_not_filled_with_the_value_of_the_only_record_that_has_one():
    # The four records without "a" are near the one with it: their mean would be its value.
    frame = pl.DataFrame(
        {"a": [777.0, None, None, None, None, *range(1, 16)], "b": [50.0, 50.1, 50.2, 50.3, 50.4, *range(15)]}
    )
    result = protect(frame, missing="impute")
    assert 777.0 not in result.frame["a"].to_list()
    expect_contributors(frame, result, "ab", 5)
    assert result.k_release >= 5
    assert any("joined to others" in note for note in result.notes)


@pytest.mark.parametrize("aggregate", ["mean", "median", "rounded-mean"])
@pytest.mark.parametrize("weight", [0.0, 1e-9])
def test_records_of_no_weight_do_not_hide_the_one_that_has_some(aggregate, weight):
    draw = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "a": [777.0, 770.0, 771.0, 772.0, 773.0, *draw.normal(0, 9, 45).tolist()],
            "w": [5.0] + [weight] * 4 + [1.0] * 45,
        }
    )
    result = protect(frame, columns=["a"], sample_weights="w", aggregate=aggregate)
    assert 777.0 not in result.frame["a"].to_list()
    expect_contributors(frame, result, "a", 5, "w")


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 6),
    share=st.sampled_from([0.05, 0.3, 0.6]),
    weighted=st.booleans(),
    strata=st.booleans(),
    groups=st.sampled_from([None, [["a", "b"], ["c"]]]),
)
def test_every_value_has_enough_contributors(seed, k, share, weighted, strata, groups):
    frame = gappy(seed=seed, share=share)
    draw = np.random.default_rng(seed + 1)
    frame = frame.with_columns(w=pl.Series(draw.choice([0.0, 0.01, 1.0, 30.0], len(frame))))
    keywords = {"missing": "impute", "by": ["area"] if strata else []}
    if weighted:
        keywords["sample_weights"] = "w"
    chosen = {"columns": ["a", "b", "c"]} if groups is None else {"groups": groups}
    try:
        result = shoal.microaggregate(frame, k, method="mdav", **chosen, **keywords)
    except InputError as refused:
        assert "would tell" in str(refused)
        return
    expect_contributors(frame, result, "abc", k, "w" if weighted else None)
    if strata:
        for part in result.parts:
            of = frame.with_columns(group=part.labels).group_by("group").agg(pl.col("area").n_unique())
            assert of["area"].max() == 1


def test_a_column_nobody_in_a_group_has_stays_missing():
    frame = pl.DataFrame({"a": [None] * 5 + [1.0, 2.0, 3.0, 4.0, 5.0], "b": [9.0] * 5 + [1.0] * 5})
    result = protect(frame, missing="impute", attribute_weights={"b": 100.0})
    assert result.frame["a"].to_list() == [None] * 5 + [3.0] * 5


@pytest.mark.parametrize(
    ("change", "keywords", "message"),
    [
        ({"a": [1.0, 2.0, 3.0] + [None] * 57}, {}, "'a' has 3 records with a value, fewer than k = 5"),
        (
            {"a": [1.0] * 57 + [None] * 3, "area": ["x"] * 50 + ["y"] * 10},
            {"by": ["area"], "k": 8},
            "'a' has 7 records with a value in 1 of 2 strata, fewer than k = 8",
        ),
        (
            {"w": [1.0, 2.0] + [0.0] * 58},
            {"sample_weights": "w"},
            r"'[ab]' has \d records? with a value and a weight above 0, fewer than k = 5",
        ),
        (
            {"w": [1e6] + [1.0] * 59},
            {"sample_weights": "w", "columns": ["c"]},
            "more than ten times as much as all",
        ),
    ],
)
def test_a_column_of_too_few_contributors_is_refused(change, keywords, message):
    frame = gappy().with_columns(**{name: pl.Series(values) for name, values in change.items()})
    with pytest.raises(InputError, match=message):
        protect(frame, **{"missing": "impute", **keywords})


def test_groups_that_may_not_grow_are_refused():
    with pytest.raises(InputError, match="largest=9 does not let them be joined"):
        protect(gappy(share=0.4), missing="impute", largest=9)


def test_the_check_counts_contributors_itself():
    frame = gappy().with_columns(w=pl.Series([1.0, 2.0] * 30))
    result = protect(frame, columns=["c"], sample_weights="w")
    check = result._check
    zero = np.where(result.labels == 0, 0.0, 1.0)
    first = int(np.flatnonzero(result.labels == 0)[0])
    zero[first] = 1.0
    with pytest.raises(AssertionError, match="made of 1 contributors, fewer than k = 5"):
        replace(result, _check=replace(check, weights=zero)).verify()
    heavy = np.ones(60)
    heavy[first] = 1000.0
    with pytest.raises(AssertionError, match="one record dominates"):
        replace(result, _check=replace(check, weights=heavy)).verify()
    gaps = check.attributes[0].values.copy()
    gaps[np.flatnonzero(result.labels == 0)[:-1]] = np.nan
    lacking = replace(check, attributes=(replace(check.attributes[0], values=gaps),), weights=None)
    with pytest.raises(AssertionError):
        replace(result, _check=lacking).verify()


def test_ordinary_weights_join_nothing():
    draw = np.random.default_rng(2)
    frame = gappy().with_columns(w=pl.Series(draw.lognormal(3, 0.8, 60)))
    plain, weighted = (protect(frame, columns=["c"], sample_weights=name) for name in (None, "w"))
    assert weighted.labels.tolist() == plain.labels.tolist()
    assert not any("joined" in note for note in weighted.notes)


def test_medians_are_said_to_be_values_of_records():
    notes = protect(gappy(), columns=["c"], aggregate="median").notes
    assert any("a median is the exact value of one record" in note for note in notes)
    assert not any("median" in note for note in protect(gappy(), columns=["c"]).notes)


def test_the_command_refuses_a_mean_of_a_few(tmp_path):
    data, out = tmp_path / "data.csv", tmp_path / "safe.csv"
    gappy().with_columns(a=pl.Series([1.0, 2.0, 3.0] + [None] * 57)).write_csv(data)
    asked = ["microaggregate", data, "--columns", "a,b", "--missing", "impute", "-o", out, "--json"]
    told = command(*asked)
    assert told.code == 2 and "fewer than k = 5" in told.json["error"] and not out.exists()
