"""K, the anonymity vector, models of privacy, what is in small classes, and the records in the smallest of them."""

from typing import Any

from nicegui import ui

from shoal.microdata.anonymity.definitions import DEFINITIONS
from shoal.microdata.columns.units import units_in_words
from shoal.operations import OPERATIONS
from shoal.report.definitions import in_words
from shoal.web.activities.anonymity import crowds_name
from shoal.web.jobs.job import Job
from shoal.web.pages import parts
from shoal.web.pages.data_field import DataFields
from shoal.web.pages.gates import gates
from shoal.web.pages.model_field import model_field
from shoal.web.pages.risk.listed import listed_records
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench

_MOST_BARS = 24


class AnonymityForm:
    """Which tables, and what is measured of them."""

    def __init__(self, workbench: Workbench, request: dict[str, Any], data: str) -> None:
        self._workbench = workbench
        self._asked = request
        names = workbench.datasets.names()
        chosen = [name for name in request.get("data", [data]) if name in names] or names[:1]
        self._data = parts.several(
            names, "Data (several tables at once)", chosen, lambda: self._columns.refresh()
        )
        self._columns()

    @property
    def first(self) -> str:
        """The first of the chosen tables."""
        return next(iter(self._data.value or []), "")

    @property
    def request(self) -> dict[str, Any]:
        """What the form shows; an ``InputError`` names the field that is wrong."""
        return {"data": self._data.value, **self._form.values}

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
            own={"models": model_field},
            data_field=DataFields(self._workbench).field_of,
        )


def present_anonymity(workbench: Workbench, job: Job) -> None:
    """The figures of one table, or of several with one of them in full."""
    tables = job.summary["tables"]
    gates(job.summary["gates"])
    if len(tables) == 1:
        _one(workbench, job, 0)
        return
    parts.facts(
        [
            ("K, mean", job.summary["k_mean"]),
            ("K, smallest", job.summary["k_min"], "bad" if job.summary["k_min"] < 3 else ""),
            ("K, largest", job.summary["k_max"]),
        ]
    )
    parts.table(
        ["data", "records", "K", "alone", "in classes below 3", "below 5", "below 10"],
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
    parts.one_of([table["data"] for table in tables], lambda position: _one(workbench, job, position))


def _one(workbench: Workbench, job: Job, position: int) -> None:
    table: dict[str, Any] = job.summary["tables"][position]
    alone, many = table["people"].get("1", 0), units_in_words(table.get("unit"))[1]
    parts.warnings(table.get("warnings", ()))
    parts.facts(
        [
            (*in_words(DEFINITIONS, table, ("k",))[0], "bad" if table["k"] < 3 else "good"),
            *in_words(DEFINITIONS, table, ("units", "classes")),
            (f"{many} alone", alone, "bad" if alone else ""),
            *in_words(DEFINITIONS, table, ("below", "maximum_risk", "average_risk")),
            *(
                [("distinct confidential values, at least", table["distinct_l"])]
                if "distinct_l" in table
                else []
            ),
        ]
    )
    _models(table.get("models", []))
    with ui.row().classes("full-width").style("gap: 12px"):
        for title, key, what in (
            ("Anonymity vector", "vector", "classes"),
            (f"{many.capitalize()} in classes of 1, 2, 3 …", "people", many),
        ):
            with ui.column().classes("gap-1").style("flex: 1 1 300px; min-width: 0"):
                parts.subheading(title)
                sizes = sorted((int(size), count) for size, count in table[key].items())
                parts.bars(
                    [str(size) for size, _ in sizes[:_MOST_BARS]],
                    [count for _, count in sizes[:_MOST_BARS]],
                    x="size of the class",
                    y=what,
                    colours=[parts.crowd_colour(size) for size, _ in sizes[:_MOST_BARS]],
                )
                if len(sizes) > _MOST_BARS:
                    parts.quiet(f"The {_MOST_BARS} smallest of {len(sizes)} sizes.")
    _records(workbench, job, table["data"], position)


def _models(models: list[dict[str, Any]]) -> None:
    """Whether each model holds in every class, and how far the worst one is from it."""
    if not models:
        return
    parts.subheading("Models")
    parts.table(
        ["model", "column", "outcome", "limit", "worst class", "classes that fail", "in them"],
        [
            (
                one["model"],
                one["column"],
                "holds" if one["holds"] else "fails",
                " to ".join(f"{end:g}" for end in one["limit"])
                if isinstance(one["limit"], list)
                else one["limit"],
                one["worst"],
                one["failing_classes"],
                one["failing_people"],
            )
            for one in models
        ],
        classes=["" if one["holds"] else "crowd-1" for one in models],
    )


def _records(workbench: Workbench, job: Job, name: str, position: int) -> None:
    import polars as pl

    path = workbench.workspace.path("runs", job.run, crowds_name(position))
    if not path.is_file():
        return
    rows = pl.read_parquet(path).rows()
    if not rows or len(rows[0]) < 2:  # as an earlier version has written them
        return
    listed_records(
        workbench,
        job,
        name,
        job.request["quasi"],
        heading="Records in the smallest crowds",
        header=["record", "crowd"],
        rows=rows,
        classes=[_colour(crowd) for _, crowd in rows],
        caption=f"{len(rows)} records of {name} in the smallest crowds, by number. Red: alone; orange: two; yellow: three or "
        "four; green: five to nine.",
    )


def _colour(crowd: int) -> str:
    for limit, name in ((2, "crowd-1"), (3, "crowd-2"), (5, "crowd-3"), (10, "crowd-5")):
        if crowd < limit:
            return name
    return "crowd-large"
