"""Safe for somebody who is here for the first time: nothing goes out or is lost by mistake."""

import sqlite3
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest
from tests.waiting import GUARD
from tests.web.serving import Served, finished

import shoal
from shoal.errors import InputError
from shoal.runtime.observer import Progress
from shoal.web.activities.drawing import contributions, drawing
from shoal.web.datasets import Datasets, origin_of
from shoal.web.jobs.auditor import Auditor
from shoal.web.jobs.board import Board
from shoal.web.pages.tables.drawn import Drawn
from shoal.web.workspace import Workspace

# K over the town is 1, whatever becomes of the incomes: one person lives in c.
TOWN = pl.DataFrame(
    {"town": ["a"] * 10 + ["b"] * 9 + ["c"], "income": [float(n * 7 % 20) for n in range(20)]}
)


@pytest.mark.xdist_group("web")
def test_a_release_below_k_waits_for_a_confirmation(api: httpx.Client, workbench: Served) -> None:
    sent = api.post("/api/data", files={"file": ("exposed.csv", TOWN.write_csv().encode())}).json()["run"]
    finished(api, sent)
    request = {"data": "exposed", "k": 3, "columns": ["income"], "method": "mdav"}
    run = api.post("/api/jobs/microaggregate", json=request).json()["run"]
    view = finished(api, run)
    held = "K of this release is 1, below the k = 3 that was asked for"
    assert (view["state"], view["held_back"], view["confirmed"]) == ("done", held, None)
    names = {item["name"] for item in view["files"]}
    assert {"release.csv", "release.parquet", "report.html"} <= names
    with httpx.Client(base_url=workbench.root, timeout=GUARD) as browser:
        browser.get(workbench.fresh())
        for name in names:
            wanted = 200 if name == "report.html" else 409
            assert api.get(f"/api/jobs/{run}/files/{name}").status_code == wanted
            assert browser.get(f"/runs/{run}/{name}").status_code == wanted
        assert api.get(f"/api/jobs/{run}/files/release.csv").json() == {
            "error": f"{held}; confirm first that you know",
            "kind": "infeasible",
        }
        confirmed = api.post(f"/api/jobs/{run}/confirm").json()
        assert confirmed["held_back"] == "" and confirmed["confirmed"] > 0
        assert browser.get(f"/runs/{run}/release.csv").status_code == 200
    assert pl.read_csv(api.get(f"/api/jobs/{run}/files/release.csv").content).height == TOWN.height
    # Who confirmed once is not asked again, and a release that keeps k is never held back.
    assert api.post(f"/api/jobs/{run}/confirm").json()["confirmed"] == confirmed["confirmed"]
    fine = api.post("/api/jobs/microaggregate", json={**request, "quasi": ["income"]}).json()["run"]
    assert finished(api, fine)["held_back"] == ""
    assert api.get(f"/api/jobs/{fine}/files/release.csv").status_code == 200


@pytest.mark.xdist_group("web")
def test_nothing_below_k_is_written_to_a_database_unconfirmed(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "bench")
    Datasets(workspace).add(TOWN, "town", "test")
    board = Board(workspace)
    try:
        job = board.wait(board.submit("microaggregate", {"data": "town", "k": 3, "columns": ["income"]}).run)
        write = {"run": job.run, "connection": "c", "table": "t", "force": False}
        with pytest.raises(InputError, match="below the k = 3"):
            board.submit("write", write)
        Datasets(workspace).add(TOWN, "next", origin_of(job.run))
        with pytest.raises(InputError, match="below the k = 3"):
            board.submit("write", {**write, "run": None, "data": "next"})
        board.confirm(job.run)
        assert board.submit("write", write).kind == "write"
    finally:
        board.close()
    # That somebody confirmed is part of the run, and is remembered.
    assert Board(workspace)[job.run].confirmed == job.confirmed is not None


def test_what_was_removed_can_be_brought_back_until_the_end(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "bench")
    datasets = Datasets(workspace)
    datasets.add(TOWN, "town", "test")
    datasets.attach("town", "jj", "0\n")
    before = datasets["town"]
    datasets.set_aside("town")
    assert "town" not in datasets and not list(workspace.shelf("data").iterdir())
    datasets.restore("town")
    assert datasets["town"] == before and datasets.frame("town").equals(TOWN)
    assert datasets.attachment("town", "jj") is not None
    datasets.set_aside("town")
    other = datasets.add(TOWN.head(3), "town", "test")
    with pytest.raises(InputError, match="other data called 'town'"):
        datasets.restore("town")
    assert datasets[other.name].records == 3
    datasets.remove("town")
    datasets.restore("town")
    assert datasets["town"].records == TOWN.height
    datasets.set_aside("town")
    workspace.empty_removed()
    assert not list(workspace.shelf("removed").iterdir())
    with pytest.raises(InputError, match="cannot be brought back"):
        datasets.restore("town")


@pytest.mark.xdist_group("web")
def test_a_run_that_was_removed_can_be_brought_back(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "bench")
    board = Board(workspace)
    try:
        job = board.wait(board.submit("load", {"sample": "slots"}).run)
        board.set_aside(job.run)
        assert job.run not in board and not workspace.path("runs", job.run).exists()
        board.restore(job.run)
        assert board[job.run].summary == job.summary
        assert workspace.path("runs", job.run, "run.json").is_file()
    finally:
        board.close()


def test_columns_come_with_figures_to_judge_their_roles_by(tmp_path: Path) -> None:
    datasets = Datasets(Workspace(tmp_path / "bench"))
    frame = pl.DataFrame(
        {
            "person": [1, 1, 2, 2, 3],
            "age": [31.0, None, float("nan"), 31.0, 50.0],
            "tags": [["x"], ["x"], None, ["y"], ["z"]],
        }
    )
    found = datasets.add(frame, "visits", "test", sha256="0" * 64)
    assert found.distinct == (3, 2, 0) and found.missing == (0, 2, 1)
    assert datasets["visits"] == found
    changed = datasets.set_roles("visits", {"person": "unit", "age": "other"})
    assert (changed.only_with_role("unit"), changed.removed) == ("person", ["person"])
    assert "person" not in changed.knowable
    with pytest.raises(InputError, match="column 'agee'"):
        datasets.set_roles("visits", {"person": "other", "agee": "other"})
    assert datasets["visits"].roles["person"] == "unit"


@pytest.mark.xdist_group("web")
def test_the_copy_of_a_database_can_be_downloaded(
    api: httpx.Client, workbench: Served, tmp_path: Path
) -> None:
    file = workbench.folder / "ward.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE staff (name TEXT)")
    database.close()
    with httpx.Client(base_url=workbench.root, timeout=GUARD) as browser:
        assert browser.get("/database").status_code == 401
        browser.get(workbench.fresh())
        assert browser.get("/database").status_code == 404
        api.put("/api/connection", json={"kind": "sqlite", "database": "ward.db"})
        answer = browser.get("/database")
        assert answer.content == file.read_bytes()
        assert 'filename="ward.db"' in answer.headers["content-disposition"]
    api.delete("/api/connection")
    file.unlink()


FIRMS = pl.DataFrame(
    {
        "region": ["n", "n", "n", "n", "s", "s", "s"],
        "sector": ["x", "x", "x", "y", "x", "y", "y"],
        "turnover": [80.0, 15.0, 5.0, 30.0, 10.0, 10.0, 10.0],
    }
)


def test_cells_tell_contributors_shares_and_the_rule_that_fired() -> None:
    made = shoal.tabulate(
        FIRMS, dimensions=["region", "sector"], value="turnover", rules=["dominance(1,75)", "frequency(2)"]
    )
    problem = made.problem()
    drawn = Drawn(**drawing(problem, problem.is_sensitive, made.trees), **contributions(made))
    told = {tuple(drawn.key(cell)): " ".join(drawn.contributions(cell)) for cell in range(made.table.cells)}
    assert told["n", "x"] == (
        "3 contributors. The largest has 80 %, the second 15 %. Sensitive by dominance(1,75)."
    )
    assert told["n", "y"].startswith("1 contributor. The largest has 100 %. Sensitive by ")
    assert "frequency(2)" in told["n", "y"] and "dominance(1,75)" in told["n", "y"]
    assert told["s", "y"] == "2 contributors. The largest has 50 %, the second 50 %."
    counted = shoal.tabulate(FIRMS, dimensions=["region"])
    assert contributions(counted)["shares"] == [] and contributions(None) == {}


@pytest.mark.parametrize("size", [5, 30])
def test_an_audit_by_hand_tells_how_far_it_is(tmp_path: Path, size: int) -> None:
    """A small table is audited in a thread, a large one in a process; both say how far they are."""
    random = np.random.default_rng(3)
    cells = [(f"r{row}", f"c{column}") for row in range(size) for column in range(size)]
    rows = [cell for cell in cells for _ in range(4)]
    frame = pl.DataFrame(
        {
            "region": [row for row, _ in rows],
            "sector": [column for _, column in rows],
            "turnover": random.integers(1, 50, len(rows)),
        }
    )
    workspace = Workspace(tmp_path / "bench")
    Datasets(workspace).add(frame, "firms", "test")
    request = {"data": "firms", "source": "records", "dimensions": ["region", "sector"], "value": "turnover"}
    auditor = Auditor(workspace, "tabulate", request, (size + 1) ** 2)
    seen: list[Progress] = []
    try:
        verdict = auditor.ask(list(range(size * 2)), seen.append)
    finally:
        auditor.close()
    assert seen and seen[-1].share == 1.0 and seen[-1].work == seen[-1].total
    assert [one.work for one in seen] == sorted(one.work for one in seen)
    assert seen[-1].total == verdict["hidden"]
