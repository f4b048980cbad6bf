"""Tables as people publish them: crosstabs whose figures are numbers, and nothing that is hidden anywhere."""

import csv
import io
import re
import zipfile

import fastexcel
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal as run

import shoal
from shoal.errors import InputError
from shoal.tables.files.layout import Layout, crosstabs
from shoal.tables.files.published_forms import check_html, check_sdmx, html_page, published_as, sdmx_csv
from shoal.tables.files.workbook import check_workbook, published_workbook, review_workbook
from shoal.tables.model.tabulation import tabulate

TREE = {"n1": "N", "n2": "N", "s1": "S", "N": "", "S": ""}


def records(seed: int = 1, size: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "region": rng.choice(["n1", "n2", "s1"], size),
            "sector": rng.choice(["a", "b <i>", "=1+1"], size),
            "size": rng.choice(["1/2", "2"], size),
            "v": rng.lognormal(4, 1, size).round(2),
        }
    )


def made(seed: int = 1):
    return tabulate(records(seed), ["region", "sector", "size"], value="v", hierarchies={"region": TREE})


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(), ("region",), ("size", "region"), ("sector",)]),
    st.sampled_from([None, 0, 1]),
    st.sampled_from([None, "c", "..", "−"]),
)
def test_every_form_shows_what_may_be_shown_and_nothing_else(seed, rows, decimals, symbol) -> None:
    table = made(seed % 40)
    rng = np.random.default_rng(seed)
    hidden = rng.random(table.table.cells) < 0.3
    layout = Layout(rows, (), decimals, symbol, "turnover")
    found = crosstabs(table.table, table.trees, layout)
    assert sorted(c for part in found.slices for c in part.cells.ravel()) == list(range(table.table.cells))
    for name in ("a.xlsx", "a.html", "a.sdmx.csv"):
        content = published_as(name, table.table, hidden, table.trees, layout, "X:Y(1.0)")
        assert content == published_as(name, table.table, hidden, table.trees, layout, "X:Y(1.0)")
    # Every check fails for a file that shows one hidden cell, or hides one that is shown.
    other = hidden.copy()
    cell = int(rng.integers(hidden.size))
    other[cell] = ~other[cell]
    with pytest.raises(AssertionError):
        check_workbook(published_workbook(found, hidden, layout), found, other, layout)
    with pytest.raises(AssertionError):
        check_html(html_page(found, hidden, layout), found, other, layout)
    with pytest.raises(AssertionError):
        check_sdmx(sdmx_csv(table.table, hidden, layout, "X"), table.table, other, layout)


def test_figures_are_numbers_and_symbols_stand_in_hidden_cells_only(tmp_path) -> None:
    records().write_csv(tmp_path / "firms.csv")
    (tmp_path / "r.hrc").write_text("N\n@n1\n@n2\nS\n@s1\n")
    command = ("suppress", tmp_path / "firms.csv", "--dimensions", "region,sector,size", "--value", "v",
               "--hierarchy", f"region={tmp_path / 'r.hrc'}", "--json")  # fmt: skip
    found = run(*command, "--published", tmp_path / "out.xlsx", "--review", tmp_path / "review.xlsx",
                "-o", tmp_path / "p.csv", "--symbol", "c", "--decimals", 1)  # fmt: skip
    assert found.code == 0, found.err
    book = fastexcel.read_excel(tmp_path / "out.xlsx")
    assert book.sheet_names == ["Contents", "1 2", "2", "total"]
    texts = numbers = 0
    for name in book.sheet_names[1:]:
        grid = pl.read_excel(tmp_path / "out.xlsx", sheet_name=name, has_header=False)
        assert grid.row(0)[0].startswith("v by region and sector; size: ")
        assert grid.row(1) == ("region", "=1+1", "a", "b <i>", "total")
        assert [row[0] for row in grid.rows()[2:]] == ["N", "n1", "n2", "S", "s1", "total"]
        raw = book.load_sheet(name, header_row=None, skip_rows=2).to_polars()
        for column in raw.columns[1:]:
            for item in raw[column].to_list():
                shown = str(item)
                texts += shown == "c"
                numbers += shown != "c"
                assert shown == "c" or round(float(shown), 1) == float(shown)
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        # A number has no type of its own in the file; a text has.
        sheets = [archive.read(f"xl/worksheets/sheet{place}.xml").decode() for place in (2, 3, 4)]
    plain = sum(len(re.findall(r'<c r="[A-Z]+[0-9]+"(?: s="[0-9]+")?><v>', sheet)) for sheet in sheets)
    assert plain == numbers
    hidden = pl.read_csv(tmp_path / "p.csv")
    assert texts == hidden.height == found.json["primary"] + found.json["complementary"]
    assert texts + numbers == 6 * 4 * 3
    assert fastexcel.read_excel(tmp_path / "review.xlsx").sheet_names[-1] == "Legend"
    wide = run(*command, "--published", tmp_path / "wide.csv", "--rows", "region", "--columns", "sector,size")
    assert wide.code == 0
    lines = list(csv.reader(io.StringIO((tmp_path / "wide.csv").read_text())))
    assert lines[0][:2] == ["region", "=1+1 | 1/2"] and len(lines) == 7 and lines[-1][0] == "total"
    sdmx = run(*command, "--published", tmp_path / "o.sdmx.csv", "--dataflow", "ESTAT:SBS(1.0)")
    assert sdmx.code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "o.sdmx.csv").read_text())))
    assert len(rows) == 72 and {row["DATAFLOW"] for row in rows} == {"ESTAT:SBS(1.0)"}
    assert {(row["OBS_VALUE"] == "", row["CONF_STATUS"]) for row in rows} == {(True, "C"), (False, "F")}
    assert any(row["region"] == "_T" for row in rows)


def test_a_page_holds_no_mark_up_of_the_data() -> None:
    table = made()
    page = html_page(crosstabs(table.table, table.trees, Layout()), np.zeros(72, dtype=bool), Layout())
    assert "<i>" not in page and "b &lt;i&gt;" in page and "http" not in page


def test_what_is_internal_shows_states(tmp_path) -> None:
    table = made()
    found = shoal.suppress(table, method="general")
    states = np.where(found.problem.is_sensitive, "primary", "free")
    tabs = crosstabs(table.table, table.trees, Layout())
    content = review_workbook(tabs, found.problem.is_sensitive, Layout(), states)
    legend = fastexcel.read_excel(content).load_sheet("Legend").to_polars()
    assert dict(legend.select("state", "cells").rows()[:1]) == {"primary": found.problem.sensitive.size}
    found.publish(tmp_path / "out.html", rows=["region"], columns=["sector", "size"], decimals=0)
    assert "<td>x</td>" in (tmp_path / "out.html").read_text()
    with pytest.raises(InputError, match="ends in"):
        found.publish(tmp_path / "out.txt")


def test_layouts_that_cannot_be_are_refused_before_the_search(tmp_path) -> None:
    table = made()
    for rows, columns, words in (
        (("region", "region"), (), "named twice"),
        (("regoin",), (), "did you mean 'region'"),
        ((), ("region", "sector", "size"), "leave at least one dimension"),
    ):
        with pytest.raises(InputError, match=words):
            crosstabs(table.table, table.trees, Layout(rows, columns))
    many = tabulate(pl.DataFrame({"a": range(30), "b": range(30), "c": range(30)}), ["a", "b", "c"])
    assert len(crosstabs(many.table, many.trees, Layout()).slices) == 31
    records().write_csv(tmp_path / "firms.csv")
    command = (
        "suppress",
        tmp_path / "firms.csv",
        "--dimensions",
        "region,sector",
        "--value",
        "v",
        "--rows",
        "region",
    )
    refused = run(*command, "-o", tmp_path / "p.csv")
    assert refused.code == 2 and "--published" in refused.err


def test_a_matrix_keeps_its_order_and_linked_tables_leave_places_empty(tmp_path) -> None:
    found = shoal.suppress(np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]]), sensitive=[("2", "2")])
    found.publish(tmp_path / "m.xlsx", symbol="-")
    grid = pl.read_excel(tmp_path / "m.xlsx", has_header=False)
    assert grid.row(1) == ("row", "1", "2", "3", "total")
    from shoal.tables.model.linked import link

    frame = records()
    one, two = (tabulate(frame, ["region", other], value="v") for other in ("sector", "size"))
    linked = link([one, two])
    tabs = crosstabs(linked.table, linked.trees, Layout())
    assert any((part.cells < 0).any() for part in tabs.slices)
    published_workbook(tabs, np.zeros(linked.table.cells, dtype=bool), Layout())
