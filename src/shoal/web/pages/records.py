"""Protect records: microaggregation with its live curve, before and after, download and write back."""

from typing import Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.microdata.methods import METHODS
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.release import write_back
from shoal.web.pages.runs import RunPanel, run_list
from shoal.web.workbench import Workbench

KINDS = ("microaggregate",)


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/records")
    def records(data: str = "", run: str = "", grouping: str = "") -> None:
        with layout.page(
            workbench,
            "Protect records",
            "Microaggregation: on the protected columns every released record equals at least k − 1 others.",
        ):
            if not workbench.datasets.names():
                with parts.card():
                    parts.empty("blur_on", "There is no data yet.", "Add data", "/data")
                return
            RecordsPage(workbench, data, run, grouping)


class RecordsPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str, grouping: str) -> None:
        self._workbench = workbench
        self._run = run if run in workbench.board else ""
        self._asked: dict[str, Any] = workbench.board[self._run].request if self._run else {}
        if grouping in workbench.board and not self._run:
            found = workbench.board[grouping]
            self._asked = {
                "data": found.request["data"],
                "k": found.request["k"],
                "groups": found.summary.get("groups"),
                "columns": [name for group in found.summary.get("groups", ()) for name in group],
            }
        with ui.element("div").classes("shoal-two"):
            with ui.column().classes("full-width gap-3"):
                with parts.card("Microaggregate"):
                    self._data = parts.data_picker(
                        workbench, "Data", self._asked.get("data", data), lambda: self._columns.refresh()
                    )
                    self._columns()
                    self._search_fields()
                    ui.button("Protect", icon="play_arrow", on_click=self._submit).props("no-caps unelevated")
                with parts.card("Runs"):
                    self._refresh = run_list(workbench, KINDS, self._choose, lambda: self._run)
            self._result = ui.column().classes("full-width gap-3")
        self._show()

    @ui.refreshable_method
    def _columns(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._data.value]
        asked = self._asked if self._asked.get("data") == dataset.name else {}
        numeric = dataset.numeric
        default = [name for name in numeric if dataset.roles.get(name) == "confidential"] or [
            name for name in numeric if dataset.roles.get(name) == "quasi-identifier"
        ]
        self._chosen = parts.column_picker(numeric, "Columns to protect", asked.get("columns") or default)
        self._groups = asked.get("groups")
        if self._groups:
            words = "; ".join(", ".join(group) for group in self._groups)
            self._grouped = ui.checkbox(f"In {len(self._groups)} groups: {words}", value=True).props("dense")
            self._grouped.classes("shoal-quiet")
        self._k = parts.number("k, smallest number of equal records", asked.get("k", 5), min=2, precision=0)
        with ui.expansion("Quasi-identifiers, strata, gaps, order").props("dense").classes("full-width"):
            with ui.column().classes("full-width gap-2"):
                self._quasi = parts.column_picker(
                    dataset.columns,
                    "Quasi-identifiers, over which K is counted",
                    asked.get("quasi") or (),
                    hint="the protected columns if none is chosen",
                )
                self._ordinal = parts.column_picker(
                    dataset.columns, "Columns whose order counts, not their values", asked.get("ordinal", ())
                )
                self._by = parts.column_picker(
                    dataset.columns, "Strata no group may cross", asked.get("by", ())
                )
                self._drop = parts.column_picker(
                    dataset.columns, "Columns to remove", asked.get("drop", dataset.with_role("identifier"))
                )
                self._missing = ui.select(
                    {
                        "refuse": "are refused",
                        "aside": "are set aside, not released",
                        "impute": "are filled in",
                    },
                    label="Records with gaps",
                    value=asked.get("missing", "refuse"),
                )
                self._missing.props("outlined dense").classes("full-width")
                self._aggregate = ui.select(
                    {"mean": "its mean", "median": "its median", "rounded-mean": "its mean, rounded"},
                    label="A group is replaced by",
                    value=asked.get("aggregate", "mean"),
                )
                self._aggregate.props("outlined dense").classes("full-width")
                self._sorted = ui.checkbox("Sort the released records", value=asked.get("order") == "sorted")

    def _search_fields(self) -> None:
        methods = {name: f"{name}: {METHODS[name].summary}" for name in METHODS}
        asked = self._asked.get("method")
        default = asked if asked in methods else ("auto" if "auto" in methods else "ilsmc")
        self._method = ui.select(methods, label="Method", value=default)
        self._method.props("outlined dense options-dense").classes("full-width")
        with ui.row().classes("full-width no-wrap gap-2"):
            self._iterations = parts.number("Iterations", self._asked.get("iterations"), min=0, precision=0)
            self._iterations.props('placeholder="usual"')
            self._time = parts.number("Time limit, seconds", self._asked.get("time_limit"), min=0.1)
            self._time.props('placeholder="none"')
        self._seed = parts.number("Seed", self._asked.get("seed", 0), min=0, precision=0)

    def _submit(self) -> None:
        if self._data.value is None or self._k.value is None:
            ui.notify("choose data and k first", type="warning")
            return
        request: dict[str, Any] = {
            "data": self._data.value,
            "k": parts.whole(self._k),
            "columns": [name for name in self._chosen.value if name not in self._ordinal.value] or None,
            "ordinal": self._ordinal.value,
            "method": self._method.value,
            "quasi": self._quasi.value or None,
            "by": self._by.value,
            "drop": [name for name in self._drop.value if name not in self._chosen.value],
            "missing": self._missing.value,
            "aggregate": self._aggregate.value,
            "order": "sorted" if self._sorted.value else "keep",
            "iterations": parts.whole(self._iterations),
            "time_limit": self._time.value,
            "seed": parts.whole(self._seed) or 0,
        }
        if self._groups and self._grouped.value:
            request |= {"columns": None, "groups": self._groups}
        try:
            job = self._workbench.board.submit("microaggregate", request)
        except ShoalError as problem:
            parts.tell(problem)
            return
        self._choose(job.run)

    def _choose(self, run: str) -> None:
        self._run = run
        ui.navigate.history.replace(f"/records?run={run}")
        self._refresh()
        self._show()

    def _show(self) -> None:
        self._result.clear()
        with self._result:
            if self._run:
                RunPanel(self._workbench, self._run, self._present, measure="information loss, %")
            else:
                with parts.card():
                    parts.empty(
                        "blur_on",
                        "Choose the columns and k, and protect. You can watch, pause and stop the search.",
                    )

    def _present(self, job: Job) -> None:
        found = job.summary
        bound = found["bound_percent"]
        parts.facts(
            [
                (
                    "K of the release",
                    found["k_release"],
                    "good" if found["k_release"] >= found["k"] else "bad",
                ),
                ("k asked for", found["k"]),
                ("information loss", f"{found['loss_percent']:.4g} %"),
                ("no grouping loses less than", "not known" if bound is None else f"{bound:.4g} %"),
                ("proved optimal", "yes" if found["optimal"] else "no"),
                ("records released", found["records"]),
                ("groups", f"{found['clusters']:,} of {found['min_cluster']}–{found['max_cluster']}"),
                ("stopped by", found["stopped_by"]),
            ]
        )
        for text in found["warnings"]:
            parts.warning(text)
        for text in found["notes"]:
            parts.note(text)
        before_and_after(found)
        write_back(self._workbench, job)


def before_and_after(found: dict[str, Any]) -> None:
    """Distributions, means and correlations before and after."""
    ui.label("Before and after").style("font-weight: 600")
    parts.table(
        ["column", "mean before", "mean after", "deviation before", "deviation after", "variance kept, %"],
        [
            (
                change["column"],
                change["mean_before"],
                change["mean_after"],
                change["deviation_before"],
                change["deviation_after"],
                change["variance_kept_percent"],
            )
            for change in found["changes"]
        ],
    )
    drawn = found["histograms"]
    if drawn:
        with ui.row().classes("full-width").style("gap: 12px"):
            for name, pair in list(drawn.items())[:6]:
                with ui.column().classes("gap-0").style("flex: 1 1 280px; min-width: 0"):
                    _densities(name, pair)
        ui.label("Between the 1st and 99th percentile, in bins of at least 10 records.").classes(
            "shoal-quiet"
        )
    names = found["correlations"]["columns"]
    if len(names) > 1:
        ui.label(f"Correlations: the largest change is {found['correlations']['largest_change']:.4f}").style(
            "font-weight: 600"
        )
        before, after = found["correlations"]["before"], found["correlations"]["after"]
        pairs = [
            (f"{names[i]} – {names[j]}", before[i][j], after[i][j])
            for i in range(len(names))
            for j in range(i)
            if before[i][j] is not None and after[i][j] is not None
        ]
        pairs.sort(key=lambda row: -abs(row[2] - row[1]))
        parts.table(["columns", "before", "after"], pairs[:8])


def _densities(name: str, pair: dict[str, Any]) -> None:
    series = []
    for when, bins in pair.items():
        total = sum(count for _, _, count in bins) or 1
        steps = []
        for low, high, count in bins:
            density = count / total / ((high - low) or 1)
            steps += [[low, density], [high, density]]
        series.append(
            {"type": "line", "name": when, "data": steps, "showSymbol": False, "areaStyle": {"opacity": 0.15}}
        )
    parts.chart(
        {
            "xAxis": parts.axis(name, across=True, scale=True),
            "yAxis": parts.axis("", axisLabel={"show": False}),
            "grid": {"left": 14, "right": 14, "top": 30, "bottom": 44},
            "series": series,
            "legend": {"textStyle": {"color": "#8a949b"}, "top": 0},
        },
        200,
        f"distribution of {name} before and after",
    )
