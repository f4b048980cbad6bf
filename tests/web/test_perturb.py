"""Perturbation over REST and as its page asks for it: only what a method takes, and all of that."""

import io
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl
import pytest
from tests.web.drawn import Bench, drawn, job_of
from tests.web.serving import finished, refused_with

import shoal
from shoal.errors import InputError
from shoal.microdata.perturbation.inputs import AMOUNTS, INPUTS, does_nothing
from shoal.microdata.perturbation.methods import METHODS
from shoal.operations import OPERATIONS
from shoal.runtime.control import Control
from shoal.web.activities import compare, perturb
from shoal.web.jobs.context import Context
from shoal.web.jobs.task import Task
from shoal.web.jobs.worker import finite
from shoal.web.pages.perturb.result import present_perturbed
from shoal.web.workspace import Workspace

RUN = "0123456789ab"


def _survey() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    return pl.DataFrame(
        {
            "person_id": range(4000, 4300),
            "hid": [place // 2 for place in range(300)],
            "region": [("zqNorth", "zqSouth")[place // 2 % 2] for place in range(300)],
            "town": [f"zqTown{place // 2 % 2}{place // 2 % 6}" for place in range(300)],
            "age": rng.integers(0, 90, 300),
            "job": rng.choice(["zqClerk", "zqSmith", "zqNurse"], 300),
            "income": rng.lognormal(8, 0.5, 300).round(2),
            "rent": rng.lognormal(6, 0.5, 300).round(2),
        }
    ).with_columns(job=pl.when(pl.col("age") < 15).then(pl.lit("zqNone")).otherwise("job"))


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A worker's surroundings, without the process, with a survey."""
    workspace = Workspace(tmp_path / "bench")
    folder = workspace.path("runs", RUN)
    folder.mkdir()
    control = Control.shared(folder)
    assert control.path is not None
    found = Context(Task(RUN, "perturb", {}, workspace.folder, control.path, {}), lambda message: None)
    found.datasets.add(_survey(), "survey", "test")
    yield found
    control.close()


def _run(context: Context, **request: Any) -> dict[str, Any]:
    asked = {"data": "survey", **request}
    return perturb.ACTIVITY.run(perturb.ACTIVITY.request_model(**asked), context)


ASKED: dict[str, dict[str, Any]] = {
    "pram": {"columns": ["job"], "change": 0.3, "forbid": ["age=0..14,job=zqClerk|zqSmith|zqNurse"]},
    "rank-swap": {"columns": ["income", "rent"], "window": 5},
    "record-swap": {"household": "hid", "regions": ["region", "town"], "quasi": ["age"], "share": 0.1},
    "noise": {"columns": ["income", "rent"], "amount": 20},
    "shuffle": {"columns": ["income", "rent"], "options": {"predictors": ["age"]}},
}


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_runs_with_its_own_settings_and_is_drawn(context: Context, method: str) -> None:
    found = _run(context, method=method, **ASKED[method])
    assert found["verified"] and found["for_release"] and found["dropped"] == ["person_id"]
    assert sum(found["changed"].values()) > 0
    assert found["promises"] and all(one["kept"] is True for one in found["promises"])
    # What a page shows goes through JSON, and names no value.
    assert "zq" not in json.dumps(
        {name: finite(found)[name] for name in ("promises", "notes", "warnings", "facts")}
    )
    job = job_of("perturb", RUN, {"data": "survey", "method": method}, found, context.files)
    sent = drawn(lambda: present_perturbed(Bench(context), job))
    assert "zq" not in sent and "What holds" in sent and "Compare with the original" in sent
    names = {item["name"]: item["title"] for item in context.files}
    inside = {"secret.txt", "record-links.csv", *(("matrices.json",) if method == "pram" else ())}
    assert {name for name, title in names.items() if "internal" in title} == inside
    for name in inside:
        assert stat.S_IMODE((context.folder / name).stat().st_mode) == 0o600
    released = pl.read_parquet(context.folder / "release.parquet")
    assert "person_id" not in released.columns and released.height == 300


def test_a_release_is_repeated_with_its_secret_and_followed_by_its_links(context: Context) -> None:
    _run(context, method="pram", by=["region"], order="sorted", **ASKED["pram"])
    released = pl.read_parquet(context.folder / "release.parquet")
    again = shoal.perturb(
        context.datasets.frame("survey"),
        "pram",
        ["job"],
        by=["region"],
        options={"change": 0.3},
        forbid=ASKED["pram"]["forbid"],
        drop=["person_id"],
        order="sorted",
        secret=context.folder / "secret.txt",
    )
    assert released.equals(again.frame)
    young = released.filter(pl.col("age") < 15)
    assert young.height and set(young["job"]) == {"zqNone"}


def test_a_seed_marks_the_release(context: Context) -> None:
    found = _run(context, method="noise", seed=3, **ASKED["noise"])
    assert found["for_release"] is False and found["warnings"][0].startswith("not for release")


def test_a_form_leaves_out_exactly_what_a_method_refuses() -> None:
    """What a form does not ask for is refused; what it asks for is not refused as doing nothing."""
    given: dict[str, Any] = {
        "columns": ["income"],
        "ordinal": ["income"],
        "by": ["region"],
        "household": "hid",
        "regions": ["region"],
        "quasi": ["age"],
        "forbid": ["age=0..14,job=x"],
        "matrix": "nowhere.csv",
    }
    assert set(given) == set(INPUTS)
    for method in METHODS:
        for name, value in given.items():
            with pytest.raises((InputError, OSError)) as told:
                shoal.perturb(_survey().head(2), method, **{name: value, "drop": ["not there"]})
            assert ("does nothing" in str(told.value)) == (name in does_nothing(method)), (method, name)
        for name in AMOUNTS:
            settings = OPERATIONS["perturb"].settings(data="survey", method=method, **{name: 0.5})
            refused = False
            try:
                OPERATIONS["perturb"].check(settings, frozenset())
            except InputError as problem:
                refused = "does nothing" in str(problem)
            assert refused == (name in does_nothing(method)), (method, name)


def test_a_perturbed_release_is_compared_with_the_original(context: Context) -> None:
    found = _run(context, method="noise", order="sorted", seed=1, **ASKED["noise"])
    described = {
        "request": {"data": "survey", "method": "noise", **ASKED["noise"]},
        "summary": found,
        "title": "noise",
    }
    (context.folder / "run.json").write_text(json.dumps(finite(described)))
    asked = {"data": "survey", "runs": [RUN], "attacks": ["none"], "utility": ["none"]}
    told = compare.ACTIVITY.run(compare.ACTIVITY.request_model(**asked), context)
    assert told["columns"] == ["income", "rent"] and told["gates"] == []
    # Noise of a fifth of a deviation: paired rightly, the values are near; by position nothing would be.
    assert 0 < told["releases"][0]["il1s"] < 0.2


@pytest.mark.xdist_group("web")
def test_perturb_over_rest(api: httpx.Client) -> None:
    sent = api.post("/api/data", files={"file": ("psurvey.csv", _survey().write_csv().encode())})
    assert finished(api, sent.json()["run"])["state"] == "done"
    methods = api.get("/api/methods/perturb").json()
    assert [one["name"] for one in methods] == list(METHODS)
    asked = {"data": "psurvey", "method": "pram"}
    wrong = (
        ({"columns": ["job"], "forbid": ["age=0..90,job=zqClerk"]}, "record"),
        ({"columns": ["job"], "forbid": ["job"]}, ""),
        ({"columns": ["job"], "by": ["job"]}, "'job'"),
        ({"columns": ["job"], "window": 5}, "'window' does nothing"),
        ({"columns": ["jobb"]}, "did you mean 'job'"),
        ({}, "'Columns to change'"),
    )
    answers = [api.post("/api/jobs/perturb", json=asked | given) for given, _ in wrong]
    request = asked | {"columns": ["job"], "change": 0.25, "by": ["region"]}
    view = finished(api, api.post("/api/jobs/perturb", json=request).json()["run"])
    assert view["state"] == "done", view
    released = pl.read_csv(io.BytesIO(api.get(f"/api/jobs/{view['run']}/files/release.csv").content))
    assert released.height == 300 and "person_id" not in released.columns
    matrices = api.get(f"/api/jobs/{view['run']}/files/published-matrices.json").json()
    assert {one["column"] for one in matrices["matrices"]} == {"job"}
    for answer, (given, words) in zip(answers, wrong, strict=True):
        kind, told = refused_with(api, answer)
        assert kind == "input" and words in told and "zq" not in told, (given, told)
    for given, words in (
        ({"method": "prom"}, "method 'prom'"),
        ({"change": 1}, "change"),
        ({"change": 0}, "change"),
        ({"window": 101}, "window"),
        ({"seed": -1}, "seed"),
        ({"matrix": "/etc/passwd"}, "matrix"),
        ({"secret": "/tmp/secret"}, "secret"),
        ({"options": {"sigma": 1}}, "option 'sigma'"),
    ):
        refused = api.post("/api/jobs/perturb", json=asked | {"columns": ["job"]} | given)
        assert refused.status_code == 422 and refused.json()["error"].startswith(words), refused.text
    api.delete("/api/data/psurvey")
