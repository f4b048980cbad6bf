"""Running plans: one folder or none, gates, repetition to the byte, and nothing of the inputs in what is public."""

import html
import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.plans import MARKER, SURVEY, people, survey

import shoal
from shoal.release.run import running

DATA = ("survey.csv", "matrices.json")


def public(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "public" / name).read_bytes() for name in DATA}


def test_a_release(tmp_path: Path):
    done = shoal.release(survey(tmp_path), tmp_path / "out")
    assert done.folder == (tmp_path / "out").resolve()
    assert {path.name for path in (done.folder / "public").iterdir()} == {*DATA, "manifest.json"}
    released = pl.read_csv(done.folder / "public" / "survey.csv")
    assert released.columns == ["age", "sex", "region", "job", "pay"]
    assert shoal.anonymity(released, ["age", "sex", "region"]).k >= 4
    assert [(gate.step, gate.name, gate.passed) for gate in done.gates] == [
        ("recode", "loss", True),
        ("recode", "k", True),
        ("microaggregate", "k", True),
        ("microaggregate", "reidentifications", True),
    ]
    # Internal is for its owner alone, and no records on their way are left in it.
    inside = done.folder / "internal"
    assert stat.S_IMODE(inside.stat().st_mode) == 0o700
    for path in inside.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert "Time limit" not in (tmp_path / "out" / "internal" / "report.html").read_text()
    assert {"plan.toml", "report.html", "manifest.json", "secret.txt"} <= {
        path.name for path in inside.iterdir()
    }
    assert not list(inside.rglob("release.parquet"))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".shoal-register.json", "out", "people.csv", "plan.toml"]


def test_what_is_public_tells_nothing_of_the_inputs(tmp_path: Path):
    done = shoal.release(survey(tmp_path), tmp_path / "out")
    manifest = json.loads((done.folder / "public" / "manifest.json").read_text())
    assert set(manifest) == {
        "format",
        "release",
        "type",
        "created",
        "software",
        "operations",
        "guarantees",
        "outputs",
    }
    assert manifest["outputs"] == list(done.outputs)
    text = (done.folder / "public" / "manifest.json").read_text()
    secret = (done.folder / "internal" / "secret.txt").read_text().split()[2]
    inside = json.loads((done.folder / "internal" / "manifest.json").read_text())
    hidden = [
        secret,
        inside["inputs"]["people"]["fingerprint"],
        "people.csv",
        "north",
        "clerk",
        "seed",
        "suppress",
    ]
    for word in hidden:
        assert word not in text
    # Names were dropped: they are in no byte of the release, public or internal.
    for path in done.folder.rglob("*"):
        if path.is_file():
            assert MARKER.encode() not in path.read_bytes(), path


def test_its_secret_repeats_it_to_the_byte(tmp_path: Path):
    plan = survey(tmp_path)
    first = shoal.release(plan, tmp_path / "first")
    again = shoal.release(plan, tmp_path / "again", repeat=first.folder)
    other = shoal.release(plan, tmp_path / "other", another=True)
    assert public(again.folder) == public(first.folder)
    assert public(other.folder)["survey.csv"] != public(first.folder)["survey.csv"]
    people(seed=1).write_csv(tmp_path / "people.csv")
    with pytest.raises(shoal.InputError, match="source 'people' is not what it was"):
        shoal.release(plan, tmp_path / "changed", repeat=first.folder)
    assert not (tmp_path / "changed").exists() and not (tmp_path / ".changed.unfinished").exists()
    with pytest.raises(shoal.InputError, match=r"no repetition of 'first' .* the inputs are others.*another"):
        shoal.release(plan, tmp_path / "changed", repeat=first.folder, accept_changed_input=True)
    done = shoal.release(
        plan, tmp_path / "changed", repeat=first.folder, accept_changed_input=True, another=True
    )
    assert "no repetition of 'first'" in done.warnings[0]


@pytest.mark.parametrize(
    ("old", "new", "gate"),
    [
        ("k = 4\nloss = 90", "k = 150", "k"),
        ("loss = 90", "loss = 0.001", "loss"),
        ("reidentifications = 60", "risk = 0.0001", "risk"),
    ],
)
def test_a_gate_that_fails_publishes_nothing(tmp_path: Path, old: str, new: str, gate: str):
    plan = survey(tmp_path, SURVEY.replace(old, new))
    with pytest.raises(shoal.Infeasible, match=f"gate '{gate}' of step .* failed"):
        shoal.release(plan, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.refused", "people.csv", "plan.toml"]
    assert sorted(path.name for path in (tmp_path / "out.refused").iterdir()) == ["plan.toml", "report.html"]
    report = (tmp_path / "out.refused" / "report.html").read_text()
    assert "Refused" in report and "FAILED" in report and "Signatures" in report
    assert stat.S_IMODE((tmp_path / "out.refused").stat().st_mode) == 0o700


def test_nothing_is_overwritten_unasked(tmp_path: Path):
    plan = survey(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep me")
    with pytest.raises(shoal.InputError, match="exists already"):
        shoal.release(plan, tmp_path / "out")
    assert (tmp_path / "out" / "mine.txt").exists()
    with pytest.raises(shoal.InputError, match="no unfinished run"):
        shoal.release(plan, tmp_path / "new", resume=True)


def test_a_folder_that_holds_an_input_is_not_replaced(tmp_path: Path):
    plan = survey(tmp_path)
    shoal.release(plan, tmp_path / "out")
    text = plan.read_text().replace('"people.csv"', '"out/public/survey.csv"').replace('"name"', '"region"')
    plan.write_text(text)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    with pytest.raises(shoal.InputError, match=r"an input lies in '.*out', and inputs are never replaced"):
        shoal.release(plan, tmp_path / "out", force=True)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


def test_a_release_has_the_separator_and_the_decimal_sign_of_its_source(tmp_path: Path):
    plan = survey(tmp_path)
    people().write_csv(tmp_path / "people.csv", separator=";", decimal_comma=True)
    done = shoal.release(plan, tmp_path / "out")
    text = (done.folder / "public" / "survey.csv").read_text()
    assert text.startswith("age;sex;region;job;pay\n") and "," in text and "." not in text
    item = next(item for item in done.outputs if item["file"] == "survey.csv")
    assert (item["separator"], item["decimal"]) == (";", ",")
    for place in (done.folder / "public", done.folder):
        assert shoal.verify_release(place).verified
    assert shoal.verify_release(done.folder, originals=tmp_path).verified
    # What is read again is what was released, whatever the signs would be taken for by themselves.
    assert not shoal.diff_releases(done.folder, done.folder).discloses


@pytest.mark.parametrize(
    ("kept", "drop", "words"),
    [
        (["O'Brien"], ["O"], "column 'O'Brien' is released as"),
        (
            [f"amount{place}" for place in range(12)],
            [f"amount{place}" for place in range(8)],
            " and 4 more are released",
        ),
        (["tax"], ["pay"], "'tax', released as it is, nearly determines it"),
    ],
)
def test_no_warning_falls_silent_because_a_later_step_drops_a_column(
    tmp_path: Path, kept: list[str], drop: list[str], words: str
):
    draw = np.random.default_rng(3)
    pay = draw.normal(1000, 200, 60).round(2)
    exact = {name: pay * 0.3 if name == "tax" else draw.normal(100, 20, 60).round(2) for name in kept}
    pl.DataFrame({"pay": pay, "O": draw.choice(["a", "b"], 60), **exact}).write_csv(tmp_path / "people.csv")
    text = '[release]\nname = "x"\n[sources.people]\ndata = "people.csv"\n[[steps]]\ndo = "microaggregate"\n'
    text += (
        f'columns = ["pay"]\nk = 5\nmethod = "mdav"\n[[steps]]\ndo = "drop"\ncolumns = {json.dumps(drop)}\n'
    )
    (tmp_path / "plan.toml").write_text(text + '[outputs]\n"safe.csv" = "drop"\n')
    done = shoal.release(tmp_path / "plan.toml")
    assert any(words in text for text in done.warnings), done.warnings
    page = (done.folder / "internal" / "report.html").read_text()
    assert words in html.unescape(page)


class _Killed(BaseException):
    pass


@pytest.mark.parametrize("step", range(4))
def test_a_run_that_is_broken_off_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch, step: int):
    plan = survey(tmp_path)
    whole = shoal.release(plan, tmp_path / "whole")
    begun: list[str] = []
    original = running.run_step

    def counted(item, *others):
        begun.append(item.name)
        if len(begun) == step + 1:
            raise _Killed
        return original(item, *others)

    monkeypatch.setattr(running, "run_step", counted)
    with pytest.raises(_Killed):
        shoal.release(plan, tmp_path / "out", repeat=whole.folder)
    assert not (tmp_path / "out").exists()
    with pytest.raises(shoal.InputError, match="not finished"):
        shoal.release(plan, tmp_path / "out")
    begun.clear()
    monkeypatch.setattr(
        running, "run_step", lambda item, *others: (begun.append(item.name), original(item, *others))[1]
    )
    said: list[str] = []
    done = shoal.release(plan, tmp_path / "out", resume=True, say=said.append)
    assert not any("run again" in text for text in said)
    assert begun == ["drop", "recode", "perturb", "microaggregate"][step:]
    assert public(done.folder) == public(whole.folder)
    assert not (tmp_path / ".out.unfinished").exists()


def test_killed_for_good(tmp_path: Path):
    """A process that is killed leaves no release, and what it leaves is for its owner alone."""
    plan = survey(tmp_path)
    program = (
        "import os, signal, shoal\n"
        "from shoal.release import folder\n"
        "folder.ReleaseFolder.finish = lambda self, force: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"shoal.release({str(plan)!r}, {str(tmp_path / 'out')!r})\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert ended.returncode == -9
    assert not (tmp_path / "out").exists()
    left = tmp_path / ".out.unfinished"
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    begun = shoal.release(plan, tmp_path / "out", resume=True)
    assert (begun.folder / "public" / "survey.csv").exists()


def test_a_plan_that_was_changed_runs_what_follows_again(tmp_path: Path, monkeypatch):
    plan = survey(tmp_path)
    original = running.run_step

    def killed(item, *others):
        if item.name == "microaggregate":
            raise _Killed
        return original(item, *others)

    monkeypatch.setattr(running, "run_step", killed)
    with pytest.raises(_Killed):
        shoal.release(plan, tmp_path / "out")
    plan.write_text(SURVEY.replace("change = 0.2", "change = 0.3"))
    begun = []
    monkeypatch.setattr(
        running, "run_step", lambda item, *others: (begun.append(item.name), original(item, *others))[1]
    )
    said: list[str] = []
    shoal.release(plan, tmp_path / "out", resume=True, say=said.append)
    assert begun == ["perturb", "microaggregate"]
    told = [text for text in said if "run again" in text]
    assert told == ["the plan has changed since this run began; finished before, and run again: 'perturb'"]


def test_pseudonyms(tmp_path: Path, monkeypatch):
    text = SURVEY.replace('do = "drop"', 'do = "pseudonymise"\nkey = "env:OUTER_KEY"')
    plan = survey(tmp_path, text)
    with pytest.raises(shoal.InputError, match="no variable OUTER_KEY"):
        shoal.release(plan, tmp_path / "out")
    monkeypatch.setenv("OUTER_KEY", "short")
    with pytest.raises(shoal.InputError, match="could be guessed"):
        shoal.release(plan, tmp_path / "out")
    monkeypatch.setenv("OUTER_KEY", "a long key from elsewhere")
    drop_roles = text.replace('name = "identifier"\n', "").replace(
        "k = 4\nmethod", "k = 4\ndrop = []\nmethod"
    )
    plan.write_text(drop_roles)
    names = []
    for folder in ("a", "b"):
        shoal.release(plan, tmp_path / folder, another=True)
        frame = pl.read_csv(tmp_path / folder / "public" / "survey.csv")
        assert frame["name"].n_unique() == 200
        assert not frame["name"].str.contains(MARKER).any()
        names.append(set(frame["name"]))
        for path in (tmp_path / folder).rglob("*"):
            assert not path.is_file() or b"a long key" not in path.read_bytes()
    assert not names[0] & names[1]


def test_the_command(tmp_path: Path):
    people().write_csv(tmp_path / "people.csv")
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    assert command("plan", tmp_path / "people.csv", "-o", plan).code == 0
    survey(tmp_path)
    outline = command("release", plan, "--dry-run", "--json")
    assert outline.code == 0 and len(outline.json["outline"]) >= 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.toml"]
    done = command("release", plan, "-o", out, "--json")
    assert done.code == 0
    assert {"gates", "outputs", "verified"} <= set(done.json)
    assert all({"name", "limit", "value", "passed"} <= set(gate) for gate in done.json["gates"])
    assert all({"path", "sha256"} <= set(item) for item in done.json["outputs"])
    plan.write_text(SURVEY.replace("loss = 90", "loss = 0.001"))
    assert command("release", plan, "-o", tmp_path / "no").code == 2
    refused = command("release", plan, "-o", tmp_path / "no", "--another")
    assert refused.code == 3
    assert "gate 'loss'" in refused.err and "nothing was published" in refused.err


def test_a_database(tmp_path: Path, monkeypatch):
    from shoal import sources

    sources.write(people(), f"sqlite:///{tmp_path}/clinic.db::people")
    monkeypatch.setenv("CLINIC", f"sqlite:///{tmp_path}/clinic.db")
    plan = survey(tmp_path, SURVEY.replace('"people.csv"', '"${CLINIC}::people"'))
    (tmp_path / "people.csv").unlink()
    done = shoal.release(plan, tmp_path / "out")
    again = shoal.release(plan, tmp_path / "again", repeat=done.folder)
    assert public(again.folder) == public(done.folder)
    for path in (done.folder / "public").iterdir():
        assert b"clinic.db" not in path.read_bytes(), path
    shutil.rmtree(done.folder)


def test_columns_that_were_swapped_are_measured_beside_others(tmp_path: Path):
    """All their values are there, at other records: that the links join others is what was meant."""
    text = (
        SURVEY[: SURVEY.index('[[steps]]\ndo = "perturb"')]
        + """
[[steps]]
do = "perturb"
method = "rank-swap"
columns = ["pay"]
[gates.perturb]
linkage = 50
[outputs]
"survey.csv" = "perturb"
"""
    )
    done = shoal.release(survey(tmp_path, text), tmp_path / "out")
    assert "linkage" in {gate.name for gate in done.gates}
    assert shoal.verify_release(done.folder, originals=tmp_path).verified


def test_where_wildcards_were_accepted_nothing_public_speaks_of_k(tmp_path: Path):
    text = SURVEY.replace('method = "lattice"', 'method = "local-suppression"\nnull = "wildcard"').replace(
        "k = 4\nloss = 90", "k = 1\nloss = 90"
    )
    text = text.replace("[gates.microaggregate]\nk = 4", "[gates.microaggregate]\nk = 1")
    text = text.replace("reidentifications = 60", "")
    with pytest.raises(shoal.Infeasible, match="where a blank is a value of its own, below k = 4"):
        shoal.release(survey(tmp_path, text), tmp_path / "out")
    accepted = text.replace('null = "wildcard"', 'null = "wildcard"\naccept_wildcard = true')
    done = shoal.release(survey(tmp_path, accepted), tmp_path / "accepted")
    public_side = json.loads((done.folder / "public" / "manifest.json").read_text())
    assert all("k" not in item for item in public_side["outputs"])
    assert not any("share every combination" in line for line in public_side["guarantees"])
    inside = json.loads((done.folder / "internal" / "manifest.json").read_text())
    assert '"accept_wildcard": true' in json.dumps(inside)
    verified = command("verify", done.folder, "--originals", tmp_path / "plan.toml")
    assert verified.code == 0, verified.out
