"""Microaggregation on a cluster: k, loss, the same release from the same records, and what it refuses."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.spark.conftest import rows
from tests.waiting import GUARD

import shoal
from shoal.spark import microaggregate
from shoal.spark.verify import ReleaseCheck

pytestmark = pytest.mark.xdist_group("spark")
SMALL = {"leaf": 700, "block": 200}


def made_up(n: int, seed: int = 3) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    base = draw.normal(size=(n, 2))
    return pl.DataFrame(
        {
            "income.net": np.exp(base[:, 0]),
            "rent": base[:, 0] + base[:, 1],
            "age": draw.integers(18, 90, n),
            "sex": draw.choice(["f", "m"], n),
        }
    )


def test_it_protects_as_one_machine_does(given, tmp_path: Path) -> None:
    people = made_up(6_000)
    columns = ["income.net", "rent", "age"]
    mine = microaggregate(given(people, 3), 4, columns=columns, options=SMALL, quasi=columns)
    theirs = shoal.microaggregate(people, 4, columns=columns, method="blocks", threads=1)
    assert mine.leaves > 4 and mine.shifted_leaves > 4 and mine.largest_leaf <= 1_400
    assert mine.loss <= 1.03 * theirs.loss
    out = tmp_path / "safe"
    mine.write(str(out))
    after = pl.read_parquet(f"{out}/*.parquet")
    assert after.columns == people.columns and after.height == 6_000
    sizes = after.group_by(columns).len()["len"]
    assert sizes.min() == mine.k_protected >= 4
    assert (len(sizes), sizes.max()) == (mine.clusters, max(mine.sizes))
    assert after["sex"].sort().equals(people["sex"].sort())
    # What stands in the result is what the frames say: the loss in percent of the variance.
    kept = [after[name].var() / people[name].var() for name in columns]
    assert mine.loss == pytest.approx(100 * (1 - sum(kept) / 3), rel=1e-6)
    assert [item.mean_after for item in mine.changes.columns] == pytest.approx(
        [after[c].mean() for c in columns]
    )
    # Sorted by what is released: where a record stood before cannot be told.
    assert after.select(columns).rows() == sorted(after.select(columns).rows())
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".safe")] == []
    with pytest.raises(shoal.InputError, match="exists already"):
        mine.write(str(out))
    mine.close()


def hard() -> pl.DataFrame:
    """Visits of people: a point that very many share, ties, gaps, strata of all sizes, dates, a column that says nothing."""
    draw = np.random.default_rng(8)
    n = 6_000
    # Most people come several times on end, and of some visits nobody knows whose they are.
    who = pl.Series(np.repeat(np.arange(n // 3), 3)).cast(pl.Float64)
    amount = np.round(draw.lognormal(3, 2, n), 0)
    amount[:2_600] = 0.0
    count = draw.integers(0, 6, n)
    count[:2_600] = 2
    day = [date(2020, 1, 1) + timedelta(days=int(d)) for d in draw.integers(0, 30, n)]
    day[:2_600] = [date(2020, 1, 1)] * 2_600
    region = np.repeat(["big", "small", "tiny", None], [5_400, 500, 60, 40])
    frame = pl.DataFrame(
        {"amount": amount, "count": count, "day": day, "same": [7] * n, "region": region, "id": range(n)}
    )
    return frame.with_columns(
        amount=pl.when(pl.col("id") % 900 != 899).then("amount"),
        who=pl.when(who % 50 != 3).then(pl.when(pl.col("id") == 0).then(-0.0).otherwise(who)),
        # An hour that clocks in Berlin show twice.
        since=pl.from_epoch(1_698_539_400 + pl.col("id") // 2_900 * 3_600).dt.replace_time_zone("UTC"),
        half=pl.Series([0.0, -0.0, None, float("nan")] * (n // 4)),
    )


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The driver in a time zone of its own."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_berlin")
def test_the_same_records_are_released_the_same_however_they_lie(given) -> None:
    """With k distinct people in every group, though who they are is not released."""
    frame = hard()
    asked: dict[str, Any] = {
        "columns": ["amount", "count", "day", "same"],
        "by": ["region", "since"],
        "missing": "aside",
        "quasi": ["amount", "count", "day", "half"],
        "options": SMALL,
        "aggregate": "rounded-mean",
        "unit": "who",
        "drop": ["who"],
    }
    one = microaggregate(given(frame, 2), 5, **asked)
    # Another order, and partitions of which one has all records and the others none.
    shuffled = given(frame.sample(fraction=1, shuffle=True, seed=4), 1)
    other = microaggregate(shuffled.union(given(frame.head(0), 2)), 5, **asked)
    released = rows(one.frame)
    assert released == rows(other.frame)
    assert one.set_aside == frame["amount"].null_count() and len(released) == 6_000 - one.set_aside
    after = pl.DataFrame(released, schema=frame.drop("who").columns, orient="row")
    after = after.join(frame.select("id", "who"), on="id")
    people = after.group_by("region", "since", "amount", "count", "day").agg(pl.col("who").n_unique())["who"]
    assert after.height == len(released) and people.min() >= 5
    # One value is never released as two: neither minus nothing nor two ways to be missing.
    assert {repr(value) for value in after["half"]} == {"0.0", "None"}
    theirs = shoal.anonymity(after, ["amount", "count", "day", "half"], unit="who")
    assert (one.k_release, one.anonymity.people) == (theirs.k, theirs.people)
    assert one.k_protected >= 5 and any("records share" in note for note in one.notes)
    # The crowded point is released as it is.
    crowd = after.filter(pl.col("id") < 2_600, pl.col("id") % 900 != 899)
    assert crowd.filter((pl.col("amount") == 0) & (pl.col("count") == 2)).height == crowd.height
    assert one.frame.schema["count"].dataType == given(frame).schema["count"].dataType
    for result in (one, other):
        result.close()


def test_a_killed_executor_changes_nothing(spark, given) -> None:
    data = given(made_up(6_000), 4)
    calm = microaggregate(data, 4, columns=["income.net", "rent"], quasi=["rent"], options=SMALL)
    expected = rows(calm.frame)
    calm.close()
    victims = executors()
    assert len(victims) == 2
    killed = threading.Event()

    def kill() -> None:
        tracker = spark.sparkContext.statusTracker()
        for _ in range(int(GUARD * 100)):
            if any(
                (info := tracker.getStageInfo(stage)) is not None and info.numActiveTasks
                for stage in tracker.getActiveStageIds()
            ):
                os.kill(victims[0], signal.SIGKILL)
                killed.set()
                return
            threading.Event().wait(0.01)

    watcher = threading.Thread(target=kill)
    watcher.start()
    struck = microaggregate(data, 4, columns=["income.net", "rent"], quasi=["rent"], options=SMALL)
    watcher.join()
    assert killed.is_set() and victims[0] not in executors()
    assert rows(struck.frame) == expected
    struck.close()


def executors() -> list[int]:
    """The processes of this cluster that do the work, by their ids."""
    mine, found = descendants(os.getpid()), []
    for pid in mine:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command:
            found.append(pid)
    return sorted(found)


def descendants(parent: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, waiting = [], [parent]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def test_the_check_refuses_what_was_tampered_with(spark, given) -> None:
    from pyspark.sql import functions as f

    people = made_up(900).with_columns(id=pl.int_range(pl.len()))
    result = microaggregate(given(people), 4, columns=["rent", "age"], quasi=["rent", "age"], options=SMALL)
    frame = result.frame
    # In a group nothing tells which of its records had the larger value.
    after = pl.from_arrow(frame.toArrow())
    assert isinstance(after, pl.DataFrame)
    true = after.join(people.select("id", true="rent"), on="id", maintain_order="left")
    rising = true.group_by("rent", "age").agg((pl.col("true").diff() >= 0).drop_nulls().all())["true"]
    assert rising.mean() < 0.5, "records stand by their true values"
    lost = frame.where(f.col("rent") != frame.agg(f.max("rent")).first()[0])
    for tampered in (
        lost,
        frame.withColumn("sex", f.lit("f")),
        frame.withColumn("rent", f.when(f.rand(1) < 0.002, f.lit(5.5)).otherwise(f.col("rent"))),
    ):
        with pytest.raises(AssertionError):
            result.verify(tampered)
    claims = replace(result._check.claims, sse=result.sse * 0.5)
    with pytest.raises(AssertionError, match="loss"):
        ReleaseCheck(claims)(frame)
    result.close()


def test_it_warns_as_one_machine_does_and_refuses_what_changes(given) -> None:
    from pyspark.sql import functions as f

    people = made_up(1_500).with_columns(person=pl.int_range(pl.len()) + 7_000, tax=pl.col("rent") * 0.3)
    asked: dict[str, Any] = {"columns": ["rent"], "quasi": ["rent", "sex"]}
    seen: list[str] = []
    data = given(people)
    mine = microaggregate(data, 4, observer=lambda progress: seen.append(progress.phase), **asked)
    mine.close()
    theirs = shoal.microaggregate(people, 4, method="blocks", **asked)
    assert mine.warnings[0] == theirs.warnings[0] and mine.warnings[2:] == theirs.warnings[2:]
    assert any("nearly determines it" in warning for warning in mine.warnings)
    assert seen == ["reading", "search", "verification"]
    with pytest.raises(shoal.InputError, match="gave other records when it was read again"):
        microaggregate(data.withColumn("rent", f.col("rent") + f.rand()), 4, **asked)


def test_what_cannot_be_protected_is_refused_in_one_line(spark, given) -> None:
    data = given(made_up(300))
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (data, {"columns": ["sex"]}, "column 'sex' is of type string, which cannot be averaged"),
        (data, {"columns": ["rnt"]}, "did you mean 'rent'"),
        (data, {"columns": ["rent"], "missing": "impute"}, "all records in one place"),
        (data, {"columns": ["rent"], "k": 301}, "k is 301, but there are only 300 records"),
        (data, {"columns": ["rent"], "options": {"leaf": 5}}, "leaf"),
        (data, {"columns": ["rent"], "method": "mdav"}, "mdav"),
        (data, {"columns": ["rent"], "by": ["age"]}, "fewer than k = 5 records"),
        (data.selectExpr("rent", "map('a', 1) m"), {"columns": ["rent"], "quasi": ["rent"]}, "type map"),
        (
            data.selectExpr("nullif(rent, rent) x"),
            {"columns": ["x"], "quasi": ["x"]},
            "300 records have missing",
        ),
        (data.limit(0), {"columns": ["rent"], "quasi": ["rent"]}, "there are no records"),
    ]
    for frame, asked, words in refused:
        with pytest.raises(shoal.InputError, match=words) as said:
            microaggregate(frame, **asked)
        assert "\n" not in str(said.value)
