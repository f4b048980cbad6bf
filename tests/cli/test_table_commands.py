"""What the commands on tables say where something is off: a share in percent, a code that is missing, a rule that hides all."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import shoal

RECORDS = """firm,region,sector,turnover
f1,north,a,100
f2,north,a,200
f3,north,b,50
f4,south,a,300
f5,south,b,120
f6,south,b,80
f7,north,b,75
f8,south,a,110
f11,north,a,95
f12,north,b,35
f13,south,a,65
f14,south,b,45
"""
HOW = ("--dimensions", "region,sector", "--value", "turnover")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "firms.csv"
    path.write_text(RECORDS)
    return path


@pytest.fixture
def cells(records: Path) -> Path:
    path = records.parent / "cells.csv"
    assert shoal("tabulate", records, *HOW, "--contributor", "firm", "-o", path).code == 0
    return path


@pytest.fixture
def pattern(cells: Path) -> Path:
    path = cells.parent / "pattern.csv"
    done = shoal("suppress", cells, "-o", path, "--published", cells.parent / "published.csv")
    assert done.code == 0
    return path


def test_a_share_above_one_is_told_of(cells: Path, pattern: Path) -> None:
    audit = ("audit", cells, pattern, "--beside", cells.parent / "published.csv", "--change")
    said = "--change is a share: 0.05 is 5 percent, and 5 is 500 percent"
    assert shoal(*audit, 5).code == 2
    found = shoal(*audit, "500%")
    assert found.code == 0 and found.err == f"warning: {said}\n"
    assert shoal(*audit, "500%", "--json").json["warnings"] == [said]
    assert shoal(*audit, 0.05).err == shoal(*audit, 1).err == ""
    refused = shoal("suppress", cells, "--protection", 10)
    assert refused.code == 2 and "at most 1, not 10.0; it is a share: 0.05 is 5 percent" in refused.err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--dim", "region"], "No such option: --dim; did you mean --dimensions?"),
        (["--time_limit", "3"], "No such option: --time_limit; did you mean --time-limit?"),
        (["--publised", "x.csv"], "No such option: --publised; did you mean --published?"),
        (["--de", "2"], "No such option: --de; did you mean --decimals or --decimal?"),
        (["-z", "2"], "No such option: -z"),
        (["--time-limit", "abc"], "--time-limit must be a number, not 'abc'"),
        (["--iterations", "2.5"], "--iterations must be a whole number, not '2.5'"),
        (["-o=x.csv"], "after -o there is no '=': write -o x.csv"),
        (["-o", "=x.csv"], "after -o there is no '=': write -o x.csv"),
        (["--output", "=x.csv"], "after -o there is no '=': write -o x.csv"),
    ],
)
def test_options_that_are_typed_wrongly(
    typed: list[str], said: str, cells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cells.parent)
    before = sorted(cells.parent.iterdir())
    found = shoal("suppress", cells, *typed)
    assert found.code == 2 and found.err == f"shoal: {said}\n"
    assert sorted(cells.parent.iterdir()) == before


def test_a_command_that_is_typed_wrongly() -> None:
    found = shoal("supress", "cells.csv")
    assert found.code == 2 and found.err.endswith("did you mean 'suppress'?\n")


# Numbers with an exponent are read by the library for command lines, others without it.
@pytest.mark.parametrize("limit", ["10", "1e1"])
def test_places_that_cannot_be_used_are_refused_in_the_same_words(
    limit: str, cells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cells.parent)
    page = cells.parent / "page.html"
    page.write_text("")
    (cells.parent / "folder.csv").mkdir()
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    how = ("suppress", cells.name, "--time-limit", limit)
    assert (
        shoal(*how, "--report", page.name).err == "shoal: 'page.html' exists already; --force replaces it\n"
    )
    for option in ("-o", "--published", "--report"):
        assert shoal(*how, option, "folder.csv").err == "shoal: 'folder.csv' is a folder, not a file\n"
        assert shoal(*how, option, ".").err == "shoal: '.' is a folder, not a file\n"


@pytest.mark.skipif(os.name != "posix", reason="closes a stream as a POSIX shell does")
@pytest.mark.parametrize(("closed", "code"), [(">&-", 0), ("2>&-", 0), ("<&- >&- 2>&-", 0)])
def test_streams_that_are_closed_take_nothing(closed: str, code: int, cells: Path) -> None:
    for how in ("", "--json"):
        line = f'"$0" -m shoal suppress "$1" {how} --force -o "$2" {closed}'
        place = cells.parent / "out.csv"
        done = subprocess.run(
            ["sh", "-c", line, sys.executable, cells, place], capture_output=True, text=True
        )
        assert done.returncode == code and "internal error" not in done.stderr
        assert place.read_text().startswith("region,sector,kind")


READY = """region,sector,v,n
north,a,395,3
north,b,160,3
south,a,475,3
south,b,245,3
north,Sum,555,6
south,Sum,720,6
Sum,a,870,6
Sum,b,405,6
Sum,Sum,1275,12
"""
CELLS = ("--dimensions", "region,sector", "--value", "v", "--contributors-column", "n")


def test_a_total_that_nobody_named_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(READY)
    (tmp_path / "h.csv").write_text("code,parent\nnorth,land\nsouth,land\n")
    (tmp_path / "few.csv").write_text("code,parent\nnorth,land\n")
    # It was taken for one code more, and all that it tells of the others was missed.
    told = shoal("suppress", tmp_path / "t.csv", *CELLS)
    assert told.code == 2 and "the code 'Sum' is the sum of all others: see 3 records" in told.err
    assert "with --total region=Sum; if it is none" in told.err
    tree = (*CELLS, "--total", "sector=Sum", "--hierarchy")
    told = shoal("suppress", tmp_path / "t.csv", *tree, f"region={tmp_path / 'h.csv'}")
    assert (
        told.code == 2 and "does not have the code 'Sum': see 3 records (the first is record 7)" in told.err
    )
    assert told.err.endswith("; if it is the total, say --total region=Sum\n")
    told = shoal("suppress", tmp_path / "t.csv", *tree, f"region={tmp_path / 'few.csv'}")
    assert told.err.endswith("if one of them is the total, say --total region=CODE\n")
    done = shoal("suppress", tmp_path / "t.csv", *CELLS, "--total", "Sum")
    assert done.code == 0
    told = shoal("suppress", tmp_path / "t.csv", *CELLS, "--total", "Summe")
    assert told.err == "shoal: --total of 'region' is in no row of the table: 'Summe'\n"


@pytest.mark.parametrize(
    ("right", "wrong", "cell"),
    [
        ("north,Sum,555", "north,Sum,565", "region 'north', sector 'Sum'"),
        ("Sum,b,405", "Sum,b,505", "region 'Sum', sector 'b'"),
        ("south,a,475", "south,a,575", "region 'south', sector 'a'"),
        ("Sum,Sum,1275", "Sum,Sum,1295", "region 'Sum', sector 'Sum'"),
    ],
)
def test_the_figure_that_is_wrong_is_named_first(right: str, wrong: str, cell: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(READY.replace(right, wrong))
    told = shoal("suppress", tmp_path / "t.csv", *CELLS, "--total", "Sum")
    assert told.code == 2
    assert told.err.startswith(
        f"shoal: the figure at the cell {cell} is likely wrong: each of the 2 relations"
    )


@pytest.mark.parametrize("command", ["tabulate", "suppress", "audit", "round", "adjust"])
def test_how_far_totals_are_off_is_told_where_it_is_allowed(command: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(READY.replace("north,Sum,555", "north,Sum,565"))
    (tmp_path / "p.csv").write_text("region,sector,kind\nnorth,a,primary\n")
    more = {"audit": [tmp_path / "p.csv"], "round": ["--base", 5]}.get(command, [])
    how = (command, tmp_path / "t.csv", *more, *CELLS, "--total", "Sum", "--tolerance", 100000)
    assert shoal(*how, "--json").json["largest_gap"] == 10.0
    assert "largest gap between a total and its parts" in shoal(*how).out
    (tmp_path / "t.csv").write_text(READY)
    assert "largest_gap" not in shoal(*how, "--json").json


@pytest.mark.parametrize("rule", ["dominance(85,1)", "NK(75,3)"])
def test_a_dominance_rule_that_stands_the_wrong_way_round(rule: str, records: Path) -> None:
    told = shoal("tabulate", records, *HOW, "--rule", rule)
    assert told.code == 2 and "the number comes first, then the percent: dominance(" in told.err
    assert told.err.count("\n") == 1
    for right in ("dominance(1,85)", "dominance(20,5)", "dominance(2,50)"):
        assert shoal("tabulate", records, *HOW, "--rule", right).code == 0


def test_a_place_of_an_unknown_kind_is_answered_by_what_can_be_written(cells: Path) -> None:
    told = shoal("suppress", cells, "--published", "x.docx")
    assert told.code == 2 and ".html .sdmx.csv, or URL::table" in told.err and "sas7bdat" not in told.err
    told = shoal("suppress", cells, "-o", "x.docx")
    assert ".dta .jj .jj.gz, or URL::table" in told.err
    assert ".sas7bdat, or URL::table" in shoal("suppress", "x.docx").err


@pytest.mark.parametrize("command", ["suppress", "audit", "adjust"])
def test_a_jj_file_with_dimensions_is_told_to_leave_them_out(command: str, tmp_path: Path) -> None:
    table = tmp_path / "t.jj"
    table.write_text(
        "0\n3\n1 9 9 s 0 20 0 0 0\n2 5 5 u 0 20 1 1 0\n3 4 4 s 0 20 0 0 0\n1\n0 3 : 1 (-1) 2 (1) 3 (1)\n"
    )
    told = shoal(command, table, "--dimensions", "a,b")
    assert told.code == 2 and told.err.count("\n") == 1
    assert "a jj file has its cells and relations already; leave out --dimensions" in told.err


def test_a_published_table_with_unnamed_subtotals_is_answered_by_the_option(tmp_path: Path) -> None:
    # The hidden b would be -10: ab is no further part of the total, but a and b together.
    table = tmp_path / "t.csv"
    table.write_text("region,value\na,10\nb,\nab,30\nc,5\ntotal,35\n")
    told = shoal("audit", table)
    assert told.code == 2 and "are its subtotals named with --hierarchy?" in told.err
    (tmp_path / "h.csv").write_text("code,parent\na,ab\nb,ab\nab,\nc,\n")
    assert shoal("audit", table, "--hierarchy", f"region={tmp_path / 'h.csv'}").code == 3


def test_codes_that_mean_missing_elsewhere_are_told_of(records: Path) -> None:
    records.write_text(RECORDS + "f15,NA,a,20\nf16,NA,b,30\nf17,NA,b,30\nf18,NA,a,20\n")
    said = "note: dimension 'region' has 'NA' in 4 records: a code like any other; leave it blank where"
    for command in ("tabulate", "suppress"):
        assert said in shoal(command, records, *HOW).err
    assert said in shoal("perturb-table", records, "--dimensions", "region,sector", "--record", "firm").err
    (records.parent / "h.csv").write_text("code,parent\nNA,africa\nnorth,\nsouth,\n")
    tree = ("--hierarchy", f"region={records.parent / 'h.csv'}")
    assert "'NA'" not in shoal("tabulate", records, *HOW, *tree).err


def test_a_rule_that_leaves_nothing_is_warned_of(records: Path) -> None:
    said = "all 4 cells that are neither totals nor empty are sensitive: are the rules as they are meant?"
    for command in ("tabulate", "suppress"):
        found = shoal(command, records, *HOW, "--rule", "frequency(1000)", "--json")
        assert found.code == 0 and said in found.json["warnings"] and f"warning: {said}\n" in found.err
        assert said not in shoal(command, records, *HOW).err


def test_records_that_are_set_aside_are_a_note_everywhere(records: Path) -> None:
    records.write_text(RECORDS + "f15,,a,20\n")
    said = "1 record with missing values was set aside"
    for command, how in (("tabulate", HOW), ("suppress", HOW), ("perturb-table", HOW[:2])):
        found = shoal(command, records, *how, "--missing", "aside", "--json")
        assert said in found.json["notes"] and said not in str(found.json.get("warnings"))


def test_keys_hide_no_whole_group_and_the_verdict_says_so(tmp_path: Path) -> None:
    cells = {("n", "f"): 9, ("s", "f"): 7, ("s", "m"): 8, ("w", "f"): 5, ("w", "m"): 9}
    people = [f"{area},{sex}" for (area, sex), times in cells.items() for _ in range(times)]
    rows = "\n".join(f"{number},{row}" for number, row in enumerate(people))
    (tmp_path / "p.csv").write_text(f"id,area,sex\n{rows}\n")
    how = ("perturb-table", tmp_path / "p.csv", "--dimensions", "area,sex", "--record", "id", "--rule")
    found = shoal(*how, "group(1)", "-o", tmp_path / "out.csv", "--json")
    assert found.code == 3 and found.json["safe"] is False and not (tmp_path / "out.csv").exists()
    told = shoal(*how, "group(1)", "-o", tmp_path / "out.csv")
    assert (
        told.code == 3 and "1 sensitive count has all records of a total, which keys do not hide" in told.err
    )
    assert "mean change with its sign" in told.out and "sum of absolute changes" in told.out
    people += ["n,m"] * 3
    rows = "\n".join(f"{number},{row}" for number, row in enumerate(people))
    (tmp_path / "p.csv").write_text(f"id,area,sex\n{rows}\n")
    assert shoal(*how, "group(1)").code == 0


def test_records_beside_a_table_are_no_published_table(records: Path, cells: Path, pattern: Path) -> None:
    told = shoal("audit", cells, pattern, "--beside", records)
    assert told.code == 2 and told.err.count("\n") == 1
    assert "'firms.csv' is no published table: column 'region' has codes and no figures" in told.err


def test_a_larger_limit_is_advised_only_where_it_helps(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("row,column\nn,a\n")
    how = ("adjust", tmp_path / "t.csv", "--sensitive", tmp_path / "s.csv", "--keep-totals", "--limit")
    # The other cells are empty, and stay so.
    (tmp_path / "t.csv").write_text("region,a,b\nn,10,0\ns,0,20\n")
    told = shoal(*how, 0.3)
    assert told.code == 3 and told.err.endswith(
        "totals that move (without --keep-totals); no --limit helps\n"
    )
    (tmp_path / "t.csv").write_text("region,a,b\nn,10,30\ns,15,20\n")
    told = shoal(*how, 0.001)
    assert told.code == 3 and "try a larger --limit or totals that move" in told.err


def test_what_there_was_no_time_for_is_no_verdict(records: Path, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "region,sector,kind\n" + "".join(f"{a},{b},primary\n" for a in ("north", "south") for b in "ab")
    )
    how = ("audit", records, tmp_path / "p.csv", *HOW, "--rule", "frequency(4)", "--time-limit", "1e-9")
    told = shoal(*how)
    assert told.code == 3
    lines = dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in told.out.splitlines())
    assert lines["unsafe: published, or too narrow"] == "0 of those that were judged"
    assert lines["not judged, since the time was over"] == "4" and lines["safe"] == "no"
    assert shoal(*how, "--json").json["not_judged"] == 4


MANUAL = Path(__file__).parents[2] / "docs" / "commands"


@pytest.mark.parametrize("command", ["tabulate", "suppress", "audit", "round", "adjust", "perturb-table"])
def test_the_manual_names_what_json_holds(
    command: str, records: Path, cells: Path, pattern: Path, tmp_path: Path
) -> None:
    if not MANUAL.is_dir():
        pytest.skip("the manual is not here")
    (tmp_path / "s.csv").write_text("region,sector\nnorth,a\n")
    arguments = {
        "tabulate": [records, *HOW],
        "suppress": [cells],
        "audit": [cells, pattern],
        "round": [cells, "--base", 5],
        "adjust": [cells, "--sensitive", tmp_path / "s.csv"],
        "perturb-table": [records, "--dimensions", "region,sector", "--record", "firm"],
    }[command]
    page = (MANUAL / f"{command}.md").read_text(encoding="utf-8")
    always, rest = re.search(r"With `--json`: `([a-z_ ]+)`([^\n]*)", page).groups()  # type: ignore[union-attr]
    found = shoal(command, *arguments, "--json").json.keys()
    assert set(always.split()) <= found
    assert found <= {*always.split(), *re.findall(r"`([a-z_]+)`", rest)}
