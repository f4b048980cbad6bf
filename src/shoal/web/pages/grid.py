"""A two-dimensional table as a heat map whose cells can be pressed."""

import itertools
import math
from collections.abc import Callable
from html import escape
from typing import Any

from nicegui import events, ui

from shoal.report.page import shown

_WORDS = {"primary": "hidden, sensitive", "complementary": "hidden", "": "published"}


_numbers = itertools.count()


class Grid:
    """The cells of a drawing; ``press`` is told the row and column of one that is pressed."""

    def __init__(self, drawing: dict[str, Any], press: Callable[[int, int], Any]) -> None:
        self._drawing = drawing
        # A page may show several tables one after the other; each listens to its own cells only.
        self._event = f"cell-{next(_numbers)}"
        self._html = ui.html(self._text(), sanitize=False).classes("shoal-table shoal-cells")

        def pressed(event: events.GenericEventArguments) -> Any:
            row, column = (int(place) for place in event.args)
            if 0 <= row < len(drawing["rows"]) and 0 <= column < len(drawing["columns"]):
                return press(row, column)
            return None

        ui.on(self._event, pressed)

    def refresh(self) -> None:
        """Draw it again after a change."""
        self._html.set_content(self._text())

    def _text(self) -> str:
        drawing = self._drawing
        most = max((abs(value or 0) for row in drawing["values"] for value in row), default=1) or 1
        corner = escape(" / ".join(drawing["dimensions"]))
        head = "".join(
            f"<th class='number {_total(name)}'>{escape(name)}</th>" for name in drawing["columns"]
        )
        lines = []
        for row, name in enumerate(drawing["rows"]):
            cells = "".join(self._cell(row, column, most) for column in range(len(drawing["columns"])))
            lines.append(f"<tr><th class='{_total(name)}'>{escape(name)}</th>{cells}</tr>")
        return (
            f"<table><thead><tr><th>{corner}</th>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        )

    def _cell(self, row: int, column: int, most: float) -> str:
        drawing = self._drawing
        value, kind = drawing["values"][row][column], drawing["kinds"][row][column]
        names = drawing["rows"][row], drawing["columns"][column]
        shade = 0.35 * math.log1p(abs(value or 0)) / math.log1p(most)
        style = "" if kind else f' style="background: rgba(42, 140, 175, {shade:.3f})"'
        total = " total" if "total" in names else ""
        send = f"emitEvent('{self._event}', [{row}, {column}])"
        label = escape(f"{names[0]}, {names[1]}: {_WORDS.get(kind, kind)}", quote=True)
        return (
            f'<td class="cell {kind}{total}"{style} tabindex="0" role="button" aria-label="{label}" '
            f'onclick="{send}" onkeydown="if (event.key === \'Enter\') {send}">{escape(_short(value))}</td>'
        )


def _short(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == round(value) else shown(value)


def _total(name: str) -> str:
    return "total" if name == "total" else ""


def legend() -> None:
    """What the colours mean."""
    ui.html(
        '<span class="shoal-quiet"><b style="background:#b3261e;color:white;padding:1px 7px;border-radius:4px">sensitive</b> '
        '<b style="background:#d98a2b;color:black;padding:1px 7px;border-radius:4px">hidden to protect it</b> '
        "published cells are shaded by their value</span>",
        sanitize=False,
    )
