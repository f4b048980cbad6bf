"""Who a record is: not its place, not the type that holds its numbers."""

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.microdata.columns.identities import group_identities, record_identities
from shoal.runtime.secrets import Secret

SECRET = Secret.of_seed(0)
rows = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-3, 3)), st.one_of(st.none(), st.sampled_from("ab"))),
    min_size=1,
    max_size=12,
)


def identities(frame: pl.DataFrame, key: str | None = None) -> np.ndarray:
    return record_identities(nw.from_native(frame, eager_only=True), SECRET, key)


@given(rows, st.randoms())
def test_alike_records_are_numbered_and_the_order_does_not_matter(found, random):
    schema = {"x": pl.Int64, "y": pl.String}
    frame = pl.DataFrame(found, schema=schema, orient="row")
    ids = identities(frame)
    assert len(set(ids.tolist())) == len(found)
    turned = list(found)
    random.shuffle(turned)
    other = identities(pl.DataFrame(turned, schema=schema, orient="row"))
    for row in set(found):
        mine = sorted(number for number, own in zip(ids, found, strict=True) if own == row)
        assert mine == sorted(number for number, own in zip(other, turned, strict=True) if own == row)


def test_types_and_the_order_of_columns_do_not_matter():
    frame = pl.DataFrame({"x": [1, None, 3], "y": ["a", "b", None]})
    ids = identities(frame).tolist()
    assert identities(frame.with_columns(pl.col("x").cast(pl.Float32))).tolist() == ids
    assert identities(frame.with_columns(pl.col("y").cast(pl.Categorical))).tolist() == ids
    assert identities(frame.select("y", "x")).tolist() == ids
    assert identities(frame.with_columns(x=pl.Series([1.0, np.nan, 3.0]))).tolist() == ids
    assert record_identities(nw.from_native(frame.to_pandas(), eager_only=True), SECRET).tolist() == ids


def test_large_numbers_differ():
    frame = pl.DataFrame({"x": [2**60, 2**60 + 1, -(2**60)]})
    assert len(set(identities(frame).tolist())) == 3


def test_another_secret_knows_nobody():
    frame = nw.from_native(pl.DataFrame({"x": [1, 2]}), eager_only=True)
    assert not set(record_identities(frame, Secret.new())) & set(record_identities(frame, SECRET))


def test_a_key_must_be_the_records_own():
    frame = pl.DataFrame({"id": [1, 2, 1], "x": [1, 2, 3]})
    with pytest.raises(shoal.InputError, match=r"'id' does not tell the records apart; .*: record 3"):
        identities(frame, "id")
    with pytest.raises(shoal.InputError, match="cannot be a key"):
        identities(frame.with_columns(id=pl.Series([[1], [2], [1]])), "id")
    with pytest.raises(shoal.InputError, match=r"2 records \(the first is record 2\)"):
        identities(frame.with_columns(id=pl.Series([None, None, None], dtype=pl.Int64)), "id")
    own = frame.with_columns(id=pl.Series([1, 2, 3]))
    assert identities(own, "id").tolist() == identities(own.with_columns(x=pl.lit(0)), "id").tolist()


def test_groups_share_theirs():
    frame = nw.from_native(pl.DataFrame({"h": [1, 1, 2], "r": ["a", "a", "a"]}), eager_only=True)
    first, second, third = group_identities([frame["h"], frame["r"]], SECRET).tolist()
    assert first == second != third


@pytest.mark.parametrize(
    ("method", "first", "second"),
    [
        (
            "noise",
            {"options": {"amount": 10.0, "kind": "additive"}},
            {"options": {"amount": 20.0, "kind": "additive"}},
        ),
        (
            "noise",
            {"options": {"kind": "additive"}},
            {"options": {"kind": "additive"}, "columns": ["x", "y"]},
        ),
        ("noise", {"options": {"kind": "additive"}}, {"options": {"kind": "additive"}, "by": ["half"]}),
    ],
)
def test_two_releases_by_one_secret_do_not_give_the_noise_away(method, first, second):
    draw = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"id": range(400), "x": draw.normal(size=400), "y": draw.normal(size=400), "half": ["a", "b"] * 200}
    )
    secret, found = Secret.new(), []
    for call in (first, second):
        released = shoal.perturb(
            frame, method, **{"columns": ["x"], "key": "id", **call}, secret=secret
        ).frame
        found.append((released["x"] - frame["x"]).to_numpy())
    assert abs(np.corrcoef(*found)[0, 1]) < 0.3
    again = shoal.perturb(frame, method, **{"columns": ["x"], "key": "id", **first}, secret=secret).frame
    assert (again["x"] - frame["x"]).to_numpy().tolist() == found[0].tolist()
