"""The cells of a view as a heat map: pressed by mouse or keyboard, one stop for the tab key, arrows to move about."""

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from nicegui import events

from shoal.report.blocks import shown
from shoal.report.markup import Markup, element, joined
from shoal.web.pages.attributes import focus_cell, html, shows
from shoal.web.pages.tables.drawn import CLASSES, Drawn, View

KINDS = ("primary", "complementary", "failing")
_WORDS = {"p": "hidden, sensitive", "c": "hidden", "": "published", "z": "always published"}

_CLICK = (
    "(event) => { const cell = event.target.closest('td[data-cell]'); if (cell) emit(cell.dataset.cell); }"
)
_KEY = """(event) => {
  const cell = event.target.closest('td[data-cell]');
  if (!cell) return;
  if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); emit(cell.dataset.cell); return; }
  const row = cell.parentElement, place = cell.cellIndex;
  const next = {
    ArrowLeft: cell.previousElementSibling, ArrowRight: cell.nextElementSibling,
    ArrowUp: row.previousElementSibling?.cells[place], ArrowDown: row.nextElementSibling?.cells[place],
    Home: row.querySelector('td[data-cell]'), End: row.lastElementChild,
  }[event.key];
  if (next && next.dataset.cell) {
    event.preventDefault();
    cell.tabIndex = -1; next.tabIndex = 0; next.focus(); next.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }
}"""


class Cells:
    """A view of a drawing; ``press`` is told the cell that is pressed."""

    def __init__(self, drawn: Drawn, press: Callable[[int], Any] | None, *, spell: bool = False) -> None:
        self._drawn = drawn
        self._press = press
        self._spell = spell
        self._view: View | None = None
        self._at = -1
        self._bounds: Mapping[str, Any] = {}
        self._failing: Collection[int] = ()
        self._html = html().classes("shoal-table shoal-cells")
        self._html.on("click", self._pressed, js_handler=_CLICK)
        self._html.on("keydown", self._pressed, js_handler=_KEY)

    def show(self, view: View) -> None:
        """Draw a view."""
        self._view = view
        self._draw()

    def judge(self, bounds: Mapping[str, Any], failing: Collection[int]) -> None:
        """Say what an attacker makes of the hidden cells, and which of them fail."""
        self._bounds, self._failing = bounds, set(failing)
        self._draw()

    def refresh(self) -> None:
        """Draw it again after a change."""
        self._draw()

    def _pressed(self, event: events.GenericEventArguments) -> Any:
        cell = int(event.args)
        if self._press is None or not 0 <= cell < len(self._drawn.values):
            return None
        self._at = cell
        return self._press(cell)

    def _draw(self) -> None:
        view = self._view
        if view is None:
            return
        shows(self._html, self._text(view))
        if self._at in view.cells:
            # The cell that was pressed is a new element now; whoever came by keyboard goes on from it.
            focus_cell(self._html, self._at)

    def _text(self, view: View) -> Markup:
        shown_cells = [int(cell) for cell in view.cells.ravel() if cell >= 0]
        if not shown_cells:
            words = "There are no cells here." if view.cells.size else "Nothing is hidden here."
            return element("p", words, class_="shoal-quiet")
        most = max((abs(self._drawn.values[cell]) for cell in shown_cells), default=1.0) or 1.0
        stop = self._at if self._at in view.cells else shown_cells[0]
        lines = []
        deepest = max(view.row_depth, default=1)
        head = [
            element("th", name, scope="col", class_="number total" if sums else "number")
            for name, sums in zip(view.columns, view.column_sums, strict=True)
        ]
        for name, depth, sums, cells in zip(
            view.rows, view.row_depth, view.row_sums, view.cells, strict=True
        ):
            indent = f"depth-{min(8, max(1, depth))}" if deepest > 1 else ""
            body = [
                self._cell(int(cell), name, column, most, stop, total=sums or across)
                for cell, column, across in zip(cells, view.columns, view.column_sums, strict=True)
            ]
            kind = f"{'total' if sums else ''} {indent}".strip()
            lines.append(element("tr", element("th", name, scope="row", class_=kind), *body))
        return element(
            "table",
            element("thead", element("tr", element("th", view.corner), *head)),
            element("tbody", *lines),
            role="grid",
            aria_label=view.corner,
        )

    def _cell(self, cell: int, row: str, column: str, most: float, stop: int, *, total: bool) -> Markup:
        if cell < 0:
            return element("td")
        drawn = self._drawn
        value, kind = drawn.values[cell], drawn.kinds[cell]
        away = kind in ("p", "c")
        classes = " ".join(
            word
            for word in (
                "cell",
                CLASSES[kind],
                "" if away else _shade(value, most),
                "total" if total else "",
                "failing" if cell in self._failing else "",
            )
            if word
        )
        where = f"cell {drawn.names[cell]}" if drawn.general else f"{row}, {column}"
        fails = ", not protected" if cell in self._failing else ""
        spelt = [element("small", drawn.names[cell]), " "] if self._spell else []
        return element(
            "td",
            *spelt,
            _short(value),
            class_=classes,
            data_cell=cell,
            tabindex=0 if cell == stop else -1,
            role="gridcell",
            aria_label=f"{where}: {_WORDS[kind]}{fails}",
            title=self._hover(cell, away),
        )

    def about(self, cell: int) -> str:
        """A cell in words: where it is, who contributes, what makes it sensitive, and what an attacker knows."""
        where = " × ".join(self._drawn.key(cell))
        return f"{where}: {_WORDS[self._drawn.kinds[cell]]}. {self._hover(cell, self._drawn.kinds[cell] in ('p', 'c'))}"

    def _hover(self, cell: int, away: bool) -> str:
        told = self._drawn.contributions(cell)
        if away and str(cell) in self._bounds:
            told.append(f"An attacker knows: {interval(*self._bounds[str(cell)])}.")
        return " ".join(told)


def interval(low: float | None, high: float | None) -> str:
    """Two bounds as text.

    >>> interval(3.0, None)
    '3 … ∞'
    """
    ends = [
        without if value is None or math.isinf(value) else shown(float(value))
        for value, without in ((low, "−∞"), (high, "∞"))
    ]
    return " … ".join(ends)


def _shade(value: float, most: float) -> str:
    """The class of a cell by its value, from pale to strong in fourteen steps."""
    return f"shade-{round(14 * math.log1p(abs(value)) / math.log1p(most))}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == round(value) else shown(value)


def legend(kinds: tuple[str, ...] = KINDS) -> None:
    """What the colours mean."""
    words = {"primary": "sensitive", "complementary": "hidden to protect it", "failing": "not protected"}
    marks = [joined([element("b", words[kind], class_=kind), " "]) for kind in kinds]
    html(element("span", *marks, "other cells are shaded by their value", class_="shoal-quiet shoal-legend"))
