"""Recoding over REST, and what its page does before a run: hierarchies looked at and edited, choices made into requests."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.web.serving import finished

import shoal
from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.as_hierarchy import from_frame
from shoal.microdata.columns.hierarchies.files import parse_hierarchy
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.web.datasets import Datasets
from shoal.web.pages.recode.choices import request_of
from shoal.web.pages.recode.hierarchies import hierarchy_of
from shoal.web.pages.recode.labels import Labels
from shoal.web.workspace import Workspace

KEYS = ["age", "town", "sex"]
TOWNS = [
    ("bonn", "rhine", "west"),
    ("köln", "rhine", "west"),
    ("ulm", "danube", "south"),
    ("graz", "mur", "south"),
]


def _people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "person_id": range(3000, 3120),
            # Most have one of a few ages, some a rare one.
            "age": [20 + place % 50 if place % 11 == 0 else (31, 38, 44)[place % 3] for place in range(120)],
            "town": [TOWNS[(place // 5) % 4][0] for place in range(120)],
            "sex": ["f" if place % 3 else "m" for place in range(120)],
            "diagnosis": [f"d{(place * 5) % 4}" for place in range(120)],
        }
    )


@pytest.fixture
def town(api: httpx.Client) -> Iterator[str]:
    """The people in the workspace of the server, with a table of labels."""
    labels = "\n".join(";".join(row) for row in [("town", "river", "side"), *TOWNS])
    for name, text in (("rpeople", _people().write_csv()), ("rtowns", labels)):
        sent = api.post("/api/data", files={"file": (f"{name}.csv", text.encode())})
        assert finished(api, sent.json()["run"])["state"] == "done"
    yield "rpeople"
    for name in ("rpeople", "rtowns"):
        api.delete(f"/api/data/{name}")


def _submit(api: httpx.Client, **request: Any) -> str:
    sent = api.post("/api/jobs/recode", json={"data": "rpeople", "quasi": KEYS, "k": 4, **request})
    assert sent.status_code == 202, sent.text
    run: str = sent.json()["run"]
    return run


def _run(api: httpx.Client, **request: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    view = finished(api, _submit(api, **request))
    return view, api.get(f"/api/jobs/{view['run']}/result").json()


@pytest.mark.xdist_group("web")
def test_recode_explain_and_take_a_point_of_the_front(api: httpx.Client, town: str) -> None:
    asked: dict[str, Any] = {
        "data": town,
        "quasi": KEYS,
        "k": 4,
        "hierarchies": {"age": "intervals(5,10,20)", "town": "rtowns"},
        "method": "lattice",
        "explain": True,
        "suppress": 0.0,
    }
    view, found = _run(api, **asked)
    assert view["state"] == "done"
    direct = shoal.recode(
        _people(),
        KEYS,
        4,
        method="lattice",
        hierarchies={"age": "intervals(5,10,20)", "town": TOWNS},
        drop=["person_id"],
    )
    assert found["loss"] == pytest.approx(direct.loss) and found["optimal"]
    assert [key["column"] for key in found["keys"]] == KEYS
    assert found["keys"][1]["labels"] == [4, 3, 2, 1]
    assert {key["column"]: key["level"] for key in found["keys"]} == found["levels"] == dict(direct.levels)
    assert (found["people"], found["limit"], found["dropped"]) == (120, 0, ["person_id"])
    files = {item["name"] for item in view["files"]}
    assert files == {"report.html", "release.csv", "release.parquet", "release.xlsx", "mapping.json"}
    released = pl.read_csv(api.get(f"/api/jobs/{view['run']}/files/release.csv").content)
    assert "person_id" not in released.columns and shoal.anonymity(released, KEYS).k >= 4
    assert "internal" in next(item["title"] for item in view["files"] if item["name"] == "mapping.json")
    # The figures and what is drawn from them hold no label.
    assert not any(label in json.dumps(found, ensure_ascii=False) for row in TOWNS for label in row[:2])
    point = found["front"][-1]
    assert point["people_left_out"] > 0
    again, taken = _run(api, **request_of(asked, found, point))
    assert again["state"] == "done", again
    assert list(taken["levels"].values()) == point["levels"]
    assert taken["suppressed_people"] == point["people_left_out"]
    assert taken["loss"] == pytest.approx(point["loss"])
    # One can go on from there.
    assert taken["neighbours"] and taken["front"] == found["front"]


@pytest.mark.xdist_group("web")
def test_models_strata_and_what_is_wrong(api: httpx.Client, town: str) -> None:
    wrong = (
        ({"models": ["distinct(2)"]}, "input", "confidential"),
        ({"hierarchies": {"town": "rpeople"}}, "input", "column 'town': its hierarchy"),
        ({"levels": {"age": 0}, "method": "lattice"}, "infeasible", ""),
    )
    # All are submitted before the first is waited for: each runs in a process of its own.
    runs = [_submit(api, **request) for request, _, _ in wrong]
    view, found = _run(api, models=["distinct(2)"], confidential=["diagnosis"], suppress=0.1)
    assert view["state"] == "done"
    assert found["models"][0]["column"] == "diagnosis" and found["models"][0]["worst"] >= 2
    assert found["homogeneous"][0]["classes"] == 0
    view, found = _run(api, by=["sex"], quasi=["age", "town"], suppress=0.1)
    assert view["state"] == "done" and "mapping.json" not in str(view["files"])
    for run, (_, kind, words) in zip(runs, wrong, strict=True):
        view = finished(api, run)
        assert (view["state"], view["error"]) == ("failed", kind) and words in view["message"], view
    for request, words in (
        ({"quasi": []}, "quasi"),
        ({"k": 0}, "k"),
        ({"suppress": 2}, "suppress"),
        ({"apply": "mapping.json"}, "apply"),
        ({"quasi": ["agee"]}, "'quasi': column 'agee' is not in 'rpeople'; did you mean 'age'?"),
    ):
        refused = api.post("/api/jobs/recode", json={"data": town, "quasi": KEYS, **request})
        assert refused.status_code == 422 and refused.json()["error"].startswith(words)
    missing = api.post("/api/jobs/recode", json={"data": town, "quasi": KEYS, "population": "nowhere"})
    assert missing.status_code == 404


@pytest.fixture
def shelf(tmp_path: Any) -> Datasets:
    found = Datasets(Workspace(tmp_path / "bench"))
    found.add(_people(), "rpeople", "test")
    return found


def test_the_page_looks_at_what_a_run_would_have(shelf: Datasets) -> None:
    direct = shoal.recode(_people(), KEYS, 4, roles=dict(shelf["rpeople"].roles))
    for item in direct.proposals:
        looked = hierarchy_of(shelf, "rpeople", item.column, None, {})
        assert (looked.rule, looked.reason, looked.sizes) == (item.rule, item.reason, item.sizes)
    ordered = hierarchy_of(shelf, "rpeople", "town", None, {"town": ["graz", "ulm", "bonn", "köln"]})
    assert ordered.hierarchy.labels[0] == ("graz", "ulm", "bonn", "köln")
    short = shelf.add(pl.DataFrame(TOWNS[:2], orient="row"), "short", "test")
    with pytest.raises(InputError, match="not in the hierarchy of column 'town'"):
        hierarchy_of(shelf, "rpeople", "town", short.name, {})


def test_edited_labels_are_data_that_a_request_can_name(shelf: Datasets) -> None:
    drafted = Labels.of(hierarchy_of(shelf, "rpeople", "town", None, {}).hierarchy)
    assert drafted.height == 1
    edited = drafted.with_level(0)
    for place, row in enumerate(TOWNS):
        here = [value for value, *_ in edited.rows].index(row[0])
        edited = edited.moved(here, 1, row[1]) if place != 1 else edited.moved(here, 1, "rhine")
    assert edited.sizes == (4, 3, 1)
    kept = shelf.add(edited.frame(), "rpeople-town-labels", "edited")
    found = hierarchy_of(shelf, "rpeople", "town", kept.name, {})
    assert found.hierarchy.rows == Hierarchy(edited.rows).rows
    assert parse_hierarchy(edited.text(), "text").rows == found.hierarchy.rows


_NAMES = st.sampled_from(["a", "b", "c", "*", "1", ' x";y', "level 2"])


@given(
    st.lists(st.tuples(_NAMES, _NAMES), min_size=1, max_size=8),
    st.lists(
        st.tuples(
            st.sampled_from(["renamed", "moved", "more", "less"]),
            st.integers(0, 7),
            st.integers(0, 4),
            _NAMES,
        ),
        max_size=8,
    ),
)
def test_no_edit_makes_a_table_that_is_no_hierarchy(
    rows: list[tuple[str, str]], edits: list[tuple[str, int, int, str]]
) -> None:
    parents: dict[str, str] = {}
    labels = Labels.of(
        Hierarchy(
            [(str(place), low, parents.setdefault(low, high)) for place, (low, high) in enumerate(rows)]
        )
    )
    for what, row, level, text in edits:
        before, row = labels, row % len(rows)
        try:
            if what == "more":
                labels = labels.with_level(level)
                assert labels.height == before.height + 1
            elif what == "less":
                labels = labels.without_level(level)
                assert labels.height == before.height - 1
            else:
                value = labels.rows[row][0]
                labels = getattr(labels, what)(row, level, text)
                assert {line[0]: line for line in labels.rows}[value][level] == text.strip()
        except InputError as problem:
            assert "no level" in str(problem) and not 0 < level < labels.height
        assert Hierarchy(labels.rows).rows == labels.rows
        assert {line[0] for line in labels.rows} == {str(place) for place in range(len(rows))}
        for level_, size in enumerate(labels.sizes):
            assert len(labels.runs(level_)) == size
    if labels.rows[0][-1] != f"level {labels.height}":
        assert from_frame(labels.frame()).rows == labels.rows


def test_a_label_must_be_something() -> None:
    with pytest.raises(InputError, match="no values"):
        Labels.of(Hierarchy([(None, "*")]))
    labels = Labels((("31", "30-39", "*"),))
    with pytest.raises(InputError, match="row 1 needs a label at level 1"):
        labels.renamed(0, 1, "  ")
    for level in (0, 2, 9):
        with pytest.raises(InputError, match="no level"):
            labels.renamed(0, level, "x")


def test_a_recoding_is_compared_by_the_links_of_its_run(api: httpx.Client, town: str) -> None:
    view, _ = _run(api, drop=["person_id"])
    sent = api.post("/api/jobs/compare", json={"data": town, "runs": [view["run"]]})
    assert sent.status_code == 202, sent.text
    compared = finished(api, sent.json()["run"])
    assert compared["state"] == "done", compared
    release = api.get(f"/api/jobs/{compared['run']}/result").json()["releases"][0]
    assert release["columns"] == KEYS and release["pairing"] == "record-links"
    assert release["il"] is None and release["k_compared"] >= 4
    assert "mixed-linkage" in [attack["name"] for attack in release["attacks"]]
