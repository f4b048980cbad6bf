"""Protect a table: from records and from an uploaded matrix, and other patterns tried by hand."""

import time
from pathlib import Path

import polars as pl
import pytest
from selenium.webdriver.remote.webelement import WebElement
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.xdist_group("browser")

MATRIX = "row,a,b,c,d\nn,10,20,30,25\ne,40,50,60,15\ns,70,80,90,35\nw,20,45,15,65\n"


def _cell(visitor: Visitor, row: str, column: str) -> WebElement:
    return visitor.one(f".shoal-cells td[aria-label^='{row}, {column}:']")


def _verdict(visitor: Visitor, words: str) -> None:
    visitor.until(lambda: words in visitor.one("[data-test=verdict]").text, what=f"the verdict {words!r}")


def test_records_to_a_published_table(visitor: Visitor, downloads: Path) -> None:
    visitor.have("firms")
    visitor.open("/tables?data=firms")
    visitor.choose("Sum of", "turnover")
    visitor.fill("Time limit", "20")
    visitor.press("Suppress")
    visitor.state("done")
    visitor.see("Sensitive by rule", "Safe against an outsider", "internal use")
    assert visitor.all(".shoal-cells td.primary")
    visitor.whole("table")
    # Showing a hidden cell breaks the pattern, hiding it again mends it; the answer comes at once.
    _verdict(visitor, "Safe:")
    cell = (
        visitor.all(".shoal-cells td.complementary")[0]
        .get_attribute("aria-label")
        .partition(":")[0]
        .split(", ")
    )
    visitor.click(lambda: _cell(visitor, *cell))
    _verdict(visitor, "Not safe.")
    visitor.see("attacker's interval")
    visitor.shot("table-unsafe")
    since = time.monotonic()
    visitor.click(lambda: _cell(visitor, *cell))
    _verdict(visitor, "Safe:")
    assert time.monotonic() - since < 4
    visitor.click(lambda: visitor.one("[data-file='published.csv']"))
    visitor.until((downloads / "published.csv").exists, what="the download")
    published = pl.read_csv(downloads / "published.csv", infer_schema=False)
    hidden = visitor.all(".shoal-cells td.primary, .shoal-cells td.complementary")
    assert published["value"].to_list().count("x") == len(hidden)


def test_an_uploaded_table_marked_and_changed_by_hand(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text(MATRIX)
    visitor.open("/data")
    visitor.upload(tmp_path / "matrix.csv")
    visitor.see("Columns of matrix")
    visitor.open("/tables?data=matrix")
    visitor.see("No cell is marked as sensitive yet.")
    visitor.press("Mark the sensitive cells")
    visitor.click(lambda: _cell(visitor, "e", "b"))
    visitor.see("Sensitive (1): e, b")
    visitor.shot("table-marking")
    visitor.press("Suppress")
    visitor.state("done")
    _verdict(visitor, "Safe:")
    free = [
        item.get_attribute("aria-label")
        for item in visitor.all(".shoal-cells td.cell:not(.primary):not(.complementary)")
    ]
    spare = next(label for label in free if "total" not in label).partition(":")[0].split(", ")
    visitor.click(lambda: _cell(visitor, *spare))
    visitor.press("Audit and keep this pattern")
    visitor.see("Audit of matrix by hand")
    visitor.state("done")
    _verdict(visitor, "Safe:")
    assert visitor.one("[data-file='published.csv']")


def test_what_cannot_be_protected_is_told(visitor: Visitor) -> None:
    visitor.have("firms")
    visitor.open("/tables?data=firms")
    visitor.fill("Rules", "frequncy(3)")
    visitor.press("Suppress")
    visitor.see("rule 'frequncy' is not a rule; did you mean 'frequency'?")
