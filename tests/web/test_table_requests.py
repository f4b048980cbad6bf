"""Tables as the workbench is asked about them: the same problems as the public functions pose, drawn from every side."""

import itertools
import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.web.serving import finished

import shoal
from shoal.errors import InputError
from shoal.runtime import Budget
from shoal.runtime.control import Control
from shoal.tables.files import jj
from shoal.tables.files.loading import contributions_frame
from shoal.tables.files.publishing import pattern_frame
from shoal.tables.methods import fitting
from shoal.tables.operations.audit import run as audit
from shoal.tables.operations.by_hand import TableByHand
from shoal.tables.operations.suppress import run as suppress
from shoal.tables.problem import Problem
from shoal.tables.settings import AuditSettings, SuppressSettings, TableSettings
from shoal.tables.table_to_protect import TableToProtect, table_to_protect
from shoal.web.activities.drawing import drawing
from shoal.web.activities.table_files import read as read_table_file
from shoal.web.activities.verdict import verdict
from shoal.web.datasets import Datasets
from shoal.web.jobs import auditor
from shoal.web.jobs.worker import finite
from shoal.web.jobs.workplace import WorkspaceData
from shoal.web.pages.tables.drawn import Drawn
from shoal.web.pages.tables.page import pattern_facts
from shoal.web.pages.tables.verdict import in_words
from shoal.web.workspace import Workspace

TREE = {"north": "land", "south": "land", "isles": "sea", "land": "", "sea": ""}
MATRIX = pl.DataFrame(
    {"row": list("nesw"), "a": [10, 40, 70, 20], "b": [20, 50, 80, 45], "c": [30, 60, 90, 15]}
)


def _firms() -> pl.DataFrame:
    random = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "firm": np.arange(160),
            "owner": np.arange(160) // 2,
            "region": random.choice(["north", "south", "isles"], 160, p=[0.5, 0.4, 0.1]),
            "sector": random.choice(["food", "metal", "trade"], 160),
            "size": random.choice(["small", "large"], 160, p=[0.8, 0.2]),
            "turnover": np.round(np.exp(random.normal(4, 1, 160)), 1),
            "weight": random.integers(1, 4, 160),
        }
    )


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Datasets:
    found = Datasets(Workspace(tmp_path_factory.mktemp("tables") / "workspace"))
    found.add(_firms(), "firms", "test")
    found.add(pl.DataFrame({"code": list(TREE), "parent": list(TREE.values())}), "tree", "test")
    found.add(MATRIX, "matrix", "test")
    found.add(
        pl.DataFrame({"row": ["e"], "column": ["b"], "lower": [9.0], "upper": [12.0]}), "secret", "test"
    )
    return found


def _three(**more: Any) -> dict[str, Any]:
    return {
        "data": "firms",
        "dimensions": ["region", "sector", "size"],
        "value": "turnover",
        "contributor": "firm",
        "hierarchy": {"region": "tree"},
        "rules": ["frequency(3)", "dominance(1,75)"],
        **more,
    }


def _asked(datasets: Datasets, **settings: Any) -> tuple[TableToProtect, Problem]:
    """The table that is asked for, and what has to be protected in it."""
    asked = TableSettings(**settings)
    table = table_to_protect(asked, WorkspaceData(datasets))
    return table, table.problem(asked)


def _by_hand(datasets: Datasets, asked: TableSettings) -> TableByHand:
    return TableByHand(asked, WorkspaceData(datasets))


def test_records_are_tabulated_as_the_function_does(datasets: Datasets) -> None:
    apriori = pl.DataFrame({"region": ["north"], "sector": ["food"], "size": ["total"], "status": ["z"]})
    datasets.add(apriori, "apriori", "test")
    _, problem = _asked(datasets, **_three(holding="owner", weight="weight", apriori="apriori"))
    direct = shoal.tabulate(
        _firms(),
        ["region", "sector", "size"],
        value="turnover",
        contributor="firm",
        holding="owner",
        weight="weight",
        hierarchies={"region": TREE},
        rules=["frequency(3)", "dominance(1,75)"],
        apriori=apriori,
    )
    assert problem.table.values.tolist() == direct.table.values.tolist()
    assert problem.sensitive.tolist() == direct.sensitive.tolist()
    assert not problem.candidates[direct.table.find("north", "food", "total")]
    assert problem.insiders  # on by default, since contributors are known
    assert not _asked(datasets, **_three(insiders=False))[1].insiders


def test_linked_tables_are_one_system(datasets: Datasets) -> None:
    request = {**_three(), "dimensions": ["region", "sector"], "linked": [["region", "size"]]}
    whole, problem = _asked(datasets, **request)
    table = problem.table
    # 6 regions with totals by 4 sectors and by 3 sizes; the totals of the regions are common.
    assert table.cells == 6 * 4 + 6 * 3 - 6
    drawn = Drawn(**drawing(problem, problem.is_sensitive, whole.trees))
    assert sorted(cell for cell in drawn.cells if cell >= 0) == list(range(table.cells))
    view = drawn.slice(0, 2, {1: drawn.dimensions[1]["codes"].index("food")})
    assert view.columns == ["large", "small", "total"]
    assert (view.cells[:, :2] == -1).all()
    assert (view.cells[:, 2] >= 0).all()
    with pytest.raises(InputError, match="hierarchy of 'region', but no such dimension"):
        _asked(datasets, **{**request, "dimensions": ["sector"], "linked": []})


def test_a_list_of_cells_is_the_table_it_was_made_of(datasets: Datasets) -> None:
    made, first = _asked(datasets, **_three())
    assert made.tabulation is not None
    datasets.add(made.tabulation.frame, "cells", "test")
    datasets.add(contributions_frame(made.tabulation), "shares", "test")
    listed = {
        "data": "cells",
        "hierarchy": {"region": "tree"},
        "rules": ["frequency(3)", "dominance(1,75)"],
        "contributions": "shares",
    }
    table, again = _asked(datasets, **listed, source="cells")
    assert not table.warnings
    for name in ("sensitive", "lower", "upper", "cost", "candidates"):
        assert getattr(again, name).tolist() == pytest.approx(getattr(first, name).tolist())
    assert len(again.insiders) == len(first.insiders)
    # It looks like one, and without its contributors nobody protects against them.
    unknown, less = _asked(datasets, **{**listed, "contributions": None})
    assert not less.insiders
    assert "contributors are unknown" in unknown.warnings[0]


def test_a_matrix_takes_marked_and_listed_cells(datasets: Datasets) -> None:
    both = {"sensitive": [["n", "a"], ["e", "b"]], "sensitive_data": "secret"}
    _, problem = _asked(datasets, data="matrix", source="matrix", **both)
    names = {
        tuple(problem.table.key(int(cell)).values()): place for place, cell in enumerate(problem.sensitive)
    }
    assert set(names) == {("e", "b"), ("n", "a")}
    # The list's own levels win over the share of the value.
    assert problem.lower[names["e", "b"]] == 9.0
    assert problem.upper[names["e", "b"]] == 12.0
    assert problem.lower[names["n", "a"]] == 1.0
    with pytest.raises(InputError, match="named by row, column"):
        _asked(datasets, data="matrix", source="matrix", sensitive=[["n"]])
    with pytest.raises(InputError, match="sensitive"):
        _asked(datasets, data="matrix")


def test_last_periods_pattern_costs_a_tenth_and_what_is_gone_is_counted(datasets: Datasets) -> None:
    asked = SuppressSettings(data="matrix", source="matrix", sensitive=[["e", "b"]])
    plain = _by_hand(datasets, asked).problem
    found = shoal.suppress(plain)
    earlier = pattern_frame(plain, found.complementary)
    gone = pl.DataFrame({"row": ["x"], "column": ["a"], "kind": ["complementary"]})
    datasets.add(pl.concat([earlier, gone]), "earlier", "test")
    asked = asked.model_copy(update={"previous": "earlier"})
    again = _by_hand(datasets, asked).problem
    assert again.cost[found.complementary] == pytest.approx(0.1 * plain.cost[found.complementary])
    assert shoal.suppress(again).complementary.tolist() == found.complementary.tolist()
    assert suppress(asked, WorkspaceData(datasets)).notes == (
        "1 cell of the previous pattern is not in this table",
    )


def test_a_pattern_brings_its_sensitive_cells_to_an_audit(datasets: Datasets) -> None:
    _, problem = _asked(datasets, data="matrix", source="matrix", sensitive=[["s", "c"]])
    found = shoal.suppress(problem)
    datasets.add(pattern_frame(problem, found.complementary), "pattern", "test")
    asked = AuditSettings(data="matrix", source="matrix", pattern="pattern")
    audited = audit(asked, WorkspaceData(datasets)).outcome
    assert audited.safe
    assert audited.problem.sensitive.tolist() == problem.sensitive.tolist()
    assert _by_hand(datasets, asked).problem.sensitive.tolist() == problem.sensitive.tolist()


def test_jj_files_come_and_go_whole(datasets: Datasets, tmp_path: Path) -> None:
    _, problem = _asked(datasets, data="matrix", source="matrix", sensitive=[["e", "b"]])
    found = shoal.suppress(problem)
    (tmp_path / "general.jj").write_text(jj.write(problem, found.complementary))
    frame, notes, text = read_table_file(tmp_path / "general.jj", "general.jj")
    assert "1 of them sensitive" in notes[0]
    assert frame["status"].to_list().count("m") == found.complementary.size
    assert text is not None
    name = datasets.add(frame, "general", "test").name
    datasets.attach(name, *text)
    audited = audit(AuditSettings(data=name, source="jj"), WorkspaceData(datasets))
    hidden = audited.table.hidden
    assert hidden is not None
    assert hidden.tolist() == sorted([*found.complementary.tolist(), *problem.sensitive.tolist()])
    assert audited.outcome.safe
    general = audited.outcome.problem
    drawn = Drawn(**drawing(general, general.hidden_mask(hidden), {}))
    around = drawn.around(drawn.sensitive[0])
    for row in around.cells:
        members = {int(cell) for cell in row if cell >= 0}
        assert members in [set(relation) for relation in drawn.relations]
        assert drawn.sensitive[0] in members
    datasets.remove(name)
    assert not (datasets._workspace.shelf("data") / f"{name}.jj").exists()


def test_methods_that_need_a_plain_table_are_offered_for_one_only(datasets: Datasets) -> None:
    _, plain = _asked(datasets, data="matrix", source="matrix", sensitive=[["e", "b"]])
    assert "heurgene" in fitting(plain)
    general = fitting(_asked(datasets, **_three())[1])
    assert "heurgene" not in general
    assert "shortest-path" not in general
    assert {"auto", "exact", "general"} <= set(general)


@given(pick=st.tuples(st.permutations(range(3)), st.integers(0, 5), st.booleans()))
@settings(max_examples=25, deadline=None)
def test_every_side_shows_the_cells_that_are_there(
    datasets: Datasets, pick: tuple[list[int], int, bool]
) -> None:
    """Against the slow, obvious way: name the cell by its coordinates."""
    (rows, columns, other), code, only = pick
    whole, problem = _asked(datasets, **_three())
    table = problem.table
    drawn = Drawn(**json.loads(json.dumps(drawing(problem, problem.is_sensitive, whole.trees))))
    codes = drawn.dimensions[other]["codes"]
    at = code % len(codes)
    view = drawn.slice(rows, columns, {other: at}, only_hidden=only)
    names = [item["name"] for item in drawn.dimensions]
    for (i, row), (j, column) in itertools.product(enumerate(view.rows), enumerate(view.columns)):
        key = {names[rows]: row, names[columns]: column, names[other]: codes[at]}
        cell = table.find(*[key[name] for name in table.dimensions])
        assert view.cells[i, j] == cell
        assert drawn.key(cell) == [key[name] for name in table.dimensions]
    if only:
        away = np.isin(view.cells, drawn.hidden)
        assert away.any(axis=1).all()
        assert away.any(axis=0).all()
    else:
        assert view.all_rows == len(drawn.dimensions[rows]["codes"])


def test_hidden_cells_are_counted_by_code(datasets: Datasets) -> None:
    whole, problem = _asked(datasets, **_three())
    table = problem.table
    drawn = Drawn(**drawing(problem, problem.is_sensitive, whole.trees))
    for place, item in enumerate(drawn.dimensions):
        keys = [str(table.keys[item["name"]][cell]) for cell in problem.sensitive]
        assert drawn.hidden_by_code(place) == [keys.count(code) for code in item["codes"]]
        assert drawn.hidden_by_code(place, ("c",)) == [0] * len(item["codes"])


def test_subtotals_follow_their_parts(datasets: Datasets) -> None:
    whole, problem = _asked(datasets, **_three())
    region = drawing(problem, problem.is_sensitive, whole.trees)["dimensions"][0]
    assert list(zip(region["codes"], region["depth"], strict=True)) == [
        ("north", 2),
        ("south", 2),
        ("land", 1),
        ("isles", 2),
        ("sea", 1),
        ("total", 0),
    ]


@pytest.mark.parametrize("small", [10**9, 0])
def test_hand_made_patterns_are_judged_alike_here_and_apart(
    datasets: Datasets, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(auditor, "SMALL", small)
    asked = SuppressSettings(data="matrix", source="matrix", sensitive=[["e", "b"]])
    table = _by_hand(datasets, asked)
    problem = table.problem
    found = shoal.suppress(problem)
    auditing = auditor.Auditor(
        datasets._workspace, "suppress", asked.model_dump(mode="json"), problem.table.cells
    )
    try:
        hidden = np.flatnonzero(problem.hidden_mask(found.complementary)).tolist()
        said = auditing.ask(hidden)
        assert said["safe"]
        assert said == finite(verdict(table.judge(hidden)))
        bare = auditing.ask(problem.sensitive.tolist())
        assert not bare["safe"]
        assert bare["failing_cells"] == problem.sensitive.tolist()
    finally:
        auditing.close()


def _send(api: httpx.Client, name: str, content: bytes) -> str:
    run = api.post("/api/data", files={"file": (name, content)}).json()["run"]
    assert finished(api, run)["state"] == "done"
    found: str = api.get(f"/api/jobs/{run}/result").json()["data"]
    return found


def _result(api: httpx.Client, kind: str, request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    sent = api.post(f"/api/jobs/{kind}", json=request)
    assert sent.status_code == 202, sent.text
    run = sent.json()["run"]
    view = finished(api, run)
    assert view["state"] == "done", view
    return run, api.get(f"/api/jobs/{run}/result").json()


@pytest.mark.xdist_group("web")
def test_apriori_files_and_tables_beside_are_taken(api: httpx.Client) -> None:
    """A .hst file is uploaded whole, and an audit takes what is published beside a table, with areas that nest."""
    data = _send(api, "trade.csv", _firms().write_csv().encode())
    codes = _firms()
    region, sector = str(codes["region"][0]), str(codes["sector"][0])
    known = _send(api, "known.hst", f'"{region}";"{sector}";u\n"";"{sector}";p\n'.encode())
    asked = {"data": data, "dimensions": ["region", "sector"], "value": "turnover", "rules": ["frequency(1)"]}
    assert _result(api, "tabulate", asked)[1]["sensitive"] == 0
    assert _result(api, "tabulate", {**asked, "apriori": known})[1]["sensitive"] == 1
    wrong = _send(api, "wrong.hst", b"a;u\n")
    sent = api.post("/api/jobs/tabulate", json={**asked, "apriori": wrong})
    view = finished(api, sent.json()["run"])
    assert view["state"] == "failed" and "line 1: 2 codes (region, sector)" in view["message"]
    districts = _send(api, "district.csv", b"district,value\nd1,15\nd2,15\nd3,7\ntotal,37\n")
    squares = _send(api, "grid.csv", b"grid,value\ng1,9\ng2,11\ng3,8\ng4,9\ntotal,37\n")
    nested = _send(api, "map.csv", b"grid,district\ng1,d1\ng2,d1\ng2,d2\ng3,d2\ng4,d2\ng4,d3\n")
    _, alone = _result(api, "audit", {"data": districts, "beside": [squares]})
    assert alone["safe"]
    _, both = _result(
        api, "audit", {"data": districts, "beside": [squares], "nested": [nested], "difference": 3}
    )
    assert not both["safe"] and len(both["together"][0]["small_unions"]) == 1
    assert in_words(both) == "Not safe. Tables beside it that give something away with this one: 1."


@pytest.mark.xdist_group("web")
def test_the_way_of_a_table_over_the_api(api: httpx.Client) -> None:
    """Tabulate, suppress from records and from the list of cells, and audit the jj file that was written."""
    data = _send(api, "trade.csv", _firms().write_csv().encode())
    tree = _send(api, "zones.hrc", b"land\n@north\n@south\nsea\n@isles\n")
    records = _three(data=data, hierarchy={"region": tree})
    made, counted = _result(api, "tabulate", records)
    names = [item["name"] for item in api.get(f"/api/jobs/{made}").json()["files"]]
    assert names == ["cells.csv", "cells.structure.json", "cells.contributions.csv", "report.html"]
    run, found = _result(api, "suppress", {**records, "method": "general"})
    assert found["safe"]
    assert found["primary"] == counted["sensitive"]
    cells = _send(api, "list.csv", api.get(f"/api/jobs/{made}/files/cells.csv").content)
    shares = _send(api, "shares.csv", api.get(f"/api/jobs/{made}/files/cells.contributions.csv").content)
    listed = {
        "data": cells,
        "source": "cells",
        "hierarchy": {"region": tree},
        "rules": records["rules"],
        "contributions": shares,
    }
    _, again = _result(api, "suppress", {**listed, "method": "general"})
    assert again["cost"] == pytest.approx(found["cost"])
    general = _send(api, "whole.jj", api.get(f"/api/jobs/{run}/files/table.jj").content)
    _, marked = _result(api, "audit", {"data": general, "source": "jj"})
    assert marked["safe"]
    assert marked["hidden"] == found["primary"] + found["complementary"]
    assert api.post("/api/jobs/suppress", json={**records, "apriori": "nowhere"}).status_code == 404
    offered = api.get("/api/methods/suppress").json()
    assert {item["name"] for item in offered} >= {"auto", "heurgene"}
    assert next(item for item in offered if item["name"] == "gensup")["options"]["population"]["minimum"] == 4


def test_the_page_tells_an_unknown_bound_and_the_hidden_value_as_the_report_does() -> None:
    control = Control()
    control.cancel()
    found = shoal.suppress(MATRIX, sensitive=[("e", "b")], budget=Budget(control=control))
    told = dict(fact[:2] for fact in pattern_facts(found.to_dict()))
    assert found.cost > 0
    assert told["no safe pattern costs less than"] == told["gap to the best possible"] == "unknown"
    report = found.report().html()
    assert "<dt>no safe pattern costs less than</dt><dd>unknown</dd>" in report
    assert f"<dd>{told['value hidden besides, without totals']}</dd>" in report
