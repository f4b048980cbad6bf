"""Why this recoding: its neighbours and the front of loss against what is left out; what is pressed is run."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import events, ui

from shoal.microdata.columns.units import units_in_words
from shoal.report.blocks import shown
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes

# More rows nobody reads; the chart has all points.
_LISTED = 60

Choice = Mapping[str, Any]


def choices(figures: Mapping[str, Any], take: Callable[[Choice], None]) -> None:
    """What else could be had: a table of neighbours, and the front as a chart and a table."""
    if not figures.get("neighbours"):
        return
    keys, front, many = figures["quasi"], figures["front"] or [], units_in_words(figures.get("unit"))[1]
    heading = "One level finer or coarser"
    parts.strong(heading)
    _table(
        heading,
        ["key", "step", "to level", "loss", "left out", "records left out"],
        [
            (
                one["column"],
                "finer" if one["step"] < 0 else "coarser",
                one["levels"][keys.index(one["column"])],
                f"{one['loss']:.6g}",
                one["people_left_out"],
                one["records_left_out"],
            )
            for one in figures["neighbours"]
        ],
        figures["neighbours"],
        take,
    )
    heading = f"Loss against {many} left out"
    parts.strong(heading)
    if not front:
        parts.note("There are too many recodings to look at all; their neighbours are above.")
        return
    _map(figures, front, take)
    _table(
        heading,
        [*keys, "loss", "left out"],
        [(*one["levels"], f"{one['loss']:.6g}", one["people_left_out"]) for one in front[:_LISTED]],
        front[:_LISTED],
        take,
    )
    parts.quiet("Levels of each key; press a line or a point to run it.")


def request_of(request: Mapping[str, Any], figures: Mapping[str, Any], one: Choice) -> dict[str, Any]:
    """The request of a run with the levels of a choice, and as many left out as they need.

    >>> found = {"quasi": ["age"], "people": 300}
    >>> request = request_of({"suppress": 0.0, "method": "auto"}, found, {"levels": [2], "people_left_out": 1})
    >>> request["levels"], request["method"], request["suppress"]
    ({'age': 2}, 'lattice', 0.003334)
    """
    needed = math.ceil(1e6 * one["people_left_out"] / max(1, figures["people"])) / 1e6
    return {
        **request,
        "levels": dict(zip(figures["quasi"], one["levels"], strict=True)),
        "method": "lattice",
        "options": {},
        "suppress": min(1.0, max(request["suppress"], needed)),
    }


def _table(
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    meant: Sequence[Choice],
    take: Callable[[Choice], None],
) -> None:
    with ui.element("div").classes("shoal-table"), ui.element("table") as table:
        attributes(table, aria_label=name)
        with ui.element("thead"), ui.element("tr"):
            for place, word in enumerate((*header, "")):
                right = place < len(header) and isinstance(rows[0][place], int)
                with ui.element("th").classes("number" if right else ""):
                    ui.label(word)
        with ui.element("tbody"):
            for place, (row, one) in enumerate(zip(rows, meant, strict=True)):
                with ui.element("tr"):
                    for value in row:
                        with ui.element("td").classes("number" if isinstance(value, int) else ""):
                            ui.label(shown(value))
                    with ui.element("td"):
                        button = parts.small_button("Run this", on_click=lambda one=one: take(one))
                        attributes(button, aria_label=f"Run line {place + 1}: {name}")


def _map(figures: Mapping[str, Any], front: Sequence[Choice], take: Callable[[Choice], None]) -> None:
    series = [
        ("front", "line", front),
        ("neighbours", "scatter", figures["neighbours"]),
    ]
    chart = parts.chart(
        {
            "xAxis": parts.axis("left out", across=True),
            "yAxis": parts.axis("loss", scale=True),
            "series": [
                {
                    "type": kind,
                    "name": name,
                    "symbol": "circle",
                    "symbolSize": 11,
                    "data": [[one["people_left_out"], one["loss"]] for one in points],
                }
                for name, kind, points in series
            ]
            + [
                {
                    "type": "scatter",
                    "name": "this release",
                    "symbol": "diamond",
                    "symbolSize": 16,
                    "silent": True,
                    "data": [[figures["suppressed_people"], figures["loss"]]],
                }
            ],
            "legend": parts.LEGEND,
            "tooltip": {"trigger": "item"},
        },
        300,
        "loss against what is left out, of this release, its neighbours and the best for each number",
    )

    def pressed(event: events.EChartPointClickEventArguments) -> None:
        points = series[event.series_index][2] if event.series_index < len(series) else ()
        if 0 <= event.data_index < len(points):
            take(points[event.data_index])

    chart.on_point_click(pressed)
