"""Swapping, noise and shuffling as a user calls them: from Python and on the command line."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.microdata.perturbation.test_record_swapping import people

import shoal
from shoal.errors import InputError
from shoal.runtime.secrets import Secret

CALLS: dict[str, dict[str, Any]] = {
    "rank-swap": {"columns": ["income", "tax"], "options": {"window": 10}, "by": ["state"]},
    "noise": {"columns": ["income", "tax"], "by": ["state"]},
    "shuffle": {"columns": ["income", "tax"], "options": {"predictors": ["age"]}},
    "record-swap": {"household": "hid", "regions": ["state", "county"], "quasi": ["age", "job"]},
}


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    found = people(400, 21)
    rng = np.random.default_rng(21)
    gaps = pl.Series(rng.random(found.height) < 0.2)
    return found.with_columns(
        id=pl.int_range(found.height),
        tax=pl.Series(rng.lognormal(size=found.height)).set(gaps, None),
    )


@pytest.mark.parametrize("method", CALLS)
def test_a_secret_repeats_a_release_whatever_the_order_of_the_file(method: str, frame: pl.DataFrame) -> None:
    secret = Secret.new()
    turned = frame.sample(fraction=1.0, shuffle=True, seed=3)
    for key in (None, "id"):
        first, second, other = (
            shoal.perturb(own, method, **CALLS[method], key=key, secret=hidden)
            for own, hidden in ((frame, secret), (turned, secret), (frame, None))
        )
        assert first.frame.sort(frame.columns).equals(second.frame.sort(frame.columns))
        assert not first.frame.equals(other.frame)
        # Every record has a number here, so that it is the same one that gets the same values.
        assert first.frame.sort("id").equals(second.frame.sort("id"))
        assert first.for_release
        first.verify()
        assert all(outcome.kept for outcome in first.outcomes)


@pytest.mark.parametrize("method", CALLS)
def test_records_that_are_alike_are_exchangeable(method: str) -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "income": rng.integers(0, 3, 600),
            "tax": rng.integers(0, 2, 600) / 2,
            "age": rng.integers(0, 2, 600),
            "job": rng.integers(0, 2, 600),
            "state": rng.integers(0, 2, 600),
            "county": rng.integers(0, 2, 600),
        }
    )
    call = {name: value for name, value in CALLS[method].items() if name != "household"}
    turned = frame.sample(fraction=1.0, shuffle=True, seed=3)
    first, second = (
        shoal.perturb(own, method, **call, seed=4).frame.sort(pl.all()) for own in (frame, turned)
    )
    assert frame.n_unique() < 100
    assert first.equals(second)
    assert not first.equals(frame.sort(pl.all()))


def test_messages_are_spelled_for_python(frame: pl.DataFrame) -> None:
    for method, call in CALLS.items():
        result = shoal.perturb(frame, method, **call, seed=1)
        assert "order='sorted'" in result.notes[-1]
        assert not any("\ue000" in text for text in (*result.notes, *result.warnings))


@pytest.mark.parametrize("method", CALLS)
def test_the_frame_comes_back_as_it_came(method: str, frame: pl.DataFrame) -> None:
    plain = shoal.perturb(frame, method, **CALLS[method], seed=1)
    assert plain.frame.columns == frame.columns
    assert plain.frame.schema == frame.schema
    assert not plain.for_release
    of_pandas = shoal.perturb(frame.to_pandas(), method, **CALLS[method], seed=1)
    assert isinstance(of_pandas.frame, pd.DataFrame)
    assert pl.from_pandas(of_pandas.frame).select(plain.columns).equals(plain.frame.select(plain.columns))
    of_arrow = shoal.perturb(frame.to_arrow(), method, **CALLS[method], seed=1)
    assert pl.DataFrame(of_arrow.frame).equals(plain.frame)


@pytest.mark.parametrize("method", CALLS)
def test_a_sorted_release_is_checked_too(method: str, frame: pl.DataFrame) -> None:
    result = shoal.perturb(frame, method, **CALLS[method], order="sorted", drop="id", seed=1)
    result.verify()
    last = frame.height - 1
    moved = result.frame[[last, *range(1, last), 0]]
    with pytest.raises(AssertionError):
        result.verify(moved)


def test_reports_tell_what_holds(frame: pl.DataFrame, tmp_path: Path) -> None:
    for method, call in CALLS.items():
        result = shoal.perturb(frame, method, **call, seed=1)
        result.report().write(tmp_path / f"{method}.html")
        text = (tmp_path / f"{method}.html").read_text(encoding="utf-8")
        for promise in result.promises:
            assert promise.text.split("'")[0].replace("<", "&lt;")[:30] in text


ARGUMENTS = {
    "rank-swap": ["--columns", "income,tax", "--window", "5"],
    "noise": ["--columns", "income,tax", "--amount", "20", "--option", "kind=correlated"],
    "shuffle": ["--columns", "income,tax", "--option", "predictors=age,hid"],
    "record-swap": [
        *["--household", "hid", "--regions", "state,county", "--quasi", "age,job"],
        *["--share", "0.1", "--option", "similar=tenure,job"],
    ],
}


@pytest.mark.parametrize("method", ARGUMENTS)
def test_on_the_command_line(method: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    frame.write_parquet(tmp_path / "in.parquet")
    data, out, secret = tmp_path / "in.parquet", tmp_path / "out.parquet", tmp_path / "secret.txt"
    first = command(
        "perturb", data, "--method", method, *ARGUMENTS[method], "-o", out, "--secret", secret, "--json"
    )
    assert first.code == 0, first.err
    assert first.json["verified"]
    assert all(promise["kept"] for promise in first.json["promises"])
    again = tmp_path / "again.parquet"
    second = command(
        "perturb", data, "--method", method, *ARGUMENTS[method], "-o", again, "--secret", secret, "--json"
    )
    assert second.code == 0, second.err
    assert pl.read_parquet(out).equals(pl.read_parquet(again))
    assert not pl.read_parquet(out).equals(frame)


def _hostile(frame: pl.DataFrame) -> pl.DataFrame:
    row = frame.with_row_index().filter(pl.len().over("hid") > 1)["index"][0]
    return frame.with_columns(
        same=pl.lit(7.5),
        empty=pl.lit(None, dtype=pl.Float64),
        split=pl.when(pl.int_range(pl.len()) == row).then(pl.lit("Atlantis")).otherwise("state"),
        few=pl.when(pl.int_range(pl.len()) < 5).then(pl.lit("Lemuria")).otherwise(pl.lit("rest")),
        born=pl.date(2000, 1, 1),
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rank-swap", "--columns", "income", "--window", "0"], "--window"),
        (["rank-swap", "--columns", "income", "--window", "100.1"], "--window"),
        (["rank-swap", "--columns", "income", "--window", "-5"], "--window"),
        (["rank-swap", "--columns", "income", "--window", "wide"], "--window"),
        (["rank-swap", "--columns", "income", "--option", "window=0"], "window"),
        (["rank-swap", "--columns", "same"], "same value everywhere"),
        (["rank-swap", "--columns", "empty"], "no value"),
        (["rank-swap", "--columns", "job"], "column 'job'"),
        (["rank-swap", "--columns", "income", "--ordinal", "age"], "'age'"),
        (["rank-swap", "--columns", "income", "--amount", "5"], "--amount"),
        (["rank-swap", "--columns", "income", "--household", "hid"], "--household"),
        (["noise", "--columns", "same"], "same value everywhere"),
        (["noise", "--columns", "empty"], "no value"),
        (["noise", "--columns", "income", "--by", "few"], "too small for exact noise"),
        (["noise", "--columns", "income", "--amount", "0"], "--amount"),
        (["noise", "--columns", "income", "--option", "kind=loud"], "kind"),
        (["noise", "--columns", "income", "--option", "round=true"], "round"),
        (["noise", "--columns", "income", "--window", "5"], "--window"),
        (["noise", "--columns", "born"], "born"),
        (["shuffle", "--columns", "same"], "same value everywhere"),
        (["shuffle", "--columns", "empty,income"], "no value"),
        (["shuffle", "--columns", "income", "--option", "predictors=income"], "at once"),
        (["shuffle", "--columns", "income", "--option", "predictors=same"], "same value everywhere"),
        (["shuffle", "--columns", "income", "--option", "predictors=aeg"], "did you mean 'age'"),
        (["record-swap", "--household", "hid", "--regions", "split", "--quasi", "age"], "one place"),
        (["record-swap", "--household", "hid", "--regions", "state"], "--quasi"),
        (["record-swap", "--household", "hid", "--quasi", "age"], "--regions"),
        (["record-swap", "--regions", "same", "--quasi", "age"], "no two regions"),
        (["record-swap", "--regions", "empty", "--quasi", "age"], "no two regions"),
        (["record-swap", "--regions", "state", "--quasi", "age", "--share", "1.5"], "--share"),
        (["record-swap", "--regions", "state", "--quasi", "age", "--option", "k=1"], "k"),
        (["record-swap", "--regions", "state", "--quasi", "age", "--columns", "age"], "--columns"),
        (["record-swap", "--regions", "state,state", "--quasi", "age"], "twice"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    arguments: list[str], says: str, frame: pl.DataFrame, tmp_path: Path
) -> None:
    data = tmp_path / "in.parquet"
    _hostile(frame).write_parquet(data)
    outcome = command(
        "perturb", data, "--method", *arguments, "-o", tmp_path / "out.csv", "--secret", tmp_path / "s"
    )
    assert outcome.code == 2, outcome.out
    lines = [line for line in outcome.err.splitlines() if line.strip()]
    assert len(lines) == 1, outcome.err
    assert says in lines[0]
    assert "Atlantis" not in outcome.err
    assert "Lemuria" not in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize("method", ["rank-swap", "noise", "shuffle"])
def test_an_empty_column_of_a_text_file_is_called_empty(method: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n" + "1,\n2,\n3,\n" * 5)
    outcome = command("perturb", tmp_path / "in.csv", "--method", method, "--columns", "b")
    assert outcome.code == 2 and "'b' has no value at all" in outcome.err


@pytest.mark.skipif(os.name != "posix", reason="who may read a file is told by its mode")
def test_a_secret_that_others_can_read_is_refused(frame: pl.DataFrame, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(Secret.new().text())
    secret.chmod(0o644)
    frame.write_parquet(tmp_path / "in.parquet")
    asked = [
        "perturb",
        tmp_path / "in.parquet",
        "--method",
        "rank-swap",
        "--columns",
        "income",
        "--secret",
        secret,
    ]
    outcome = command(*asked, "-o", tmp_path / "out.csv")
    assert outcome.code == 2 and "chmod 600" in outcome.err and not (tmp_path / "out.csv").exists()
    with pytest.raises(InputError, match="others can read"):
        shoal.perturb(frame, "rank-swap", "income", secret=secret)
    secret.chmod(0o600)
    assert command(*asked, "-o", tmp_path / "out.csv").code == 0


def test_the_first_split_household_is_named(frame: pl.DataFrame) -> None:
    hostile = _hostile(frame)
    row = hostile["split"].to_list().index("Atlantis")
    hid = hostile["hid"][row]
    # The first member says where a household lives, so the second one differs.
    second = hostile.with_row_index().filter(pl.col("hid") == hid)["index"][1]
    with pytest.raises(InputError, match=rf"than the first of the household: .*record {second + 1}\b"):
        shoal.perturb(hostile, "record-swap", household="hid", regions="split", quasi="age", seed=1)


def test_a_workbook_may_lose_the_last_digit(frame: pl.DataFrame, tmp_path: Path) -> None:
    frame.write_parquet(tmp_path / "in.parquet")
    for method, arguments in ARGUMENTS.items():
        out = tmp_path / f"{method}.xlsx"
        outcome = command(
            "perturb", tmp_path / "in.parquet", "--method", method, *arguments, "-o", out, "--seed", 1
        )
        assert outcome.code == 0, outcome.err
        assert out.exists()


@pytest.mark.parametrize("scale", [1e-280, 1e-20, 1e18, 1e280])
@pytest.mark.parametrize("kind", ["exact", "correlated", "additive"])
def test_noise_on_very_large_and_very_small_numbers(scale: float, kind: str) -> None:
    rng = np.random.default_rng(8)
    frame = pl.DataFrame({"a": rng.normal(size=50) * scale, "b": rng.normal(size=50)})
    with np.errstate(all="raise", under="ignore"):
        result = shoal.perturb(frame, "noise", ["a", "b"], options={"kind": kind, "amount": 50}, seed=1)
    ratio = result.frame["a"].to_numpy() / frame["a"].to_numpy()
    assert np.isfinite(ratio).all()
    assert 0.1 < np.std(result.frame["a"].to_numpy() / scale - frame["a"].to_numpy() / scale) < 2


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt8, pl.UInt64, pl.Int64, pl.Int128])
def test_rounded_noise_need_not_fit_into_the_type(kind: pl.DataType) -> None:
    frame = pl.DataFrame({"a": pl.Series([5 * (i % 25) for i in range(100)], dtype=kind)})
    small = shoal.perturb(frame, "noise", "a", options={"round": True, "amount": 1}, seed=1).frame["a"]
    large = shoal.perturb(frame, "noise", "a", options={"round": True, "amount": 800}, seed=1).frame["a"]
    for released in (small, large):
        assert all(value == round(value) for value in released.to_list())
    assert large.min() < 0 or kind in (pl.Int64, pl.Int128)
    assert large.dtype == (pl.Float64 if kind in (pl.Int8, pl.UInt8, pl.UInt64) else kind)


@pytest.mark.parametrize("kind", ["additive", "correlated", "exact"])
@pytest.mark.parametrize("key", ["id", None])
def test_two_releases_by_one_secret_do_not_give_the_noise_away(kind: str, key: str | None) -> None:
    rng = np.random.default_rng(3)
    before = pl.DataFrame(
        {"id": np.arange(400), "a": rng.lognormal(9, 1, 400), "b": rng.lognormal(6, 1, 400)}
    )
    # One wrong value was corrected, and the release made anew with the secret that was kept.
    corrected = before.with_columns(a=pl.when(pl.col("id") == 7).then(1e5).otherwise(pl.col("a")))
    secret = Secret.new()
    both = [
        shoal.perturb(
            frame, "noise", ["a", "b"], key=key, options={"kind": kind, "amount": 50}, secret=secret
        ).frame
        for frame in (before, corrected)
    ]
    truth = before.select("a", "b").to_numpy()
    seen = np.hstack([np.ones((400, 1)), *(frame.select("a", "b").to_numpy() for frame in both)])
    # Who knows some people solves for how the two releases combine to the truth, and applies it to the others.
    known, others = np.arange(100, 150), np.arange(200, 400)
    solved = np.linalg.lstsq(seen[known] / seen.max(axis=0), truth[known], rcond=None)[0]
    missed = np.abs(seen[others] / seen.max(axis=0) @ solved - truth[others])
    assert missed.mean(axis=0).min() > 0.1 * truth.std(axis=0).min()


def test_noise_is_the_same_where_nothing_that_it_depends_on_changed() -> None:
    rng = np.random.default_rng(4)
    before = pl.DataFrame({"id": np.arange(60), "a": rng.normal(size=60), "note": ["x"] * 60})
    secret = Secret.new()
    found = [
        shoal.perturb(frame, "noise", ["a"], key="id", secret=secret).frame["a"]
        for frame in (before, before.with_columns(note=pl.lit("y")))
    ]
    assert found[0].equals(found[1])
