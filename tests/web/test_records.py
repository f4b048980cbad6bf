"""Protecting records: what the roles of the data decide when a request does not."""

import hashlib
import json
import stat
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.microdata.microaggregation.definitions import DEFINITIONS
from shoal.report.definitions import in_words
from shoal.runtime.control import Control
from shoal.sources.fingerprint import records_fingerprint
from shoal.web.activities import compare, microaggregate
from shoal.web.jobs.context import Context
from shoal.web.jobs.task import Task
from shoal.web.pages.records import k_facts
from shoal.web.workspace import Workspace

RUN = "0123456789ab"


@pytest.fixture
def sent() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def context(tmp_path: Path, sent: list[dict[str, Any]]) -> Iterator[Context]:
    """A worker's surroundings, without the process, with one set of records."""
    workspace = Workspace(tmp_path / "bench")
    folder = workspace.path("runs", RUN)
    folder.mkdir()
    control = Control.shared(folder)
    assert control.path is not None
    found = Context(Task(RUN, "microaggregate", {}, workspace.folder, control.path, {}), sent.append)
    found.datasets.add(_town(), "town", "test")
    yield found
    control.close()


def _town() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "person_id": range(40),
            "zip": ["a"] * 20 + ["b"] * 19 + ["c"],
            "sex": ["man", "woman"] * 20,
            "income": [float(n * n % 97) for n in range(40)],
        }
    )


def _run(context: Context, **request: Any) -> dict[str, Any]:
    asked = {"data": "town", "k": 4, "columns": ["income"], **request}
    activity = microaggregate.ACTIVITY
    return activity.run(activity.request_model(**asked), context)


def test_roles_decide_what_k_is_counted_over_and_what_is_removed(context: Context) -> None:
    found = _run(context)
    released = pl.read_parquet(context.folder / "release.parquet")
    assert released.columns == ["zip", "sex", "income"]
    assert found["dropped"] == ["person_id"]
    assert found["quasi"] == ["income", "zip", "sex"] and found["quasi_guessed"]
    assert found["k_release"] == shoal.anonymity(released, ["income", "zip", "sex"]).k == 1
    assert found["k_protected"] == shoal.anonymity(released, ["income"]).k >= 4
    (name, value, tone), (alone, protected, fine) = k_facts(found)
    assert name.endswith("over income, zip, sex, all that could be known")
    assert (value, tone) == (1, "bad")
    assert alone == "K over the protected columns alone" and (protected, fine) == (
        found["k_protected"],
        "good",
    )


def test_a_role_declared_later_counts(context: Context) -> None:
    context.datasets.set_roles("town", {"zip": "identifier"})
    found = _run(context)
    assert found["dropped"] == ["person_id", "zip"]
    assert found["quasi"] == ["income", "sex"]
    context.datasets.set_roles("town", {"sex": "confidential"})
    assert k_facts(_run(context))[0][2] == "good"


def test_a_request_can_keep_identifiers_and_count_otherwise(context: Context) -> None:
    found = _run(context, drop=[], quasi=[])
    released = pl.read_parquet(context.folder / "release.parquet")
    assert released["person_id"].to_list() == list(range(40))
    assert found["quasi"] == ["income"] and not found["quasi_guessed"]
    assert found["k_release"] == found["k_protected"] >= 4
    kept = _run(context, drop=[])
    assert kept["quasi"] == ["income", "person_id", "zip", "sex"] and kept["k_release"] == 1
    assert "'person_id' is released as it is and looks like an identifier" in kept["warnings"][0]
    assert _run(context, columns=["income", "person_id"])["dropped"] == []
    assert _run(context, unit="sex", k=2)["quasi"] == ["income", "zip"]
    with pytest.raises(shoal.InputError, match="only 2 distinct values of 'sex', fewer than k = 4"):
        _run(context, unit="sex")


def test_texts_get_the_order_that_is_stated(context: Context) -> None:
    asked: dict[str, Any] = {"columns": None, "drop": ["person_id"], "k": 40}
    with pytest.raises(shoal.InputError, match="'zip' holds texts, and nothing says their order"):
        _run(context, **asked, ordinal=["zip"])
    # Of 20 "a", 19 "b" and 1 "c" the middle is "b" once "b" comes first.
    _run(context, **asked, ordinal={"zip": ["c", "b", "a"], "income": None})
    released = pl.read_parquet(context.folder / "release.parquet")
    assert set(released["zip"]) == {"b"}


def test_a_sorted_release_is_compared_by_the_links_of_its_run(context: Context) -> None:
    risks = []
    for order in ("keep", "sorted"):
        summary = _run(context, order=order)
        told = {
            "request": {"data": "town", "order": order, "method": "auto", "k": 4},
            "title": order,
            "summary": summary,
        }
        (context.folder / "run.json").write_text(json.dumps(told))
        found = compare.run(compare.Compare(data="town", runs=[RUN]), context)
        risks.append(found["releases"][0]["dld"])
        links = context.folder / microaggregate.RECORD_LINKS
        assert stat.S_IMODE(links.stat().st_mode) == 0o600
        assert links.name not in [file["name"] for file in context.files], "nobody downloads it"
    assert risks[0] == pytest.approx(risks[1]) and risks[0] > 5
    links.unlink()
    with pytest.raises(shoal.InputError, match="no record links"):
        compare.run(compare.Compare(data="town", runs=[RUN]), context)


def test_several_strata_make_no_curve_but_go_forward(context: Context, sent: list[dict[str, Any]]) -> None:
    context.datasets.set_roles("town", {"zip": "other"})
    _run(context, k=3, by=["sex"], method="ils", iterations=400)
    glimpses = [message for message in sent if message["what"] == "progress"]
    assert glimpses
    assert all(message["value"] is message["bound"] is None for message in glimpses)
    for key in ("work", "seconds"):
        assert [message[key] for message in glimpses] == sorted(message[key] for message in glimpses)
    sent.clear()
    _run(context, k=3, method="ils", iterations=400)
    assert any(message.get("value") is not None for message in sent)


def test_the_groups_of_the_records_say_that_they_are_internal(context: Context) -> None:
    _run(context)
    labels = context.folder / "labels.csv"
    assert stat.S_IMODE(labels.stat().st_mode) == 0o600
    *groups, said = labels.read_text().splitlines()
    assert len(groups) == 40
    assert said == "# internal: not for publication"


def test_the_report_of_a_run_names_its_data_and_the_run(context: Context) -> None:
    found = _run(context)
    html = (context.folder / "report.html").read_text(encoding="utf-8")
    assert stat.S_IMODE((context.folder / "report.html").stat().st_mode) == 0o600
    assert RUN in html and "data of the workspace, from test" in html
    assert records_fingerprint(_town()) in html
    assert "40" in html and ", ".join(_town().columns) in html
    release = hashlib.sha256((context.folder / "release.csv").read_bytes()).hexdigest()
    assert release in html
    for key in ("loss_percent", "maximum_risk", "k_protected"):
        name, value = in_words(DEFINITIONS, found, (key,))[0]
        assert f"<dt>{name}</dt><dd>{value}</dd>" in html
    for field in microaggregate.OPERATION.fields("workbench"):
        assert field.name == "options" or escape(field.label) in html
