"""The published table in the form that the ending of its file names: a workbook, a page, SDMX-CSV, or a frame."""

import csv
import io
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from shoal.errors import InputError, parameter
from shoal.report.markup import Markup, element, joined
from shoal.tables.files.layout import (
    Crosstabs,
    Layout,
    Slice,
    crosstabs,
    decimals_by_cell,
    figure_of,
    written,
)
from shoal.tables.files.publishing import check_symbol
from shoal.tables.files.workbook import expect_figure, published_workbook
from shoal.tables.model.table import TOTAL, Table
from shoal.tables.model.trees import Tree

#: Endings of forms that hold more than a frame can.
ENDINGS = (".xlsx", ".html", ".sdmx.csv")
_SDMX_TOTAL = "_T"
_STYLE = (
    "<style>body{font-family:system-ui,sans-serif;margin:2rem}table{border-collapse:collapse;margin-bottom:2rem}"
    "caption{font-weight:bold;text-align:left;padding:.3rem 0}th,td{padding:.15rem .6rem;border-bottom:1px solid #ccc}"
    "td,thead th{text-align:right}tbody th,thead th.name{text-align:left;font-weight:normal}"
    ".deep-1{padding-left:1.8rem}.deep-2{padding-left:3rem}.deep-3{padding-left:4.2rem}.deep-4{padding-left:5.4rem}"
    ".deep-5{padding-left:6.6rem}.deep-6{padding-left:7.8rem}</style>"
)


def published_as(
    name: str, table: Table, hidden: np.ndarray, trees: Mapping[str, Tree], layout: Layout, dataflow: str
) -> bytes:
    """The table without its hidden cells as the content of a file of this name."""
    check_symbol(layout.symbol)
    if name.endswith(".sdmx.csv"):
        text = sdmx_csv(table, hidden, layout, dataflow)
        check_sdmx(text, table, hidden, layout)
        return text.encode()
    found = crosstabs(table, trees, layout)
    if name.endswith(".html"):
        page = html_page(found, hidden, layout)
        check_html(page, found, hidden, layout)
        return page.encode()
    return published_workbook(found, hidden, layout)


def refuse_for_sdmx(name: str, layout: Layout) -> None:
    """Refuse what lays crosstabs out where there are none."""
    if not name.endswith(".sdmx.csv"):
        return
    said = {"rows": layout.rows, "columns": layout.columns, "symbol": layout.symbol}
    for given in (key for key, value in said.items() if value):
        raise InputError(
            f"{parameter(given)} is for crosstabs, and .sdmx.csv has none: an observation a line, with CONF_STATUS C and no "
            "figure where a cell is hidden; leave it out, or choose .xlsx, .html or .csv"
        )


def write_published(
    path: str | Path,
    table: Table,
    hidden: np.ndarray,
    trees: Mapping[str, Tree],
    layout: Layout,
    dataflow: str,
) -> None:
    """Write the table without its hidden cells, in the form that the ending names, whole or not at all."""
    from shoal.sources.atomic import atomically

    refuse_for_sdmx(str(path), layout)
    if not str(path).endswith(ENDINGS):
        raise InputError(
            f"the name of a published table ends in {', '.join(ENDINGS)}; what is published is a frame, too"
        )
    content = published_as(str(path), table, hidden, trees, layout, dataflow)
    with atomically(Path(path)) as place:
        place.write_bytes(content)


def html_page(crosstabs: Crosstabs, hidden: np.ndarray, layout: Layout) -> str:
    """A page with a table for each slice; everything that comes from data is text."""
    decimals = decimals_by_cell(crosstabs.table, hidden, layout)
    made = joined(_html_table(crosstabs, part, hidden, layout, decimals) for part in crosstabs.slices)
    title = element("title", layout.figure or "Table")
    return f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{title}{_STYLE}</head><body>{made}</body></html>\n'


def _html_table(
    crosstabs: Crosstabs, part: Slice, hidden: np.ndarray, layout: Layout, decimals: np.ndarray
) -> Markup:
    head = max(1, len(crosstabs.columns))
    lines = []
    for level in range(head):
        names = crosstabs.rows if level == head - 1 else [""] * len(crosstabs.rows)
        across = [
            crosstabs.labels(crosstabs.columns, codes)[level]
            if crosstabs.columns
            else layout.figure or "value"
            for codes in crosstabs.across
        ]
        lines.append(
            element(
                "tr",
                *(element("th", name, class_="name", scope="col") for name in names),
                *(element("th", label, scope="col") for label in across),
            )
        )
    body = []
    for codes, cells in zip(crosstabs.down, part.cells, strict=True):
        *before, last = crosstabs.labels(crosstabs.rows, codes)
        deep = f"deep-{min(crosstabs.depth(codes), 6)}"
        texts = [
            ""
            if cell < 0
            else layout.mark
            if hidden[cell]
            else written(figure_of(crosstabs.table.values[cell], layout), int(decimals[cell]), layout.decimal)
            for cell in cells.tolist()
        ]
        body.append(
            element(
                "tr",
                *(element("th", label, scope="row") for label in before),
                element("th", last, scope="row", class_=deep),
                *(element("td", text) for text in texts),
            )
        )
    caption = element("caption", crosstabs.caption(part, layout.figure))
    return element("table", caption, element("thead", *lines), element("tbody", *body))


def sdmx_csv(table: Table, hidden: np.ndarray, layout: Layout, dataflow: str) -> str:
    """One observation a line: the dimensions, the figure, and whether it is free (F) or confidential (C, without a figure)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["DATAFLOW", *table.dimensions, "OBS_VALUE", "CONF_STATUS"])
    shown = table.coordinates()
    decimals = decimals_by_cell(table, hidden, layout)
    for cell in range(table.cells):
        codes = [
            _SDMX_TOTAL if table.keys[name][cell] == TOTAL and name not in table.totals else shown[name][cell]
            for name in table.dimensions
        ]
        value = figure_of(table.values[cell], layout)
        figure = (
            written(value, layout.decimals)
            if layout.decimals is not None
            else repr(int(value) if decimals[cell] == 0 else value)
        )
        writer.writerow([dataflow, *codes, *(("", "C") if hidden[cell] else (figure, "F"))])
    return text.getvalue()


def check_sdmx(text: str, table: Table, hidden: np.ndarray, layout: Layout) -> None:
    """Raise ``AssertionError`` unless the observations, read back, show every figure that may be shown and no other."""
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == table.cells, "there are more or fewer observations than cells"
    for row in rows:
        codes = (row[name] for name in table.dimensions)
        cell = table.find(*(TOTAL if code == _SDMX_TOTAL else code for code in codes))
        _expect(row["OBS_VALUE"] or None, cell, table, hidden, layout, "")
        assert row["CONF_STATUS"] == ("C" if hidden[cell] else "F"), "an observation has the wrong status"


def _expect(
    shown: str | None, cell: int, table: Table, hidden: np.ndarray, layout: Layout, mark: str
) -> None:
    if hidden[cell]:
        assert (shown or "") == mark, "a hidden cell shows something else than it may"
        return
    expect_figure(shown, figure_of(table.values[cell], layout))


def check_html(page: str, crosstabs: Crosstabs, hidden: np.ndarray, layout: Layout) -> None:
    """Raise ``AssertionError`` unless the cells of the page, read back, show every figure that may be shown and no other."""
    cells = _Cells()
    cells.feed(page)
    wanted = [int(cell) for part in crosstabs.slices for cell in part.cells.ravel()]
    assert len(cells.texts) == len(wanted), "the page has more or fewer cells than the table"
    for text, cell in zip(cells.texts, wanted, strict=True):
        if cell < 0:
            assert text == "", "there is a figure where the table has no cell"
        else:
            figure = text if hidden[cell] else text.replace(layout.decimal, ".")
            _expect(figure, cell, crosstabs.table, hidden, layout, layout.mark)


class _Cells(HTMLParser):
    """The texts of all cells of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """A cell begins."""
        if tag == "td":
            self.texts.append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        """A cell ends."""
        self._inside = self._inside and tag != "td"

    def handle_data(self, data: str) -> None:
        """What stands in it."""
        if self._inside:
            self.texts[-1] += data
