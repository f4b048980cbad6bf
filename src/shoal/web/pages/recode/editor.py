"""The editor of a hierarchy: a row for each value, a cell for each label, and a level more or less."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.errors import InputError, as_words, spelled
from shoal.microdata.columns.hierarchies.files import parse_hierarchy
from shoal.numbers import counted
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.recode.labels import Labels

# So many rows are drawn at once; with more a page would be slow.
_ROWS = 60


def edit_labels(column: str, labels: Labels, keep: Callable[[Labels], Any]) -> None:
    """Open the editor; ``keep`` is given what was changed."""
    with ui.dialog().props("maximized") as dialog, ui.card().classes("full-width"):
        attributes(dialog, aria_label=f"Labels of {column}")
        Editor(column, labels, keep, dialog)
    dialog.on("hide", dialog.delete)
    dialog.open()


class Editor:
    """The labels of one key while somebody changes them."""

    def __init__(self, column: str, labels: Labels, keep: Callable[[Labels], Any], dialog: ui.dialog) -> None:
        self._first = self._labels = labels
        self._keep = keep
        self._dialog = dialog
        self._page = 0
        parts.title(f"Labels of {column}")
        parts.quiet(
            "These are values of the data. Writing into a cell gives a label another name for all values that have it; two "
            "labels of one name become one."
        )
        with ui.row().classes("items-center gap-3 full-width"):
            self._apart = ui.switch("Move one value or label at a time", on_change=self._table.refresh)
            self._as_text = ui.switch("As text", on_change=self._show)
        self._sizes = parts.quiet().props('data-test="sizes"')
        self._wrong = ui.label().classes("shoal-error full-width").props('role="alert" data-test="wrong"')
        self._body()
        with ui.row().classes("gap-2"):
            self._use = parts.main_button("Use these labels", icon="check", on_click=self._done)
            parts.button("Undo all changes", icon="undo", on_click=lambda: self._change(lambda: self._first))
            parts.button("Close", on_click=dialog.close)
        self._tell()

    @ui.refreshable_method
    def _body(self) -> None:
        self._apart.set_visibility(not self._as_text.value)
        if not self._as_text.value:
            self._table()
            return
        parts.quiet(
            "A line for each value: the value, then its labels from the finest on, parted by semicolons."
        )
        box = ui.textarea(value=self._labels.text()).props("outlined dense autogrow").classes("full-width")
        attributes(box, aria_label="Labels as text")
        box.style("font-family: ui-monospace, monospace; max-height: 60vh; overflow: auto")
        box.on_value_change(lambda: self._read(box.value or ""))

    def _read(self, text: str) -> None:
        """What is written as text, or what is wrong with it."""
        try:
            found = Labels.of(parse_hierarchy(text, "this text"))
            values, known = ({row[0] for row in labels.rows} for labels in (found, self._first))
            if lost := len(known - values):
                raise InputError(f"{counted(lost, 'value has', 'values have')} no line any more")
        except InputError as problem:
            self._tell(spelled(problem, as_words))
            return
        self._labels = found
        self._tell()

    @ui.refreshable_method
    def _table(self) -> None:
        labels = self._labels
        count = len(labels.rows)
        pages = -(-count // _ROWS)
        self._page = min(self._page, pages - 1)
        first, last = self._page * _ROWS, min(count, (self._page + 1) * _ROWS)
        if pages > 1:
            with ui.row().classes("items-center gap-2"):
                parts.small_button("Before", icon="chevron_left", on_click=lambda: self._turn(-1))
                parts.quiet(f"rows {first + 1:,} to {last:,} of {count:,}")
                parts.small_button("After", icon="chevron_right", on_click=lambda: self._turn(1))
        with (
            ui.element("div").classes("shoal-table").style("max-height: 62vh"),
            ui.element("table").props('data-test="labels"'),
        ):
            with ui.element("thead"), ui.element("tr"):
                with ui.element("th").classes("number"):
                    ui.label("row")
                self._heading(0, "value")
                for level in range(1, labels.height):
                    self._heading(level, f"level {level}")
                self._heading(labels.height, f"level {labels.height}")
            starts = self._cells(first, last)
            with ui.element("tbody"):
                for row in range(first, last):
                    with ui.element("tr"):
                        with ui.element("td").classes("number"):
                            parts.quiet(f"{row + 1:,}")
                        with ui.element("td"):
                            ui.label(labels.rows[row][0])
                        for level, spans in enumerate(starts, start=1):
                            if row in spans:
                                with attributes(ui.element("td"), rowspan=spans[row]):
                                    self._cell(row, level)

    def _cells(self, first: int, last: int) -> list[dict[int, int]]:
        """For each level the rows of this page where a cell begins, and over how many rows it goes."""
        found = []
        for level in range(1, self._labels.height + 1):
            runs = self._labels.runs(level, parts=self._apart.value and level < self._labels.height)
            inside = [
                (max(start, first), min(start + size, last))
                for start, size in runs
                if start < last and start + size > first
            ]
            found.append({start: end - start for start, end in inside})
        return found

    def _heading(self, level: int, words: str) -> None:
        with ui.element("th"), ui.row().classes("items-center gap-1 no-wrap"):
            ui.label(words)
            if level < self._labels.height:
                add = ui.button(
                    icon="add", on_click=lambda: self._change(lambda: self._labels.with_level(level))
                )
                add.props("flat dense round size=sm")
                attributes(add, aria_label=f"Add a level after {words}")
            if 0 < level < self._labels.height:
                less = ui.button(
                    icon="remove", on_click=lambda: self._change(lambda: self._labels.without_level(level))
                )
                less.props("flat dense round size=sm")
                attributes(less, aria_label=f"Remove {words}")

    def _cell(self, row: int, level: int) -> None:
        text = self._labels.rows[row][level]
        if level == self._labels.height:
            ui.label(text)
            return
        box = ui.input(value=text).props("dense borderless").style("min-width: 110px")
        attributes(box, aria_label=f"Label of row {row + 1} at level {level}")

        def written() -> None:
            if (box.value or "").strip() == self._labels.rows[row][level]:
                return
            edit = self._labels.moved if self._apart.value else self._labels.renamed
            self._change(lambda: edit(row, level, box.value or ""), cell=True)

        box.on("blur", written).on("keydown.enter", written)

    def _turn(self, pages: int) -> None:
        self._page = max(0, self._page + pages)
        self._table.refresh()

    def _change(self, make: Callable[[], Labels], *, cell: bool = False) -> None:
        before = self._labels
        try:
            self._labels = make()
        except InputError as problem:
            self._tell(spelled(problem, as_words))
            return
        self._tell()
        # A label that only has another name leaves the cells where they are, and whoever writes in the one they are in.
        if not cell or _shape(before) != _shape(self._labels):
            self._body.refresh()

    def _show(self) -> None:
        """The other way to write labels, with what is right so far."""
        self._tell()
        self._body.refresh()

    def _tell(self, wrong: str = "") -> None:
        self._sizes.set_text(" → ".join(f"{size:,}" for size in self._labels.sizes) + " labels")
        self._wrong.set_text(wrong)
        self._wrong.set_visibility(bool(wrong))
        self._use.set_enabled(not wrong)

    def _done(self) -> None:
        if self._labels != self._first:
            with parts.showing_errors():
                self._keep(self._labels)
        self._dialog.close()


def _shape(labels: Labels) -> list[Any]:
    """Which rows there are and which cells go over several of them."""
    runs = [labels.runs(level) for level in range(labels.height + 1)]
    return [[row[0] for row in labels.rows], *runs]
