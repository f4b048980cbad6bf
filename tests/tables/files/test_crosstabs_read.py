"""Crosstabs that were published are read back by their dimensions, and audited like any other published table."""

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal as run

import shoal
from shoal.errors import InputError, as_keyword, as_option, spelled
from shoal.tables.files.crosstabs_read import cells_of_crosstab, crosstabs_in
from shoal.tables.files.layout import Layout, as_frame, crosstabs
from shoal.tables.files.public_files import read_public
from shoal.tables.files.published_forms import published_as
from shoal.tables.files.workbook import review_workbook
from shoal.tables.model.tabulation import tabulate
from shoal.tables.public_table import PublicTable
from shoal.tables.published_alone import ONLY_EXACT
from shoal.tables.published_together import problem_of_public

TREE = {"n1": "N", "n2": "N", "s1": "S", "N": "", "S": ""}
LAYOUTS = [
    ((), ()),
    (("region",), ("size",)),
    (("size", "region"), ("sector",)),
    (("sector",), ("size", "region")),
    (("size", "region", "sector"), ()),
]


def made(seed: int = 1, *, further: bool = False, last: bool = False):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "region": rng.choice(["n1", "n2", "s1"], 60),
            "sector": rng.choice(["a", "b <i>", "=1+1"], 60),
            "size": rng.choice(["1/2", "2"], 60),
            "v": rng.lognormal(4, 1, 60).round(2),
            "w": rng.integers(1, 9, 60).astype(float),
        }
    )
    if last:
        frame = frame.with_columns(pl.col("v") * 1.01)
    more = {"further_values": ["w"]} if further else {}
    return tabulate(
        frame,
        ["region", "sector", "size"],
        value="v",
        hierarchies={"region": TREE},
        rules=["frequency(2)"],
        **more,
    )


def shown(table, hidden) -> dict[frozenset, float | None]:
    return {
        frozenset(table.key(cell).items()): None if hidden[cell] else float(table.values[cell])
        for cell in range(table.cells)
    }


def told(frame: pl.DataFrame) -> dict[frozenset, float | None]:
    rows = frame.rows(named=True)
    return {frozenset((k, v) for k, v in row.items() if k != "value"): row["value"] for row in rows}


@pytest.mark.parametrize("further", [False, True])
@pytest.mark.parametrize(("seed", "how"), list(enumerate(LAYOUTS)))
def test_what_is_published_is_read_back_by_its_dimensions(tmp_path, seed, how, further) -> None:
    table = made(seed, further=further)
    hidden = np.random.default_rng(seed).random(table.table.cells) < 0.3
    hidden[0] = True
    layout = Layout(*how, None, [None, "c", "−"][seed % 3], "turnover by the way")
    for name in ("a.html", "a.xlsx"):
        (tmp_path / name).write_bytes(published_as(name, table.table, hidden, table.trees, layout, "X"))
        found = told(crosstabs_in(tmp_path / name))
        assert found == pytest.approx(shown(table.table, hidden), nan_ok=True)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 40), st.sampled_from(LAYOUTS[:-1]), st.sampled_from([None, "c"]))
def test_a_crosstab_in_one_frame_takes_the_names_of_its_columns_from_other_tables(seed, how, symbol) -> None:
    table = made(seed)
    hidden = np.random.default_rng(seed).random(table.table.cells) < 0.3
    layout = Layout(*how, None, symbol)
    frame = as_frame(crosstabs(table.table, table.trees, layout), hidden, layout)
    known = {name: set(map(str, own)) - {"total"} for name, own in table.table.keys.items()}
    assert told(cells_of_crosstab(frame, known)) == pytest.approx(shown(table.table, hidden), nan_ok=True)


def test_without_other_tables_the_columns_of_a_crosstab_are_a_dimension_without_a_name() -> None:
    table = made().table
    layout = Layout(("size", "region"), ("sector",))
    frame = as_frame(crosstabs(table, {}, layout), np.zeros(table.cells, dtype=bool), layout)
    assert cells_of_crosstab(frame, {}).columns == ["size", "region", "column", "value"]
    assert read_public(frame, "t", hierarchies={"region": TREE}).dimensions == ("size", "region", "column")


def test_crosstabs_of_several_figures_are_published_tables_too() -> None:
    table = made(further=True)
    hidden = np.zeros(table.table.cells, dtype=bool)
    hidden[[table.table.find("v", "n1", "a", "1/2"), table.table.find("v", "n1", "a", "2")]] = True
    layout = Layout(("size", "region"), ("sector",), None, "x")
    frame = as_frame(crosstabs(table.table, table.trees, layout), hidden, layout)
    with pytest.warns(UserWarning, match=ONLY_EXACT.text):
        found = shoal.audit(frame, hierarchies={"region": TREE})
    assert found.cells.size == found.disclosed.size == 2 and not found.safe


def test_figures_with_a_decimal_comma_beside_symbols_are_figures() -> None:
    frame = pl.DataFrame({"row": ["a", "b", "total"], "p": ["1,5", "x", "4"], "total": ["1,5", "2.5", "4"]})
    assert read_public(frame, "m").cells["a", "p"] == 1.5
    assert read_public(frame, "m").hidden == (("b", "p"),)


def written(folder: Path, name: str, table, pattern, symbol: str | None = None) -> Path:
    """A table without the cells of a pattern, as Shoal publishes it."""
    hidden = np.zeros(table.table.cells, dtype=bool)
    hidden[[table.table.find(*cell) for cell in pattern.select("region", "sector", "size").rows()]] = True
    layout = Layout(("size", "region"), ("sector",), None, symbol)
    if name.endswith(".csv"):
        as_frame(crosstabs(table.table, table.trees, layout), hidden, layout).write_csv(folder / name)
    else:
        (folder / name).write_bytes(published_as(name, table.table, hidden, table.trees, layout, "X"))
    return folder / name


@pytest.mark.parametrize("name", ["last.xlsx", "last.html", "last.csv"])
def test_last_period_may_be_the_published_crosstabs(tmp_path, name) -> None:
    table = made()
    found = shoal.suppress(table)
    none = found.pattern.head(0)
    path = written(tmp_path, name, made(last=True), none)
    # Everything was shown last period, and figures change by 1 percent: nothing that is hidden now is uncertain enough.
    judged = shoal.audit(table, found.pattern, beside=path, change=0.02)
    assert judged.together[0].discloses and judged.together[0].figures["too_narrow"]
    frame = pl.DataFrame({**made(last=True).table.coordinates(), "value": made(last=True).table.values})
    listed = shoal.audit(table, found.pattern, beside=[(path.name, frame)], change=0.02)
    assert judged.together == listed.together


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("this.xlsx", None),
        ("this.html", "last.csv"),
        ("this.csv", "last.xlsx"),
        ("this.csv", None),
        ("this.csv", "last.csv"),
    ],
)
def test_a_published_table_alone_is_judged_alike_by_command_and_function(tmp_path, name, beside) -> None:
    table = made()
    pattern = shoal.suppress(table).pattern
    own = written(tmp_path, name, table, pattern, "c")
    (tmp_path / "h.csv").write_text("code,parent\n" + "".join(f"{k},{v}\n" for k, v in TREE.items()))
    more, options = {}, []
    if beside is not None:
        # The same table with one cell less hidden.
        other = written(tmp_path, beside, table, pattern.tail(-1), "c")
        more, options = {"beside": other}, ["--beside", other]
    command = run("audit", own, *options, "--hierarchy", f"region={tmp_path / 'h.csv'}", "--json")
    with pytest.warns(UserWarning, match=ONLY_EXACT.text):
        found = shoal.audit(own, hierarchies={"region": TREE}, **more)
    assert command.json["hidden"] == found.cells.size == pattern.height
    assert command.json["safe"] == found.safe == (beside is None)
    assert command.code == (0 if found.safe else 3)
    assert ONLY_EXACT.text in command.json["warnings"]
    for one, two in zip(command.json.get("together", []), found.together, strict=True):
        assert (one["discloses"], one["exact"]) == (two.discloses, two.figures["exact"])


@pytest.mark.parametrize(
    ("rows", "more", "words"),
    [
        ("row,a,b,total\nx,1,2,3\ny,3,4,7\ntotal,4,6,10\n", {}, "name the pattern"),
        ("region,value\nx,1\ny,3\ntotal,4\n", {}, "name the pattern: the hidden cells, all of them; the table itself hides none"),
        ("region,value\nx,\ny,\ntotal,4\n", {"protection": 0.1}, "figures of hidden cells"),
        ("region,value,status\nx,1,s\ny,3,u\ntotal,4,s\n", {"beside": "b.csv"}, "not a published one"),
        ("region,name\nx,ab\ny,cd\n", {"beside": "b.csv"}, "no published table"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused_in_the_same_words(tmp_path, monkeypatch, rows, more, words) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(rows)
    Path("b.csv").write_text("region,value\nx,1\ny,3\ntotal,4\n")
    options = [text for name, value in more.items() for text in (f"--{name}", value)]
    command = run("audit", "t.csv", *options)
    with pytest.raises(InputError, match=words) as refused, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shoal.audit("t.csv", **more)
    assert command.code == 2
    assert command.err.strip().splitlines()[-1] == f"shoal: {spelled(refused.value, as_option)}"
    assert str(refused.value) == spelled(refused.value, as_keyword)


def test_other_workbooks_and_pages_are_no_crosstabs(tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><table><tr><td>1</td></tr></table></html>")
    with pytest.raises(InputError, match="no page of crosstabs as Shoal publishes them; what can be read is"):
        crosstabs_in(page)
    table = made().table
    layout, nothing = Layout(), np.zeros(table.cells, dtype=bool)
    states = np.full(table.cells, "free")
    (tmp_path / "in.xlsx").write_bytes(review_workbook(crosstabs(table, {}, layout), nothing, layout, states))
    with pytest.raises(InputError, match="internal workbook"):
        crosstabs_in(tmp_path / "in.xlsx")
    pl.DataFrame({"region": ["x", "total"], "value": [1, 1]}).write_excel(tmp_path / "list.xlsx")
    assert crosstabs_in(tmp_path / "list.xlsx") is None
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 no workbook")
    with pytest.raises(InputError, match="is it really"):
        crosstabs_in(tmp_path / "broken.xlsx")


def test_a_published_table_that_gives_a_hidden_cell_away_is_not_safe(tmp_path) -> None:
    """Nobody knows which of its cells are sensitive, so that any that is known exactly may be."""
    rows = "region,value\nx,1\ny,\ntotal,4\n"
    (tmp_path / "t.csv").write_text(rows)
    told = run("audit", tmp_path / "t.csv", "--json")
    assert told.code == 3 and told.json["safe"] is False
    with pytest.warns(UserWarning, match=ONLY_EXACT.text):
        found = shoal.audit(tmp_path / "t.csv")
    assert not found.safe and found.disclosed.size == 1


def test_a_frame_of_pandas_names_its_rows_by_its_index_also_beside() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"a": [1.0, 2, 3], "b": [4.0, 5, 9], "total": [5.0, 7, 12]}, index=["x", "y", "total"]
    )
    matrix = frame.iloc[:-1, :-1]
    found = shoal.audit(
        matrix, [("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")], sensitive=[("x", "a")], beside=frame
    )
    assert found.together[0].discloses and found.together[0].figures["exact"] == 4


def test_a_file_that_is_not_there_and_a_hierarchy_that_goes_round_are_refused_as_such(tmp_path) -> None:
    with pytest.raises(InputError, match=r"file 'last\.html' is not in folder"):
        shoal.audit(tmp_path / "last.html")
    assert "is not in folder" in run("audit", tmp_path / "last.html").err
    own = written(tmp_path, "t.html", made(), shoal.suppress(made()).pattern)
    for beside in (None, own):
        with pytest.raises(InputError, match="hierarchy of 'region' goes round in circles"):
            shoal.audit(own, beside=beside, hierarchies={"region": {"n1": "N", "N": "n1"}})


def test_sheets_that_were_added_to_a_published_workbook_are_passed_over(tmp_path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "own.xlsx")
    notes = book.add_worksheet("Notes")
    notes.write_row(0, 0, ["c: confidential", "source: survey"])
    sheet = book.add_worksheet("Table")
    for line, row in enumerate(
        [["v by region and sector"], ["region", "a", "total"], ["n", "c", 3], ["total", 5, 8]]
    ):
        sheet.write_row(line, 0, row)
    book.add_worksheet("Legend").write_row(0, 0, ["sign", "meaning"])
    book.close()
    assert told(crosstabs_in(tmp_path / "own.xlsx"))[frozenset({("region", "n"), ("sector", "a")})] is None
    assert crosstabs_in(tmp_path / "own.xlsx", "Notes") is None


@pytest.mark.parametrize("off", [-2e-12, 2e-12])
def test_what_a_programme_ends_off_0_neither_frees_cells_nor_hides_that_they_are_known(
    monkeypatch, off
) -> None:
    """Below 0 it would be a table of figures without a lower bound; above, cells of 0 that are known would have room."""
    frame = pl.DataFrame({"a": ["x", "y", "z", "total"], "value": [None, None, 10.0, 10.0]})
    monkeypatch.setattr(PublicTable, "possible", lambda self, low: {("x",): off, ("y",): -off})
    problem, hidden = problem_of_public(read_public(frame, "t"))
    assert (problem.low == 0.0).all() and (problem.table.values[hidden] == 0.0).all()
    with pytest.warns(UserWarning, match=ONLY_EXACT.text):
        found = shoal.audit(frame)
    assert found.disclosed.size == 2 and not found.safe


def test_figures_below_0_that_are_shown_leave_no_lower_bound() -> None:
    frame = pl.DataFrame({"a": ["x", "y", "z", "total"], "value": [None, None, -1.0, -1.0]})
    with pytest.warns(UserWarning, match=ONLY_EXACT.text):
        assert shoal.audit(frame).safe


@pytest.mark.parametrize(
    "total", ["1 900", "1,900,000", "1'900", "1900 e", "(1900)", "100 %", "1\u202f900", "−5"]
)
def test_figures_that_are_no_numbers_are_not_taken_for_hidden_cells(tmp_path, total) -> None:
    """Hidden, they would leave room where a reader has none."""
    (tmp_path / "t.csv").write_text(f'region,value\nx,c\ny,900\ntotal,"{total}"\n', encoding="utf-8")
    with pytest.raises(InputError, match="not written as a number"):
        shoal.audit(tmp_path / "t.csv")
    frame = pl.DataFrame({"row": ["a", "total"], "p": ["x", total], "total": ["5", "x"]})
    with pytest.raises(InputError, match="not written as a number"):
        read_public(frame, "m")
    cells = pl.DataFrame({"g": ["u", "u"], "row": ["a", "total"], "p": ["x", total], "total": ["5", "x"]})
    with pytest.raises(InputError, match="not written as a number"):
        cells_of_crosstab(cells, {"row": ["a"], "g": ["u"]})


def test_a_total_that_is_called_otherwise_is_not_overlooked(tmp_path) -> None:
    lines = ["x,a,", "x,b,2", "x,Summe,3", "y,a,3", "y,b,4", "y,Summe,7", "z,a,3", "z,b,1", "z,Summe,4"]
    text = "region,sector,value\n" + "\n".join([*lines, "total,a,", "total,b,7", "total,Summe,14"]) + "\n"
    (tmp_path / "t.csv").write_text(text)
    told = run("audit", tmp_path / "t.csv")
    assert told.code == 2 and "--total sector=Summe" in told.err
    with pytest.warns(UserWarning, match=ONLY_EXACT.text):
        found = shoal.audit(tmp_path / "t.csv", total={"sector": "Summe"})
    assert found.disclosed.size == 2


def test_hidden_figures_below_nothing_are_said_to_be(tmp_path: Path) -> None:
    """A table that shows no figure below 0 may hide some; without a word on that, no figures fit."""
    shown = tmp_path / "shown.csv"
    shown.write_text("row,a,b,c,total\nx,,,20,25\ny,7,8,9,24\nz,1,2,3,6\ntotal,3,20,32,55\n")
    refused = run("audit", shown)
    assert refused.code == 2 and "--low" in refused.err and "--rounding" in refused.err
    found = run("audit", shown, "--low", "-100", "--json")
    assert found.code == 3 and len(found.json["disclosed"]) == 2
    with pytest.warns(UserWarning, match="published table"):
        assert shoal.audit(shown, low=-100.0).disclosed.size == 2


def test_figures_that_fit_have_no_gap_to_tell(tmp_path: Path) -> None:
    shown = tmp_path / "shown.csv"
    shown.write_text("row,a,b,total\nx,10,,30\ny,5,7,12\ntotal,15,27,42\n")
    assert "largest_gap" not in run("audit", shown, "--tolerance", "1", "--json").json


@pytest.mark.parametrize(
    "rows",
    [
        "region,sector,value\nn,a,\nn,b,\nn,Total,40\ns,a,\ns,b,\ns,Total,60\nTotal,a,50\nTotal,b,x\nTotal,Total,100\n",
        "region,a,b,Total\nn,,,40\ns,,,60\nTotal,50,,100\n",
    ],
)
def test_cells_are_named_as_the_file_names_them_and_have_no_made_up_figure(tmp_path: Path, rows) -> None:
    (tmp_path / "t.csv").write_text(rows)
    told = run("audit", tmp_path / "t.csv", "-o", tmp_path / "i.csv", "--json")
    assert [list(cell.values()) for cell in told.json["disclosed"]] == [["Total", "b"]]
    assert "Total, " in run("audit", tmp_path / "t.csv").out
    found = pl.read_csv(tmp_path / "i.csv")
    assert found["value"].null_count() == found.height == 5
    assert found.filter(pl.col("min") == 50).rows()[0][:2] == ("Total", "b")


def test_a_matrix_keeps_the_name_of_its_totals(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("region,a,b,Total\nn,10,30,40\ns,40,20,60\nTOTAL,50,50,100\n")
    (tmp_path / "p.csv").write_text("row,column,kind\nn,a,primary\nTOTAL,a,complementary\n")
    told = run("audit", tmp_path / "t.csv", tmp_path / "p.csv", "-o", tmp_path / "i.csv", "--json")
    assert told.code == 3 and told.json["disclosed"] == [{"row": "TOTAL", "column": "a"}]
    assert pl.read_csv(tmp_path / "i.csv")["value"].to_list() == [10, 50]
    (tmp_path / "old.csv").write_text("row,column,kind\nn,a,primary\ntotal,a,complementary\n")
    assert run("audit", tmp_path / "t.csv", tmp_path / "old.csv", "--json").json["hidden"] == 2
    run(
        "suppress", tmp_path / "t.csv", "--sensitive", tmp_path / "p.csv", "--published", tmp_path / "out.csv"
    )
    shown = pl.read_csv(tmp_path / "out.csv")
    assert shown.columns[-1] == "Total" and shown["region"][-1] == "TOTAL"


def test_cells_known_beside_another_table_are_named_as_the_file_names_them(tmp_path: Path) -> None:
    rows = ["n,a,", "n,b,", "n,All,40", "s,a,", "s,b,", "s,All,60", "All,a,", "All,b,", "All,All,100"]
    (tmp_path / "t.csv").write_text("\n".join(["region,sector,value", *rows, ""]))
    (tmp_path / "b.csv").write_text("sector,value\na,50\nb,50\nTotal,100\n")
    told = run("audit", tmp_path / "t.csv", "--beside", tmp_path / "b.csv", "--json")
    assert told.json["together"][0]["cells"] == [{"region": "All", "sector": code} for code in "ab"]


def test_a_dimension_without_a_known_total_is_named(tmp_path: Path) -> None:
    """With a single slice that shows everything nobody can tell whether a code is the sum of the others."""
    lines = [
        "x,a,",
        "x,b,2",
        "x,Summe,3",
        "y,a,3",
        "y,b,4",
        "y,Summe,7",
        "Total,a,",
        "Total,b,6",
        "Total,Summe,10",
    ]
    (tmp_path / "t.csv").write_text("\n".join(["region,sector,value", *lines, ""]))
    told = run("audit", tmp_path / "t.csv")
    assert told.code == 0 and "--total sector=CODE" in told.err and "'region'" not in told.err
    assert told.err.count("known as its total") == 1
    with pytest.warns(UserWarning) as said:
        shoal.audit(tmp_path / "t.csv")
    assert any("dimension 'sector' is known as its total" in str(item.message) for item in said)
    named = run("audit", tmp_path / "t.csv", "--total", "sector=Summe")
    assert named.code == 3 and "known as its total" not in named.err
    (tmp_path / "b.csv").write_text("region,value\nx,3\ny,7\nTotal,10\n")
    beside = run("audit", tmp_path / "b.csv", "--beside", tmp_path / "t.csv", "--json").json["together"][0]
    assert beside["detail"].endswith("it has no code that is known as the total of 'sector'")


def test_commas_that_may_be_between_thousands_are_asked_about(tmp_path: Path) -> None:
    """Read as 1.9 they would make a table of other figures."""
    shapes = {
        "value": 'region,value\nx,c\ny,900\ntotal,"1,900"\n',
        "a": 'row,a,total\nx,c,c\ny,900,c\ntotal,"1,900",c\n',
        "p": 'g,row,p,total\nu,x,c,c\nu,total,"1,900",c\ntotal,x,c,c\ntotal,total,c,c\n',
    }
    for column, text in shapes.items():
        (tmp_path / "t.csv").write_text(text)
        told = run("audit", tmp_path / "t.csv")
        assert told.code == 2 and f"column '{column}'" in told.err and "--decimal comma" in told.err
        assert "1,900" not in told.err
        with pytest.raises(InputError, match=f"column '{column}' have commas"):
            shoal.audit(tmp_path / "t.csv")
        with pytest.raises(InputError, match=f"column '{column}' have commas"):
            read_public(pl.read_csv(tmp_path / "t.csv"), "t", known={"row": ["x"]})


def test_a_decimal_comma_that_is_said_or_clear_is_one(tmp_path: Path) -> None:
    rows = "region;value\nx;c\ny;0{}900\ntotal;1{}900\n"
    (tmp_path / "t.csv").write_text(rows.format(",", ","))
    assert run("audit", tmp_path / "t.csv").code == 3
    (tmp_path / "t.csv").write_text(rows.replace("0{}", "1{}").replace("l;1", "l;3").format(",", ","))
    assert run("audit", tmp_path / "t.csv").code == 2
    told = run("audit", tmp_path / "t.csv", "--decimal", "comma", "-o", tmp_path / "i.csv")
    assert told.code == 3 and pl.read_csv(tmp_path / "i.csv")["min"].to_list() == [2.0]
    beside = ("audit", tmp_path / "b.csv", "--beside", tmp_path / "t.csv")
    (tmp_path / "b.csv").write_text("region;value\nx;2\ny;1,9\ntotal;3,9\n")
    assert "--decimal comma" in run(*beside).err
    assert "as one system" in run(*beside, "--decimal", "comma", "--json").json["together"][0]["detail"]


def test_several_figures_in_one_file_without_columns_are_a_published_table(tmp_path: Path) -> None:
    table = made(further=True)
    hidden = np.zeros(table.table.cells, dtype=bool)
    hidden[[table.table.find("v", "n1", "a", "1/2"), table.table.find("v", "n1", "a", "2")]] = True
    layout = Layout(("size", "region", "sector"), (), None, "x")
    frame = as_frame(crosstabs(table.table, table.trees, layout), hidden, layout)
    assert frame.columns == ["size", "region", "sector", "v", "w"]
    frame.write_csv(tmp_path / "t.csv")
    (tmp_path / "h.csv").write_text("code,parent\n" + "".join(f"{k},{v}\n" for k, v in TREE.items()))
    told = run("audit", tmp_path / "t.csv", "--hierarchy", f"region={tmp_path / 'h.csv'}", "--json")
    assert told.code == 3 and len(told.json["disclosed"]) == told.json["hidden"] == 2
    # Records whose codes are called totals are none.
    records = pl.DataFrame(
        {"a": ["x", "Total"] * 2, "b": ["p", "q", "r", "s"], "v": [1, 2, None, 4], "w": [1, 2, 3, 4]}
    )
    records.write_csv(tmp_path / "r.csv")
    assert run("audit", tmp_path / "r.csv").code == 2


def test_a_figure_may_be_called_like_a_caption(tmp_path: Path) -> None:
    """Its name may have the words in it by which a caption names the rows."""
    table = made(2)
    hidden = np.zeros(table.table.cells, dtype=bool)
    hidden[3] = True
    layout = Layout(("region",), ("size",), None, "c", "area by region and owner")
    for name in ("a.html", "a.xlsx"):
        (tmp_path / name).write_bytes(published_as(name, table.table, hidden, table.trees, layout, "X"))
        assert told(crosstabs_in(tmp_path / name)) == pytest.approx(shown(table.table, hidden), nan_ok=True)


def test_a_hierarchy_of_no_dimension_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("region,value\nn1,\nn2,\ns,5\ntotal,9\n")
    (tmp_path / "b.csv").write_text("region,size,value\nn1,a,\nn2,a,\ns,a,5\ntotal,a,9\n")
    (tmp_path / "h.csv").write_text("code,parent\nn1,N\nn2,N\n")
    named, given = f"Region={tmp_path / 'h.csv'}", ["--beside", tmp_path / "b.csv"]
    for more in ([], given):
        refused = run("audit", tmp_path / "t.csv", "--hierarchy", named, *more)
        assert refused.code == 2 and "dimension 'Region', and the published table has region" in refused.err
    # The other table may have it.
    of_size = f"size={tmp_path / 'h.csv'}"
    assert run("audit", tmp_path / "t.csv", "--hierarchy", of_size, *given).code != 2
    assert run("audit", tmp_path / "t.csv", "--hierarchy", of_size).code == 2
