"""From which side a table is looked at: its rows, its columns, and where the other dimensions are cut."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from shoal.web.pages import parts
from shoal.web.pages.tables.cells import KINDS, Cells, legend
from shoal.web.pages.tables.drawn import Drawn, View, rows_at_once

_INDENT = "\u2003"


class Slicer:
    """The controls above the cells, as many as the table needs: none for a small one of two dimensions."""

    def __init__(
        self, drawn: Drawn, press: Callable[[int], Any] | None, kinds: tuple[str, ...] = KINDS
    ) -> None:
        self._drawn = drawn
        self._first = 0
        self._rows = 0
        self._columns = 1 if len(drawn.dimensions) > 1 else None
        self._at = {place: len(item["codes"]) - 1 for place, item in enumerate(drawn.dimensions)}
        self._around = (drawn.sensitive or [0])[0]
        self._only = False
        with ui.column().classes("full-width gap-2"):
            self._controls()
            legend(kinds)
            self.cells = Cells(drawn, press, spell=drawn.general)
            self._pages()
        self._show()

    @property
    def _view(self) -> View:
        drawn = self._drawn
        if drawn.general:
            return drawn.around(self._around, self._first)
        at = {place: code for place, code in self._at.items() if place not in (self._rows, self._columns)}
        return drawn.slice(self._rows, self._columns, at, only_hidden=self._only, first=self._first)

    def _show(self) -> None:
        self._now = self._view
        self.cells.show(self._now)
        self._pages.refresh()

    @ui.refreshable_method
    def _controls(self) -> None:
        with ui.element("div").classes("shoal-slice"):
            if self._drawn.general:
                self._choose_cell()
                return
            names = {place: item["name"] for place, item in enumerate(self._drawn.dimensions)}
            if len(names) > 1:
                self._select("Rows", names, self._rows, self._turn_rows)
                self._select("Columns", names, self._columns, self._turn_columns)
            for place, item in enumerate(self._drawn.dimensions):
                if place in (self._rows, self._columns):
                    continue
                hidden = self._drawn.hidden_by_code(place)
                codes = {
                    code: f"{_INDENT * max(0, depth - 1)}{name}{f' · {count} hidden' if count else ''}"
                    for code, (name, depth, count) in enumerate(
                        zip(item["codes"], item["depth"], hidden, strict=True)
                    )
                }
                act = partial(self._cut, place)
                self._select(f"At {item['name']}", codes, self._at[place], act)
            if len(self._drawn.values) > 60:
                box = ui.checkbox(
                    "Only what is hidden", value=self._only, on_change=lambda e: self._filter(e.value)
                )
                box.props("dense").tooltip("Only rows and columns with a hidden cell")

    def _select(self, label: str, options: dict[Any, str], value: Any, act: Callable[[Any], None]) -> None:
        field = ui.select(options, label=label, value=value, on_change=lambda event: act(event.value))
        field.props("outlined dense options-dense")

    def _choose_cell(self) -> None:
        drawn = self._drawn
        options = {cell: f"cell {drawn.names[cell]}" for cell in drawn.sensitive[:2000]}
        if options:
            start = self._around if self._around in options else None
            self._select("Sensitive cell", options, start, self._go)
        field = ui.input("Any cell", placeholder="its number").props("outlined dense")

        def go() -> None:
            name = (field.value or "").strip()
            if name in drawn.names:
                self._go(drawn.names.index(name))
            elif name:
                ui.notify(f"there is no cell {name[:20]}", type="warning")

        field.on("keydown.enter", go)
        ui.button("Show", on_click=go).props("no-caps outline dense padding='6px 12px'")
        parts.quiet("Every row is a relation through the cell.")

    def _go(self, cell: int | None) -> None:
        if cell is not None:
            self._around, self._first = cell, 0
            self._show()

    def _turn_rows(self, dimension: int) -> None:
        if dimension == self._columns:
            self._columns = self._rows
        self._rows, self._first = dimension, 0
        self._again()

    def _turn_columns(self, dimension: int) -> None:
        if dimension == self._rows and self._columns is not None:
            self._rows = self._columns
        self._columns, self._first = dimension, 0
        self._again()

    def _cut(self, dimension: int, code: int) -> None:
        self._at[dimension], self._first = code, 0
        self._show()

    def _filter(self, only: bool) -> None:
        self._only, self._first = only, 0
        self._show()

    def _again(self) -> None:
        self._controls.refresh()
        self._show()

    @ui.refreshable_method
    def _pages(self) -> None:
        view = getattr(self, "_now", None)
        if view is None or view.all_rows <= len(view.rows):
            return
        step = rows_at_once(len(view.columns))
        with ui.row().classes("items-center gap-2"):
            last = view.first + len(view.rows)
            for words, first in (("Earlier rows", view.first - step), ("Later rows", view.first + step)):
                button = ui.button(words, on_click=lambda first=first: self._page(first))
                button.props("no-caps outline dense padding='2px 10px'")
                button.set_enabled(0 <= first < view.all_rows)
            parts.quiet(f"rows {view.first + 1:,}–{last:,} of {view.all_rows:,}")

    def _page(self, first: int) -> None:
        self._first = first
        self._show()
