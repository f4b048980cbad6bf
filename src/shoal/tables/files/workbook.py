"""Crosstabs as a workbook: figures are numbers, hidden cells hold the symbol; and one for internal use with states in colours."""

import datetime
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.tables.files.layout import MOST_DOWN, Crosstabs, Layout, Slice, decimals_by_cell, figure_of
from shoal.tables.model.table import Table

_MADE = datetime.datetime(1980, 1, 1)
#: Sheets: the list of slices, the only slice, what the colours mean; and what ends the captions of a workbook that stays inside.
CONTENTS, TABLE, _LEGEND = "Contents", "Table", "Legend"
INTERNAL = "(internal: not for publication)"
#: What a state is called in the internal workbook, its colour, and what it means.
STATES = {
    "primary": ("#F4B183", "sensitive: hidden because a rule or somebody calls it so"),
    "complementary": ("#FFE699", "hidden so that no sensitive cell can be computed"),
    "published": ("#D9D9D9", "always published"),
    "free": ("", "published; could have been hidden"),
}


def published_workbook(crosstabs: Crosstabs, hidden: np.ndarray, layout: Layout) -> bytes:
    """The workbook to publish: a sheet for each slice, read back and checked cell by cell."""
    content = _written(crosstabs, hidden, layout, None)
    check_workbook(content, crosstabs, hidden, layout)
    return content


def review_workbook(crosstabs: Crosstabs, hidden: np.ndarray, layout: Layout, states: np.ndarray) -> bytes:
    """The workbook for internal use: all figures, the state of each cell as its colour, and a legend."""
    return _written(crosstabs, np.zeros_like(hidden), layout, states)


def _written(crosstabs: Crosstabs, hidden: np.ndarray, layout: Layout, states: np.ndarray | None) -> bytes:
    import xlsxwriter  # type: ignore[import-untyped]

    if len(crosstabs.down) > MOST_DOWN:
        raise InputError(
            f"a sheet holds {MOST_DOWN:,} rows, and this table has {len(crosstabs.down):,}; see {parameter('rows')}"
        )
    place = io.BytesIO()
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    book = xlsxwriter.Workbook(place, options)
    # When it was made is nobody's business, and the same run gives the same bytes.
    book.set_properties({"created": _MADE})
    names = sheet_names(crosstabs)
    if len(crosstabs.slices) > 1:
        _contents(book, crosstabs, names)
    formats = _Formats(book)
    decimals = decimals_by_cell(crosstabs.table, hidden, layout)
    for name, part in zip(names, crosstabs.slices, strict=True):
        _sheet(book.add_worksheet(name), crosstabs, part, hidden, layout, states, formats, decimals)
    if states is not None:
        _legend(book, states, formats)
    book.close()
    return place.getvalue()


class _Formats:
    """The formats of a workbook, made when they are needed."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self.head = book.add_format({"bold": True, "align": "right", "bottom": 1})
        self.name = book.add_format({"bold": True, "bottom": 1})
        self.caption = book.add_format({"bold": True})
        self._made: dict[tuple[Any, ...], Any] = {}

    def figure(self, state: str = "", *, total: bool = False, symbol: bool = False, decimals: int = 0) -> Any:
        """Of a cell: a number, or a symbol on the right where the numbers are."""
        number = "#,##0" + ("." + "0" * decimals if decimals else "")
        key = (state, total, symbol, decimals)
        if key not in self._made:
            about: dict[str, Any] = {"align": "right"} if symbol else {"num_format": number}
            colour = STATES[state][0] if state else ""
            self._made[key] = self._book.add_format(
                about | ({"bg_color": colour} if colour else {}) | ({"bold": True} if total else {})
            )
        return self._made[key]

    def label(self, depth: int, *, total: bool) -> Any:
        """Of the label of a row, indented by its level."""
        key = ("label", depth, total)
        if key not in self._made:
            self._made[key] = self._book.add_format({"indent": min(depth, 15), "bold": total})
        return self._made[key]


def sheet_names(crosstabs: Crosstabs) -> list[str]:
    """A name for the sheet of each slice: its codes, as far as a sheet can be called so."""
    if len(crosstabs.slices) == 1:
        return [TABLE]
    names: list[str] = []
    for number, part in enumerate(crosstabs.slices, 1):
        plain = re.sub(r"[\[\]:*?/\\]", " ", ", ".join(crosstabs.labels(crosstabs.others, part.fixed)))
        name = plain.strip().strip("'")[:31] or str(number)
        taken = {item.lower() for item in (*names, CONTENTS, _LEGEND, "history")}
        if name.lower() in taken:
            name = f"{name[: 30 - len(str(number))]} {number}"
        names.append(name)
    return names


def _contents(book: Any, crosstabs: Crosstabs, names: list[str]) -> None:
    sheet = book.add_worksheet(CONTENTS)
    bold = book.add_format({"bold": True})
    for column, name in enumerate(("sheet", *crosstabs.others)):
        sheet.write_string(0, column, name, bold)
    for row, (name, part) in enumerate(zip(names, crosstabs.slices, strict=True), 1):
        sheet.write_url(row, 0, "internal:'" + name.replace("'", "''") + "'!A1", string=name)
        for column, code in enumerate(crosstabs.labels(crosstabs.others, part.fixed), 1):
            sheet.write_string(row, column, code)
    sheet.set_column(0, len(crosstabs.others), 24)


def _sheet(
    sheet: Any,
    crosstabs: Crosstabs,
    part: Slice,
    hidden: np.ndarray,
    layout: Layout,
    states: np.ndarray | None,
    formats: _Formats,
    decimals: np.ndarray,
) -> None:
    caption = crosstabs.caption(part, layout.figure)
    sheet.write_string(0, 0, caption if states is None else f"{caption} {INTERNAL}", formats.caption)
    left, head = len(crosstabs.rows), max(1, len(crosstabs.columns))
    for column, name in enumerate(crosstabs.rows):
        sheet.write_string(head, column, name, formats.name)
    for place, codes in enumerate(crosstabs.across):
        for row, code in enumerate(
            crosstabs.labels(crosstabs.columns, codes) or [layout.figure or "value"], 1
        ):
            sheet.write_string(row, left + place, code, formats.head)
    for row, codes in enumerate(crosstabs.down, head + 1):
        total = codes[-1] == "total"
        for column, code in enumerate(crosstabs.labels(crosstabs.rows, codes)):
            depth = crosstabs.depth(codes) if column == left - 1 else 0
            sheet.write_string(row, column, code, formats.label(depth, total=total))
        for place, cell in enumerate(part.cells[row - head - 1].tolist()):
            if cell < 0:
                continue
            state = "" if states is None else str(states[cell])
            if hidden[cell]:
                sheet.write_string(
                    row, left + place, layout.mark, formats.figure(state, total=total, symbol=True)
                )
            else:
                value = figure_of(crosstabs.table.values[cell], layout)
                form = formats.figure(state, total=total, decimals=int(decimals[cell]))
                sheet.write_number(row, left + place, value, form)
    sheet.freeze_panes(head + 1, left)
    sheet.set_column(0, left - 1, 20)
    sheet.set_column(left, left + max(0, len(crosstabs.across) - 1), 14)


def _legend(book: Any, states: np.ndarray, formats: _Formats) -> None:
    sheet = book.add_worksheet(_LEGEND)
    for column, text in enumerate(("state", "cells", "meaning")):
        sheet.write_string(0, column, text, formats.name)
    for row, (state, (_, meaning)) in enumerate(STATES.items(), 1):
        sheet.write_string(row, 0, state, formats.figure(state, symbol=True))
        sheet.write_number(row, 1, int((states == state).sum()))
        sheet.write_string(row, 2, meaning)
    sheet.write_string(len(STATES) + 2, 0, "internal: not for publication", formats.caption)
    sheet.set_column(0, 1, 16)
    sheet.set_column(2, 2, 70)


def _cell(table: Table, key: list[str]) -> int:
    try:
        return table.find(*key)
    except InputError:
        return -1


def check_workbook(content: bytes, crosstabs: Crosstabs, hidden: np.ndarray, layout: Layout) -> None:
    """Raise ``AssertionError`` unless a workbook, read back, shows every figure and the symbol in hidden cells alone.

    Cells are found by the labels that stand beside and above them.
    """
    import fastexcel

    book = fastexcel.read_excel(content)
    names = sheet_names(crosstabs)
    assert book.sheet_names == [*([CONTENTS] if len(names) > 1 else []), *names], (
        "the workbook has other sheets"
    )
    seen: set[int] = set()
    for name, part in zip(names, crosstabs.slices, strict=True):
        grid = book.load_sheet(name, header_row=None, dtypes="string").to_polars().rows()
        for cell, shown in _labelled(grid, crosstabs, part):
            if cell < 0:
                assert shown is None, "there is a figure where the table has no cell"
                continue
            seen.add(cell)
            if hidden[cell]:
                assert (shown or "") == layout.mark, "a hidden cell shows something else than the symbol"
            else:
                expect_figure(shown, figure_of(crosstabs.table.values[cell], layout))
    wanted = {int(cell) for part in crosstabs.slices for cell in part.cells.ravel() if cell >= 0}
    assert seen == wanted, "the workbook has other cells"


def _labelled(
    grid: Sequence[tuple[str | None, ...]], crosstabs: Crosstabs, part: Slice
) -> Iterator[tuple[int, str | None]]:
    """The cell that the labels of each place of a sheet name, and what stands there."""
    left, head = len(crosstabs.rows), max(1, len(crosstabs.columns))
    names = (*crosstabs.rows, *crosstabs.columns, *crosstabs.others)
    fixed = crosstabs.labels(crosstabs.others, part.fixed)
    for line in grid[head + 1 :]:
        for column in range(left, len(line)):
            above = [grid[1 + place][column] for place in range(len(crosstabs.columns))]
            key = dict(zip(names, (*line[:left], *above, *fixed), strict=True))
            yield (
                _cell(crosstabs.table, [str(key[name]) for name in crosstabs.table.dimensions]),
                line[column],
            )


def expect_figure(shown: str | None, wanted: float) -> None:
    """Raise ``AssertionError`` unless a text is this figure."""
    try:
        found = float(shown or "")
    except ValueError:
        raise AssertionError("a cell that is published shows no figure") from None
    assert abs(found - wanted) <= 1e-6 * max(1.0, abs(wanted)), "a cell shows another figure"
