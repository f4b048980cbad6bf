"""The REST API: the way of a job, its schema, and schemathesis against it."""

import time

import httpx
import polars as pl
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from tests.web.serving import Served

import shoal

pytestmark = pytest.mark.xdist_group("web")


def _finished(api: httpx.Client, run: str) -> dict[str, object]:
    for _ in range(4):
        view = api.get(f"/api/jobs/{run}", params={"wait": 30}).json()
        if view["state"] not in ("waiting", "running"):
            return view
    raise AssertionError("the run does not end")


def test_the_way_of_a_job(api: httpx.Client) -> None:
    frame = pl.DataFrame({"zip": ["a", "a", "b", "b", "b"] * 8, "income": [float(n) for n in range(40)]})
    sent = api.post("/api/data", files={"file": ("town.csv", frame.write_csv().encode())})
    assert sent.status_code == 202
    assert _finished(api, sent.json()["run"])["state"] == "done"
    assert api.get("/api/data/town").json()["records"] == 40
    assert api.put("/api/data/town/roles", json={"zip": "other"}).json()["roles"]["zip"] == "other"
    measured = api.post("/api/jobs/anonymity", json={"data": ["town"], "quasi": ["zip"]}).json()["run"]
    assert _finished(api, measured)["state"] == "done"
    assert (
        api.get(f"/api/jobs/{measured}/result").json()["tables"][0]["k"] == shoal.anonymity(frame, ["zip"]).k
    )
    run = api.post("/api/jobs/microaggregate", json={"data": "town", "k": 4, "columns": ["income"]}).json()[
        "run"
    ]
    view = _finished(api, run)
    assert view["state"] == "done"
    result = api.get(f"/api/jobs/{run}/result").json()
    direct = shoal.microaggregate(frame, 4, columns=["income"])
    assert result["loss_percent"] == pytest.approx(direct.loss)
    assert result["k_release"] == direct.k_release
    released = api.get(f"/api/jobs/{run}/files/release.csv")
    assert pl.read_csv(released.content)["income"].to_list() == direct.frame["income"].to_list()
    assert "<h1>" in api.get(f"/api/jobs/{run}/files/report.html").text
    assert api.delete(f"/api/jobs/{run}").status_code == 200
    assert api.get(f"/api/jobs/{run}").status_code == 404
    assert api.delete("/api/data/town").status_code == 204
    assert api.get("/api/data/town").status_code == 404


def test_progress_pause_and_cancel(api: httpx.Client) -> None:
    _finished(api, api.post("/api/data/samples/firms").json()["run"])
    request = {
        "data": "firms",
        "k": 3,
        "method": "ilsmc",
        "columns": ["turnover", "costs"],
        "iterations": 10**9,
    }
    run = api.post("/api/jobs/microaggregate", json=request).json()["run"]
    end = time.monotonic() + 60
    while not api.get(f"/api/jobs/{run}").json()["progress"].get("work"):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert api.get(f"/api/jobs/{run}/result").status_code == 409
    assert api.post(f"/api/jobs/{run}/pause").json()["state"] == "paused"
    assert api.post(f"/api/jobs/{run}/resume").json()["state"] == "running"
    assert api.get(f"/api/jobs/{run}/curve").json()
    since = time.monotonic()
    assert api.delete(f"/api/jobs/{run}").json()["state"] == "cancelled"
    assert time.monotonic() - since < 1


def test_errors_are_json_in_one_line(api: httpx.Client) -> None:
    unknown = api.post("/api/jobs/anonymity", json={"data": ["nothing"], "quasi": ["a"]})
    assert unknown.status_code == 404
    assert unknown.json() == {"error": "there is no data 'nothing' in the workspace", "kind": "missing"}
    wrong = api.post("/api/jobs/microaggregate", json={"data": "firms", "k": "many"})
    assert wrong.status_code == 422
    assert wrong.json()["error"].startswith("k: ")


def test_every_activity_is_in_the_schema(api: httpx.Client) -> None:
    from shoal.web.activities import ACTIVITIES

    paths = api.get("/api/openapi.json").json()["paths"]
    for kind, activity in ACTIVITIES.items():
        assert (f"/api/jobs/{kind}" in paths) is not activity.internal


def test_schemathesis(workbench: Served) -> None:
    """No request that the schema allows, nor one it does not, ends in an error of the server or an answer unforeseen."""
    schema = schemathesis.openapi.from_url(f"{workbench.root}/api/openapi.json", headers=workbench.headers)

    tried = 0
    for operation in schema.get_all_operations():
        endpoint = operation.ok()

        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def run(case: schemathesis.Case) -> None:
            nonlocal tried
            tried += 1
            # Waiting is tested elsewhere; here it would only take time.
            if case.query and "wait" in case.query:
                case.query["wait"] = 0
            # Names that nobody has are looked up for long; a port where nothing listens is as good.
            if case.path == "/api/connection" and isinstance(case.body, dict) and "host" in case.body:
                case.body |= {"host": "127.0.0.1", "port": 1}
            case.call_and_validate(headers=workbench.headers, timeout=30)

        given(case=endpoint.as_strategy())(run)()
    assert tried > 100
