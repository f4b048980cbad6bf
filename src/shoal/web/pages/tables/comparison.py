"""The runs of one table side by side: what each method costs, how close it is to the best, how long it took."""

from typing import Any

from nicegui import ui

from shoal.tables.methods import METHODS
from shoal.web.jobs.job import Job, State
from shoal.web.pages import parts
from shoal.web.workbench import Workbench

# What may differ between runs of the same table.
_SEARCH = ("method", "options", "compare", "iterations", "time_limit", "seed", "symbol")


def alike(workbench: Workbench, job: Job) -> list[Job]:
    """The runs that protected the same table, the latest of each method."""
    found: dict[str, Job] = {}
    for other in workbench.board.all("suppress"):
        if _table(other) == _table(job):
            name = _name(other)
            if name not in found or other.run == job.run:
                found[name] = other
    return list(found.values())


def _table(job: Job) -> dict[str, Any]:
    return {key: value for key, value in job.request.items() if key not in _SEARCH}


def _name(job: Job) -> str:
    options = ", ".join(f"{name} {value}" for name, value in job.request["options"].items())
    return f"{job.request['method']} ({options})" if options else str(job.request["method"])


def comparison(workbench: Workbench, job: Job) -> None:
    """The table of runs, kept up to date, and a line to run further methods."""
    parts.subheading("Methods compared on this table")

    @ui.refreshable
    def listed() -> None:
        runs = alike(workbench, job)
        if len(runs) > 1:
            _rows(runs, job)
            _curves(runs)
        else:
            parts.quiet("Only this one so far.")

    seen: list[Any] = []

    def look() -> None:
        now = [(other.run, other.state, len(other.points)) for other in alike(workbench, job)]
        if now != seen:
            seen[:] = now
            listed.refresh()

    listed()
    ui.timer(1.0, look)
    names = [name for name in job.summary.get("fitting", METHODS) if name != job.request["method"]]
    with ui.row().classes("full-width items-center gap-2 no-wrap"):
        chosen = ui.select(names, label="Other methods", multiple=True)
        chosen.props("outlined dense options-dense use-chips").classes("shoal-grow")

        def submit() -> None:
            if not chosen.value:
                ui.notify("choose at least one other method", type="warning")
                return
            with parts.showing_errors():
                for name in chosen.value:
                    request = {**job.request, "method": name, "options": {}, "compare": []}
                    workbench.board.submit("suppress", request)
            chosen.set_value([])

        parts.button("Run them too", icon="play_arrow", on_click=submit)


def _rows(runs: list[Job], job: Job) -> None:
    rows, classes = [], []
    for other in sorted(runs, key=lambda one: one.summary.get("cost", float("inf"))):
        found = other.summary
        rows.append(
            (
                _name(other),
                str(other.state) if other.state is not State.FAILED else other.message,
                found.get("cost", other.progress.get("value")),
                _known(found.get("bound", other.progress.get("bound"))),
                _known(found.get("gap_percent")),
                found.get("complementary"),
                found.get("seconds", other.progress.get("seconds")),
            )
        )
        classes.append("shoal-this" if other.run == job.run else "")
    header = ["method", "state", "cost", "bound", "gap, %", "further cells hidden", "seconds"]
    right = [False, False, True, True, True, True, True]
    parts.table(header, rows, classes=classes, numeric=right)


def _known(value: float | None) -> float | str:
    return "unknown" if value is None else value


def _curves(runs: list[Job]) -> None:
    series = []
    for other in runs:
        points = [[p["seconds"], p["value"]] for p in other.points if isinstance(p["value"], int | float)]
        if other.summary:
            points.append([other.summary["seconds"], other.summary["cost"]])
        if points:
            series.append(
                {"type": "line", "step": "end", "name": _name(other), "data": points, "symbolSize": 5}
            )
    if len(series) < 2:
        return
    parts.chart(
        {
            "xAxis": parts.axis("seconds", across=True),
            "yAxis": parts.axis("cost", scale=True),
            "series": series,
            "legend": {**parts.LEGEND, "type": "scroll"},
            "tooltip": {"trigger": "item"},
        },
        230,
        "cost of the best pattern over time, by method",
    )
