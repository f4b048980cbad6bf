"""The pieces pages are made of: cards, facts, notes, tables, empty states."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from shoal.errors import ShoalError, as_words, spelled
from shoal.report.blocks import shown
from shoal.report.markup import element
from shoal.web.jobs.job import Job
from shoal.web.pages.attributes import attributes, html, tall
from shoal.web.pages.drawing_anew import draws_anew
from shoal.web.workbench import Workbench


@contextmanager
def card(heading: str = "", *, quiet: str = "") -> Iterator[ui.card]:
    """A box with a heading."""
    with ui.card().classes("shoal-card") as box:
        if heading:
            title(heading)
        if quiet:
            ui.label(quiet).classes("shoal-quiet")
        yield box


def folded(words: str, *, unfolded: bool = False) -> ui.expansion:
    """A part of a card that is folded away at first."""
    return ui.expansion(words, value=unfolded).props("dense").classes("full-width")


def title(text: str) -> None:
    """The name of a card."""
    html(element("h2", text, class_="shoal-heading"))


def facts(pairs: Iterable[tuple[Any, ...]]) -> None:
    """Figures with their names; a third item is ``good`` or ``bad``."""
    cells = []
    for name, value, *tone in pairs:
        kind = f"shoal-fact {tone[0]}" if tone and tone[0] else "shoal-fact"
        cells.append(element("div", element("b", shown(value)), element("span", str(name)), class_=kind))
    html(element("div", *cells, class_="shoal-facts")).classes("full-width")


def subheading(text: str) -> None:
    """The name of a part of a card."""
    html(element("h3", text, class_="shoal-subheading"))


def strong(text: str) -> ui.label:
    """The name of a smaller part."""
    return ui.label(text).style("font-weight: 600")


def quiet(text: str = "") -> ui.label:
    """Words in a quiet voice."""
    return ui.label(text).classes("shoal-quiet")


def note(text: str) -> None:
    """A remark in a quiet voice."""
    ui.label(text).classes("shoal-note")


def warning(text: str) -> None:
    """A remark nobody should overlook."""
    ui.label(text).classes("shoal-warning full-width").props('role="alert"')


def warnings(texts: Sequence[str]) -> None:
    """Remarks nobody should overlook, the worst first as they come; those of one kind are one box."""
    for several in by_kind(texts):
        if len(several) == 1:
            warning(several[0])
            continue
        with ui.column().classes("shoal-warning full-width gap-0").props('role="alert"'):
            strong(f"{len(several)} times the same kind of thing")
            html(element("ul", *(element("li", text) for text in several), class_="shoal-warnings"))


def by_kind(texts: Sequence[str]) -> list[list[str]]:
    """Warnings that differ only in the names and numbers they say, together, in the order of the first of each.

    >>> by_kind(["column 'a' is kept", "K is 1", "column 'b' is kept"])
    [["column 'a' is kept", "column 'b' is kept"], ['K is 1']]
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        found.setdefault(re.sub(r"'[^']*'|\d[\d,.]*", "…", text), []).append(text)
    return list(found.values())


def error(text: str) -> None:
    """What went wrong, in the place where it happened."""
    ui.label(text).classes("shoal-error full-width").props('role="alert"')


# What is longer goes over several lines.
_LINE = 40


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    classes: Sequence[str] | None = None,
    numeric: Sequence[bool] | None = None,
) -> ui.html:
    """A plain table; numbers to the right. ``classes`` gives one for each row."""
    body = [list(row) for row in rows]
    right = numeric or [
        bool(body) and all(isinstance(row[place], int | float) or row[place] is None for row in body)
        for place in range(len(header))
    ]
    kinds = ["number" if flag else None for flag in right]
    # A heading without words would be read out as one; it is an empty cell.
    head = [
        element("th" if name else "td", str(name), class_=kind)
        for kind, name in zip(kinds, header, strict=True)
    ]
    lines = [
        element(
            "tr",
            *(
                element("td", text := shown(value), class_=kind or ("words" if len(text) > _LINE else None))
                for kind, value in zip(kinds, row, strict=True)
            ),
            class_=classes[place] or None if classes else None,
        )
        for place, row in enumerate(body)
    ]
    drawn = element("table", element("thead", element("tr", *head)), element("tbody", *lines))
    return scrolled(html(drawn).classes("shoal-table"), f"Table of {', '.join(map(str, header[:3]))}")


def scrolled(box: ui.html, name: str) -> ui.html:
    """Let a part of the page that may be larger than its place be scrolled by keyboard, too."""
    return attributes(box.props("tabindex=0 role=group"), aria_label=name)


def empty(icon: str, text: str, action: str = "", address: str = "") -> None:
    """What stands where there is nothing yet, and where to go."""
    with ui.column().classes("shoal-empty"):
        ui.icon(icon, size="42px").classes("shoal-quiet")
        ui.label(text).style("max-width: 52ch")
        if action:
            button(action, to=address)


def has_data(workbench: Workbench, icon: str, text: str = "There is no data yet.") -> bool:
    """Whether there is anything to work on; if not, the page says where to get it."""
    if workbench.datasets.names():
        return True
    with card():
        empty(icon, text, "Add data", "/data")
    return False


def tell(problem: Exception) -> None:
    """Show an error that the user can mend."""
    known = isinstance(problem, ShoalError)
    text = spelled(problem, as_words) if known else f"unexpected error ({type(problem).__name__})"
    close = {"label": "Close", "color": "white"}
    ui.notify(text, type="negative", multi_line=True, timeout=9000, actions=[close])


@contextmanager
def showing_errors() -> Iterator[None]:
    """An error in the block that the user can mend ends the block and is shown."""
    try:
        yield
    except ShoalError as problem:
        tell(problem)


def when_over(job: Job, act: Callable[[], Any], meanwhile: Callable[[], Any] | None = None) -> None:
    """Do something as soon as a run is over, and until then something else again and again."""

    def look() -> None:
        if job.state.over and job.over.is_set():
            timer.deactivate()
            act()
        elif meanwhile is not None:
            meanwhile()

    timer = ui.timer(0.25, look)


# The second half of a double click is no wish of its own; browsers count the presses, and those by keyboard as none.
_PRESS = "(event) => { if (event.detail < 2) emit(); }"


def button(words: str, *, icon: str | None = None, on_click: Any = None, to: str = "") -> ui.button:
    """A button that does something or leads to a page; a double click is one press."""
    act = (lambda: ui.navigate.to(to)) if to else on_click
    found = ui.button(words, icon=icon).props("no-caps outline")
    if act is not None:
        found.on("click", lambda: act(), js_handler=_PRESS)
    return found


def main_button(words: str, **options: Any) -> ui.button:
    """The button for what a page is there for."""
    return button(words, **options).props("unelevated", remove="outline")


def small_button(words: str, *, icon: str | None = None, on_click: Any = None) -> ui.button:
    """A button beside what it changes."""
    return ui.button(words, icon=icon, on_click=on_click).props("no-caps flat dense padding='2px 8px'")


def choice(options: Any, label: str, value: Any = None, on_change: Any = None, **more: Any) -> ui.select:
    """A choice as wide as the form."""
    field = ui.select(options, label=label, value=value, on_change=on_change, **more)
    return field.props("outlined dense options-dense").classes("full-width")


def text_field(label: str, value: str = "", **more: Any) -> ui.input:
    """A line to write in, as wide as the form."""
    return ui.input(label, value=value, **more).props("outlined dense").classes("full-width")


def data_picker(
    workbench: Workbench, label: str, chosen: str = "", on_change: Callable[..., Any] | None = None
) -> ui.select:
    """A choice among the data of the workspace."""
    names = workbench.datasets.names()
    value = chosen if chosen in names else (names[0] if names else None)
    picker = ui.select(names, label=label, value=value, on_change=on_change)
    return draws_anew(picker).props("outlined dense options-dense").classes("full-width")


def several(
    names: Sequence[str], label: str, chosen: Sequence[str], on_change: Callable[[], Any]
) -> ui.select:
    """A choice of several tables, with a button that adds those of the same name and another number."""
    picker = draws_anew(ui.select(list(names), label=label, value=list(chosen), multiple=True))
    picker.props("outlined dense options-dense use-chips").classes("full-width")

    @ui.refreshable
    def more() -> None:
        stem, alike = numbered(picker.value or [], names)
        if alike:
            words = f"All {len(alike)} tables {stem}…"
            small_button(words, icon="library_add", on_click=lambda: picker.set_value(alike))

    more()

    def changed() -> None:
        more.refresh()
        on_change()

    picker.on_value_change(changed)
    return picker


def one_of(tables: Sequence[str], show: Callable[[int], None]) -> None:
    """One of several tables, by its place, with a choice above it."""
    chosen = ui.select(dict(enumerate(tables)), label="Show table", value=0)
    chosen.props("outlined dense options-dense").style("min-width: 220px")

    @ui.refreshable
    def shown() -> None:
        show(chosen.value)

    shown()
    chosen.on_value_change(shown.refresh)


def remarks(figures: Mapping[str, Any]) -> None:
    """The warnings and the notes of a result."""
    warnings(figures.get("warnings", ()))
    for text in figures.get("notes", ()):
        note(text)


def numbered(chosen: Sequence[str], names: Sequence[str]) -> tuple[str, list[str]]:
    """The tables of the same name and another number, if there are more of them than are chosen.

    >>> numbered(["tabla1"], ["people", "tabla0", "tabla1", "tabla10", "tabla2"])
    ('tabla', ['tabla0', 'tabla1', 'tabla2', 'tabla10'])
    >>> numbered(["people"], ["people", "tabla0"])
    ('people', [])
    """
    stem = chosen[0].rstrip("0123456789") if chosen else ""
    alike = (
        [name for name in names if name.startswith(stem) and name[len(stem) :].isdecimal()] if stem else []
    )
    alike.sort(key=lambda name: int(name[len(stem) :]))
    return stem, alike if set(alike) > set(chosen) else []


def column_picker(
    columns: Sequence[str], label: str, chosen: Sequence[str] = (), *, hint: str = ""
) -> ui.select:
    """A choice of several columns."""
    picker = ui.select(
        list(columns), label=label, value=[name for name in chosen if name in columns], multiple=True
    )
    picker.props("outlined dense options-dense use-chips").classes("full-width")
    return attributes(picker, hint=hint or None)


#: The colour of words in a chart: a canvas cannot know whether the page is light or dark, and this can be read on both.
INK = "#76818a"
AXIS = {"axisLine": {"lineStyle": {"color": INK}}, "axisLabel": {"color": INK}}
LEGEND = {"textStyle": {"color": INK}, "top": 0, "icon": "roundRect", "itemWidth": 16, "itemHeight": 8}
GRID = {"left": 64, "right": 18, "top": 34, "bottom": 44}
SPLIT = {"splitLine": {"lineStyle": {"color": "rgba(128,128,128,.2)"}}}
PALETTE = ["#2a8caf", "#d1793b", "#5a8f3c", "#8a5aa8", "#b23a48", "#777777"]

#: Crowds of so many people and their colour, on charts as in tables: alone, two, three or four, five to nine, more.
CROWDS = (
    (1, 1, "alone", "#c2453c"),
    (2, 2, "2", "#d9803a"),
    (3, 4, "3–4", "#ddb04a"),
    (5, 9, "5–9", "#7fa868"),
    (10, None, "10 or more", "#2a8caf"),
)


def crowd_colour(size: int) -> str:
    """The colour of a crowd on a chart.

    >>> crowd_colour(1), crowd_colour(4), crowd_colour(1000)
    ('#c2453c', '#ddb04a', '#2a8caf')
    """
    return next(colour for _, most, _, colour in CROWDS if most is None or size <= most)


def axis(name: str, kind: str = "value", **more: Any) -> dict[str, Any]:
    """An axis of a chart with its name in the middle."""
    gap = 28 if kind == "category" or more.pop("across", False) else 48
    return {
        "type": kind,
        "name": name,
        "nameLocation": "middle",
        "nameGap": gap,
        "nameTextStyle": {"color": INK},
        **AXIS,
        **SPLIT,
        **more,
    }


def chart_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a chart with what all charts share; its tooltips are text, never HTML."""
    return {
        "backgroundColor": "transparent",
        "color": PALETTE,
        "textStyle": {"fontFamily": "inherit"},
        "grid": GRID,
        "animation": False,
        **options,
        # As HTML, which is usual, a tooltip would take a name for a tag.
        "tooltip": {**options.get("tooltip", {"show": False}), "renderMode": "richText"},
    }


def chart(options: dict[str, Any], height: int = 260, label: str = "") -> ui.echart:
    """A chart that fits light and dark."""
    figure = tall(ui.echart(chart_options(options)).props("role=img").classes("full-width"), height)
    return attributes(figure, aria_label=label)


def bars(
    names: Sequence[str],
    heights: Sequence[float],
    *,
    x: str,
    y: str,
    height: int = 240,
    colours: Sequence[str] | None = None,
) -> ui.echart:
    """Bars of named quantities, each in a colour of its own if given."""
    shades = colours or [PALETTE[0]] * len(names)
    return chart(
        {
            "xAxis": axis(x, "category", data=list(names)),
            "yAxis": axis(y, minInterval=1),
            "series": [
                {
                    "type": "bar",
                    "data": [
                        {"value": value, "itemStyle": {"color": shade}}
                        for value, shade in zip(heights, shades, strict=True)
                    ],
                    "barMaxWidth": 44,
                }
            ],
            "tooltip": {},
        },
        height,
        f"{y} by {x}",
    )
