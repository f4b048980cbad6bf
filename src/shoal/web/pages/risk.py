"""Risk: K, the anonymity vector, people in small crowds, and the records coloured by their crowd."""

from typing import Any

from nicegui import ui

from shoal.operations import OPERATIONS
from shoal.web.activities.anonymity import crowds_name
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.desk import Desk
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench

_MOST_BARS = 24


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/risk")
    def risk(data: str = "", run: str = "") -> None:
        with layout.page(
            workbench, "Risk", "How many people look the same to somebody who knows the quasi-identifiers?"
        ):
            if parts.has_data(workbench, "groups"):
                RiskPage(workbench, data, run)


class RiskPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        self._workbench = workbench
        self._desk = Desk(
            workbench,
            "/risk",
            "anonymity",
            run=run,
            present=self._present,
            icon="groups",
            hint="Choose the columns that somebody may know of a person, and measure.",
        )
        self._asked = self._desk.asked
        names = workbench.datasets.names()
        chosen = [name for name in self._asked.get("data", [data]) if name in names] or names[:1]
        with self._desk.form("Measure"):
            self._data = parts.several(
                names, "Data (several tables at once)", chosen, lambda: self._columns.refresh()
            )
            self._columns()
            parts.main_button("Measure risk", icon="play_arrow", on_click=self._submit)

    @ui.refreshable_method
    def _columns(self) -> None:
        names = [name for name in self._data.value or [] if name in self._workbench.datasets]
        found = [self._workbench.datasets[name] for name in names]
        common = [
            column
            for column in (found[0].columns if found else ())
            if all(column in d.columns for d in found)
        ]
        if len(found) > 1 and not common:
            parts.warning("These tables have no column in common.")
        self._form = SettingsForm(
            OPERATIONS["anonymity"],
            common,
            self._asked,
            suggested={"quasi": found[0].quasi if found else []},
            without=("data",),
        )

    def _submit(self) -> None:
        with parts.telling():
            self._desk.submit("anonymity", {"data": self._data.value, **self._form.values})

    def _present(self, job: Job) -> None:
        tables = job.summary["tables"]
        if len(tables) == 1:
            self._one(job, 0)
            return
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
                    table["people"].get("1", 0),
                    *[table["below"][limit] for limit in ("3", "5", "10")],
                )
                for table in tables
            ],
        )
        parts.one_of([table["data"] for table in tables], lambda place: self._one(job, place))

    def _one(self, job: Job, place: int) -> None:
        table: dict[str, Any] = job.summary["tables"][place]
        below, alone = table["below"], table["people"].get("1", 0)
        parts.facts(
            [
                ("K, the smallest crowd", table["k"], "bad" if table["k"] < 3 else "good"),
                ("people", table["units"]),
                ("different combinations", table["classes"]),
                ("people alone", alone, "bad" if alone else ""),
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
                    parts.subheading(title)
                    sizes = sorted((int(size), count) for size, count in table[key].items())
                    parts.bars(
                        [str(size) for size, _ in sizes[:_MOST_BARS]],
                        [count for _, count in sizes[:_MOST_BARS]],
                        x="size of the crowd",
                        y=what,
                        colours=[parts.crowd_colour(size) for size, _ in sizes[:_MOST_BARS]],
                    )
                    if len(sizes) > _MOST_BARS:
                        parts.quiet(f"The {_MOST_BARS} smallest of {len(sizes)} sizes.")

        self._rows(job, table["data"], place)

    def _rows(self, job: Job, name: str, place: int) -> None:
        path = self._workbench.workspace.place("runs", job.run, crowds_name(place))
        if name not in self._workbench.datasets or not path.is_file():
            return
        with ui.row().classes("items-center full-width gap-4"):
            parts.subheading("Records by crowd")
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
            parts.quiet(
                f"The first {shown} records of {name}. Red: alone; orange: two; yellow: three or four; green: five to nine."
            )

        listed()


def _colour(crowd: int) -> str:
    for limit, name in ((2, "crowd-1"), (3, "crowd-2"), (5, "crowd-3"), (10, "crowd-5")):
        if crowd < limit:
            return name
    return "crowd-large"
