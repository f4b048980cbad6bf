"""Releases, drafts and a workspace that an earlier version wrote: they open, verify and repeat as they did then."""

import json
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import shoal
from shoal import sources
from shoal.release.plan.draft import Wanted, draft_plan
from shoal.release.plan.outline import outline
from shoal.release.plan.reader import read_plan
from shoal.release.register.register import Register
from shoal.web.datasets import Datasets
from shoal.web.jobs.board import Board
from shoal.web.jobs.job import State
from shoal.web.project import Project
from shoal.web.workspace import Workspace

_KEPT = Path(__file__).parents[1] / "old_releases"
_NAMES = ("records", "local", "suppressed", "rounded", "adjusted", "counts", "appointments")
_POLICY = ("# reidentifications =", "# linkage =", "# loss =")
#: Times and the texts of warnings and notes.
_OF_THE_RUN = ("seconds", "phases", "warnings", "notes", "remarks")


def _unpacked(name: str, folder: Path) -> Path:
    """The modes of what is internal are part of a release."""
    with tarfile.open(_KEPT / f"{name}.tar.xz") as packed:
        packed.extractall(folder, filter="tar")
    return folder


def _manifest(release: Path, part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((release / part / "manifest.json").read_text())
    return found


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _unpacked("releases", tmp_path_factory.mktemp("old")) / "releases"


@pytest.mark.parametrize("name", _NAMES)
def test_an_old_release_verifies(releases: Path, name: str):
    assert "format" not in _manifest(releases / name, "public")
    found = shoal.verify_release(releases / name, originals=releases / f"{name}.toml")
    before = json.loads((releases / "verified.json").read_text())[name]
    assert found.verified, found.failures
    assert [[check.name, check.passed] for check in found.checks] == before["checks"]
    assert [[gate.step, gate.name, gate.value] for gate in found.gates] == before["gates"]
    assert not shoal.diff_releases(releases / name, releases / name).changes


@pytest.mark.parametrize("name", _NAMES)
def test_an_old_release_is_repeated(releases: Path, name: str):
    plan = read_plan(releases / f"{name}.toml")
    assert len([row for row in outline(plan).rows if row[0].startswith("step")]) == len(plan.steps)
    old = releases / name
    new = shoal.release(plan, releases / f"{name}-again", repeat=old).folder
    for file in old.rglob("*.csv"):
        again = new / file.relative_to(old)
        if file.name == "chances.csv":
            # Probabilities come out of Newton's method: their last digits are those of the machine's linear algebra.
            assert_frame_equal(pl.read_csv(again), pl.read_csv(file), rel_tol=1e-9, abs_tol=1e-12)
        else:
            assert again.read_bytes() == file.read_bytes()
    for file in [*old.rglob("*.xlsx"), *old.rglob("*.parquet")]:
        assert sources.read(new / file.relative_to(old)).frame.equals(sources.read(file).frame)
    before, after = _manifest(old, "internal"), _manifest(new, "internal")
    for one, other in zip(before["steps"], after["steps"], strict=True):
        assert one["settings"] == other["settings"]
        for figure, value in one["figures"].items():
            if isinstance(value, float):
                value = pytest.approx(value, rel=1e-9)
            assert figure in _OF_THE_RUN or other["figures"][figure] == value, figure
    for part in ("public", "internal"):
        assert _manifest(new, part)["format"] == 1
        assert _manifest(old, part).keys() | {"format"} == _manifest(new, part).keys()
    assert shoal.verify_release(new, originals=releases / f"{name}.toml").verified


def test_the_register_remembers_old_releases(releases: Path):
    entries = Register.beside(releases / "new").entries()
    assert {entry.folder for entry in entries} >= set(_NAMES)
    with pytest.raises(shoal.InputError, match="released before, in"):
        shoal.release(releases / "suppressed.toml", releases / "anew")


def test_drafts_are_those_of_before(releases: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(releases)
    for name, data, wanted in (
        ("drafted-records", "people.csv", Wanted(kind="public")),
        ("drafted-table", "firms.csv", Wanted(dimensions=("region", "sector"), value="turnover")),
        ("drafted-appointments", "visitors.csv", Wanted(slots="slots.csv")),
    ):
        texts = draft_plan(data, wanted=wanted, name=name), Path(f"{name}.toml").read_text()
        # Limits besides k were proposed then; now they are a policy, and left out where none is stated.
        now, then = ([line for line in text.splitlines() if not line.startswith(_POLICY)] for text in texts)
        assert now == then


def test_an_old_workspace_opens(tmp_path: Path):
    folder = _unpacked("workspace", tmp_path)
    workspace = Workspace(folder / "workspace")
    datasets, board = Datasets(workspace), Board(workspace, at_once=1)
    try:
        assert sorted(datasets.names()) == ["firms", "slots", "survey", "visitors"]
        assert all(datasets.frame(name).height == datasets[name].records for name in datasets.names())
        jobs = [job for job in board.all() if job.kind != "load"]
        assert {job.kind for job in jobs} == {"recode", "perturb", "suppress", "assign"}
        for job in jobs:
            assert job.state is State.DONE and job.summary
            assert workspace.path("runs", job.run, "report.html").exists()
            if job.kind != "suppress":
                release = workspace.path("runs", job.run, "release.parquet")
                assert pl.read_parquet(release).height == job.summary.get(
                    "records", job.summary.get("people")
                )
        project = Project(workspace, board, datasets)
        for form in ("plan.toml", "script.py", "commands.sh"):
            assert project.written(form) == (folder / "written" / form).read_text()
    finally:
        board.close()
