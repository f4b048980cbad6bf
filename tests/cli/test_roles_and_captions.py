"""Columns in two roles, gaps in ready-made tables, captions of several figures, and ends that are no proof."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.cli.running import shoal

READY = """REG,SEC,N,TOT,MAX
A,x,5,100,30
A,y,2,60,50
A,Total,7,160,50
B,x,6,120,30
B,y,5,90,40
B,Total,11,210,40
Total,x,11,220,30
Total,y,7,150,50
Total,Total,18,370,50
"""


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    path = tmp_path / "ready.csv"
    path.write_text(READY)
    return path


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            ("--value", "TOT", "--contributors-column", "TOT"),
            "column 'TOT' cannot be both: --value and --contributors-column",
        ),
        (
            ("--value", "TOT", "--contributors-column", "N", "--largest-column", "N"),
            "column 'N' cannot be both: --contributors-column and --largest-column",
        ),
        (
            ("--value", "SEC", "--contributors-column", "N"),
            "column 'SEC' cannot be both: a dimension and --value",
        ),
        (
            ("--value", "TOT", "--largest-column", "MAX,MAX"),
            "--largest-column names a column twice",
        ),
    ],
)
def test_a_column_has_one_role(columns: tuple[str, ...], said: str, ready: Path) -> None:
    found = shoal("suppress", ready, "--dimensions", "REG,SEC", *columns)
    assert found.code == 2 and said in found.err


def test_a_gap_in_a_ready_made_table_is_not_answered_by_leaving_rows_out(tmp_path: Path) -> None:
    path = tmp_path / "gap.csv"
    path.write_text(READY.replace("B,x,6", ",x,6").replace("A,x,5", "NA,x,5"))
    how = ("--dimensions", "REG,SEC", "--value", "TOT", "--contributors-column", "N")
    for more in ((), ("--missing", "aside")):
        found = shoal("suppress", path, *how, *more)
        assert found.code == 2 and "rows are cells of a table, of which none can be left out" in found.err
        assert "--missing" not in found.err


@pytest.mark.parametrize("name", ["out.html", "out.xlsx"])
def test_each_of_several_figures_is_called_by_its_name(name: str, tmp_path: Path) -> None:
    firms = tmp_path / "firms.csv"
    rows = [f"f{i},{'ns'[i % 2]},{'ab'[i // 2 % 2]},{10 * i},{i}" for i in range(1, 25)]
    firms.write_text("firm,region,sector,turnover,staff\n" + "\n".join(rows) + "\n")
    out = tmp_path / name
    how = (
        "--dimensions",
        "region,sector",
        "--value",
        "turnover",
        "--further-value",
        "staff",
        "--contributor",
        "firm",
    )
    assert shoal("suppress", firms, *how, "--published", out).code == 0
    if name.endswith(".html"):
        shown = out.read_text()
    else:
        with ZipFile(out) as book:
            shown = " ".join(book.read(part).decode() for part in book.namelist() if part.endswith(".xml"))
    assert "staff by region and sector" in shown and "turnover by region and sector" in shown
    assert "figure: staff" not in shown


def test_what_was_changed_after_the_search_did_not_end_with_a_proof(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    lines = [f"{'abc'[i % 3]},{'xyz'[i * i % 3]},{'mf'[i // 5 % 2]}" for i in range(40)]
    people.write_text("area,age,sex\n" + "\n".join(lines) + "\n")
    how = ("--dimensions", "area,age,sex", "--rule", "frequency(3)", "--rule", "group(2)", "--json")
    found = shoal("suppress", people, *how).json
    assert (found["stopped_by"] == "optimal") == found["optimal"]
    wild = (
        "--quasi",
        "area,age,sex",
        "-k",
        4,
        "--method",
        "local-suppression",
        "--null",
        "wildcard",
        "--json",
    )
    told = shoal("recode", people, *wild).json
    assert (told["stopped_by"] == "optimal") == told["optimal"]


def test_counts_that_hardly_ever_change_are_not_called_safe(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    lines = [f"{i},{'ab'[i % 2]},{'xyz'[i * i % 3]}" for i in range(30)]
    people.write_text("id,area,age\n" + "\n".join([*lines, "90,a,w", "91,b,w"]) + "\n")
    out = tmp_path / "out.csv"
    how = ("perturb-table", people, "--dimensions", "area,age", "--record", "id", "-o", out)
    refused = shoal(*how, "--variance", "0.01", "--json")
    assert refused.code == 3 and refused.json["safe"] is False and not out.exists()
    assert "stays as it is with a probability of" in shoal(*how, "--variance", "0.01").err
    assert shoal(*how, "--variance", "2", "--json").json["safe"] is True


def test_a_key_that_is_blank_in_all_records_is_told_of(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("a,b\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(8)))
    how = ("--quasi", "a,b", "-k", 3, "--method", "local-suppression", "--json")
    told = shoal("recode", people, *how).json
    assert any("key 'a' is blank in all records" in note for note in told["notes"])
    assert not any("key 'b' is blank" in note for note in told["notes"])


def test_a_code_that_is_the_sum_of_others_by_chance_can_stay_a_code(tmp_path: Path) -> None:
    path, flat = tmp_path / "cells.csv", tmp_path / "flat.csv"
    path.write_text("region,sector,v,n\nn,a,1,9\nn,b,2,9\nn,c,3,9\ns,a,2,9\ns,b,3,9\ns,c,5,9\n")
    flat.write_text("code,parent\na,\nb,\nc,\n")
    how = ("tabulate", path, "--dimensions", "region,sector", "--value", "v", "--contributors-column", "n")
    asked = shoal(*how)
    assert asked.code == 2 and "--total sector=c; if it is none, --hierarchy" in asked.err
    assert shoal(*how, "--hierarchy", f"sector={flat}").code == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--rule", "dominance(1,0.85)"), "the second number is in percent: dominance(1,85)"),
        (("--total", "SEK=Total"), "dimension 'SEK' is not a dimension of the table; did you mean 'SEC'?"),
    ],
)
def test_what_is_meant_is_said(more: tuple[str, str], said: str, ready: Path) -> None:
    how = (
        "--dimensions",
        "REG,SEC",
        "--value",
        "TOT",
        "--contributors-column",
        "N",
        "--largest-column",
        "MAX",
    )
    found = shoal("suppress", ready, *how, *more)
    assert found.code == 2 and said in found.err


def test_a_table_never_takes_the_place_of_the_records(ready: Path) -> None:
    how = ("--dimensions", "REG,SEC", "--value", "TOT", "--contributors-column", "N")
    found = shoal("suppress", ready, *how, "--published", ready, "--force")
    assert (
        found.code == 2 and "--published names the input" in found.err and "a place of its own" in found.err
    )
    assert ready.read_text() == READY
