"""Risk: K, the anonymity vector, people in small crowds, and the records coloured by their crowd."""

from typing import Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.runs import RunPanel, run_list
from shoal.web.workbench import Workbench

_MOST_BARS = 24


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/risk")
    def risk(data: str = "", run: str = "") -> None:
        with layout.page(
            workbench, "Risk", "How many people look the same to somebody who knows the quasi-identifiers?"
        ):
            if not workbench.datasets.names():
                with parts.card():
                    parts.empty("groups", "There is no data yet.", "Add data", "/data")
                return
            RiskPage(workbench, data, run)


class RiskPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        self._workbench = workbench
        self._run = run if run in workbench.board else ""
        asked = workbench.board[self._run].request if self._run else {}
        names = workbench.datasets.names()
        chosen = [name for name in asked.get("data", [data]) if name in names] or names[:1]
        with ui.element("div").classes("shoal-two"):
            with ui.column().classes("full-width gap-3"):
                with parts.card("Measure"):
                    self._data = ui.select(
                        names, label="Data (several tables at once)", value=chosen, multiple=True
                    )
                    self._data.props("outlined dense options-dense use-chips").classes("full-width")
                    self._data.on_value_change(lambda: self._columns.refresh())
                    self._asked = asked
                    self._columns()
                    ui.button("Measure risk", icon="play_arrow", on_click=self._submit).props(
                        "no-caps unelevated"
                    )
                with parts.card("Runs"):
                    self._refresh = run_list(workbench, ("anonymity",), self._choose, lambda: self._run)
            self._result = ui.column().classes("full-width gap-3")
        self._show()

    @ui.refreshable_method
    def _columns(self) -> None:
        names = [name for name in self._data.value or [] if name in self._workbench.datasets]
        found = [self._workbench.datasets[name] for name in names]
        common = [
            column
            for column in (found[0].columns if found else ())
            if all(column in d.columns for d in found)
        ]
        suggested = self._asked.get("quasi") or (found[0].quasi if found else [])
        self._quasi = parts.column_picker(common, "Quasi-identifiers", suggested)
        with ui.expansion("More").props("dense").classes("full-width"):
            with ui.column().classes("full-width gap-2"):
                self._unit = ui.select(
                    {"": "records", **{name: f"distinct {name}" for name in common}},
                    label="Count",
                    value=self._asked.get("unit") or "",
                )
                self._unit.props("outlined dense options-dense").classes("full-width")
                self._null = ui.select(
                    {"own": "is a value of its own", "wildcard": "matches any value"},
                    label="A missing value",
                    value=self._asked.get("null", "own"),
                )
                self._null.props("outlined dense").classes("full-width")
                self._confidential = ui.select(
                    {"": "none", **{name: name for name in common}},
                    label="Diversity of a confidential column",
                    value=self._asked.get("confidential") or "",
                )
                self._confidential.props("outlined dense options-dense").classes("full-width")

    def _submit(self) -> None:
        try:
            job = self._workbench.board.submit(
                "anonymity",
                {
                    "data": self._data.value,
                    "quasi": self._quasi.value,
                    "unit": self._unit.value or None,
                    "null": self._null.value,
                    "confidential": self._confidential.value or None,
                },
            )
        except ShoalError as problem:
            parts.tell(problem)
            return
        self._choose(job.run)

    def _choose(self, run: str) -> None:
        self._run = run
        ui.navigate.history.replace(f"/risk?run={run}")
        self._refresh()
        self._show()

    def _show(self) -> None:
        self._result.clear()
        with self._result:
            if self._run:
                RunPanel(self._workbench, self._run, self._present)
            else:
                with parts.card():
                    parts.empty(
                        "groups", "Choose the columns that somebody may know of a person, and measure."
                    )

    def _present(self, job: Job) -> None:
        tables = job.summary["tables"]
        if len(tables) > 1:
            parts.facts(
                [
                    ("K, mean", job.summary["k_mean"]),
                    ("K, smallest", job.summary["k_min"], "bad" if job.summary["k_min"] < 3 else ""),
                    ("K, largest", job.summary["k_max"]),
                ]
            )
            parts.table(
                ["data", "records", "K", "alone", "in crowds below 3", "below 5", "below 10"],
                [
                    (
                        table["data"],
                        table["records"],
                        table["k"],
                        *[table["below"][limit] for limit in ("2", "3", "5", "10")],
                    )
                    for table in tables
                ],
            )
        for table in tables[:1] if len(tables) > 1 else tables:
            self._one(table, several=len(tables) > 1)
        self._rows(job)

    def _one(self, table: dict[str, Any], *, several: bool) -> None:
        if several:
            ui.label(table["data"]).style("font-weight: 600")
        below = table["below"]
        parts.facts(
            [
                ("K, the smallest crowd", table["k"], "bad" if table["k"] < 3 else "good"),
                ("people", table["units"]),
                ("different combinations", table["classes"]),
                ("people alone", below["2"], "bad" if below["2"] else ""),
                ("in crowds below 3", below["3"]),
                ("in crowds below 5", below["5"]),
                ("in crowds below 10", below["10"]),
                ("largest risk", f"{100 * table['maximum_risk']:.3g} %"),
                ("average risk", f"{100 * table['average_risk']:.3g} %"),
                *(
                    [("distinct confidential values, at least", table["distinct_l"])]
                    if "distinct_l" in table
                    else []
                ),
            ]
        )
        with ui.row().classes("full-width").style("gap: 12px"):
            for title, key, what in (
                ("Anonymity vector", "vector", "crowds"),
                ("People in crowds of 1, 2, 3 …", "people", "people"),
            ):
                with ui.column().classes("gap-1").style("flex: 1 1 300px; min-width: 0"):
                    ui.label(title).style("font-weight: 600")
                    sizes = sorted((int(size), count) for size, count in table[key].items())
                    parts.bars(
                        [str(size) for size, _ in sizes[:_MOST_BARS]],
                        [count for _, count in sizes[:_MOST_BARS]],
                        x="size of the crowd",
                        y=what,
                    )
                    if len(sizes) > _MOST_BARS:
                        ui.label(f"The {_MOST_BARS} smallest of {len(sizes)} sizes.").classes("shoal-quiet")

    def _rows(self, job: Job) -> None:
        name = job.request["data"][0]
        path = self._workbench.workspace.place("runs", job.run, "crowds.parquet")
        if name not in self._workbench.datasets or not path.is_file():
            return
        with ui.row().classes("items-center full-width gap-4"):
            ui.label("Records by crowd").style("font-weight: 600")
            switch = ui.switch("Show values", value=False, on_change=lambda: listed.refresh())

        @ui.refreshable
        def listed() -> None:
            import polars as pl

            crowds = pl.read_parquet(path)["crowd"].to_list()
            quasi = job.request["quasi"]
            if switch.value:
                head = self._workbench.datasets.head(name, len(crowds)).select(quasi)
                values = [list(row) for row in head.iter_rows()]
            else:
                # The values are not sent to the browser before somebody asks for them.
                values = [["•••"] * len(quasi) for _ in crowds]
            shown = min(50, len(crowds))
            parts.table(
                ["crowd", *quasi],
                [[crowd, *map(str, row)] for crowd, row in zip(crowds[:shown], values[:shown], strict=True)],
                classes=[_colour(crowd) for crowd in crowds[:shown]],
            )
            ui.label(
                f"The first {shown} records of {name}. Red: alone; orange: two; yellow: three or four; green: five to nine."
            ).classes("shoal-quiet")

        listed()


def _colour(crowd: int) -> str:
    for limit, name in ((2, "crowd-1"), (3, "crowd-2"), (5, "crowd-3"), (10, "crowd-5")):
        if crowd < limit:
            return name
    return "crowd-large"
