"""Further tables of the same records, protected together: what one hides, another could give away."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes


class LinkedTables:
    """The dimensions of each further table; ``on_change`` is called when they change."""

    def __init__(self, columns: Sequence[str], linked: list[list[str]], on_change: Callable[[], Any]) -> None:
        self._columns = list(columns)
        self._tables: list[list[str]] = [list(dimensions) for dimensions in linked]
        self._on_change = on_change
        self._show()

    @property
    def tables(self) -> list[list[str]]:
        """The dimensions of the tables that have some."""
        return [dimensions for dimensions in self._tables if dimensions]

    @ui.refreshable_method
    def _show(self) -> None:
        parts.quiet("Further tables of the same records, protected together with this one.")
        for place, dimensions in enumerate(self._tables):
            with ui.row().classes("full-width no-wrap items-center gap-1"):
                picker = parts.column_picker(self._columns, f"Dimensions of table {place + 2}", dimensions)
                picker.classes("shoal-grow")
                picker.on_value_change(lambda event, position=place: self._set(position, event.value))
                remove = ui.button(icon="delete", on_click=lambda position=place: self._remove(position))
                attributes(remove.props("flat dense round"), aria_label=f"Remove table {place + 2}")
        parts.small_button("Add a table", icon="add", on_click=self._add)

    def _set(self, position: int, dimensions: list[str]) -> None:
        self._tables[position] = list(dimensions)
        self._on_change()

    def _remove(self, position: int) -> None:
        del self._tables[position]
        self._show.refresh()
        self._on_change()

    def _add(self) -> None:
        self._tables.append([])
        self._show.refresh()
