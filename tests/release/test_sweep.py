"""Sweeps: every combination, measured like a release, kept without a record, and gone on with."""

import json
import subprocess
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import shoal as command
from tests.release.plans import MARKER, SURVEY, survey
from tests.waiting import GUARD

import shoal
from shoal.operation_release import RecordsRelease
from shoal.release.plan.reader import read_plan
from shoal.release.run import sweep as sweeping
from shoal.release.run.sweep import Variant, measure, read_choice, variants
from shoal.release.run.sweep_folder import held, sweep_folder
from shoal.runtime.secrets import Secret


def test_choices():
    assert read_choice("a.k = 3, 5").values == (3, 5)
    assert read_choice("a.options.change=0.1").path == ("options", "change")
    assert read_choice("a.by=[],['x']").values == ([], ["x"])
    for wrong in ("k=3", "a.k=", "a.k", ".k=3", "a.=3", "a.k=3,3"):
        with pytest.raises(shoal.InputError):
            read_choice(wrong)


def test_every_combination_is_checked_first(tmp_path: Path):
    plan = read_plan(survey(tmp_path))
    found = list(variants(plan, [read_choice("recode.k=2,3"), read_choice("perturb.options.change=0.1,0.2")]))
    assert [tuple(values.values()) for values, _ in found] == [(2, 0.1), (2, 0.2), (3, 0.1), (3, 0.2)]
    assert [p.step("recode").values["k"] for _, p in found] == [2, 2, 3, 3]
    assert [p.step("perturb").values["options"] for _, p in found][1] == {"change": 0.2}
    with pytest.raises(shoal.InputError, match="step 'recoed'"):
        list(variants(plan, [read_choice("recoed.k=2")]))
    with pytest.raises(shoal.InputError, match="k must be"):
        list(variants(plan, [read_choice("recode.k=2,-3")]))
    with pytest.raises(shoal.InputError, match="named twice"):
        list(variants(plan, [read_choice("recode.k=2"), read_choice("recode.k=3")]))


def test_a_sweep_goes_on_where_it_stopped(tmp_path: Path, monkeypatch):
    plan = survey(tmp_path, SURVEY.replace("reidentifications = 60", "reidentifications = 60\nlinkage = 0.5"))
    found = command(
        "sweep", plan, "--set", "microaggregate.k=3,20", "--json", "--report", tmp_path / "map.html"
    )
    assert found.code == 0
    first, second = found.json["variants"]
    assert first["values"] == {"microaggregate.k": 3}
    # More is lost with larger groups; the gate on linkage fails, which ends no sweep.
    assert first["lost_percent"] < second["lost_percent"]
    assert first["k"] >= 4 and first["passed"] is False
    assert "microaggregate.k = 20" in (tmp_path / "map.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".survey.sweep",
        "map.html",
        "people.csv",
        "plan.toml",
    ]
    kept = list((tmp_path / ".survey.sweep").iterdir())
    assert len(kept) == 3
    assert all(path.is_file() and MARKER not in path.read_text() for path in kept)
    # Both are known already: nothing is run.
    monkeypatch.setattr(sweeping, "ProcessPoolExecutor", _Forbidden)
    again = command("sweep", plan, "--set", "microaggregate.k=20,3", "--json")
    assert [item["lost_percent"] for item in again.json["variants"]] == [
        second["lost_percent"],
        first["lost_percent"],
    ]


class _Forbidden:
    def __init__(self, *arguments: object, **keywords: object) -> None:
        pass

    def __enter__(self) -> "_Forbidden":
        return self

    def __exit__(self, *arguments: object) -> None:
        pass

    def submit(self, *arguments: object) -> None:
        raise AssertionError("something was run again")


def test_a_variant_that_cannot_be_is_told(tmp_path: Path):
    plan = read_plan(survey(tmp_path))
    values, variant = next(variants(plan, [read_choice("recode.k=500")]))
    found = measure(values, variant, tmp_path / "one.json", Secret.of_seed(0))
    assert found.lost is None
    assert "recode" in found.failed
    # Why it could not be is not kept, nor anything else.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.toml"]


class _Here(_Forbidden):
    """Measures at once, in this process."""

    def submit(self, function: Any, *given: object) -> "Future[Variant]":  # type: ignore[override]
        done: Future[Variant] = Future()
        done.set_result(function(*given))
        return done


def test_what_failed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sweeping, "ProcessPoolExecutor", _Here)
    plan = survey(tmp_path)
    asked = ["sweep", plan, "--set", "microaggregate.k=5,6", "--json"]

    def broken(*given: object) -> Variant:
        raise shoal.InputError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(sweeping, "_measured", broken)
        report = tmp_path / "map.html"
        found = command(*asked, "--report", report)
    assert found.code == 3 and "2 of 2 combinations could not be run" in found.err
    assert [item["failed"] for item in found.json["variants"]] == ["the disk is full"] * 2
    assert found.json["verified"] is False
    assert "microaggregate.k=5: the disk is full" in report.read_text()
    again = command(*asked)
    assert again.code == 0
    assert [item["failed"] for item in again.json["variants"]] == ["", ""]


def test_a_report_says_what_it_is_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sweeping, "ProcessPoolExecutor", _Here)
    report = tmp_path / "map.html"
    done = command("sweep", survey(tmp_path), "--set", "microaggregate.k=5", "--report", report)
    assert done.code == 0
    told = report.read_text()
    assert "people.csv" in told and sha256((tmp_path / "people.csv").read_bytes()).hexdigest() in told
    assert "The attacker assumed: somebody who holds a register of the population" in told
    assert "shoal sweep plan.toml --set microaggregate.k=5" in told


def test_one_sweep_at_a_time(tmp_path: Path):
    plan = survey(tmp_path)
    with held(sweep_folder(read_plan(plan))):
        refused = command("sweep", plan, "--set", "microaggregate.k=5")
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert "another sweep over this plan is running" in refused.err


def test_processes_of_a_killed_sweep_end_and_leave_no_record(tmp_path: Path):
    """The sweep is killed while a process of it has records on their way; that process ends, and its records with it."""
    folder = tmp_path / ".survey.sweep"
    program = Path(__file__).with_name("killed_sweep.py")
    running = subprocess.Popen([sys.executable, program, folder], stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "working\n"
        (left,) = folder.iterdir()
        assert (
            left.stat().st_mode & 0o077 == 0 and (left / RecordsRelease.passes_on).stat().st_mode & 0o077 == 0
        )
    finally:
        running.kill()
    # All processes have this pipe: it ends with the last of them.
    running.communicate(timeout=GUARD)
    assert list(folder.iterdir()) == []


def test_the_file_of_a_plan_is_named(tmp_path: Path):
    plan = survey(tmp_path).rename(tmp_path / "p2.toml")
    with pytest.raises(shoal.InputError, match=r"^p2\.toml, line \d+: "):
        list(variants(read_plan(plan), [read_choice("recode.k=2,-3")]))
    wrong = command("sweep", plan, "--set", "perturb.columns=['jbo']")
    assert wrong.code == 3 and "plan.toml" not in wrong.out + wrong.err


def test_a_sweep_knows_what_it_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A table of a database has no date of change, and a hierarchy is read beside the data: both are known by what they hold."""
    from tests.release.plans import people

    from shoal import sources

    place = f"sqlite:///{tmp_path}/clinic.db::people"
    sources.write(people(), place)
    (tmp_path / "sexes.csv").write_text("f;*\nm;*\n")
    text = SURVEY.replace('"people.csv"', '"sqlite:///clinic.db::people"').replace(
        'age = "intervals', 'sex = "sexes.csv", age = "intervals'
    )
    plan = read_plan(survey(tmp_path, text))
    measured: list[object] = []

    class Pool(_Forbidden):
        def submit(self, function: object, *given: object) -> "Future[Variant]":
            measured.append(given)
            done: Future[Variant] = Future()
            done.set_result(Variant({"microaggregate.k": 3}))
            Path(str(given[2])).write_text(json.dumps(done.result().as_json()))
            return done

    monkeypatch.setattr(sweeping, "ProcessPoolExecutor", Pool)
    left = tmp_path / ".survey.sweep" / ".old.run.unfinished"
    left.mkdir(parents=True)
    for change, runs in (
        (lambda: None, 1),
        (lambda: None, 1),
        (lambda: sources.write(people(seed=1), place, force=True), 2),
        (lambda: (tmp_path / "sexes.csv").write_text("f;all;*\nm;all;*\n"), 3),
    ):
        change()
        sweeping.sweep(plan, ["microaggregate.k=3"])
        assert len(measured) == runs
    assert not left.exists()


def test_a_process_that_is_ended_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Broken(_Forbidden):
        def submit(self, *given: object) -> "Future[Variant]":
            done: Future[Variant] = Future()
            done.set_exception(BrokenProcessPool())
            return done

    monkeypatch.setattr(sweeping, "ProcessPoolExecutor", Broken)
    refused = command("sweep", survey(tmp_path), "--set", "microaggregate.k=3")
    assert refused.code == 3 and "the same command goes on" in refused.err


def test_a_plan_without_gates_passes_none(tmp_path: Path):
    text = SURVEY[: SURVEY.index("[gates.recode]")] + SURVEY[SURVEY.index("[outputs]") :]
    found = command("sweep", survey(tmp_path, text), "--set", "microaggregate.k=3", "--json")
    assert found.json["variants"][0]["passed"] is None
    told = command("sweep", tmp_path / "plan.toml", "--set", "microaggregate.k=3")
    assert "passed" not in told.out and "none" in told.out
