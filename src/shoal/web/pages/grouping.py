"""Group attributes: which columns to protect together, and how the operators of the search fared."""

from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.microdata.grouping.definitions import DEFINITIONS
from shoal.operations import OPERATIONS
from shoal.report.definitions import in_words
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.desk import Desk
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/grouping")
    def grouping(data: str = "", run: str = "") -> None:
        with layout.page(
            workbench,
            "Group attributes",
            "Protecting columns in groups loses less than all together; good groups keep the risk low.",
        ):
            if parts.has_data(workbench, "workspaces"):
                GroupingPage(workbench, data, run)


class GroupingPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        self._workbench = workbench
        self._desk = Desk(
            workbench,
            "/grouping",
            "group",
            run=run,
            present=_present,
            icon="workspaces",
            hint="Choose columns and k. The search weighs what is lost against what is risked.",
            measure="score",
        )
        self._asked = self._desk.asked
        with self._desk.form("Group"):
            self._data = parts.data_picker(
                workbench, "Data", self._asked.get("data", data), lambda: self._fields.refresh()
            )
            self._fields()
            parts.main_button("Group", icon="play_arrow", on_click=self._submit)

    @ui.refreshable_method
    def _fields(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._data.value]
        self._form = SettingsForm(
            OPERATIONS["group"],
            dataset.numeric,
            self._asked if self._asked.get("data") == dataset.name else {},
            suggested={"columns": dataset.measured},
            without=("data", "groups"),
        )

    def _submit(self) -> None:
        with parts.showing_errors():
            request = {"data": self._data.value, **self._form.values}
            if not request["columns"]:
                raise InputError("choose the columns to group")
            self._desk.submit("group", request)


def _present(job: Job) -> None:
    found = job.summary
    parts.facts(
        [
            *in_words(DEFINITIONS, found, DEFINITIONS),
            ("stopped by", found["stopped_by"]),
        ]
    )
    parts.strong("Groups")
    with ui.row().classes("gap-2"):
        for place, group in enumerate(found["groups"]):
            ui.label(f"{place + 1}: {', '.join(group)}").classes("shoal-fact").props('data-test="group"')
    parts.remarks(found)
    parts.button(
        "Protect records in these groups",
        icon="blur_on",
        to=f"/records?data={job.request['data']}&grouping={job.run}",
    )
    if found["course"]["best"]:
        _course(found["course"])
    if found["operators"]:
        _operators(found["operators"])


def _course(course: dict[str, list[float]]) -> None:
    parts.strong("The population, generation by generation")
    parts.chart(
        {
            "xAxis": parts.axis("generation", across=True),
            "yAxis": parts.axis("score", scale=True),
            "series": [
                {
                    "type": "line",
                    "name": name,
                    "showSymbol": False,
                    "data": [[place, value] for place, value in enumerate(course[key])],
                }
                for name, key in (("best", "best"), ("mean", "mean"))
            ],
            "legend": parts.LEGEND,
            "tooltip": {"trigger": "axis"},
        },
        230,
        "best and mean score by generation",
    )


def _operators(operators: dict[str, Any]) -> None:
    parts.strong("Operators")
    totals = operators["totals"]
    with ui.row().classes("full-width").style("gap: 12px"):
        with ui.column().classes("gap-0").style("flex: 1 1 300px; min-width: 0"):
            parts.chart(
                {
                    "xAxis": parts.axis("children", across=True),
                    "yAxis": {**parts.axis("", "category", data=operators["names"], inverse=True)},
                    "grid": {"left": 130, "right": 18, "top": 34, "bottom": 44},
                    "series": [
                        {"type": "bar", "stack": "a", "name": name, "data": totals[name]}
                        for name in ("improved", "equal", "worse")
                    ],
                    "legend": parts.LEGEND,
                    "tooltip": {"trigger": "axis"},
                },
                70 + 32 * len(operators["names"]),
                "children of each operator that improved, stayed equal or got worse",
            )
        with ui.column().classes("gap-0").style("flex: 1 1 300px; min-width: 0"):
            shares = [sum(column) or 1 for column in zip(*operators["made"], strict=True)]
            parts.chart(
                {
                    "xAxis": parts.axis("generation", "category", data=operators["generations"]),
                    "yAxis": parts.axis("share of children, %", max=100),
                    "series": [
                        {
                            "type": "line",
                            "stack": "a",
                            "areaStyle": {},
                            "showSymbol": False,
                            "name": name,
                            "data": [
                                round(100 * value / total, 2)
                                for value, total in zip(made, shares, strict=True)
                            ],
                        }
                        for name, made in zip(operators["names"], operators["made"], strict=True)
                    ],
                    "legend": {**parts.LEGEND, "type": "scroll"},
                    "tooltip": {"trigger": "axis"},
                },
                70 + 32 * len(operators["names"]),
                "share of the children made by each operator over the search",
            )
