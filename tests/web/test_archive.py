"""A project as one file: saved, and opened elsewhere with all it had; what is no project changes nothing."""

import io
import json
import zipfile
from pathlib import Path

import httpx
import polars as pl
import pytest
from tests.waiting import GUARD
from tests.web.serving import finished, served

from shoal.errors import InputError
from shoal.web import archive
from shoal.web.datasets import Datasets
from shoal.web.jobs.board import Board
from shoal.web.project import Project
from shoal.web.workspace import Workspace

pytestmark = pytest.mark.xdist_group("web")
LARGEST = 2**24
FRAME = pl.DataFrame({"age": [31, 38, 44, 31] * 10, "sex": ["f", "m"] * 20})


def _bench(folder: Path) -> tuple[Workspace, Board, Datasets]:
    workspace = Workspace(folder)
    return workspace, Board(workspace), Datasets(workspace)


def test_a_project_is_saved_and_opened(tmp_path: Path) -> None:
    workspace, board, datasets = _bench(tmp_path / "here")
    try:
        datasets.add(FRAME, "people", "people.csv")
        datasets.set_roles("people", {"age": "confidential"})
        run = board.wait(board.submit("anonymity", {"data": ["people"], "quasi": ["age"]}).run, GUARD).run
        project = Project(workspace, board, datasets)
        project.steps()
        project.rename(run, "first")
    finally:
        board.close()
    file = tmp_path / archive.NAME
    archive.save(workspace, board, file)
    assert file.stat().st_mode & 0o077 == 0
    there, theirs, data = _bench(tmp_path / "there")
    archive.open_project(there, theirs, file, largest=LARGEST)
    assert data["people"] == datasets["people"] and data.frame("people").equals(FRAME)
    assert theirs[run].summary == board[run].summary
    assert (there.path("runs", run, "report.html")).is_file()
    opened = Project(there, theirs, data)
    assert [step.name for step in opened.steps()] == ["first"]
    opened.undo()
    assert [step.name for step in opened.steps()] == ["anonymity"]
    with pytest.raises(InputError, match="empty workspace"):
        archive.open_project(there, theirs, file, largest=LARGEST)


def _packed(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for name, content in files.items():
            target.writestr(name, content)
    return packed.getvalue()


_NO_STEPS: dict[str, list[str]] = {"past": [], "now": [], "future": [], "known": []}
_MARK = {"shoal-project.json": '{"version": 1}'}


@pytest.mark.parametrize(
    "content",
    [
        b"no archive",
        _packed(**{"data/x.json": "{}"}),
        _packed(**{"shoal-project.json": '{"version": 2}'}),
        _packed(**_MARK, **{"../outside.json": "{}"}),
        _packed(**_MARK, **{"data/../../outside.json": "{}"}),
        _packed(**_MARK, **{"/etc/x.json": "{}"}),
        _packed(**_MARK, authorization="mine"),
        _packed(**_MARK, **{"data/x.json": '{"name": "y"}'}),
        _packed(**_MARK, **{"runs/0123456789ab/run.json": '{"run": "0123456789ab", "kind": "what"}'}),
        _packed(**_MARK, **{"project.json": "[]"}),
        _packed(**_MARK, **{"project.json": json.dumps({"now": 3})}),
        _packed(
            **_MARK, **{"project.json": json.dumps({**_NO_STEPS, "now": [["0123456789ab", "a\ntouch ran"]]})}
        ),
        _packed(**_MARK, **{"data/x.parquet": "0" * (LARGEST + 1)}),
    ],
)
def test_what_is_no_project_changes_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.shoal"
    file.write_bytes(content)
    workspace, board, _ = _bench(tmp_path / "here")
    before = sorted(path for path in tmp_path.rglob("*"))
    with pytest.raises(InputError):
        archive.open_project(workspace, board, file, largest=LARGEST)
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_over_rest(tmp_path: Path) -> None:
    with (
        served(tmp_path / "one") as one,
        httpx.Client(base_url=one.root, headers=one.headers, timeout=GUARD) as api,
    ):
        finished(api, api.post("/api/data/samples/slots").json()["run"])
        saved = api.get("/api/project")
        assert saved.status_code == 200 and "project.shoal" in saved.headers["content-disposition"]
        again = api.put("/api/project", files={"file": ("project.shoal", saved.content)})
        assert again.status_code == 409 and "empty workspace" in again.json()["error"]
        names = [item["name"] for item in api.get("/api/data").json()]
        for name in names:
            api.delete(f"/api/data/{name}")
        for job in api.get("/api/jobs").json():
            api.delete(f"/api/jobs/{job['run']}")
        assert api.put("/api/project", files={"file": ("project.shoal", saved.content)}).json() == []
        assert [item["name"] for item in api.get("/api/data").json()] == names == ["slots"]
        assert list((tmp_path / "one" / "incoming").iterdir()) == []
