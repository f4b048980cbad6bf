"""Files larger than memory: k, loss and the same release as elsewhere, slice by slice, and within the memory given."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.waiting import GUARD

import shoal
from shoal.microdata.microaggregation.leaves.report import page
from shoal.stream.memory import Room, room_for
from shoal.stream.microaggregate import microaggregate
from shoal.stream.records import fingerprint
from shoal.stream.spill import Spill
from shoal.stream.verify import ReleaseCheck
from shoal.stream.writing import StagedFolder

SMALL = {"leaf": 700, "block": 200}


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices, parts and turns so small that there are many of each."""
    small = Room(slice=700, leaf=700, part=900, classes=400)
    monkeypatch.setattr("shoal.stream.microaggregate.room_for", lambda *asked: small)


def made_up(n: int) -> pl.DataFrame:
    draw = np.random.default_rng(3)
    base = draw.normal(size=(n, 2))
    return pl.DataFrame(
        {
            "income": np.exp(base[:, 0]),
            "rent": base[:, 0] + base[:, 1],
            "age": draw.integers(18, 90, n),
            "sex": draw.choice(["f", "m"], n),
        }
    )


@pytest.mark.usefixtures("slices")
def test_it_protects_as_memory_does(tmp_path: Path) -> None:
    people = made_up(6_000)
    folder = tmp_path / "people"
    folder.mkdir()
    for part, frame in enumerate(people.iter_slices(1_700)):
        frame.write_parquet(folder / f"{part}.parquet", row_group_size=300)
    columns = ["income", "rent", "age"]
    mine = microaggregate(str(folder), 4, columns=columns, options=SMALL, quasi=[*columns, "sex"])
    theirs = shoal.microaggregate(people, 4, columns=columns, method="blocks", threads=1)
    assert mine.leaves > 4 and mine.shifted_leaves > 4 and mine.largest_leaf <= 1_400
    assert mine.loss <= 1.03 * theirs.loss
    out = tmp_path / "safe"
    mine.write(str(out))
    mine.close()
    after = pl.read_parquet(out / "*.parquet")
    assert after.columns == people.columns and len(list(out.iterdir())) == 7
    sizes = after.group_by(columns).len()["len"]
    assert sizes.min() == mine.k_protected >= 4 and len(sizes) == mine.clusters
    assert after.group_by([*columns, "sex"]).len()["len"].min() == mine.k_release
    assert mine.anonymity.vector.to_dict() == shoal.anonymity(after, [*columns, "sex"]).vector.to_dict()
    kept = [after[name].var() / people[name].var() for name in columns]
    assert mine.loss == pytest.approx(100 * (1 - sum(kept) / 3), rel=1e-6)
    assert sorted(after["sex"]) == sorted(people["sex"])
    for part in out.iterdir():
        rows = pl.read_parquet(part).select(columns).rows()
        assert rows == sorted(rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people", "safe"]


def hard() -> pl.DataFrame:
    """A point that very many share, ties, gaps, strata of all sizes, dates, and a column that says nothing."""
    draw = np.random.default_rng(8)
    n = 5_000
    amount = np.round(draw.lognormal(3, 2, n), 0)
    amount[:2_000] = -0.0
    count = draw.integers(0, 6, n)
    count[:2_000] = 2
    frame = pl.DataFrame(
        {
            "amount": amount,
            "count": count,
            "when": pl.Series(
                [1_600_000_000 + int(x) * (i >= 2_000) for i, x in enumerate(draw.integers(0, 10**7, n))]
            ),
            "same": [7] * n,
            "region": np.repeat(["big", "small", "tiny", None], [4_400, 500, 60, 40]),
            "id": range(n),
        }
    )
    return frame.with_columns(
        amount=pl.when(pl.col("id") % 900 != 899).then("amount"),
        when=pl.from_epoch("when").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin"),
    )


@pytest.mark.usefixtures("slices")
def test_the_same_records_are_released_the_same_in_any_order(tmp_path: Path) -> None:
    frame = hard()
    asked: dict[str, Any] = {
        "columns": ["amount", "count", "when", "same"],
        "by": ["region"],
        "missing": "aside",
        "quasi": ["amount", "count", "when"],
        "options": SMALL,
        "aggregate": "rounded-mean",
    }
    released = []
    for number, order in enumerate((frame, frame.reverse(), frame.sample(fraction=1, shuffle=True, seed=2))):
        order.write_parquet(tmp_path / f"{number}.parquet")
        result = microaggregate(str(tmp_path / f"{number}.parquet"), 5, **asked)
        released.append(result.frame.collect())
        result.close()
    assert len({tuple(sorted(map(repr, one.rows()))) for one in released}) == 1
    after = released[0]
    assert after.schema == frame.schema and after.height == frame["amount"].count()
    assert after.group_by("region", "amount", "count", "when").len()["len"].min() >= 5
    crowd = after.filter((pl.col("id") < 2_000) & (pl.col("id") % 900 != 899))
    assert crowd["amount"].unique().to_list() == [0.0] and crowd["count"].unique().to_list() == [2]


@pytest.mark.usefixtures("slices")
@pytest.mark.parametrize("near", [0.1, 5.0])
def test_every_group_holds_k_units(tmp_path: Path, near: float) -> None:
    """People with several records near each other, some at one crowded point, some without a name."""
    draw = np.random.default_rng(7)
    n, k = 4_000, 4
    who = draw.integers(0, 900, n)
    values = draw.normal(size=(900, 2))[who] * near + draw.normal(size=(n, 2))
    values[:1_800] = 0.0
    frame = pl.DataFrame(
        {
            "a": values[:, 0],
            "b": values[:, 1],
            "who": pl.Series(np.where(who % 50 == 3, -1, who)).replace(-1, None),
            "half": draw.choice([1.0, np.nan], n, p=[0.8, 0.2]),
            "id": range(n),
        }
    )
    frame.write_parquet(tmp_path / "visits.parquet")
    asked: dict[str, Any] = {"columns": ["a", "b"], "quasi": ["a", "half"], "options": SMALL, "unit": "who"}
    for by, drop in (([], ["who"]), (["half"], [])):
        result = microaggregate(str(tmp_path / "visits.parquet"), k, by=by, drop=drop, **asked)
        out = tmp_path / f"safe-{len(drop)}"
        result.write(str(out))
        result.close()
        after = pl.read_parquet(out / "*.parquet")
        assert after.columns == [name for name in frame.columns if name not in drop]
        # Whose record it was is looked up by a number that a real release would not have.
        after = after.drop("who", strict=False).join(frame.select("id", "who"), on="id")
        units = after.group_by("a", "b", *by).agg(pl.col("who").n_unique())["who"]
        assert after.height == n and units.min() >= k
        theirs = shoal.anonymity(after, ["a", "half"], unit="who")
        assert result.k_release == theirs.k and result.anonymity.people == theirs.people
        assert result.anonymity.vector.to_dict() == theirs.vector.to_dict()
        assert result.k_protected == shoal.anonymity(after, ["a", "b"], unit="who").k >= k
        assert result.largest_leaf <= 1_400
    with pytest.raises(shoal.InputError, match="k is 4, but the records are those of only 2 distinct values"):
        microaggregate(str(tmp_path / "visits.parquet"), k, columns=["a"], unit="half", quasi=["a"])
    with pytest.raises(shoal.InputError, match="cannot be held with"):
        microaggregate(str(tmp_path / "visits.parquet"), k, largest=9, **asked)


def test_it_warns_of_what_is_kept_as_memory_does(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    n = 3_000
    income = draw.lognormal(3, 1, n)
    frame = pl.DataFrame(
        {
            "income": income,
            "tax": income * 0.3 + draw.normal(size=n) * 0.01,
            "born": pl.Series(draw.integers(-20_000, 5_000, n)).cast(pl.Int32).cast(pl.Date),
            "person": range(10_000, 10_000 + n),
            "sex": draw.choice(["f", "m"], n),
        }
    )
    frame.write_parquet(tmp_path / "people.parquet")
    asked: dict[str, Any] = {"columns": ["income"], "quasi": ["income", "sex"], "aggregate": "median"}
    mine = microaggregate(str(tmp_path / "people.parquet"), 4, **asked)
    mine.close()
    theirs = shoal.microaggregate(frame, 4, method="blocks", **asked)
    assert mine.warnings[0] == theirs.warnings[0] and mine.warnings[2:] == theirs.warnings[2:]
    for words in ("looks like an identifier", "nearly determines it", "exact numbers that few records share"):
        assert any(words in warning for warning in mine.warnings), mine.warnings
    assert any("a median is the exact value" in note for note in mine.notes)


@pytest.mark.usefixtures("slices")
def test_what_is_broken_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people, scratch = tmp_path / "people.parquet", tmp_path / "scratch"
    made_up(3_000).write_parquet(people)
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    asked: dict[str, Any] = {"columns": ["rent", "age"], "quasi": ["rent", "age"], "options": SMALL}

    def broken_off(*given: Any) -> None:
        raise KeyboardInterrupt

    for place in ("release.PartedRelease.put", "verify.ReleaseCheck.__call__"):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(f"shoal.stream.{place}", broken_off)
            microaggregate(str(people), 4, **asked)
        assert list(scratch.iterdir()) == []
    result = microaggregate(str(people), 4, **asked)
    with monkeypatch.context() as patched, pytest.raises(shoal.InputError, match="cannot be written"):
        patched.setattr(Path, "rename", lambda *given: (_ for _ in ()).throw(OSError(18, "another device")))
        result.write(str(tmp_path / "safe"))
    result.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet", "scratch"]
    assert list(scratch.iterdir()) == []


@pytest.mark.usefixtures("slices")
def test_the_check_refuses_what_was_tampered_with(tmp_path: Path) -> None:
    made_up(2_500).write_parquet(tmp_path / "people.parquet")
    asked = {"columns": ["rent", "age"], "quasi": ["rent", "age"], "options": SMALL}
    result = microaggregate(str(tmp_path / "people.parquet"), 4, **asked)
    frame = result.frame.collect()
    for tampered in (
        frame.head(2_499),
        frame.with_columns(sex=pl.lit("f")),
        frame.with_columns(rent=pl.when(pl.int_range(pl.len()) == 9).then(5.5).otherwise("rent")),
        frame.with_columns(age=pl.col("age") + 0.5),
    ):
        with pytest.raises(AssertionError):
            result.verify(tampered.lazy())
    result.verify(frame.lazy())
    result.close()


def test_the_check_holds_each_column_as_far_as_it_can(tmp_path: Path) -> None:
    """Whatever is released (means, medians, dates, whole numbers): what is not what was grouped is no release."""
    draw = np.random.default_rng(4)
    n = 600
    frame = pl.DataFrame(
        {
            "a": draw.normal(size=n),
            "whole": draw.integers(-500, 500, n),
            "d": pl.Series(draw.integers(0, 20_000, n)).cast(pl.Int32).cast(pl.Date),
            "t": pl.Series(draw.integers(10**14, 10**15, n)).cast(pl.Datetime("us", "UTC")),
            "kept": draw.integers(0, 10**6, n),
        }
    )
    frame.write_parquet(tmp_path / "records.parquet")
    rolled = pl.Series("kept", np.roll(np.arange(n), 50))
    tampers = {
        "kept beside others": lambda out: out.with_columns(kept=out["kept"].gather(rolled)),
        "numbers": lambda out: out.with_columns(pl.col("a") * 1000 + 7),
        "sign": lambda out: out.with_columns(-pl.col("a")),
        "days": lambda out: out.with_columns(pl.col("d") + pl.duration(days=1000)),
        "moments": lambda out: out.with_columns(pl.col("t") + pl.duration(days=1000)),
    }
    for columns, how in (
        (["a"], "mean"),
        (["a", "whole", "d", "t"], "mean"),
        (["a", "whole", "d", "t"], "rounded-mean"),
        (["a", "d", "t"], "median"),
    ):
        asked: dict[str, Any] = {"columns": columns, "quasi": columns, "options": {"leaf": 100}}
        result = microaggregate(str(tmp_path / "records.parquet"), 5, aggregate=how, **asked)
        out = result.frame.collect()
        for tamper in tampers.values():
            with pytest.raises(AssertionError):
                result.verify(tamper(out).lazy())
        # Also where the hashes agree: values are held by what groups of the input can have.
        names = out.columns
        for name, words in (("a", "numbers"), ("d", "days"), ("t", "moments")):
            if name in columns:
                wrong = tampers[words](out)
                claims = replace(result._check.claims, released_sums=fingerprint(wrong, names))  # type: ignore[attr-defined]
                with pytest.raises(AssertionError, match=f"'{name}'"):
                    ReleaseCheck(claims, 10**6)(wrong.lazy())
        if how != "median":
            claims = replace(result._check.claims, sse=result.sse * 1.5)  # type: ignore[attr-defined]
            with pytest.raises(AssertionError, match="the loss is"):
                ReleaseCheck(claims, 10**6)(out.lazy())
        assert bool(result.unchecked) == (how == "median")
        assert ("not checked again: means" in page(result).html()) == (how == "median")
        result.close()


def test_the_command_writes_whole_folders_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    people = tmp_path / "people.parquet"
    made_up(3_000).write_parquet(people)
    asked = (
        "microaggregate",
        people,
        "-k",
        4,
        "--columns",
        "income,rent",
        "--engine",
        "stream",
        "--option",
        "leaf=800",
    )
    told = command(*asked, "--quasi", "income,rent", "-o", tmp_path / "out", "--memory", 2, "--json")
    assert told.code == 0, told.err
    assert told.json["k_release"] >= 4 and told.json["engine"] == "stream" and told.json["verified"]
    assert list(told.json["phases"]) == ["reading", "search", "verification", "writing"]
    assert pl.read_parquet(tmp_path / "out" / "*.parquet").height == 3_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "people.parquet"]
    measured = command(
        "anonymity", tmp_path / "out", "--quasi", "income,rent", "--engine", "stream", "--json"
    )
    assert measured.json["k"] == told.json["k_release"]
    for options, code, words in (
        (("-o", tmp_path / "out"), 2, "exists already"),
        (("-o", tmp_path / "new", "--memory", 0.1), 2, "--memory must be at least 0.7 GB"),
        (("-o", tmp_path / "new", "--master", "yarn"), 2, "--master is not for --engine stream"),
        (("-o", tmp_path / "new", "--unit", "sex"), 2, "distinct values of 'sex'"),
        (("-o", tmp_path / "new", "--quasi", "income,sex", "--require-k", 99), 3, "below the required 99"),
        (("-o", "hdfs://there/new", "--quasi", "income"), 2, "not on this machine"),
    ):
        refused = command(*asked, *options)
        assert refused.code == code and words in refused.err, refused.err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "people.parquet"]
    (tmp_path / "broken.parquet").write_text("no Parquet")
    for name in ("nowhere.parquet", "broken.parquet"):
        refused = command("microaggregate", tmp_path / name, "--engine", "stream", "--columns", "a")
        assert refused.code == 2 and "cannot be read" in refused.err
    risk = command("risk", people, "--quasi", "age", "--engine", "stream")
    assert risk.code == 2 and "engine" in risk.err


def test_what_is_spilled_comes_back_by_its_number(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    spill, seen = Spill(tmp_path / "spill"), []
    for start in range(0, 100, 20):
        frame = pl.DataFrame({"value": range(start, start + 20)})
        numbers = draw.integers(-2, 5, 20)
        seen += list(zip(frame["value"], numbers.tolist(), strict=True))
        spill.put(frame, numbers)
    for number in spill.numbers:
        mine = [value for value, own in seen if own == number]
        assert sorted(spill.take(number)["value"]) == mine and spill.records(number) == len(mine)


MEASURE = """
import json, resource, sys
from shoal.stream.microaggregate import microaggregate
result = microaggregate(sys.argv[1], 5, columns=["a", "b", "c", "d"], quasi=["a"], memory=float(sys.argv[2]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
result.close()
print(json.dumps({"peak": peak, "records": result.records, "k": result.k_protected}))
"""


@pytest.mark.long
def test_memory_stays_below_what_is_given(tmp_path: Path) -> None:
    """Records that take more than the memory given, since each has a long text beside its numbers."""
    draw = np.random.default_rng(0)
    folder = tmp_path / "large"
    folder.mkdir()
    size = 0
    for part in range(10):
        frame = pl.DataFrame({name: draw.normal(size=50_000) for name in "abcd"}).with_columns(
            kept=pl.int_range(pl.len()).cast(pl.String).str.pad_start(2_000, "x")
        )
        size += frame.estimated_size()
        frame.write_parquet(folder / f"{part}.parquet", row_group_size=5_000)
    given = 0.8
    assert size > given * 1e9
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder), str(given)],
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["records"] == 500_000 and found["k"] >= 5
    assert found["peak"] <= given * 1e9


def test_strata_by_moments_are_told_apart_to_the_last_digit(tmp_path: Path) -> None:
    """Nanoseconds, and the hour that a clock shows twice, are more than objects of Python can tell."""
    draw = np.random.default_rng(0)
    n = 600
    first = 1_698_539_400 * 10**9  # half past two in Berlin, an hour before it is half past two again
    nanos = pl.Series([first] * 300 + [first + 1] * 297 + [first + 2] * 3)
    hours = pl.Series([first] * 300 + [first + 3_600 * 10**9] * 300)
    asked: dict[str, Any] = {"columns": ["a"], "by": ["t"], "quasi": ["a", "t"], "options": {"leaf": 100}}
    berlin = hours.cast(pl.Datetime("ns", "UTC")).dt.convert_time_zone("Europe/Berlin")
    path = tmp_path / "records.parquet"
    pl.DataFrame({"a": draw.normal(size=n), "t": berlin}).write_parquet(path)
    result = microaggregate(str(path), 5, **asked)
    out = result.frame.collect()
    result.close()
    assert result.k_release == out.group_by("a", "t").len()["len"].min() >= 5
    assert out.group_by("a").agg(pl.col("t").n_unique())["t"].max() == 1
    pl.DataFrame({"a": draw.normal(size=n), "t": nanos.cast(pl.Datetime("ns"))}).write_parquet(path)
    with pytest.raises(shoal.InputError, match="1 of 3 strata by t have fewer than k = 5 records"):
        microaggregate(str(path), 5, **asked)


def test_one_value_is_never_released_as_two(tmp_path: Path) -> None:
    """K counts 0.0 and -0.0 as one, and NaN as missing, so the file may not tell them apart either."""
    n = 200
    frame = pl.DataFrame(
        {
            "a": np.repeat([1.0, -0.0], n // 2),
            "z": [0.0, -0.0] * (n // 2),
            "q": [None, float("nan"), 2.0, 2.0] * (n // 4),
            "*": pl.Series([-0.0, 0.0] * (n // 2)).cast(pl.Float32),
        }
    )
    frame.write_parquet(tmp_path / "records.parquet")
    asked: dict[str, Any] = {"columns": ["a"], "quasi": ["a", "z", "q", "*"]}
    result = microaggregate(str(tmp_path / "records.parquet"), 5, **asked)
    out = result.frame.collect()
    result.close()
    assert out.schema == frame.schema
    seen = Counter(repr(row) for row in out.rows())
    assert min(seen.values()) == result.k_release and len(seen) == 4 and "-0.0" not in str(set(seen))
    odd = frame.rename({"z": "^a$"})
    odd.write_parquet(tmp_path / "records.parquet")
    with pytest.raises(shoal.InputError, match="give it another name"):
        microaggregate(str(tmp_path / "records.parquet"), 5, columns=["a"])


WAITING = """
import select, signal, sys
# As under a terminal, whatever the tests run under.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
import shoal.stream.release as release
class Ending:
    def __del__(self):
        signal.raise_signal({number})
def put(*given):
    {first}
    while True:
        select.select([], [], [], 0.1)
release.PartedRelease.put = put
from shoal.cli.start import main
main()
"""


def _begun(tmp_path: Path, number: int, first: str) -> "subprocess.Popen[bytes]":
    """A command that waits for a signal while true values lie on disk, and does something before."""
    (tmp_path / "scratch").mkdir()
    made_up(3_000).write_parquet(tmp_path / "people.parquet")
    given = ["microaggregate", str(tmp_path / "people.parquet"), "--columns", "rent", "--quasi", "rent"]
    given += ["--option", "leaf=400", "--engine", "stream", "-o", str(tmp_path / "out")]
    return subprocess.Popen(
        [sys.executable, "-c", WAITING.format(number=int(number), first=first), *given],
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch"), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_while_an_object_ends_is_not_lost(tmp_path: Path, name: str) -> None:
    """Exceptions go no further than the end of an object: the command waited on, and true values lay on disk."""
    number = getattr(signal, name)
    running = _begun(tmp_path, number, "Ending()")
    said = running.communicate(timeout=GUARD)
    assert running.returncode == 128 + number and said[1] == b"", said
    assert list((tmp_path / "scratch").iterdir()) == [] and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_who_is_told_to_end_leaves_no_spill(tmp_path: Path, name: str) -> None:
    """True values lie on disk in between: they go, whether a terminal was closed or a system shuts down."""
    scratch = tmp_path / "scratch"
    running = _begun(tmp_path, getattr(signal, name), "pass")
    for _ in range(int(GUARD * 20)):
        if list(scratch.glob("shoal-stream-*/shifted/*.parquet")) or running.poll() is not None:
            break
        try:
            running.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    assert running.poll() is None, running.communicate()
    number = getattr(signal, name)
    running.send_signal(number)
    said = running.communicate(timeout=GUARD)
    assert running.returncode == 128 + number, said
    assert list(scratch.iterdir()) == [] and not (tmp_path / "out").exists()


def test_values_of_any_size_are_protected(tmp_path: Path) -> None:
    """Where squares are too small or too large for doubles, or nearly all digits are the same, or one value is far off."""
    draw = np.random.default_rng(2)
    plain = draw.normal(size=1_500)
    far = plain.copy()
    far[0] = 1.2345e21
    for values in (far, plain * 1e-310, plain * 1e-200, plain * 1e300, 1e9 + 1e-6 * plain):
        beside = draw.normal(size=1_500)
        for frame in (pl.DataFrame({"a": values}), pl.DataFrame({"a": values, "b": beside})):
            frame.write_parquet(tmp_path / "records.parquet")
            asked: dict[str, Any] = {
                "columns": frame.columns,
                "quasi": frame.columns,
                "options": {"leaf": 100},
            }
            result = microaggregate(str(tmp_path / "records.parquet"), 5, iterations=2, **asked)
            out = result.frame.collect()
            result.close()
            assert out.group_by(frame.columns).len()["len"].min() == result.k_release >= 5
            # A value far off is four fifths of the variance of its group, and cannot be kept.
            assert result.largest_leaf <= 200 and 0 < result.loss < 81


@pytest.mark.parametrize("how", ["mean", "median"])
def test_the_largest_group_is_held_at_crowded_points(tmp_path: Path, how: Any) -> None:
    a = np.r_[np.zeros(1_000), [7.0, 8.0], np.random.default_rng(1).normal(50, 1, 400).round()]
    path = tmp_path / "records.parquet"
    for values in (a[:1_000], a[:1_002], a):
        pl.DataFrame({"a": values}).write_parquet(path)
        asked: dict[str, Any] = {"columns": ["a"], "quasi": ["a"], "options": {"leaf": 100}, "aggregate": how}
        bounded = microaggregate(str(path), 3, largest=5, **asked)
        assert max(bounded.sizes) <= 5 and min(bounded.sizes) >= 3
        assert sum(size * number for size, number in bounded.sizes.items()) == len(values)
        out = bounded.frame.collect()["a"]
        bounded.close()
        # The few beside a crowd do not carry it away from its place.
        assert (out == 0).sum() >= 995
        free = microaggregate(str(path), 3, **asked)
        free.close()
        assert max(free.sizes) >= 1_000 and any("of their own" in note for note in free.notes)


def test_what_cannot_be_read_or_written_is_told_in_one_line(tmp_path: Path) -> None:
    """Names that look like patterns are names; files that differ or are damaged are named, nothing is written."""
    people = made_up(400)
    asked = ("--columns", "rent", "--quasi", "rent", "--engine", "stream")
    odd = tmp_path / "br[1]"
    odd.mkdir()
    people.write_parquet(odd / "p.parquet")
    done = command("microaggregate", odd, *asked, "-o", tmp_path / "o[1]", "--json")
    assert (
        done.code == 0 and pl.read_parquet(list((tmp_path / "o[1]").iterdir()), glob=False).height == 400
    ), done.err
    two = tmp_path / "two"
    two.mkdir()
    people.write_parquet(two / "p1.parquet")
    wrong = (
        (people.with_columns(extra=pl.lit(1)), "of 'extra', p1.parquet has no such column, p2.parquet has"),
        (
            people.with_columns(pl.col("rent").cast(pl.Int32)),
            "'rent', p1.parquet has type Float64, p2.parquet",
        ),
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    for frame, words in wrong:
        frame.write_parquet(two / "p2.parquet")
        refused = command("microaggregate", two, *asked, "-o", tmp_path / "out")
        assert refused.code == 2 and words in refused.err and refused.err.count("\n") == 1, refused.err
    people.write_parquet(two / "p2.parquet")
    (two / "p2.parquet").write_bytes((two / "p2.parquet").read_bytes()[:-90])
    for options, code, words in (
        ((two, "-o", tmp_path / "out"), 2, "damaged"),
        ((odd, "-o", tmp_path / "out.csv"), 2, "without '.csv'"),
        ((odd, "--require-k", 50), 2, "--require-k is a gate before writing"),
    ):
        refused = command("microaggregate", *options, *asked)
        assert refused.code == code and words in refused.err and refused.err.count("\n") == 1, refused.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_leaves_do_not_depend_on_the_order_of_rows_or_on_what_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 9_000
    values = np.random.default_rng(5).normal(size=n)
    frame = pl.DataFrame({"a": values, "text": np.where(np.arange(n) < 6_000, "x" * 6_000, "y")})
    path, found = tmp_path / "records.parquet", []
    asked: dict[str, Any] = {"columns": ["a"], "quasi": ["a"], "memory": 0.7, "iterations": 1}
    for order in (frame, frame.reverse()):
        order.write_parquet(path)
        result = microaggregate(str(path), 5, **asked)
        found.append((result.leaf, result.leaves, result.frame.collect()["a"].sort().to_list()))
        result.close()
    assert found[0] == found[1] and found[0][0] < 40_000 and found[0][1] > 1
    leaves = set()
    for free in (3e9, 60e9):
        monkeypatch.setattr("shoal.stream.memory._free", lambda free=free: free)
        leaves.add(room_for(None, 50_000.0, 3, 40_000).leaf)
    assert len(leaves) == 1


def test_an_earlier_release_is_not_lost_when_it_cannot_be_brought_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "safe"
    place.mkdir()
    (place / "part-00000.parquet").write_text("earlier")
    staged = StagedFolder(str(place), force=True)
    whole = Path.rename
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", lambda one, other: whole(one, other) if one == place else refuse())
        with pytest.raises(shoal.InputError):
            staged.put()
        staged.undo()
        staged.close()
    (kept,) = tmp_path.rglob("part-00000.parquet")
    assert kept.read_text() == "earlier"


def refuse() -> None:
    raise OSError(18, "another device")
