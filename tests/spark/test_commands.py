"""``--engine spark`` as a user runs it: whole folders or none, one line for what is wrong, no trace of a broken run."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal
from tests.waiting import GUARD

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    draw = np.random.default_rng(1)
    folder = tmp_path / "firms"
    folder.mkdir()
    for part in range(2):
        pl.DataFrame(
            {
                "firm": [f"f{part}-{i}" for i in range(300)],
                "turnover": draw.lognormal(4, 1, 300),
                "staff": draw.integers(1, 60, 300),
                "region": draw.choice(["n", "s"], 300),
            }
        ).write_parquet(folder / f"part-{part}.parquet")
    return folder


def test_a_folder_is_written_whole_and_says_so(spark, firms: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    pattern = f"{firms}/*.parquet"
    asked = ("microaggregate", pattern, "-k", 4, "--columns", "turnover,staff", "--engine", "spark")
    told = shoal(
        *asked,
        "--quasi",
        "turnover,staff",
        "--drop",
        "firm",
        "-o",
        out,
        "--report",
        tmp_path / "r.html",
        "--json",
    )
    assert told.code == 0, told.err
    assert told.json["engine"] == "spark" and told.json["verified"] and told.json["k_release"] >= 4
    assert list(told.json["phases"]) == ["reading", "search", "verification", "writing"]
    after = pl.read_parquet(f"{out}/*.parquet")
    assert after.height == 600 and after.columns == ["turnover", "staff", "region"]
    assert after.group_by("turnover", "staff").len()["len"].min() >= 4
    assert "counted again on what was written" in (tmp_path / "r.html").read_text()
    # A gate that fails, a folder that is there, a product nobody has: nothing changes.
    before = sorted(path.name for path in tmp_path.iterdir())
    for options, code, words in (
        (
            ("-o", tmp_path / "other", "--quasi", "turnover,region", "--require-k", 50),
            3,
            "below the required 50",
        ),
        (("-o", out), 2, "exists already; --force"),
        (("-o", tmp_path / "other", "--labels", tmp_path / "l.csv"), 2, "--labels is not for --engine spark"),
        (("-o", tmp_path / "other", "--groups", "turnover;staff"), 2, "--groups is not for --engine spark"),
        (("-o", "s3a://bucket/out"), 2, "s3a cannot be renamed in one step"),
        (("-o", tmp_path / "no" / "such" / "out"), 2, "there is no folder"),
    ):
        refused = shoal(*asked, *options)
        assert refused.code == code, refused.err
        assert words in refused.err
        assert code == 3 or refused.err.strip().count("\n") == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == before
    anonymity = shoal("anonymity", out, "--quasi", "turnover,staff", "--engine", "spark", "--json")
    assert anonymity.json["k"] == told.json["k_release"]


def test_tables_and_measures_are_told_as_on_one_machine(spark, firms: Path, tmp_path: Path) -> None:
    cells = tmp_path / "cells.csv"
    there = ("--dimensions", "region,staff", "--value", "turnover", "--engine", "spark", "--json")
    made = shoal("tabulate", firms, *there, "-o", cells)
    assert made.code == 0, made.err
    assert made.json["sensitive"] > 0
    # Of the totals only the largest contributors are told, and the list that was written is taken as it is.
    protected = shoal("suppress", cells, "--json")
    assert protected.code == 0 and protected.json["safe"], protected.out
    there_too = tmp_path / "here.csv"
    pl.read_parquet(firms / "*.parquet").write_parquet(tmp_path / "firms.parquet")
    shoal("tabulate", tmp_path / "firms.parquet", *there[:4], "-o", there_too)
    assert protected.json["cost"] == pytest.approx(shoal("suppress", there_too, "--json").json["cost"])
    compared = ("compare", firms, firms, "--columns", "turnover,staff", "--engine", "spark")
    told = shoal(*compared, "--key", "firm", "--json")
    assert told.code == 0, told.err
    assert told.json["il"] == 0 and told.json["dld"] == 100.0 and told.json["blocks"] == 1
    lacking = shoal(*compared)
    assert lacking.code == 2 and "--key pairs records" in lacking.err
    refused = shoal(*compared, "--key", "firm", "--max-risk", 50)
    assert refused.code == 3 and "the worst risk is 100.00 %" in refused.err


def test_what_cannot_be_read_is_refused_in_one_line(spark, firms: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_text("no Parquet at all")
    out = tmp_path / "out"
    for name, words in (
        (tmp_path / "nowhere.parquet", "there is no such file or folder"),
        (broken, "Parquet"),
        (tmp_path / "firms.csv", "is no Parquet"),
    ):
        refused = shoal(
            "microaggregate", name, "--columns", "turnover", "-o", out, "--engine", "spark", "--json"
        )
        assert refused.code == 2 and words in refused.json["error"], refused.out
        assert not out.exists()


def test_a_file_system_that_does_not_rename_gets_nothing(
    spark, firms: Path, tmp_path: Path, monkeypatch
) -> None:
    from shoal.spark.writing import StagedParts

    monkeypatch.setattr(StagedParts, "_moved_to", lambda self, one, other: False)
    out = tmp_path / "out"
    told = shoal(
        "recode", firms, "--quasi", "region", "-k", 3, "-o", out, "--engine", "spark", "--drop", "firm"
    )
    assert told.code == 2 and "does not rename; nothing was written" in told.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["firms"]


def test_without_java_or_with_a_wrong_master_it_says_so(firms: Path, tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("pyspark")
    asked = ("microaggregate", firms, "--columns", "turnover", "-o", tmp_path / "out", "--engine", "spark")
    wrong = shoal(*asked, "--master", "nonsense")
    assert wrong.code == 2 and "'nonsense' is no master of Spark" in wrong.err
    silent = shoal(*asked, "--master", "spark://127.0.0.1:9")
    assert silent.code == 2 and "does not answer" in silent.err
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    lacking = shoal(*asked)
    assert lacking.code == 2 and "needs Java 17" in lacking.err
    plain = shoal("microaggregate", firms / "part-0.parquet", "--master", "yarn")
    assert plain.code == 2 and "--master is for another engine" in plain.err


def test_a_cancelled_job_leaves_no_output(spark, firms: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "shoal.cli.start", "microaggregate", str(firms), "--columns", "turnover"]
    command += [
        "--quasi",
        "turnover",
        "-o",
        str(tmp_path / "out"),
        "--engine",
        "spark",
        "--master",
        "local[1]",
    ]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": os.pathsep.join(sys.path)}
    running = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    # As soon as Spark has made its folders for what it spills, it is at work.
    for _ in range(int(GUARD * 20)):
        if list(scratch.glob("shoal-spark-*/blockmgr-*")) or running.poll() is not None:
            break
        try:
            running.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    assert running.poll() is None, running.communicate()
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=GUARD)
    assert running.returncode == 130, said
    assert "interrupted; nothing was written" in said[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["firms", "scratch"]
    assert list(scratch.glob("shoal-spark-*")) == []
    assert not said[0] or json.loads(said[0])
