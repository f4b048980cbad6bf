"""The page: what is in the workspace, what its columns are, and its first records."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import background_tasks, ui

from shoal.exact_names import only
from shoal.numbers import counted
from shoal.web.activities.load import SAMPLES
from shoal.web.datasets import Dataset
from shoal.web.pages import layout, parts, removal
from shoal.web.pages.attributes import attributes
from shoal.web.pages.data.adding import Adding
from shoal.web.pages.data.columns import ColumnRoles
from shoal.web.pages.data.database import DatabaseForm
from shoal.web.pages.release import write_line
from shoal.web.pages.workspace_note import temporary_workspace
from shoal.web.workbench import Workbench

if TYPE_CHECKING:
    import polars as pl

_PREVIEW = 20
_WIDEST = 40


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/data")
    def data(name: str = "", tab: str = "") -> None:
        with layout.page(workbench, "Data", "What is on this page stays on this machine, in the workspace."):
            temporary_workspace(workbench)
            DataPage(workbench, name, tab)


class DataPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, name: str, tab: str) -> None:
        self._workbench = workbench
        names = workbench.datasets.names()
        self._chosen = name if name in names else (names[0] if names else "")
        self._adding = Adding(workbench, self._arrived, lambda: self._database.form.refresh())
        self._database = DatabaseForm(workbench, self._adding, self._shown.refresh, self._ask_to_remove)
        with ui.element("div").classes("shoal-two shoal-data"):
            with ui.column().classes("full-width gap-3"):
                with parts.card("Add data"):
                    self._add(tab)
                self._adding.waiting()
            with ui.column().classes("full-width gap-3"):
                self._listing()
                self._shown()

    def _add(self, tab: str) -> None:
        forms: dict[str, Callable[[], None]] = {
            "file": self._adding.file_form,
            "database": self._database.form,
            "sample": self._adding.sample_form,
            "generate": self._adding.generate_form,
        }
        with ui.tabs().props("dense no-caps align=left inline-label").classes("full-width") as tabs:
            named = {name: ui.tab(name.capitalize()) for name in forms}
        with ui.tab_panels(tabs, value=named.get(tab, named["file"])).classes("full-width bg-transparent"):
            for name, form in forms.items():
                with ui.tab_panel(named[name]).classes("q-pa-none q-pt-sm"):
                    form()

    def _arrived(self, summary: dict[str, Any]) -> None:
        self._choose(summary["data"])
        ui.notify(_in_words(summary), type="positive")
        if summary.get("written"):
            background_tasks.create(self._database.refresh_tables())

    @ui.refreshable_method
    def _listing(self) -> None:
        found = self._workbench.datasets.all()
        with parts.card("In the workspace"):
            if not found:
                parts.empty("inbox", "Nothing yet. Drop a file, connect to a database, or take sample data:")
                with ui.row().classes("full-width justify-center gap-2"):
                    for name in SAMPLES:
                        parts.button(
                            f"Sample {name}", on_click=lambda name=name: self._adding.load({"sample": name})
                        ).tooltip(SAMPLES[name])
                return
            with ui.column().classes("full-width gap-1 shoal-listing"):
                for dataset in found:
                    self._listed(dataset)

    def _listed(self, dataset: Dataset) -> None:
        line = ui.row().classes("shoal-run items-center no-wrap gap-3")
        line.classes("chosen" if dataset.name == self._chosen else "")
        words = f"{counted(dataset.records, 'record')} · {counted(len(dataset.columns), 'column')} · {dataset.origin}"
        with line:
            row = (
                ui.row().classes("items-center no-wrap gap-3").style("flex: 1; min-width: 0; cursor: pointer")
            )
            attributes(row.props("tabindex=0 role=button"), data_dataset=dataset.name)
            row.on("click", lambda: self._choose(dataset.name))
            row.on("keydown.enter", lambda: self._choose(dataset.name))
            row.on("keydown.space.prevent", lambda: self._choose(dataset.name))
            with row:
                ui.icon("table_chart", size="20px").classes("text-primary")
                with ui.column().classes("gap-0").style("flex: 1; min-width: 0"):
                    ui.label(dataset.name).classes("ellipsis full-width").style("font-weight: 600")
                    ui.label(words).classes("shoal-quiet ellipsis full-width").tooltip(words)
            remove = ui.button(icon="delete_outline", on_click=lambda: self._ask_to_remove([dataset.name]))
            attributes(remove.props("flat round dense color=grey-7"), aria_label=f"Remove {dataset.name}")

    def _choose(self, name: str) -> None:
        self._chosen = name
        self._listing.refresh()
        self._shown.refresh()

    def _ask_to_remove(self, names: list[str]) -> None:
        what = f"'{names[0]}'" if len(names) == 1 else f"{len(names)} tables"
        removal.ask(
            f"Remove {what}?",
            "The records are deleted when the workbench ends, and can be brought back until then. Runs of them stay.",
            lambda: self._remove(names),
        )

    def _remove(self, names: list[str]) -> None:
        with parts.showing_errors():
            for name in names:
                self._workbench.datasets.set_aside(name)
        self._gone_or_back()
        what = f"'{names[0]}' was removed" if len(names) == 1 else f"{len(names)} tables were removed"
        removal.offer_undo(what, lambda: self._restore(names))

    def _restore(self, names: list[str]) -> None:
        with parts.showing_errors():
            for name in names:
                self._workbench.datasets.restore(name)
            self._chosen = names[0]
        self._gone_or_back()

    def _gone_or_back(self) -> None:
        names = self._workbench.datasets.names()
        self._choose(self._chosen if self._chosen in names else (names[0] if names else ""))
        self._database.form.refresh()

    @ui.refreshable_method
    def _shown(self) -> None:
        if self._chosen not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._chosen]
        with parts.card(f"Columns of {dataset.name}", quiet="What is each column to an intruder?"):
            for remark in dataset.notes:
                parts.note(remark)
            ColumnRoles(self._workbench, dataset)
            with ui.row().classes("gap-2"):
                parts.main_button("Measure risk", icon="groups", to=f"/risk?data={dataset.name}")
                for words, icon, address in (
                    ("Protect records", "blur_on", f"/records?data={dataset.name}"),
                    ("Protect a table", "grid_on", f"/tables?data={dataset.name}"),
                    ("Appointments", "event_available", f"/appointments?people={dataset.name}"),
                ):
                    parts.button(words, icon=icon, to=address)
        if self._workbench.connections.current is not None:
            with parts.card("Write to the database"):
                write_line(self._workbench, {"data": dataset.name}, dataset.table or dataset.name)
        with parts.card(
            "Preview", quiet=f"The first {min(_PREVIEW, dataset.records)} of {dataset.records:,} records."
        ):
            head = self._workbench.datasets.head(dataset.name, _PREVIEW)
            names, rows = first_columns(head)
            kinds = dict(zip(dataset.columns, dataset.types, strict=True))
            numeric = [kinds[name] in ("number", "whole number", "decimal") for name in names]
            parts.table(names, rows, numeric=numeric)
            if len(names) < head.width:
                parts.note(f"The first {_WIDEST} of {head.width} columns.")


def _in_words(summary: dict[str, Any]) -> str:
    tables = summary.get("tables", [summary["data"]])
    names = f"'{tables[0]}'" if len(tables) == 1 else f"{len(tables)} tables, '{tables[0]}' to '{tables[-1]}'"
    written = ", also in the database" if summary.get("written") else ""
    return f"{counted(summary['records'], 'record')} in {names}{written}"


def first_columns(head: "pl.DataFrame") -> tuple[list[str], list[list[Any]]]:
    """The names of the first columns and their values, as a preview shows them."""
    names = head.columns[:_WIDEST]
    return names, [[_cell(value) for value in row] for row in only(head, names).iter_rows()]


def _cell(value: Any) -> Any:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
