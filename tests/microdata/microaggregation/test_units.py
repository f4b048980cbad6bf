"""Where somebody has several records, a group stands for k people, not for k records."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import InputError


def visits(seed=0, people=40, each=6, gaps=0.0) -> pl.DataFrame:
    """Records of people whose own values are near each other, so that a group of records is easily one person's."""
    draw = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), draw.integers(1, each + 1, people))
    centre = draw.normal(size=(people, 2)) * 10
    values = centre[person] + draw.normal(size=(person.size, 2)) * 0.1
    known = draw.random(person.size) >= gaps
    a = [float(value) if sure else None for value, sure in zip(values[:, 0], known, strict=True)]
    area = np.where(person % 2 == 0, "x", "y")
    weight = draw.choice([0.0, 1.0, 50.0], person.size, p=[0.05, 0.9, 0.05])
    return pl.DataFrame(
        {"a": a, "b": values[:, 1], "person": [f"p{one}" for one in person], "area": area, "w": weight}
    )


def protect(frame, k=3, **keywords):
    usual = {"columns": ["a", "b"], "method": "mdav", "unit": "person", "drop": ["person"]}
    return shoal.microaggregate(frame, k, **{**usual, **keywords})


def expect_people(frame, result, k) -> None:
    """A recount: whose are the records of each group, and of those with a value in it?"""
    person = frame["person"].to_list()
    for part in result.parts:
        for group in range(int(part.labels.max()) + 1):
            rows = np.flatnonzero(part.labels == group).tolist()
            assert len({person[row] for row in rows}) >= k
            for name in part.columns:
                values = frame[name].to_list()
                known = {person[row] for row in rows if values[row] is not None}
                assert not known or len(known) >= k


def test_records_of_one_person_are_no_group():
    frame = visits()
    of_records = protect(frame, unit=None)
    assert (
        shoal.anonymity(
            of_records.frame.with_columns(person=frame["person"]), quasi=["a", "b"], unit="person"
        ).k
        < 3
    )
    result = protect(frame)
    expect_people(frame, result, 3)
    assert result.k_protected >= 3
    assert any("at least 3 distinct values of 'person'" in note for note in result.notes)
    assert result.bound is not None and result.bound <= result.loss
    assert not result.optimal


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    k=st.integers(2, 4),
    gaps=st.sampled_from([0.0, 0.3]),
    by=st.sampled_from([[], ["area"]]),
    weights=st.sampled_from([None, "w"]),
    split=st.booleans(),
)
def test_every_group_and_every_value_is_that_of_k_people(seed, k, gaps, by, weights, split):
    frame = visits(seed, people=24, each=4, gaps=gaps)
    groups = [["a"], ["b"]] if split else None
    result = protect(
        frame,
        k,
        missing="impute",
        by=by,
        sample_weights=weights,
        groups=groups,
        columns=None if split else ["a", "b"],
    )
    expect_people(frame, result, k)


def test_whose_record_it_is_may_be_unknown_and_counts_as_one():
    frame = visits().with_columns(
        person=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col("person"))
    )
    expect_people(frame, protect(frame), 3)


def test_people_who_are_too_few_are_refused():
    frame = visits(people=6)
    with pytest.raises(InputError, match="those of only 6 distinct values of 'person', fewer than k = 7"):
        protect(frame, 7)
    with pytest.raises(
        InputError, match=r"only 3 distinct values of 'person' in 2 of 2 strata, fewer than k = 4"
    ):
        protect(visits(people=6, each=9), 4, by=["area"])
    sparse = frame.with_columns(a=pl.when(pl.col("person") == "p1").then(pl.col("a")).otherwise(None))
    with pytest.raises(InputError, match="column 'a' are those of only 1 distinct values of 'person'"):
        protect(sparse, 3, missing="impute")


def test_a_largest_group_that_people_do_not_fit_in_is_refused():
    with pytest.raises(InputError, match="largest=5 does not let them be joined"):
        protect(visits(), largest=5)


def test_the_check_counts_people_itself():
    frame = visits()
    result = protect(frame, unit=None, drop=[])
    whose = shoal.microaggregate(frame, 3, columns=["a", "b"], method="mdav", unit="person")._check.units
    with pytest.raises(AssertionError, match="distinct units, fewer than k = 3"):
        replace(result, _check=replace(result._check, units=whose)).verify()
