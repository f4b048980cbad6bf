"""Group attributes: which columns to protect together, and how the operators of the search fared."""

from typing import Any

from nicegui import ui

from shoal.errors import InputError, ShoalError
from shoal.microdata.grouping.methods import METHODS
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.fields import NumberField
from shoal.web.pages.method_picker import MethodPicker
from shoal.web.pages.runs import RunPanel, run_list
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
            if not workbench.datasets.names():
                with parts.card():
                    parts.empty("workspaces", "There is no data yet.", "Add data", "/data")
                return
            GroupingPage(workbench, data, run)


class GroupingPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        self._workbench = workbench
        self._run = run if run in workbench.board else ""
        self._asked: dict[str, Any] = workbench.board[self._run].request if self._run else {}
        asked = self._asked
        with ui.element("div").classes("shoal-two"):
            with ui.column().classes("full-width gap-3"):
                with parts.card("Group"):
                    self._data = parts.data_picker(
                        workbench, "Data", asked.get("data", data), lambda: self._columns.refresh()
                    )
                    self._columns()
                    self._k = NumberField(
                        "k, smallest number of equal records", asked.get("k", 25), whole=True, least=2
                    )
                    self._method = MethodPicker(METHODS, asked.get("method", "d-gomm"), asked.get("options"))
                    with ui.row().classes("full-width no-wrap gap-2"):
                        self._iterations = NumberField(
                            "Iterations", asked.get("iterations"), whole=True, least=0, empty="usual"
                        )
                        self._time = NumberField(
                            "Time limit, s", asked.get("time_limit"), above=0, empty="none"
                        )
                    with ui.row().classes("full-width no-wrap gap-2"):
                        self._target = NumberField("Target score", asked.get("target"), least=0, empty="none")
                        self._seed = NumberField("Seed", asked.get("seed", 0), whole=True, least=0)
                    self._scoring(asked)
                    ui.button("Group", icon="play_arrow", on_click=self._submit).props("no-caps unelevated")
                with parts.card("Runs"):
                    self._refresh = run_list(workbench, ("group",), self._choose, lambda: self._run)
            self._result = ui.column().classes("full-width gap-3")
        self._show()

    @ui.refreshable_method
    def _columns(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._data.value]
        asked = self._asked if self._asked.get("data") == dataset.name else {}
        default = dataset.measured
        self._chosen = parts.column_picker(
            dataset.numeric, "Columns to group", asked.get("columns") or default
        )

    def _scoring(self, asked: dict[str, Any]) -> None:
        with ui.expansion("Scoring, gaps").props("dense").classes("full-width"):
            with ui.column().classes("full-width gap-3"):
                self._variant = ui.select(
                    {"compatible": "as in the published tables", "literal": "as in their text"},
                    label="Score",
                    value=asked.get("variant", "compatible"),
                )
                self._bounds = ui.select(
                    {"compatible": "may be below k when scoring", "strict": "has k records too"},
                    label="The last cluster",
                    value=asked.get("bounds", "compatible"),
                )
                self._missing = ui.select(
                    {"aside": "are left out of the search", "refuse": "are refused"},
                    label="Records with gaps",
                    value=asked.get("missing", "aside"),
                )
                for field in (self._variant, self._bounds, self._missing):
                    field.props("outlined dense options-dense").classes("full-width")
                self._alone = ui.checkbox(
                    "Also search with each operator alone, for the report", value=asked.get("alone", False)
                ).props("dense")

    def _submit(self) -> None:
        try:
            if not self._chosen.value:
                raise InputError("choose the columns to group")
            request: dict[str, Any] = {
                "data": self._data.value,
                "k": self._k.whole,
                "columns": self._chosen.value,
                "method": self._method.method,
                "iterations": self._iterations.whole,
                "variant": self._variant.value,
                "bounds": self._bounds.value,
                "missing": self._missing.value,
                "alone": self._alone.value,
                "time_limit": self._time.number,
                "target": self._target.number,
                "seed": self._seed.whole,
                "options": self._method.options,
            }
            job = self._workbench.board.submit("group", request)
        except ShoalError as problem:
            parts.tell(problem)
            return
        self._choose(job.run)

    def _choose(self, run: str) -> None:
        self._run = run
        ui.navigate.history.replace(f"/grouping?run={run}")
        self._refresh()
        self._show()

    def _show(self) -> None:
        self._result.clear()
        with self._result:
            if self._run:
                RunPanel(self._workbench, self._run, _present, measure="score")
            else:
                with parts.card():
                    parts.empty(
                        "workspaces",
                        "Choose columns and k. The search weighs what is lost against what is risked.",
                    )


def _present(job: Job) -> None:
    found = job.summary
    parts.facts(
        [
            ("score", found["score"]),
            ("no grouping scores below", "not known" if found["bound"] is None else found["bound"]),
            ("information loss, %", found["il"]),
            ("interval disclosure, %", found["id"]),
            ("linkage by distance, %", found["dld"]),
            ("proved optimal", "yes" if found["optimal"] else "no"),
            ("groupings looked at", found["evaluations"]),
            ("stopped by", found["stopped_by"]),
        ]
    )
    ui.label("Groups").style("font-weight: 600")
    with ui.row().classes("gap-2"):
        for place, group in enumerate(found["groups"]):
            ui.label(f"{place + 1}: {', '.join(group)}").classes("shoal-fact").props('data-test="group"')
    for text in found["warnings"]:
        parts.warning(text)
    for text in found["notes"]:
        parts.note(text)
    ui.button(
        "Protect records in these groups",
        icon="blur_on",
        on_click=lambda: ui.navigate.to(f"/records?data={job.request['data']}&grouping={job.run}"),
    ).props("no-caps outline")
    if found["course"]["best"]:
        _course(found["course"])
    if found["operators"]:
        _operators(found["operators"])


def _course(course: dict[str, list[float]]) -> None:
    ui.label("The population, generation by generation").style("font-weight: 600")
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
    ui.label("Operators").style("font-weight: 600")
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
