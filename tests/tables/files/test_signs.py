"""Published tables are written with the signs of those who read them, and every figure with its own decimals."""

import fastexcel
import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as run

import shoal
from shoal.errors import InputError
from shoal.tables.files.layout import Layout, crosstabs, decimals_by_cell
from shoal.tables.files.published_forms import check_html, html_page
from shoal.tables.model.tabulation import tabulate

ROWS = [
    (region, sector, f"{number + 10},5", number + 3, f"{region}{sector}{number}")
    for region in ("n", "s", "w")
    for sector in ("a", "b", "c")
    for number in range(1 if (region, sector) == ("n", "a") else 4)
]
COMMON = ("--dimensions", "region,sector", "--value", "turnover", "--rule", "frequency(3)", "--json")


@pytest.fixture
def german(tmp_path):
    path = tmp_path / "de.csv"
    lines = [";".join(map(str, row)) for row in (("region", "sector", "turnover", "staff", "firm"), *ROWS)]
    path.write_text("\n".join(lines) + "\n")
    return path


def lines(path) -> list[list[str]]:
    separator = "\t" if path.suffix == ".tsv" else ";"
    return [line.split(separator) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    "more", [(), ("--symbol", "x"), ("--rows", "region"), ("--rows", "region", "--symbol", "x")]
)
@pytest.mark.parametrize("name", ["out.csv", "out.tsv"])
def test_a_published_table_has_the_signs_of_the_input(german, name, more) -> None:
    out = german.with_name(name)
    assert run("suppress", german, *COMMON, "--published", out, *more).code == 0
    rows = lines(out)
    assert len({len(row) for row in rows}) == 1 and len(rows[0]) > 2
    assert rows[-1][-1] == "394,5" or "394,5" in rows[1]


def test_options_say_other_signs(german) -> None:
    plain = german.with_name("plain.csv")
    plain.write_text(german.read_text().replace(",", ".").replace(";", ","))
    out = german.with_name("out.csv")
    done = run(
        "suppress",
        plain,
        *COMMON,
        "--published",
        out,
        "--rows",
        "region",
        "--separator",
        ",",
        "--decimal",
        ".",
    )
    assert done.code == 0 and "394.5" in out.read_text() and ";" not in out.read_text()


def test_a_page_has_the_decimal_sign_of_the_input(german) -> None:
    out = german.with_name("out.html")
    assert run("suppress", german, *COMMON, "--published", out).code == 0
    assert "<td>394,5</td>" in out.read_text()
    table = tabulate(pl.DataFrame({"a": ["x", "y"], "v": [1.5, 2.0]}), ["a"], value="v", rules=[])
    nothing, layout = np.zeros(table.table.cells, dtype=bool), Layout(decimal=",")
    found = crosstabs(table.table, {}, layout)
    check_html(html_page(found, nothing, layout), found, nothing, layout)


@pytest.mark.parametrize("command", ["adjust", "round"])
def test_changed_tables_have_them_too(german, command) -> None:
    out = german.with_name("out.csv")
    more = ("--base", "5", "--small-totals") if command == "round" else ()
    done = run(command, german, *COMMON, "-o", out, "--rows", "region", *more)
    assert done.code == 0, done.out
    assert lines(out)[0] == ["region", "a", "b", "c", "total"]


def test_every_figure_has_its_own_decimals(german) -> None:
    out = german.with_name("out.csv")
    common = (*COMMON, "--further-value", "staff", "--published")
    assert run("suppress", german, *common, out, "--rows", "region").code == 0
    totals = {row[0]: row[-1] for row in lines(out) if row[1] == "total"}
    assert totals == {"turnover": "394,5", "staff": "147"}
    assert run("suppress", german, *common, out, "--symbol", "x", "--force").code == 0
    assert ["staff", "total", "total", "147"] in lines(out)
    sdmx = german.with_name("out.sdmx.csv")
    assert run("suppress", german, *common, sdmx).code == 0
    assert "staff,_T,_T,147,F" in sdmx.read_text() and "turnover,_T,_T,394.5,F" in sdmx.read_text()
    book = german.with_name("out.xlsx")
    assert run("suppress", german, *common, book).code == 0
    assert fastexcel.read_excel(book).sheet_names == ["Contents", "turnover", "staff"]
    table = tabulate(
        pl.DataFrame({"a": ["x", "y"], "v": [1.5, 2.0], "w": [1.0, 2.0]}),
        ["a"],
        value="v",
        further_values=["w"],
        rules=[],
    ).table
    found = decimals_by_cell(table, np.zeros(table.cells, dtype=bool), Layout())
    assert dict(zip(table.keys["figure"], found.tolist(), strict=True)) == {"v": 1, "w": 0}


@pytest.mark.parametrize("option", [("--rows", "region"), ("--columns", "sector"), ("--symbol", "x")])
def test_an_sdmx_file_takes_no_layout(german, option) -> None:
    out = german.with_name("out.sdmx.csv")
    done = run("suppress", german, *COMMON, "--published", out, *option)
    assert done.code == 2 and f"{option[0]} is for crosstabs" in done.json["error"] and not out.exists()
    review = german.with_name("review.xlsx")
    if option[0] != "--symbol":
        done = run("suppress", german, *COMMON, "--published", out, "--review", review, *option)
        assert done.code == 0 and out.exists()
    found = shoal.suppress(np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]]), sensitive=[("2", "2")])
    with pytest.raises(InputError, match="is for crosstabs"):
        found.publish(out, symbol="x")
