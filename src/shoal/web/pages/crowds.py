"""Pictures of a plan: the matrix of crowds by slots beside a random one, and how full the slots are."""

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from shoal.web.pages import parts

_WHICH = {"largest": "Largest crowds", "smallest": "Smallest crowds"}
_LABELLED = 240


def people_by_crowd(vector: Mapping[str, int]) -> list[int]:
    """How many people are alone, in crowds of two, three or four, five to nine, and larger ones.

    >>> people_by_crowd({"1": 3, "4": 2, "10": 1})
    [3, 0, 8, 0, 10]
    """
    return [
        sum(
            int(size) * number for size, number in vector.items() if least <= int(size) <= (most or int(size))
        )
        for least, most, _, _ in parts.CROWDS
    ]


def distribution(figures: dict[str, Any]) -> None:
    """The people by the size of their crowd: before, with this plan, and at random."""
    series = (
        ("before any appointment", "vector_before"),
        ("with this plan", "vector"),
        ("at random", "vector_random"),
    )
    parts.chart(
        {
            "xAxis": parts.axis(
                "size of the crowd", "category", data=[words for _, _, words, _ in parts.CROWDS]
            ),
            "yAxis": parts.axis("people", minInterval=1),
            "series": [
                {"type": "bar", "name": name, "data": people_by_crowd(figures[key]), "barMaxWidth": 40}
                for name, key in series
            ],
            "color": [parts.INK, parts.PALETTE[0], parts.PALETTE[1]],
            "legend": parts.LEGEND,
            "tooltip": {"trigger": "axis"},
        },
        230,
        "people by the size of their crowd, before, with this plan and at random",
    )


def matrix(figures: dict[str, Any]) -> None:
    """Who goes where: a row for each crowd, a column for each slot; the same for a random plan at a press."""
    drawings = {drawing["which"]: drawing for drawing in figures["matrices"]}
    with ui.column().classes("full-width gap-1"):
        with ui.row().classes("items-center full-width gap-3"):
            parts.subheading("Crowds by slots")
            ui.space()
            which = _toggle({name: _WHICH[name] for name in drawings if name in _WHICH})
            with_random = all(drawing["random"] is not None for drawing in drawings.values())
            plan = _toggle({"plan": "This plan", "random": "At random"} if with_random else {})

        @ui.refreshable
        def drawn() -> None:
            drawing = drawings[which.value if which else next(iter(drawings))]
            _heat_map(drawing, plan.value if plan else "plan")
            parts.quiet(_caption(drawing, figures))

        drawn()
        for toggle in (which, plan):
            if toggle is not None:
                toggle.on_value_change(drawn.refresh)


def _toggle(choices: dict[str, str]) -> ui.toggle | None:
    if len(choices) < 2:
        return None
    return ui.toggle(choices, value=next(iter(choices))).props("no-caps dense padding='2px 10px'")


def _heat_map(drawing: dict[str, Any], which: str) -> None:
    rows, slots = drawing[which], drawing["slots"]
    crowds = [f"{place + 1} ({size})" for place, size in enumerate(drawing["crowds"])]
    cells = [
        {"value": [x, y, value], "name": f"{value} of crowd {y + 1} at {slots[x]}"}
        for y, row in enumerate(rows)
        for x, value in enumerate(row)
        if value
    ]
    few = len(rows) * len(slots) <= _LABELLED
    tall = 26 if len(rows) <= 12 else 16
    parts.chart(
        {
            "xAxis": parts.axis("", "category", data=slots, axisLabel=slot_labels(slots)),
            "yAxis": {
                **parts.axis("crowd (people)", "category", data=crowds, inverse=True),
                "nameGap": 60,
            },
            "grid": {"left": 84, "right": 14, "top": 34, "bottom": 74 if _aslant(slots) else 30},
            "visualMap": {
                "type": "piecewise",
                "orient": "horizontal",
                "left": "center",
                "top": 0,
                "itemWidth": 14,
                "itemHeight": 12,
                "pieces": [
                    {"gte": least, "label": words, "color": colour} | ({} if most is None else {"lte": most})
                    for least, most, words, colour in parts.CROWDS
                ],
                "textStyle": {"color": parts.INK},
            },
            "series": [
                {
                    "type": "heatmap",
                    "data": cells,
                    "label": {"show": few, "fontSize": 11, "color": "#101418"},
                    "itemStyle": {"borderColor": "rgba(128,128,128,.45)", "borderWidth": 1},
                }
            ],
            "tooltip": {"formatter": "{b}"},
        },
        min(720, (110 if _aslant(slots) else 66) + tall * len(rows)),
        "how many people of each crowd go to each slot",
    )


def _caption(drawing: dict[str, Any], figures: dict[str, Any]) -> str:
    total, shown = figures["crowds"], len(drawing["crowds"])
    words = (
        f"All {total:,} crowds" if total == shown else f"The {shown} {drawing['which']} of {total:,} crowds"
    )
    if len(figures["slots"]) > len(drawing["slots"]):
        words += f", in the {len(drawing['slots'])} slots they use most, of {len(figures['slots']):,}"
    return f"{words}. A cell is the crowd in which a person is seen at a slot; its colour is its size."


def slot_labels(slots: list[str]) -> dict[str, Any]:
    """Names of slots upright while they are short, aslant where they are long."""
    return {"rotate": 50 if _aslant(slots) else 0, "color": parts.INK}


def _aslant(slots: list[str]) -> bool:
    return sum(len(name) for name in slots) > 60


def places_used(figures: dict[str, Any]) -> None:
    """How full each slot is."""
    slots = figures["slots"][:60]
    names = [item["slot"] for item in slots]
    with ui.column().classes("full-width gap-0"):
        parts.subheading("Places used")
        parts.chart(
            {
                "xAxis": parts.axis("", "category", data=names, axisLabel=slot_labels(names)),
                "yAxis": parts.axis("people", minInterval=1),
                "grid": {"left": 64, "right": 18, "top": 30, "bottom": 70 if _aslant(names) else 26},
                "series": [
                    {"type": "bar", "name": "used", "data": [item["load"] for item in slots], "stack": "a"},
                    {
                        "type": "bar",
                        "name": "free",
                        "data": [item["capacity"] - item["load"] for item in slots],
                        "stack": "a",
                        "itemStyle": {"color": "rgba(128,128,128,.25)"},
                    },
                ],
                "legend": parts.LEGEND,
                "tooltip": {"trigger": "axis"},
            },
            240 if _aslant(names) else 200,
            "people and free places by slot",
        )
        if len(figures["slots"]) > len(slots):
            parts.quiet(f"The first {len(slots)} of {len(figures['slots']):,} slots.")
