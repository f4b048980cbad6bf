"""The REST interface shows no value where none was asked for: answers, runs and their titles, progress, and the log."""

import json
from typing import Any

import httpx
import polars as pl
import pytest
from tests import markers
from tests.web.serving import Served

pytestmark = pytest.mark.xdist_group("web")

SHORT = {"iterations": 15}
TABLE = "region,a,b,c\nzqRowOne,918273645,0,0\nzqRowTwo,0,918305321,8\nzqRowThree,0,9,918336997\n"
FILES = {
    "mpeople.csv": markers.people().write_csv(),
    "mtexts.csv": markers.people().with_columns(income=pl.concat_str(pl.lit("zqN"), "income")).write_csv(),
    "mragged.csv": markers.people().write_csv().replace("zqPerson011,", "zqPerson011,zqExtra,"),
    "mtable.csv": TABLE,
    "mtwice.csv": TABLE.replace("zqRowTwo", "zqRowOne"),
    "mhierarchy.csv": "code,parent\nzqCityAlpha,zqNorth\n",
    "mslots.csv": "slot,capacity\nvqSlotOne,12\nvqSlotTwo,12\n",
    "mbroken.jj": "0\n918273645\n1 zqText\n",
}
RECORDS = {"data": "mpeople", "k": 4, "columns": ["income", "rent"], "drop": ["born"], **SHORT}
TABULATE = {"data": "mpeople", "source": "records", "dimensions": ["city", "school"]}
JOBS: list[tuple[str, Any]] = [
    ("microaggregate", {**RECORDS, "by": ["city"]}),
    ("microaggregate", {**RECORDS, "by": ["person"]}),
    ("microaggregate", {**RECORDS, "data": "mtexts"}),
    ("microaggregate", {**RECORDS, "k": "zqText"}),
    ("microaggregate", {**RECORDS, "method": "mdav", "options": {"bounds": "zqText"}}),
    ("tabulate", {**TABULATE, "hierarchy": {"city": "mhierarchy"}}),
    ("recode", {"data": "mpeople", "quasi": ["city", "school"], "method": "lattice", "explain": True}),
    ("recode", {"data": "mpeople", "quasi": ["city"], "hierarchies": {"city": "mhierarchy"}}),
    ("recode", {"data": "mpeople", "quasi": ["city"], "levels": {"city": "zqText"}}),
    ("risk", {"data": "mpeople", "quasi": ["city", "school"], "sample_weights": "income"}),
    ("risk", {"data": "mpeople", "quasi": ["city"], "sample_weights": "person"}),
    ("risk", {"data": "mpeople", "quasi": ["city", "born"], "household": "person", "require_risk": 0.01}),
    ("hierarchy", {"data": "mpeople"}),
    ("hierarchy", {"data": "mpeople", "columns": ["city"], "hierarchies": {"city": "mhierarchy"}}),
    ("hierarchy", {"data": "mpeople", "columns": ["city"], "hierarchies": {"city": "intervals(5)"}}),
    ("suppress", {"data": "mtable", "source": "matrix", "sensitive": [["zqRowOne", "a"]], **SHORT}),
    ("suppress", {"data": "mtable", "source": "matrix", "sensitive": [["zqRowNone", "a"]], **SHORT}),
    ("suppress", {"data": "mtable", "source": "matrix", "sensitive": [["zqRowOne"]], **SHORT}),
    ("suppress", {"data": "mtwice", "source": "matrix", "sensitive": [["zqRowOne", "a"]], **SHORT}),
    ("suppress", {"data": "mtable", "source": "matrix", "sensitive": {"zqRowOne": 918273645}}),
    ("assign", {"people": ["mpeople"], "slots": ["mslots"], "quasi": ["city"], **SHORT}),
]


def _finished(api: httpx.Client, run: str) -> dict[str, Any]:
    for _ in range(40):
        view: dict[str, Any] = api.get(f"/api/jobs/{run}", params={"wait": 30}).json()
        if view["state"] not in ("waiting", "running"):
            return view
    raise AssertionError("the run does not end")


def test_no_answer_shows_a_value(api: httpx.Client, workbench: Served) -> None:
    heard: list[str] = []

    def told(answer: httpx.Response) -> httpx.Response:
        heard.append(answer.text)
        return answer

    # All are submitted before the first is waited for: each runs in a process of its own.
    loads = [
        told(api.post("/api/data", files={"file": (name, text.encode())})) for name, text in FILES.items()
    ]
    heard += [json.dumps(_finished(api, sent.json()["run"])) for sent in loads]
    answers = [told(api.post(f"/api/jobs/{kind}", json=request)) for kind, request in JOBS]
    assert {202, 422} <= {answer.status_code for answer in answers}, "some are refused at once"
    states = set()
    for run in (answer.json()["run"] for answer in answers if answer.status_code == 202):
        view = _finished(api, run)
        states.add((view["state"], view["error"]))
        heard.append(json.dumps(view, ensure_ascii=False))
        told(api.get(f"/api/jobs/{run}/curve"))
        result = api.get(f"/api/jobs/{run}/result")
        # The figures of a result are asked for; why there is none is a message, and so are notes and warnings.
        figures = result.json()
        parts = (
            figures if result.status_code != 200 else [figures.get(name) for name in ("notes", "warnings")]
        )
        heard.append(json.dumps(parts, ensure_ascii=False))
    assert {("done", ""), ("failed", "input"), ("failed", "infeasible")} <= states
    told(api.get("/api/jobs"))
    told(api.get("/api/data"))
    told(api.put("/api/data/mpeople/roles", json={"income": "zqText"}))
    told(api.post("/api/jobs/microaggregate", content=b'{"data": "zqText", 918273645'))
    log = (workbench.folder.parent / f"{workbench.folder.name}.log").read_text()
    for text in [*heard, log]:
        assert not markers.said(text), text
