"""Generated people have the columns, ranges and frequencies that were asked for."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import InputError
from shoal.generate.people import SPAIN_BY_BAND, SPAIN_MEN, SPAIN_WOMEN, people
from shoal.runtime import Seeds

COLUMNS = ["ID", "AGE", "CP", "SEX", "REC_RAND", "REC_INTELLIGENT"]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 200),
    st.sampled_from(["uniform", "spain"]),
    st.sampled_from([None, "man", "woman"]),
    st.integers(0, 120),
    st.integers(0, 40),
    st.integers(1, 50),
    st.integers(0, 10),
)
def test_every_table_is_as_asked(count, distribution, sex, min_age, span, postcodes, seed):
    max_age = max(1, min_age + span)
    made = people(
        count,
        distribution=distribution,
        sex=sex,
        min_age=min_age,
        max_age=max_age,
        postcodes=postcodes,
        seeds=Seeds(seed),
    )
    assert made.columns == COLUMNS
    assert made.schema == dict.fromkeys(COLUMNS, pl.Int64) | {"SEX": pl.String}
    assert made["ID"].to_list() == list(range(count))
    assert made["AGE"].is_between(min_age, max_age).all()
    assert made["CP"].is_between(28_000, 28_000 + postcodes - 1).all()
    assert set(made["SEX"]) <= ({sex} if sex else {"man", "woman"})
    assert set(made["REC_RAND"]) == set(made["REC_INTELLIGENT"]) == {-1}
    assert made.null_count().sum_horizontal().item() == 0


def test_the_source_has_the_published_sums():
    assert sum(SPAIN_BY_BAND) == 46_439_862
    assert SPAIN_MEN + SPAIN_WOMEN == 46_439_864


def test_spain():
    made = people(100_000, distribution="spain", seeds=Seeds(4))
    share = 100 / made.height
    assert made["AGE"].is_between(35, 39).sum() * share == pytest.approx(8.50, abs=0.3)
    assert (made["AGE"] >= 95).sum() * share == pytest.approx(0.20, abs=0.05)
    assert (made["SEX"] == "man").sum() * share == pytest.approx(49.1, abs=0.5)
    bands = made.group_by(pl.col("AGE").clip(0, 95) // 5).len().sort("AGE")["len"]
    for found, expected in zip(bands, SPAIN_BY_BAND, strict=True):
        assert found / made.height == pytest.approx(expected / sum(SPAIN_BY_BAND), abs=0.004)


def test_spain_within_a_range():
    made = people(100_000, distribution="spain", min_age=38, max_age=41, seeds=Seeds(2))
    shares = made.group_by("AGE").len().sort("AGE")
    younger, older = SPAIN_BY_BAND[7] / 5, SPAIN_BY_BAND[8] / 5
    expected = [weight / (2 * younger + 2 * older) for weight in (younger, younger, older, older)]
    assert shares["AGE"].to_list() == [38, 39, 40, 41]
    assert [count / 100_000 for count in shares["len"]] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("min_age", "max_age", "expected"), [(95, 104, range(95, 105)), (97, 99, range(97, 100)), (95, 95, [95])]
)
def test_the_open_band_ends_at_the_oldest_age(min_age, max_age, expected):
    made = people(3_000, distribution="spain", min_age=min_age, max_age=max_age)
    counts = made.group_by("AGE").len().sort("AGE")
    assert counts["AGE"].to_list() == list(expected)
    assert counts["len"].min() > 0.7 * 3_000 / len(expected)


def test_uniform():
    made = people(100_000, postcodes=4, max_age=9, seeds=Seeds(3))
    for column, values in (("AGE", 10), ("CP", 4), ("SEX", 2)):
        shares = made.group_by(column).len()["len"] / made.height
        assert shares.len() == values
        assert shares.to_list() == pytest.approx([1 / values] * values, abs=0.01)


def test_the_same_seed_gives_the_same_people_and_another_does_not():
    assert people(50, seeds=Seeds(5)).equals(people(50, seeds=Seeds(5)))
    assert not people(50, seeds=Seeds(5)).equals(people(50, seeds=Seeds(6)))
    assert people(50).equals(people(50, seeds=Seeds(0)))


def test_one_option_leaves_the_other_columns_alone():
    plain, changed = people(50), people(50, distribution="spain", sex="man")
    assert changed["CP"].equals(plain["CP"])
    assert not changed["AGE"].equals(plain["AGE"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 0}, "at least 1"),
        ({"distribution": "spian"}, "did you mean 'spain'"),
        ({"sex": "female"}, "sex 'female'"),
        ({"min_age": -1}, "0 or more"),
        ({"min_age": 50, "max_age": 40}, "at least 50"),
        ({"max_age": 0}, "at least 1"),
        ({"postcodes": 0}, "1 to 72,000"),
        ({"postcodes": 100_000}, "1 to 72,000"),
    ],
)
def test_wrong_options_get_one_line(options, words):
    with pytest.raises(InputError, match=words):
        people(**{"count": 10, **options})
