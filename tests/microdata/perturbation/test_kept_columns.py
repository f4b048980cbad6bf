"""Columns that are released as they are beside perturbed ones: who somebody is, and what gives a value away."""

import numpy as np
import polars as pl
import pytest

import shoal


@pytest.fixture
def survey() -> pl.DataFrame:
    draw = np.random.default_rng(8)
    code = draw.integers(1, 7, 300)
    income = draw.lognormal(8, 0.5, 300).round(2)
    return pl.DataFrame(
        {
            "person_id": draw.permutation(300) + 1000,
            "branch": [f"branch {number}" for number in code],
            "branch_code": code,
            "income": income,
            "income_in_cents": (income * 100).round(0),
            "age": draw.integers(18, 80, 300),
        }
    )


def told(frame: pl.DataFrame, method: str, columns: list[str], **more: object) -> str:
    return " | ".join(shoal.perturb(frame, method, columns, seed=1, **more).warnings)


def test_who_somebody_is_is_warned_of(survey):
    said = "says who or whose somebody is and is released; remove it with drop="
    assert f"person_id {said}" in told(survey, "pram", ["branch"])
    assert "somebody is" not in told(survey, "pram", ["branch"], drop=["person_id"])
    plain = survey.drop("person_id").with_columns(name=pl.Series(range(300)))
    assert f"name {said}" in told(plain, "pram", ["branch"], key="name")


def test_households_and_weights_are_warned_of_as_by_microaggregation(survey):
    joined = survey.with_columns(hid=pl.int_range(pl.len()) // 3 + 1, sample_weight=pl.col("age") + 0.5)
    said = told(joined, "pram", ["branch"])
    averaged = shoal.microaggregate(joined, 3, columns=["income"]).warnings
    for column, words in (("hid", "joins the records of one household"), ("sample_weight", "sample weights")):
        (warning,) = [text for text in averaged if words in text]
        assert f"column '{column}'" in warning
        assert warning in said
        assert words not in told(joined, "pram", ["branch"], drop=[column])
    # Of a household that was named it is said once.
    place = joined.with_columns(region=(pl.col("hid") % 3).cast(pl.String))
    swapped = shoal.perturb(place, "record-swap", household="hid", regions=["region"], quasi=["age"], seed=1)
    assert sum("hid" in text for text in swapped.warnings) == 1


@pytest.mark.parametrize(
    ("method", "column", "other"),
    [
        ("pram", "branch", "branch_code"),
        ("noise", "income", "income_in_cents"),
        ("rank-swap", "income", "income_in_cents"),
    ],
)
def test_what_gives_a_perturbed_value_away_is_named(survey, method, column, other):
    said = f"column '{column}' is changed, but column '{other}', released as it is, determines it; add it to columns="
    assert said in told(survey, method, [column])
    for text in (told(survey, method, [column, other]), told(survey, method, [column], drop=[other])):
        assert "determines" not in text


def test_what_says_nothing_of_it_is_not_named(survey):
    other = survey.drop("branch_code", "income_in_cents")
    assert "determines" not in told(other, "pram", ["branch"])
    assert "determines" not in told(other, "noise", ["income"])
    # One record that differs is enough: then the code does not tell the branch.
    first = survey["branch"][0]
    stray = survey.with_row_index().filter(pl.col("branch") != first)["index"][-1]
    code = survey["branch_code"][0]
    almost = survey.with_columns(
        branch_code=pl.when(pl.int_range(pl.len()) == stray).then(code).otherwise("branch_code")
    )
    assert "determines" not in told(almost, "pram", ["branch"])
