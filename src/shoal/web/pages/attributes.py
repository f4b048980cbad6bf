"""Attributes, sizes and scripts of elements: the only place where a value reaches one.

NiceGUI reads attributes from a text (``props``), runs what follows a colon in it as a script, and takes HTML and scripts as
text, too. A name with a quotation mark in it would break out of such a text, so texts there are literal, always, and
values are set here, one by one.
"""

import re
from typing import TypeVar

from nicegui import ui
from nicegui.element import Element

from shoal.report.markup import Markup

Any_ = TypeVar("Any_", bound=Element)

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PLACE = re.compile(r"/(?![/\\])[^\s\\]*")


def attributes(element: Any_, **values: str | int | float | bool | None) -> Any_:
    """Set attributes of an element, ``aria_label`` for ``aria-label``; None takes one away."""
    for key, value in values.items():
        name = key.rstrip("_").replace("_", "-")
        if not _NAME.fullmatch(name) or re.match(r"on[a-z]", name) or name == "innerhtml":
            raise ValueError(f"'{name}' cannot be set on an element")
        if name in ("href", "src") and not _PLACE.fullmatch(str(value)):
            raise ValueError(f"'{name}' leads out of the workbench")
        element.props.set_optional(name, value)
    return element


def html(content: str = "") -> ui.html:
    """HTML on a page; text that is no ``Markup`` is shown as it is, and the browser cleans what it is given once more."""
    return shows(ui.html("", sanitize=True), content)


def shows(element: ui.html, content: str) -> ui.html:
    """Put other HTML into an element."""
    from shoal.report.markup import joined

    element.set_content(content if isinstance(content, Markup) else joined([content]))
    return element


def tall(element: Any_, pixels: int) -> Any_:
    """Give an element its height."""
    element.style["height"] = f"{int(pixels)}px"
    return element


def look_at(element: Element) -> None:
    """Scroll to an element unless it can be seen already."""
    ui.run_javascript(_LOOK.replace("NUMBER", str(int(element.id))))


def focus_cell(element: Element, cell: int) -> None:
    """Go on from a cell of a table that was drawn anew, if somebody was there by keyboard."""
    ui.run_javascript(_FOCUS.replace("NUMBER", str(int(element.id))).replace("CELL", str(int(cell))))


def picks_files(button: Element, upload: Element) -> None:
    """Let a button open the choice of files of an upload."""
    button.on(
        "click", js_handler="() => getElement(NUMBER).pickFiles()".replace("NUMBER", str(int(upload.id)))
    )


_LOOK = """
const panel = getElement(NUMBER).$el, top = panel.getBoundingClientRect().top;
if (top < 52 || top > window.innerHeight - 120) panel.scrollIntoView({block: "start"});
"""

# A busy browser may draw the table only after the first look.
_FOCUS = """
for (const pause of [40, 250, 1000]) setTimeout(() => {
  const cell = getElement(NUMBER)?.$el.querySelector('td[data-cell="CELL"]'), at = document.activeElement;
  if (cell && (at === document.body || (pause === 40 && at.closest('.shoal-cells')))) cell.focus({preventScroll: true});
}, pause)
"""
