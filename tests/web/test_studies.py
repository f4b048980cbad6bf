"""Studies as jobs: they say what is left, stop when asked, and the next run goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.web.drawn import drawn, job_of
from tests.web.serving import finished

from shoal.runtime.control import Control
from shoal.studies import Row, Step, Study
from shoal.studies.claims import Claim, Rule
from shoal.web.activities import study as activity
from shoal.web.jobs.context import Context
from shoal.web.jobs.task import Task
from shoal.web.pages.studies import _present
from shoal.web.workspace import Workspace

RUN = "0123456789ab"


@pytest.fixture
def told() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def context(tmp_path: Path, told: list[dict[str, Any]]) -> Iterator[Context]:
    workspace = Workspace(tmp_path / "bench")
    folder = workspace.path("runs", RUN)
    folder.mkdir()
    control = Control.shared(folder)
    assert control.path is not None
    yield Context(Task(RUN, "study", {}, workspace.folder, control.path, {}), told.append)
    control.close()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, context: Context) -> list[str]:
    """A study of three steps, of which the second asks for the end of the run the first time."""
    ran: list[str] = []

    def step(key: str) -> Step:
        def run(scope: Any) -> list[Row]:
            ran.append(key)
            if ran == ["a", "b"]:
                context.control.cancel()
            return [Row("Table 1", key, "mean", 1.5, 2.0)]

        return Step(key, f"step {key}", run)

    toy = Study(
        "anonymity-vectors",
        "A toy",
        "nobody, never",
        lambda scope: [step(key) for key in "abc"],
        claims=lambda found: [Claim("all", "rows", Rule("at least", 3), float(len(found.rows)))],
    )
    monkeypatch.setattr(activity, "load", lambda name: toy)
    return ran


def test_a_study_stops_and_the_next_run_goes_on(
    context: Context, ran: list[str], told: list[dict[str, Any]]
) -> None:
    request = activity.StudyRequest(study="anonymity-vectors")
    first = activity._run(request, context)
    assert ran == ["a", "b"] and (first["steps_done"], first["steps"]) == (2, 3)
    assert first["claims_that_hold"] == 0
    shares = [message["share"] for message in told if message["what"] == "progress"]
    assert shares == [0.0, pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert told[0]["phase"] == "step a"
    context.control._memory[1] = 0
    second = activity._run(request, context)
    assert ran == ["a", "b", "c"] and second["steps_done"] == 3 and second["claims_that_hold"] == 1
    page = (context.folder / "report.html").read_text()
    assert "A toy" in page and "holds here" in page
    assert {item["name"] for item in context.files} == {"report.html", "rows.csv", "table.md"}


def test_the_page_tells_what_is_done_and_which_claims_hold(context: Context, ran: list[str]) -> None:
    summary = activity._run(activity.StudyRequest(study="anonymity-vectors"), context)
    text = drawn(lambda: _present(job_of("study", RUN, {}, summary)))
    assert "2 of 3" in text and "go on" in text and "does not hold here" in text


def test_the_page_lists_every_study_and_a_run_can_be_watched(api: httpx.Client) -> None:
    page = api.get("/studies")
    assert page.status_code == 200 and "Seating groups in rooms" in page.text
    job = api.post("/api/jobs/study", json={"study": "anonymity-vectors"}).json()
    done = finished(api, job["run"])
    found = api.get(f"/api/jobs/{done['run']}/result").json()
    assert done["state"] == "done" and found["steps_done"] == found["steps"] == 6
    assert api.get(f"/studies?run={done['run']}").status_code == 200
    refused = api.post("/api/jobs/study", json={"study": "no-such-study"})
    assert refused.status_code == 422
