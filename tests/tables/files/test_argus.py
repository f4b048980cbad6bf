"""Files of τ-ARGUS: tables and records that real metadata describe, and what is written for it read again."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as run

from shoal.errors import InputError
from shoal.tables.files.argus_data import read_described
from shoal.tables.files.argus_history import read_history
from shoal.tables.files.argus_metadata import of_digits, read_metadata
from shoal.tables.files.argus_writing import argus_files
from shoal.tables.files.hierarchies import as_hierarchy, read_hierarchy
from shoal.tables.model.tabulation import tabulate

DATA = Path(os.environ.get("SHOAL_DATA", "missing")) / "tabular"
public = pytest.mark.skipif(not DATA.is_dir(), reason="needs the public tables (SHOAL_DATA)")


def test_hrc_files_in_either_order_and_with_another_mark(tmp_path) -> None:
    wanted = {"N": "", "n1": "N", "n2": "N", "S": "", "s1": "S"}
    for name, text, mark in (
        ("down.hrc", "N\n@n1\n@n2\nS\n@ s1\n", "@"),
        ("up.hrc", "@n1\n@n2\nN\n@s1\nS\n", "@"),
        ("other.HRC", "N\n--n1\n--n2\nS\n--s1\n", "--"),
    ):
        (tmp_path / name).write_text(text)
        assert read_hierarchy(str(tmp_path / name), mark) == wanted
    (tmp_path / "bad.hrc").write_text("N\n@@n1\n@n2\n")
    with pytest.raises(InputError, match=r"bad.hrc, line 2: the code is more than one level below"):
        read_hierarchy(str(tmp_path / "bad.hrc"))
    (tmp_path / "twice.hrc").write_text("N\n@n1\nS\n@n1\n")
    with pytest.raises(InputError, match=r"twice.hrc, line 4: the code was there before"):
        read_hierarchy(str(tmp_path / "twice.hrc"))


def test_hierarchies_by_levels_in_either_order() -> None:
    frame = pl.DataFrame({"A": ["X", "X", "Y"], "B": ["x1", "x2", "y1"], "C": ["x11", "x21", "y1"]})
    wanted = {"x11": "x1", "x1": "X", "x21": "x2", "x2": "X", "y1": "Y", "X": "", "Y": ""}
    assert as_hierarchy(frame, "f") == wanted
    assert as_hierarchy(frame.select("C", "B", "A"), "f") == wanted
    assert as_hierarchy(frame.select("A", "C"), "f") == {
        "x11": "X", "X": "", "x21": "X", "y1": "Y", "Y": ""
    }  # fmt: skip
    with pytest.raises(InputError, match="second parent in row 2"):
        as_hierarchy(pl.DataFrame({"code": ["a", "a"], "parent": ["x", "y"]}), "f")
    with pytest.raises(InputError, match="a column for each level"):
        as_hierarchy(pl.DataFrame({"A": ["x", "x", "y"], "B": ["p", "q", "p"], "C": ["1", "1", "2"]}), "f")
    assert of_digits(["01011", "0102"], [2, 2, 1, 0]) == {
        "01011": "0101",
        "0101": "01",
        "01": "",
        "0102": "01",
    }


def test_a_table_goes_to_argus_and_back(tmp_path) -> None:
    (tmp_path / "firms.csv").write_text(
        "region,kind of firm,v\n"
        + "".join(
            f"{['n1', 'n2', 's1', 's2'][i % 4]},{'abc'[i * 7 % 3]},{10 + i * 13 % 29}\n" for i in range(40)
        )
        + "n1,a,900\n"
    )
    (tmp_path / "r.hrc").write_text("N\n@n1\n@n2\nS\n@s1\n@s2\n")
    first = run("suppress", tmp_path / "firms.csv", "--dimensions", "region,kind of firm", "--value", "v", "--hierarchy",
                f"region={tmp_path / 'r.hrc'}", "--argus", tmp_path / "argus", "-o", tmp_path / "p.csv", "--json")  # fmt: skip
    assert first.code == 0, first.err
    assert sorted(path.name for path in (tmp_path / "argus").iterdir()) == [
        "region_1.hrc",
        "table.hst",
        "table.rda",
        "table.tab",
    ]
    again = run("audit", tmp_path / "argus" / "table.tab", "--no-insiders", "--json")
    assert again.code == 0, again.out
    assert again.json["sensitive"] == first.json["primary"]
    assert again.json["hidden"] == first.json["primary"] + first.json["complementary"]
    solved = run("suppress", tmp_path / "argus" / "table.tab", "--no-insiders", "--json")
    alone = run("suppress", tmp_path / "firms.csv", "--dimensions", "region,kind of firm", "--value", "v", "--hierarchy",
                f"region={tmp_path / 'r.hrc'}", "--no-insiders", "--json")  # fmt: skip
    assert solved.json["cost"] == pytest.approx(alone.json["cost"])
    assert any(
        "contributors shared between its cells were not seen" in text for text in solved.json["warnings"]
    )


def test_the_column_of_costs_that_metadata_name_is_the_cost(tmp_path) -> None:
    cells = {
        "n": {"a": 9, "b": 20, "c": 31},
        "s": {"a": 40, "b": 50, "c": 60},
        "e": {"a": 70, "b": 80, "c": 90},
    }
    lines = [f"{row};{column};{value};1;s" for row, own in cells.items() for column, value in own.items()]
    lines[0] = lines[0][:-1] + "u"
    names = {"Total": ["n", "s", "e"], **{row: [row] for row in cells}}
    for row, rows in names.items():
        for column, columns in {"Total": ["a", "b", "c"], "a": ["a"], "b": ["b"], "c": ["c"]}.items():
            if "Total" in (row, column):
                total = sum(cells[r][c] for r in rows for c in columns)
                lines.append(f"{row};{column};{total};1;s")
    (tmp_path / "t.tab").write_text("\n".join(lines) + "\n")
    code = '<RECODEABLE>\n <TOTCODE> "Total"\n'
    words = f'<SEPARATOR> ";"\nR 5\n {code}C 5\n {code}V 9\n <NUMERIC>\nK 9\n'
    (tmp_path / "t.rda").write_text(words + " <NUMERIC> <COSTVAR>\nS 1\n <STATUS>\n")
    found = run("suppress", tmp_path / "t.tab", "--no-insiders", "--json")
    assert found.code == 0, found.out
    assert found.json["cost"] == found.json["complementary"] == 3
    unity = run("suppress", tmp_path / "t.tab", "--no-insiders", "--cost", "log", "--json")
    assert unity.json["cost"] > 3.5
    # What somebody says holds, even if it is what holds if nobody says anything.
    value = run("suppress", tmp_path / "t.tab", "--no-insiders", "--cost", "value", "--json")
    assert value.json["cost"] == 20 + 40 + 50


@public
def test_tables_by_their_own_metadata() -> None:
    ex1 = DATA / "tauargus/checkTauArgus_batch/ex1"
    found = run("suppress", ex1 / "tabdata_ex1.tab", "--metadata", ex1 / "metadata_ex1.rda", "--json")
    assert found.code == 0 and found.json["primary"] == 1 and found.json["cost"] == 1950.0
    # The public file is off by one in two of its cells, and says which by their codes.
    wrong = run("suppress", DATA / "tauargus/tableinput/pp.tab", "--json")
    assert (
        wrong.code == 2
        and "the total at the cell Size 'Total', Region '4' does not add up" in wrong.json["error"]
    )
    right = run("suppress", DATA / "tauargus/tableinput/pp.tab", "--tolerance", 1, "--json")
    assert right.code == 0 and right.json["primary"] == 9 and right.json["optimal"]
    unnamed = run("suppress", ex1 / "tabdata_ex1.tab", "--json")
    assert unnamed.code == 2 and "--metadata" in unnamed.json["error"]


@public
@pytest.mark.parametrize(("number", "sensitive", "hidden"), [(1, 15, 19), (2, 513, 1232), (4, 12, 19)])
def test_patterns_of_argus_are_audited(number: int, sensitive: int, hidden: int) -> None:
    demo = DATA / "sas2argus_demo" / f"Example{number}_Out_5_1"
    found = run("audit", f"{demo}.csv", "--metadata", f"{demo}.rda", "--json")
    assert found.json["sensitive"] == sensitive and found.json["hidden"] == hidden
    assert found.code == 0 and found.json["safe"]


@public
def test_records_of_fixed_width_give_the_published_totals(tmp_path) -> None:
    folder = DATA / "tauargus/checkTauArgus_Simple2D"
    found = run("tabulate", folder / "tau_testW.asc", "--metadata", DATA / "tauargus/Tau_TestW.rda", "--dimensions",
                "Size,Region", "--value", "Var2", "--missing", "category", "-o", tmp_path / "cells.csv", "--json")  # fmt: skip
    assert found.code == 0, found.out
    mine = pl.read_csv(tmp_path / "cells.csv", infer_schema_length=0)
    made = {(a, b): float(v) for a, b, v in mine.select("Size", "Region", "value").rows()}
    lines = (folder / "expected/Simple2D.txt").read_text().splitlines()
    names = {"Total": "total", "99": "missing"}
    seen = 0
    for line in lines:
        size, region, value, _ = (part.strip('"').strip() for part in line.split(","))
        if value != "-":
            assert made[names.get(size, size), names.get(region, region)] == pytest.approx(float(value))
            seen += 1
    assert seen > 100


@public
@pytest.mark.parametrize("name", ["Demodata", "Samhh", "Demofree"])
def test_metadata_of_mu_argus_are_read(name: str) -> None:
    folder = DATA.parent / "muargus"
    metadata = read_metadata(folder / f"{name}.rda")
    frame = read_described(folder / f"{name}.asc", metadata)
    assert frame.columns == [item.name for item in metadata.variables] and frame.height > 100
    assert not metadata.aggregated


@public
def test_turnover_of_an_office_by_levels(tmp_path) -> None:
    folder = DATA / "rtauargus"
    found = run("suppress", folder / "turnover_act_size.csv", "--dimensions", "ACTIVITY,SIZE", "--value", "TOT",
                "--contributors-column", "N_OBS", "--largest-column", "MAX", "--rule", "frequency(3)", "--rule",
                "dominance(1,85)", "--hierarchy", f"ACTIVITY={folder / 'activity_corr_table.csv'}", "--method", "general",
                "--published", tmp_path / "out.csv", "--json")  # fmt: skip
    assert found.code == 0 and found.json["safe"] and found.json["primary"] == 77
    out = pl.read_csv(tmp_path / "out.csv", infer_schema_length=0)
    assert set(out["SIZE"]) == {"Total", "tr1", "tr2", "tr3"}


def test_metadata_that_are_none_are_named(tmp_path) -> None:
    (tmp_path / "a.rda").write_text("<RECODEABLE>\n")
    with pytest.raises(InputError, match=r"a.rda, line 1: there is no variable yet"):
        read_metadata(tmp_path / "a.rda")
    (tmp_path / "b.rda").write_text("Size\n  <RECODEABLE>\n")
    with pytest.raises(InputError, match=r"b.rda, line 1: a file of fixed width needs"):
        read_metadata(tmp_path / "b.rda")
    (tmp_path / "c.rda").write_text('<SEPARATOR> ";"\nSize\n  <RECODEABLE>\nV\n  <NUMERIC>\n')
    (tmp_path / "c.tab").write_text("a;1\nb;x\n")
    with pytest.raises(InputError, match=r"c.tab, line 2: 'V' is no number"):
        read_described(tmp_path / "c.tab", read_metadata(tmp_path / "c.rda"))
    (tmp_path / "c.tab").write_text("a\n")
    with pytest.raises(InputError, match=r"c.tab, line 1: 1 columns, but c.rda describes 2"):
        read_described(tmp_path / "c.tab", read_metadata(tmp_path / "c.rda"))


def test_what_is_said_of_cells_goes_to_argus_and_back(tmp_path) -> None:
    lines = [f"{'nse'[i % 3]},{'abcd'[i * 7 % 4]},{3 + i * 13 % 41}" for i in range(30)]
    (tmp_path / "firms.csv").write_text("region,sector,v\n" + "\n".join(lines) + "\n")
    (tmp_path / "known.hst").write_text(
        '"n","a",u\nn,a,pl,3.5,4\n"s","b",p\ne,"",s\n"","d",c,7.25\n"","",p\n', encoding="utf-8"
    )
    how = ("--dimensions", "region,sector", "--value", "v", "--rule", "frequency(2)")
    made = run(
        "tabulate",
        tmp_path / "firms.csv",
        *how,
        "--apriori",
        tmp_path / "known.hst",
        "-o",
        tmp_path / "cells.csv",
    )
    assert made.code == 0, made.err
    cells = {
        (row["region"], row["sector"]): row
        for row in pl.read_csv(tmp_path / "cells.csv").iter_rows(named=True)
    }
    assert (cells["n", "a"]["status"], cells["n", "a"]["lower"], cells["n", "a"]["upper"]) == ("u", 3.5, 4.0)
    assert cells["s", "b"]["status"] == cells["total", "total"]["status"] == "z"
    assert cells["total", "d"]["cost"] == 7.25
    ran = run("suppress", tmp_path / "cells.csv", "--argus", tmp_path / "argus", "-o", tmp_path / "p.csv")
    assert ran.code == 0, ran.err
    written = (tmp_path / "argus" / "table.hst").read_text()
    assert "n,a,u\n" in written and "n,a,pl,3.5,4\n" in written and "total,d,c,7.25\n" in written
    again = run("tabulate", tmp_path / "firms.csv", *how, "--rule", "manual(0)", "--apriori", tmp_path / "argus" / "table.hst",
                "-o", tmp_path / "again.csv")  # fmt: skip
    assert again.code == 0, again.err
    columns = ["region", "sector", "value", "status", "lower", "upper", "cost"]
    first, second = (pl.read_csv(tmp_path / name).select(columns) for name in ("cells.csv", "again.csv"))
    assert first.equals(second)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "n,a",
            "line 1: 2 codes (region, sector) and what is said of the cell are needed; there are 2 parts",
        ),
        ("n,a,x", "line 1: 'x' is not known"),
        ("n,a,c", "line 1: write c with a cost"),
        ("n,a,pl,3", "line 1: write pl with the lower and the upper level"),
        ("n,zz,u", "record 1 of the a-priori file is not in the table"),
    ],
)
def test_wrong_lines_are_named(line: str, words: str, tmp_path) -> None:
    (tmp_path / "firms.csv").write_text("region,sector,v\nn,a,4\ns,b,5\n")
    (tmp_path / "known.hst").write_text(line + "\n")
    ran = run("tabulate", tmp_path / "firms.csv", "--dimensions", "region,sector", "--value", "v", "--apriori",
              tmp_path / "known.hst")  # fmt: skip
    assert ran.code == 2 and words in ran.err and len(ran.err.strip().splitlines()) == 1


@public
def test_the_public_history_is_read_beside_its_own_records(tmp_path) -> None:
    folder = DATA / "tauargus" / "checkTauArgus_enterprise"
    history = folder / "expected" / "test_3a.hst"
    found = read_history(history, ["region", "product"])
    assert found.height == 15 and set(found["status"]) == {"z"} and found.row(0)[:2] == ("total", "total")
    ran = run("tabulate", folder / "example_enterprise.asc", "--dimensions", "region,product", "--value", "turnover",
              "--apriori", history, "-o", tmp_path / "cells.csv")  # fmt: skip
    assert ran.code == 0, ran.err
    margin = pl.read_csv(tmp_path / "cells.csv", infer_schema=False).filter(pl.col("product") == "total")
    assert set(margin["status"]) == {"z"} and margin.height == 15


BATCH, DEMO = DATA / "tauargus/checkTauArgus_batch", DATA / "sas2argus_demo"
MU = DATA.parent / "muargus"
# Each public file with its own metadata, and what has to be said besides in the one command that reads it.
BY_METADATA = {
    "pp": (DATA / "tauargus/tableinput/pp.tab", "--tolerance", 1),
    "ex1": (BATCH / "ex1/tabdata_ex1.tab", "--metadata", BATCH / "ex1/metadata_ex1.rda"),
    "ex2": (BATCH / "ex2/microdata_ex2.asc", "--metadata", BATCH / "ex2/metadata_ex2.rda", "--dimensions", "region,gender",
            "--value", "num1", "--weight", "weight"),
    "enterprise": (DATA / "tauargus/checkTauArgus_enterprise/example_enterprise.asc", "--dimensions", "act,product", "--value",
                   "turnover", "--holding", "h_id", "--missing", "aside"),
    "cell keys": (DATA / "tauargus/cellkey_magnitude/microdata.csv", "--metadata",
                  DATA / "tauargus/cellkey_magnitude/microdata.rda", "--dimensions", "Sex,Age", "--value", "Savings",
                  "--rule", "frequency(20)"),
    "simple": (DATA / "tauargus/checkTauArgus_Simple2D/tau_testW.asc", "--metadata", DATA / "tauargus/Tau_TestW.rda",
               "--dimensions", "Size,Region", "--value", "Var2", "--missing", "category"),
    "sas 1": (DEMO / "Example1.CSV", "--metadata", DEMO / "Example1.RDA", "--dimensions", "Age,Omk", "--value", "Resp"),
    "sas 3": (DEMO / "Example3.CSV", "--metadata", DEMO / "Example3.RDA", "--dimensions", "Age,Sex", "--hierarchy",
              f"Age={DEMO / 'Example3_Out_5_1_2.hrc'}"),
    "sas 4": (DEMO / "Example4.CSV", "--metadata", DEMO / "Example4.RDA", "--rule", "p-percent(20)"),
    "sas 1 out": (DEMO / "Example1_Out_5_1.csv", "--metadata", DEMO / "Example1_Out_5_1.rda"),
    "demodata": (MU / "Demodata.asc", "--dimensions", "EDUC1,MARSTAT", "--value", "INCOME", "--rule", "frequency(6)",
                 "--missing", "category"),
    "demofree": (MU / "Demofree.asc", "--dimensions", "EDUC1,MARSTAT", "--rule", "frequency(6)", "--missing", "aside"),
    "samhh": (MU / "Samhh.asc", "--dimensions", "town,sex", "--value", "income", "--weight", "weight"),
    "samhh safe": (MU / "SamhhSafe.saf", "--metadata", MU / "SamhhSafe.rds", "--dimensions", "town,sex", "--value", "income",
                   "--missing", "category"),
}  # fmt: skip


@public
@pytest.mark.parametrize("name", BY_METADATA)
def test_public_files_go_to_argus_and_back(name: str, tmp_path) -> None:
    file, *more = BY_METADATA[name]
    off = ("--tolerance", 1) if name == "pp" else ()
    made = run("suppress", file, *more, "--method", "general", "--argus", tmp_path / "argus", "-o", tmp_path / "p.csv",
               "--json")  # fmt: skip
    assert made.code == 0 and made.json["safe"], made.out
    pattern = pl.read_csv(tmp_path / "p.csv", infer_schema=False)
    dimensions = ",".join(pattern.columns[: pattern.columns.index("kind")])
    named = () if "--dimensions" in more else ("--dimensions", dimensions)
    first = run("tabulate", file, *named, *more, "-o", tmp_path / "first.csv")
    again = run(
        "tabulate",
        tmp_path / "argus" / "table.tab",
        "--dimensions",
        dimensions,
        *off,
        "-o",
        tmp_path / "again.csv",
    )
    assert first.code == again.code == 0, first.err + again.err
    # Everything that protects a table, and no cell lost or renamed.
    one, two = (pl.read_csv(tmp_path / f"{which}.csv", infer_schema=False) for which in ("first", "again"))
    names = one.columns[: one.columns.index("value")]
    assert names == two.columns[: len(names)]
    rows = [
        {
            tuple(row[name] for name in names): (
                row["status"],
                *(float(row[column] or 0.0) for column in ("value", "lower", "upper", "cost")),
            )
            for row in frame.iter_rows(named=True)
        }
        for frame in (one, two)
    ]
    assert rows[0].keys() == rows[1].keys() and len(rows[0]) == one.height
    for key, (status, *figures) in rows[0].items():
        assert rows[1][key][0] == status
        assert rows[1][key][1:] == pytest.approx(figures, rel=1e-12, abs=1e-12)
    judged = run("audit", tmp_path / "argus" / "table.tab", *off, "--json")
    assert judged.code == 0 and judged.json["hidden"] == pattern.height


@public
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.name, marks=[pytest.mark.long] if path.stat().st_size > 10**6 else [])
        for path in sorted((DATA / "jj").glob("*.jj*"))
    ],
)
def test_general_tables_are_written_as_they_were_read(name: str, tmp_path) -> None:
    from shoal.tables.files import jj

    first = jj.read(DATA / "jj" / name)
    (tmp_path / "again.jj").write_bytes(jj.write(first.problem, first.hidden).encode())
    again = jj.read(tmp_path / "again.jj")
    for one, two in ((first.problem, again.problem), (first.problem.table, again.problem.table)):
        for field in ("values", "starts", "members", "signs", "sensitive", "lower", "upper", "sliding", "low", "high", "cost",
                      "candidates"):  # fmt: skip
            if hasattr(one, field):
                assert np.array_equal(getattr(one, field), getattr(two, field)), field
    assert (first.hidden is None) == (again.hidden is None)
    assert first.hidden is None or first.hidden.tolist() == again.hidden.tolist()


def test_a_second_contribution_may_be_missing_where_there_is_none(tmp_path) -> None:
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ","\nA\n <RECODEABLE>\n <TOTCODE> T\nV\n <NUMERIC>\nTop1\n <MAXSCORE>\nTop2\n <MAXSCORE>\n'
    )
    lines = ["T,90,40,30", "a,40,40,.", "b,30,30,", "c,20,15,5"]
    (tmp_path / "t.tab").write_text("\n".join(lines) + "\n")
    found = run("tabulate", tmp_path / "t.tab", "--dimensions", "A", "-o", tmp_path / "cells.csv", "--json")
    assert found.code == 0, found.err
    cells = dict(pl.read_csv(tmp_path / "cells.csv").select("A", "status").rows())
    assert cells == {"T": "s", "a": "u", "b": "u", "c": "u"}
    (tmp_path / "t.tab").write_text("\n".join([*lines[:3], "c,20,15,."]) + "\n")
    wrong = run("tabulate", tmp_path / "t.tab", "--dimensions", "A", "--json")
    assert (
        wrong.code == 2
        and "column 'Top2' has missing values: see record 4; a contribution may be" in wrong.json["error"]
    )


def test_a_table_in_which_nothing_is_hidden_is_audited(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("A,V,S\nTotal,9,s\na,4,s\nb,5,z\n")
    how = ("--dimensions", "A", "--value", "V", "--status-column", "S")
    found = run("audit", tmp_path / "t.csv", *how, "--json")
    assert found.code == 0 and found.json["hidden"] == 0 and found.json["safe"]
    # Sensitive cells without a word on what is hidden are no pattern.
    (tmp_path / "t.csv").write_text("A,V,S\nTotal,9,s\na,4,u\nb,5,z\n")
    assert "name the pattern" in run("audit", tmp_path / "t.csv", *how).err


def test_codes_that_begin_with_the_usual_mark_go_to_argus_and_back(tmp_path) -> None:
    codes = ["@a", "b", "@c", "d"]
    tree = {"@a": "up", "b": "up", "@c": "down", "d": "down", "up": "", "down": ""}
    frame = pl.DataFrame({"a": codes * 3, "b": ["x", "y", "z"] * 4, "v": [float(n) for n in range(1, 13)]})
    made = tabulate(frame, ["a", "b"], value="v", rules=["frequency(2)"], hierarchies={"a": tree})
    files = argus_files(made.problem(), np.empty(0, dtype=np.int64), made.trees)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    back = tabulate(tmp_path / "table.tab")
    assert set(back.table.index) == set(made.table.index)
    assert back.trees["a"].codes == made.trees["a"].codes
