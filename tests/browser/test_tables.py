"""Protect a table: from records with hierarchies, an uploaded matrix and a jj file, and other patterns tried by hand."""

from pathlib import Path

import polars as pl
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from tests.browser.visitor import Visitor

import shoal
from shoal.tables.files import jj

pytestmark = pytest.mark.xdist_group("browser")

MATRIX = "row,a,b,c,d\nn,10,20,30,25\ne,40,50,60,15\ns,70,80,90,35\nw,20,45,15,65\n"


def _cell(visitor: Visitor, row: str, column: str) -> WebElement:
    return visitor.one(f".shoal-cells td[aria-label^='{row}, {column}:']")


def _labels(visitor: Visitor, kind: str) -> list[str]:
    found = visitor.all(f".shoal-cells td.{kind}")
    return [str(item.get_attribute("aria-label")).partition(":")[0] for item in found]


def _verdict(visitor: Visitor, words: str) -> None:
    visitor.until(lambda: words in visitor.one("[data-test=verdict]").text, what=f"the verdict {words!r}")


def _into(visitor: Visitor, field: str, file: Path) -> None:
    """Upload a file into a field of the form and wait until it is chosen there."""
    row = visitor.driver.find_element(By.CSS_SELECTOR, f'[data-field="{field}"]')
    row.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(str(file))
    visitor.until(lambda: file.name.partition(".")[0] in row.text, what=f"{file.name} in {field}")


def _press(visitor: Visitor, name: str) -> None:
    """Change a cell by hand."""
    row, column = name.split(", ")
    visitor.click(lambda: _cell(visitor, row, column))


def _have_business(visitor: Visitor) -> None:
    """Firms with a third dimension."""
    visitor.have("firms")
    frame = pl.read_parquet(visitor.served.folder / "data" / "firms.parquet")
    size = pl.when(pl.col("staff") > 20).then(pl.lit("large")).otherwise(pl.lit("small")).alias("size")
    visitor.have("business", frame.with_columns(size).write_csv().encode())


def test_records_to_a_published_table(visitor: Visitor, downloads: Path) -> None:
    visitor.have("firms")
    visitor.open("/tables?data=firms")
    visitor.choose("Sum of", "turnover")
    visitor.press("Tabulate")
    visitor.state("done")
    visitor.see("Nothing is hidden yet but the sensitive cells")
    visitor.shot("table-tabulated")
    visitor.fill("Time limit", "20")
    visitor.unfold("More options")
    visitor.fill("Roundings", "-3")
    visitor.see("must be at least 0")
    visitor.press("Suppress")
    visitor.see("option 'roundings' of method 'auto'")
    visitor.fill("Roundings", "6")
    visitor.see("On the command line: --option roundings=6")
    visitor.shot("table-options")
    visitor.press("Suppress")
    visitor.see("Safe against an outsider", "1 sole contributor who knows its own cells")
    visitor.state("done")
    visitor.see("Sensitive by rule", "internal use")
    assert visitor.all(".shoal-cells td.primary")
    # Showing a hidden cell breaks the pattern, hiding it again mends it; the answer comes at once.
    _verdict(visitor, "Safe:")
    visitor.whole("table")
    hidden = _labels(visitor, "complementary")
    _press(visitor, hidden[0])
    _verdict(visitor, "Not safe.")
    visitor.see("attacker's interval", "Changed by hand: 0 more hidden, 1 shown")
    visitor.see("these figures are of the pattern searched for", "These files hold the pattern searched for")
    assert visitor.all(".shoal-stale .shoal-fact.good")
    assert visitor.all(".shoal-cells td.failing")
    visitor.whole("table-unsafe")
    # By keyboard: the cell that was pressed has kept the focus, and arrows go to its neighbours and back.
    visitor.until(
        lambda: visitor.driver.switch_to.active_element.get_attribute("data-cell"), what="the focus on a cell"
    )
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.ENTER):
        visitor.driver.switch_to.active_element.send_keys(key)
    _verdict(visitor, "Safe:")
    assert not visitor.all(".shoal-stale")
    visitor.click(lambda: visitor.one("[data-file='published.csv']"))
    visitor.until((downloads / "published.csv").exists, what="the download")
    published = pl.read_csv(downloads / "published.csv", infer_schema=False)
    away = visitor.all(".shoal-cells td.primary, .shoal-cells td.complementary")
    assert published["value"].to_list().count("x") == len(away)


def test_three_dimensions_with_a_hierarchy(visitor: Visitor, tmp_path: Path, downloads: Path) -> None:
    _have_business(visitor)
    (tmp_path / "areas.hrc").write_text("mainland\n@north\n@east\n@south\n@west\noverseas\n@islands\n")
    known = pl.DataFrame({"region": ["north"], "sector": ["food"], "size": ["total"], "status": ["z"]})
    known.write_csv(tmp_path / "known.csv")
    visitor.open("/tables?data=business")
    visitor.choose("Dimensions", "size")
    visitor.choose("Sum of", "turnover")
    visitor.press("Add a rule")
    assert len(visitor.all(".shoal-rule")) == 3
    visitor.unfold("Hierarchies")
    _into(visitor, "Hierarchy of region", tmp_path / "areas.hrc")
    visitor.unfold("Holdings")
    _into(visitor, "A-priori file", tmp_path / "known.csv")
    visitor.fill("Time limit", "3")
    visitor.whole("table-form")
    visitor.press("Suppress")
    visitor.state("done")
    visitor.see("dominance(1,75)", "Methods compared on this table")
    _verdict(visitor, "Safe:")
    rows = [item.text for item in visitor.all(".shoal-cells tbody th")]
    assert rows == ["east", "north", "south", "west", "mainland", "islands", "overseas", "total"]
    assert (
        visitor.one(".shoal-cells td.always").get_attribute("aria-label") == "north, food: always published"
    )
    # Look at it from another side.
    visitor.choose("At size", "large")
    visitor.until(lambda: visitor.all(".shoal-cells td.complementary"), what="hidden cells among large firms")
    visitor.whole("table-hierarchy")
    visitor.choose("Rows", "size")
    visitor.until(lambda: "large" in visitor.one(".shoal-cells tbody").text, what="size in the rows")
    assert [item.text for item in visitor.all(".shoal-cells tbody th")] == ["large", "small", "total"]
    visitor.choose("Other methods", "general")
    visitor.press("Run them too")
    visitor.until(lambda: len(visitor.all("tr.shoal-this")) == 1, what="the comparison")
    visitor.until(
        lambda: "general done" in visitor.one("tr.shoal-this").find_element(By.XPATH, "..").text,
        "the end of the other method",
    )
    visitor.whole("table-compared")
    visitor.click(lambda: visitor.one("[data-file='table.jj']"))
    visitor.until((downloads / "table.jj").exists, what="the jj file")
    contents = jj.read(downloads / "table.jj")
    pattern = [(str(cell),) for cell in contents.hidden]
    assert contents.problem.table.cells == 8 * 9 * 3
    assert shoal.audit(contents.problem, pattern).unsafe.size == 0


def test_an_uploaded_table_marked_and_changed_by_hand(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text(MATRIX)
    (tmp_path / "secret.csv").write_text("row,column,lower,upper\ns,c,20,20\n")
    visitor.have("firms")
    visitor.open("/tables")
    _into(visitor, "Data", tmp_path / "matrix.csv")
    visitor.see("No cell is marked as sensitive yet.")
    visitor.press("Suppress")
    visitor.see("say which cells are sensitive")
    _into(visitor, "Sensitive cells", tmp_path / "secret.csv")
    visitor.press("Mark the sensitive cells")
    visitor.click(lambda: _cell(visitor, "e", "b"))
    visitor.see("Sensitive (1): e, b")
    visitor.shot("table-marking")
    visitor.choose("Method", "heurgene")
    visitor.press("Suppress")
    visitor.state("done")
    _verdict(visitor, "Safe:")
    assert set(_labels(visitor, "primary")) == {"e, b", "s, c"}
    spare = next(
        name for name in _labels(visitor, "cell:not(.primary):not(.complementary)") if "total" not in name
    )
    _press(visitor, spare)
    visitor.press("Audit and keep this pattern")
    visitor.see("Audit of matrix, by hand")
    visitor.state("done")
    _verdict(visitor, "Safe:")
    assert visitor.one("[data-file='published.csv']")


def test_a_jj_file_and_its_relations(visitor: Visitor, tmp_path: Path) -> None:
    import numpy as np

    numbers = np.array([[10.0, 20, 30, 15], [40, 50, 60, 25], [70, 80, 90, 45]])
    given = shoal.suppress(numbers, sensitive=[("2", "2")])
    (tmp_path / "general.jj").write_text(jj.write(given.problem, given.complementary))
    visitor.have("firms")
    visitor.open("/tables")
    _into(visitor, "Data", tmp_path / "general.jj")
    visitor.see("A general table of 20 cells, 1 of them sensitive, and 9 relations.")
    visitor.unfold("Audit a pattern instead")
    visitor.press("Audit")
    visitor.see("as the file marks it")
    visitor.state("done")
    _verdict(visitor, "Safe:")
    visitor.press("Suppress")
    visitor.see("general, auto")
    visitor.state("done")
    _verdict(visitor, "Safe:")
    visitor.see("Every row is a relation through the cell.")
    assert len(visitor.all(".shoal-cells tbody tr")) == 2
    visitor.whole("table-jj")


def test_linked_tables_in_the_dark_on_a_small_screen(visitor: Visitor) -> None:
    _have_business(visitor)
    run = visitor.run(
        "suppress",
        data="business",
        dimensions=["region", "sector"],
        linked=[["region", "size"]],
        value="turnover",
        method="general",
    )
    visitor.driver.set_window_size(760, 900)
    visitor.open(f"/tables?run={run}")
    visitor.press("Light or dark")
    _verdict(visitor, "Safe:")
    visitor.see("Dimensions of table 2", "At size")
    visitor.whole("table-dark-small")
    visitor.choose("At size", "large")
    assert [item.text for item in visitor.all(".shoal-cells thead th")][-1] == "total"
    visitor.press("Light or dark")
    assert not visitor.complaints()


def test_figures_are_changed_on_a_page_of_their_own(visitor: Visitor, downloads: Path) -> None:
    frame = pl.DataFrame(
        {
            "area": ["north", "south", "east"] * 40,
            "sex": ["f", "m"] * 60,
            "person": [f"p{number}" for number in range(120)],
        }
    )
    visitor.have("dwelling", frame.write_csv().encode())
    visitor.complaints()
    visitor.open("/change?data=dwelling")
    visitor.see("Round to multiples of a base that add up")
    visitor.fill("Base", "5")
    visitor.press("Change figures")
    visitor.state("done")
    visitor.see("Protected against", "Randomness: a secret.")
    visitor.click(lambda: visitor.one("[data-file='rounded.csv']"))
    visitor.until((downloads / "rounded.csv").exists, what="the download")
    rounded = pl.read_csv(downloads / "rounded.csv")
    assert (rounded["value"] % 5 == 0).all() and rounded.height == 12
    visitor.choose("What is done", "Perturb counts by the keys of their records")
    visitor.see("Largest change", "Records are told apart by")
    assert "What every figure becomes" not in visitor.text
    visitor.press("Change figures")
    visitor.state("done")
    visitor.one("[data-file='counts.csv']")
    assert not visitor.complaints()


def test_what_is_published_beside_a_table_is_audited_with_it(visitor: Visitor, tmp_path: Path) -> None:
    """Two published breakdowns, and squares that lie across districts: a union of districts gives a small count away."""
    (tmp_path / "district.csv").write_text("district,value\nd1,15\nd2,15\nd3,7\ntotal,37\n")
    (tmp_path / "grid.csv").write_text("grid,value\ng1,9\ng2,11\ng3,8\ng4,9\ntotal,37\n")
    (tmp_path / "lies.csv").write_text("grid,district\ng1,d1\ng2,d1\ng2,d2\ng3,d2\ng4,d2\ng4,d3\n")
    visitor.have("firms")
    visitor.open("/tables")
    _into(visitor, "Data", tmp_path / "district.csv")
    visitor.unfold("Audit a pattern instead")
    visitor.press("Audit")
    visitor.see("choose the pattern to audit, or upload it")
    visitor.unfold("Published beside it")
    _into(visitor, "Published beside it", tmp_path / "grid.csv")
    _into(visitor, "Areas that lie in others", tmp_path / "lies.csv")
    visitor.press("Audit")
    visitor.see("1 union of areas leaves a count from 1 to 2 without those inside")
    visitor.see("Tables beside it that give something away with this one: 1.")
