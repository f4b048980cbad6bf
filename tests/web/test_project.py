"""The steps of a workspace: every run is one, they can be put right and undone, and are written down so that they run again."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import polars as pl
import pytest
from tests.web.serving import finished

import shoal
from shoal.release.plan.reader import parse_plan
from shoal.web.datasets import Datasets, origin_of
from shoal.web.jobs.job import Job, State
from shoal.web.project import Project
from shoal.web.workspace import Workspace

pytestmark = pytest.mark.xdist_group("web")


class FakeBoard:
    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}

    def run(self, run: str, kind: str, **request: Any) -> None:
        self.jobs[run] = Job(run, kind, f"{kind} {run}", request, State.DONE, submitted=len(self.jobs))

    def all(self, *kinds: str) -> list[Job]:
        return [job for job in self.jobs.values() if job.kind in kinds]

    def __getitem__(self, run: str) -> Job:
        return self.jobs[run]

    def __contains__(self, run: str) -> bool:
        return run in self.jobs


@pytest.fixture
def made(tmp_path: Path) -> SimpleNamespace:
    workspace = Workspace(tmp_path / "bench")
    datasets = Datasets(workspace)
    datasets.add(
        pl.DataFrame({"age": [31, 40] * 5, "pay": [1.5, 2.5] * 5}), "people", "people.csv", file="people.csv"
    )
    board = FakeBoard()
    board.run("r1", "recode", data="people", quasi=["age"], k=2)
    datasets.add(pl.DataFrame({"age": ["a", "b"], "pay": [1.5, 2.5]}), "people-recode", origin_of("r1"))
    board.run("r2", "anonymity", data=["people-recode"], quasi=["age"])
    board.run("r3", "microaggregate", data="people-recode", columns=["pay"], k=2, by=[])
    board.jobs["r4"] = Job("r4", "recode", "", {}, State.FAILED)
    return SimpleNamespace(project=Project(workspace, board, datasets), board=board, datasets=datasets)


def names(project: Project) -> list[str]:
    return [step.name for step in project.steps()]


def test_runs_are_steps_and_changes_can_be_undone(made: SimpleNamespace):
    project = made.project
    assert names(project) == ["recode", "anonymity", "microaggregate"]
    project.rename("r1", "coarser")
    project.move("r3", -1)
    project.remove("r2")
    assert names(project) == ["coarser", "microaggregate"]
    project.undo()
    assert names(project) == ["coarser", "microaggregate", "anonymity"]
    project.undo()
    project.undo()
    assert names(project) == ["recode", "anonymity", "microaggregate"]
    project.redo()
    assert names(project) == ["coarser", "anonymity", "microaggregate"]
    # A run is a change, too: undone it is no step, and comes back when that is taken back.
    made.board.run("r5", "recode", data="people", quasi=["age"], k=3)
    assert names(project) == ["coarser", "anonymity", "microaggregate", "recode"] and not project.can_redo
    project.undo()
    assert names(project) == ["coarser", "anonymity", "microaggregate"]
    project.redo()
    assert names(project)[-1] == "recode"
    for _ in range(5):
        project.undo()
    assert names(project) == [] and not project.can_undo
    made.board.run("r6", "recode", data="people", quasi=["age"], k=4)
    assert names(project) == ["recode"] and not project.can_redo


def test_a_step_is_named_like_no_data(made: SimpleNamespace):
    made.datasets.add(pl.DataFrame({"age": [1]}), "recode", "recode.csv")
    assert names(made.project)[0] == "recode-2"


@pytest.mark.parametrize("name", ["", " ", "1st", "a b", "anonymity", "people", "ä/b"])
def test_names_that_cannot_be(made: SimpleNamespace, name: str):
    made.project.steps()
    with pytest.raises(shoal.InputError):
        made.project.rename("r1", name)


def test_written_down(made: SimpleNamespace, tmp_path: Path):
    project = made.project
    project.rename("r1", "coarser")
    plan = parse_plan(project.written("plan.toml"), tmp_path)
    # What measures is no step of a plan; what was released by one step is read by the next.
    assert [(step.name, step.do, step.inputs) for step in plan.steps] == [
        ("coarser", "recode", ("people",)),
        ("microaggregate", "microaggregate", ("coarser",)),
    ]
    assert plan.sources["people"].roles["age"] == "quasi-identifier"
    assert "shoal.recode(people," in project.written("script.py")
    assert "shoal.microaggregate(coarser.frame," in project.written("script.py")
    commands = project.written("commands.sh").splitlines()
    assert commands[0].startswith("shoal recode people.csv --quasi age -k 2 -o coarser.parquet")
    assert commands[2].startswith("shoal microaggregate coarser.parquet")


def test_nothing_to_write_down(tmp_path: Path):
    workspace = Workspace(tmp_path / "empty")
    with pytest.raises(shoal.InputError, match="no steps"):
        Project(workspace, FakeBoard(), Datasets(workspace)).written("plan.toml")


@pytest.fixture
def town(api: httpx.Client) -> Iterator[str]:
    frame = pl.DataFrame({"age": [31, 38, 44, 31] * 10, "sex": ["f", "m"] * 20})
    sent = api.post("/api/data", files={"file": ("stpeople.csv", frame.write_csv().encode())})
    assert finished(api, sent.json()["run"])["state"] == "done"
    yield "stpeople"
    api.delete("/api/data/stpeople")


def test_over_rest(api: httpx.Client, town: str):
    request = {"data": town, "quasi": ["age", "sex"], "k": 3, "method": "lattice"}
    run = finished(api, api.post("/api/jobs/recode", json=request).json()["run"])["run"]
    steps = api.get("/api/steps").json()
    assert steps[-1]["run"] == run and steps[-1]["do"] == "recode"
    for form, word in (
        ("plan.toml", "[[steps]]"),
        ("script.py", "shoal.recode("),
        ("commands.sh", "shoal recode"),
    ):
        written = api.get(f"/api/steps/{form}")
        assert written.status_code == 200 and word in written.text
    assert api.get("/api/steps/other").status_code == 422
