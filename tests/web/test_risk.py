"""The risk of a sample over REST and as its page draws it; what is required is told whether it holds or not."""

import json
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
from shoal.operations import OPERATIONS
from shoal.runtime.control import Control
from shoal.web.activities import anonymity, risk
from shoal.web.activities.anonymity import ROWS_SHOWN, crowds_name
from shoal.web.activities.gates import is_gate
from shoal.web.jobs.context import Context
from shoal.web.jobs.refused import Refused
from shoal.web.jobs.task import Task
from shoal.web.pages.risk.anonymity import present_anonymity
from shoal.web.pages.risk.listed import values_of
from shoal.web.pages.risk.sample_result import present_sample
from shoal.web.workspace import Workspace

RUN = "0123456789ab"
KEYS = ["age", "town", "sex"]


def _sample() -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "hid": [place // 3 for place in range(240)],
            "age": rng.integers(20, 60, 240),
            "town": [("zqBonn", "zqUlm", None)[place % 3] for place in range(240)],
            "sex": rng.choice(["zqF", "zqM"], 240),
            "illness": rng.choice(["zqFlu", "zqGout", "zqCold"], 240),
            "weight": rng.uniform(5, 40, 240).round(1),
        }
    )


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A worker's surroundings, without the process, with a sample and its population."""
    workspace = Workspace(tmp_path / "bench")
    folder = workspace.path("runs", RUN)
    folder.mkdir()
    control = Control.shared(folder)
    assert control.path is not None
    found = Context(Task(RUN, "risk", {}, workspace.folder, control.path, {}), lambda message: None)
    found.datasets.add(_sample(), "sample", "test")
    found.datasets.add(pl.concat([_sample()] * 3), "everybody", "test")
    yield found
    control.close()


def _risk(context: Context, **request: Any) -> dict[str, Any]:
    asked = {"data": "sample", "quasi": KEYS, "sample_weights": "weight", "household": "hid", **request}
    return risk.ACTIVITY.run(risk.ACTIVITY.request_model(**asked), context)


def _anonymity(context: Context, **request: Any) -> dict[str, Any]:
    asked = {"data": ["sample"], "quasi": KEYS, **request}
    return anonymity.ACTIVITY.run(anonymity.ACTIVITY.request_model(**asked), context)


def test_the_page_draws_what_the_function_measures(context: Context) -> None:
    found = _risk(context)
    direct = shoal.risk(_sample(), KEYS, sample_weights="weight", household="hid")
    assert found["expected_persons"] == pytest.approx(direct.expected_persons)
    assert found["expected_households"] == pytest.approx(direct.expected_households)
    risks = direct.records_at_risk.risk
    assert found["journalist"]["expected_matches"] == direct.journalist.expected_matches.value
    assert sum(count for _, _, count in found["spread"]) == len(risks)
    for low, high, count in found["spread"]:
        assert count >= 10
        assert count == int(((risks >= low) & (risks < high)).sum())
    assert [one["column"] for one in found["contributions"]] == KEYS
    assert [item["name"] for item in context.files] == ["risks.csv", "report.html"]
    # The figures hold no value of anybody: records are named by their number.
    assert "zq" not in json.dumps(found) and found["riskiest"][0]["record"] >= 1


def test_against_a_population_nothing_is_estimated(context: Context) -> None:
    found = _risk(context, sample_weights=None, household=None, population_file="everybody", null="wildcard")
    assert found["basis"] == "population" and found["loglinear"] == {}
    # Everybody is there three times, so nobody is unique.
    assert found["population_uniques"] == {"counted": 0.0} and found["households"] is None


def test_what_is_required_is_told_whether_it_holds_or_not(context: Context) -> None:
    loose = _risk(context, require_reidentifications=1e6, require_risk=1)
    assert [(one["gate"], one["passed"], one["words"]) for one in loose["gates"]] == [
        ("require_reidentifications", True, ""),
        ("require_risk", True, ""),
    ]
    assert loose["gates"][1]["measured"] == loose["worst_risk"] == 1.0
    context.files.clear()
    with pytest.raises(Refused, match="correct matches are expected") as told:
        _risk(context, require_reidentifications=1, require_risk=1)
    figures = told.value.figures
    # Each gate is judged alone: one that fails does not make the other red.
    assert [one["passed"] for one in figures["gates"]] == [False, True]
    assert figures["gates"][0]["measured"] == max(figures["estimates"].values())
    assert figures["expected_persons"] == loose["expected_persons"]
    # The report says why; a file of the risks is not made.
    assert [item["name"] for item in told.value.files] == ["report.html"]
    assert _risk(context)["gates"] == []


def test_models_are_gates_of_any_table(context: Context) -> None:
    held = _anonymity(
        context, quasi=["sex"], confidential=["illness"], models=["distinct(3)"], require_models=True
    )
    assert [one["passed"] for one in held["gates"]] == [True] and held["tables"][0]["models"][0]["holds"]
    with pytest.raises(Refused, match=r"K is 1.*distinct\(3\)") as told:
        _anonymity(
            context, confidential=["illness"], models=["distinct(3)"], require_models=True, require_k=2
        )
    assert [(one["gate"], one["passed"]) for one in told.value.figures["gates"]] == [
        ("require_models", False),
        ("require_k", False),
    ]
    assert "zq" not in json.dumps(told.value.figures)


def test_what_would_be_released_is_still_kept_back(context: Context) -> None:
    from shoal.web.activities import microaggregate

    asked = {"data": "sample", "k": 3, "columns": ["weight"], "quasi": KEYS, "require_k": 50}
    with pytest.raises(Refused, match="nothing was released") as told:
        microaggregate.ACTIVITY.run(microaggregate.ACTIVITY.request_model(**asked), context)
    # By how much it fails is told, by the figures and by the report; nothing else is there.
    assert told.value.figures["k_release"] < 50
    assert [item["name"] for item in told.value.files] == ["report.html"]
    assert sorted(path.name for path in context.folder.iterdir() if "control" not in path.name) == [
        "report.html"
    ]
    assert "nothing was released" in (context.folder / "report.html").read_text()


@pytest.mark.parametrize("name", ["anonymity", "risk", "compare"])
def test_every_gate_of_a_measurement_is_known_as_one(name: str) -> None:
    known = {item.name for item in OPERATIONS[name].fields("workbench") if is_gate(item)}
    said = {
        item.name for item in OPERATIONS[name].fields("workbench") if item.sentence.startswith("Exit with 3")
    }
    assert known == said != set()


@pytest.mark.parametrize("null", ["own", "wildcard"])
@pytest.mark.parametrize("unit", [None, "hid"])
def test_records_in_the_smallest_crowds_come_first(context: Context, null: str, unit: str | None) -> None:
    _anonymity(context, null=null, unit=unit)
    listed = pl.read_parquet(context.folder / crowds_name(0))
    rows = _sample().select(KEYS).rows()
    of_unit = _sample()[unit].to_list() if unit else list(range(len(rows)))

    def alike(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        loose = null == "wildcard"
        return all(a == b or (loose and None in (a, b)) for a, b in zip(one, other, strict=True))

    crowd = [
        len({who for other, who in zip(rows, of_unit, strict=True) if alike(row, other)}) for row in rows
    ]
    assert all(crowd[record - 1] == size for record, size in listed.rows())
    assert (
        listed["record"].n_unique() == ROWS_SHOWN and listed["crowd"].to_list() == sorted(crowd)[:ROWS_SHOWN]
    )


def test_numbers_that_are_none_are_missing(context: Context) -> None:
    frame = pl.DataFrame({"x": [1.0, float("nan"), None, float("nan")], "record": ["a", "b", "b", "b"]})
    context.datasets.add(frame, "gaps", "test")
    _anonymity(context, data=["gaps"], quasi=["x", "record"])
    assert pl.read_parquet(context.folder / crowds_name(0)).rows() == [(1, 1), (2, 3), (3, 3), (4, 3)]


@pytest.mark.parametrize(
    "asked",
    [
        {"require_risk": 1.0},
        {"special_uniques": True, "max_size": 2, "sample_weights": None},
        {"sample_weights": None, "household": None, "population_file": "everybody", "riskiest": 0},
    ],
)
def test_every_result_can_be_shown_without_a_value(context: Context, asked: dict[str, Any]) -> None:
    found = _risk(context, **asked)
    job = job_of("risk", RUN, {"data": "sample", **asked}, found)
    sent = drawn(lambda: present_sample(Bench(context), job))
    assert "zq" not in sent
    assert "For whom" in sent and "Without one of the keys" in sent
    assert ("The riskiest records" in sent) == (asked.get("riskiest") != 0)
    assert ("The most special records" in sent) == ("special_uniques" in asked)
    assert ("Passed. Largest risk allowed: 1; found: 1." in sent) == ("require_risk" in asked)
    if "special_uniques" in asked:
        scores = [one["score"] for one in found["most_special"]]
        assert (
            scores == sorted(scores, reverse=True) and scores[0] == found["special_uniques"]["largest_score"]
        )
        assert found["most_special"][0]["fewest_keys"] <= 2


def test_values_are_shown_of_the_records_that_were_measured_and_of_no_others(context: Context) -> None:
    found = _anonymity(context, confidential=["illness"], models=["distinct(2)"])
    request = {"data": ["sample"], "quasi": KEYS}
    job = job_of("anonymity", RUN, request, found)
    sent = drawn(lambda: present_anonymity(Bench(context), job))
    assert "zq" not in sent and "Records in the smallest crowds" in sent and "classes that fail" in sent

    (record, _), *_ = pl.read_parquet(context.folder / crowds_name(0)).rows()
    row = _sample().select(KEYS).row(record - 1)
    told = values_of(Bench(context), "sample", KEYS, [record, 1])
    assert told[0] == ["" if value is None else str(value) for value in row]
    # Other data that took the name since are not theirs.
    late = job_of("anonymity", RUN, request, found)
    late.submitted = context.datasets.path("sample").stat().st_mtime - 1
    sent = drawn(lambda: present_anonymity(Bench(context), late))
    assert "not in the workspace as they were measured" in sent


@pytest.mark.xdist_group("web")
def test_risk_over_rest(api: httpx.Client) -> None:
    sent = api.post("/api/data", files={"file": ("ksample.csv", _sample().write_csv().encode())})
    assert finished(api, sent.json()["run"])["state"] == "done"
    asked = {"data": "ksample", "quasi": KEYS, "sample_weights": "weight"}
    wrong = ({"sample_weights": "illness"}, {"quasi": ["agee"]}, {"population": 1, "sample_weights": None})
    answers = [api.post("/api/jobs/risk", json=asked | given) for given in wrong]
    view = finished(api, api.post("/api/jobs/risk", json={**asked, "require_risk": 0.5}).json()["run"])
    # A program sees that it failed, and the figures that say by how much.
    assert (view["state"], view["error"]) == ("failed", "infeasible")
    assert (
        "the largest risk may be 1" in view["message"]
        and "'Those who responded: are known to nobody'" in view["message"]
    )
    found = api.get(f"/api/jobs/{view['run']}/result").json()
    assert found["gates"][0]["passed"] is False and found["records"] == 240
    assert api.get(f"/api/jobs/{view['run']}/files/report.html").status_code == 200
    assert api.get(f"/api/jobs/{view['run']}/files/risks.csv").status_code == 404
    for answer in answers:
        kind, words = refused_with(api, answer)
        assert kind == "input" and words and "zq" not in words
    for given, words in (
        ({"quasi": []}, "quasi"),
        ({"require_risk": 2}, "require_risk"),
        ({"null": "any"}, "null"),
        ({"riskiest": -1}, "riskiest"),
        ({"show_values": True}, "show_values"),
    ):
        refused = api.post("/api/jobs/risk", json=asked | given)
        assert refused.status_code == 422 and refused.json()["error"].startswith(words), refused.text
    api.delete("/api/data/ksample")
