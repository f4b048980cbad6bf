"""Data: files, databases and samples; preview, types and roles."""

from collections.abc import Callable
from typing import Any

from nicegui import background_tasks, events, run, ui

from shoal.errors import InputError, ShoalError
from shoal.microdata.columns.roles import ROLES, ROLES_IN_WORDS
from shoal.numbers import counted
from shoal.web.activities.load import SAMPLES
from shoal.web.connections import KINDS
from shoal.web.datasets import Dataset
from shoal.web.jobs.job import State
from shoal.web.pages import layout, parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.fields import NumberField
from shoal.web.pages.release import write_line
from shoal.web.workbench import Workbench
from shoal.web.workspace import plain_name

_PREVIEW = 20
_WIDEST = 40


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/data")
    def data(name: str = "", tab: str = "") -> None:
        with layout.page(workbench, "Data", "What is on this page stays on this machine, in the workspace."):
            DataPage(workbench, name, tab)


class DataPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, name: str, tab: str) -> None:
        self._workbench = workbench
        names = workbench.datasets.names()
        self._chosen = name if name in names else (names[0] if names else "")
        with ui.element("div").classes("shoal-two"):
            with ui.column().classes("full-width gap-3"):
                with parts.card("Add data"):
                    self._add(tab)
                self._waiting = ui.column().classes("full-width gap-2")
            with ui.column().classes("full-width gap-3"):
                self._listing()
                self._shown()

    # --- adding -------------------------------------------------------------------------------------------------

    def _add(self, tab: str) -> None:
        forms: dict[str, Callable[[], None]] = {
            "file": self._file_form,
            "database": self._connection_form,
            "sample": self._sample_form,
            "generate": self._generate_form,
        }
        with ui.tabs().props("dense no-caps align=left inline-label").classes("full-width") as tabs:
            named = {name: ui.tab(name.capitalize()) for name in forms}
        with ui.tab_panels(tabs, value=named.get(tab, named["file"])).classes("full-width bg-transparent"):
            for name, form in forms.items():
                with ui.tab_panel(named[name]).classes("q-pa-none q-pt-sm"):
                    form()

    def _file_form(self) -> None:
        limit = self._workbench.largest_upload
        with ui.column().classes("full-width gap-2"):
            upload = ui.upload(
                label="Drop files here, or press + to choose",
                multiple=True,
                auto_upload=True,
                max_file_size=limit,
                on_upload=self._received,
                on_rejected=lambda: parts.tell(
                    InputError(
                        f"that file is larger than the limit of {limit // 2**20:,} MB; 'shoal serve --max-upload' raises it"
                    )
                ),
            )
            upload.props("flat").classes("full-width shoal-drop")
            self._upload = upload
            parts.quiet(
                "CSV, TSV, Parquet, Arrow, Excel, SPSS, Stata, SAS; slots as iCalendar or FHIR; tables as jj. "
                f"Up to {limit // 2**20:,} MB."
            )
            with parts.folded("Text files and sheets: how they are written").classes("shoal-quiet"):
                with ui.column().classes("full-width gap-2"):
                    self._separator = parts.text_field("Separator", placeholder="guessed")
                    self._decimal = parts.text_field("Decimal mark", placeholder="guessed")
                    self._encoding = parts.text_field("Encoding", placeholder="guessed")
                    self._sheet = parts.text_field("Sheet of a workbook", placeholder="the first")
                    self._header_row = NumberField(
                        "Line or row with the column names (0: none)",
                        None,
                        whole=True,
                        least=0,
                        empty="the first",
                    )

    async def _received(self, event: events.UploadEventArguments) -> None:
        workspace = self._workbench.workspace
        name = event.file.name
        if name.lower().endswith((".db", ".sqlite", ".sqlite3")):
            taken = [path.stem for path in workspace.shelf("databases").iterdir()]
            await event.file.save(workspace.place("databases", f"{plain_name(name, taken)}.db"))
            self._upload.reset()
            ui.notify(f"'{name}' is a database: connect to it under Database", type="info")
            self._connection_form.refresh()
            return
        try:
            header_row = self._header_row.whole
        except InputError as problem:
            self._upload.reset()
            parts.tell(problem)
            return
        place = workspace.incoming(name)
        await event.file.save(place)
        self._upload.reset()
        options = {
            "separator": self._separator.value,
            "decimal": self._decimal.value,
            "encoding": self._encoding.value,
            "sheet": self._sheet.value if name.lower().endswith(".xlsx") else None,
            "header_row": header_row,
        }
        self._load(
            {
                "file": place.name,
                "title": name[:200],
                **{key: value for key, value in options.items() if value},
            }
        )

    def _sample_form(self) -> None:
        with ui.column().classes("full-width gap-2"):
            for name, words in SAMPLES.items():
                with ui.row().classes("items-center full-width no-wrap gap-3"):
                    parts.button(
                        f"Load {name}", on_click=lambda name=name: self._load({"sample": name})
                    ).style("min-width: 118px; white-space: nowrap")
                    parts.quiet(words)

    def _generate_form(self) -> None:
        with ui.column().classes("full-width gap-2"):
            what = ui.toggle({"people": "People", "slots": "Slots"}, value="people").props("no-caps dense")
            with ui.row().classes("full-width no-wrap gap-2"):
                name = ui.input("Table name", value="tabla").props("outlined dense").style("flex: 3")
                tables = NumberField("Tables", 1, whole=True, least=1, most=50).style("flex: 2")
            parts.quiet().bind_text_from(
                what,
                "value",
                lambda value: (
                    "Several tables are tabla0, tabla1 …"
                    if value == "people"
                    else "The slots of tabla are tabla_resource; with too few places, places are added."
                ),
            )
            population = NumberField("Number of people", 100, whole=True, least=1)
            with ui.column().classes("full-width gap-2").bind_visibility_from(what, "value", value="people"):
                ages = {"uniform": "every age alike", "spain": "as in Spain"}
                distribution = (
                    ui.select(ages, label="Ages", value="uniform")
                    .props("outlined dense")
                    .classes("full-width")
                )
                sexes = {"": "both", "man": "men", "woman": "women"}
                sex = ui.select(sexes, label="Sex", value="").props("outlined dense").classes("full-width")
                with ui.row().classes("full-width no-wrap gap-2"):
                    youngest = NumberField("Youngest", 0, whole=True, least=0, most=150)
                    oldest = NumberField("Oldest", 100, whole=True, least=1, most=150)
                    postcodes = NumberField("Postcodes", 3, whole=True, least=1)
            with ui.column().classes("full-width gap-2").bind_visibility_from(what, "value", value="slots"):
                with ui.row().classes("full-width no-wrap gap-2"):
                    slots = NumberField("Slots", 5, whole=True, least=1)
                    smallest = NumberField("Places, least", 10, whole=True, least=1)
                    largest = NumberField("most", 25, whole=True, least=1)
            seed = NumberField("Seed", 0, whole=True, least=0)
            self._to_database()

            def submit() -> None:
                own = {
                    "people": {"min_age": youngest, "max_age": oldest, "postcodes": postcodes},
                    "slots": {"slots": slots, "min_capacity": smallest, "max_capacity": largest},
                }
                # Only what can be seen counts: the fields of people are none of the slots' business.
                fields = {"tables": tables, "population": population, "seed": seed, **own[what.value]}
                with parts.telling():
                    request: dict[str, Any] = {key: field.whole for key, field in fields.items()}
                    if what.value == "people":
                        request |= {"distribution": distribution.value, "sex": sex.value or None}
                    request |= {"what": what.value, "name": name.value or ""}
                    self._load({**request, **self._destination()}, "generate")

            parts.main_button("Generate", icon="auto_awesome", on_click=submit)

    @ui.refreshable_method
    def _to_database(self) -> None:
        """Tables that are invented can go to the connected database as well."""
        self._also = self._replace = None
        if self._workbench.connections.current is None:
            return
        with ui.row().classes("gap-4"):
            self._also = ui.checkbox("Also write to the database").props("dense")
            self._replace = ui.checkbox("replace").props("dense")
            self._replace.bind_visibility_from(self._also, "value")

    def _destination(self) -> dict[str, Any]:
        current = self._workbench.connections.current
        if current is None or self._also is None or self._replace is None or not self._also.value:
            return {}
        return {"connection": current.name, "force": self._replace.value}

    def _load(self, request: dict[str, Any], kind: str = "load") -> None:
        board = self._workbench.board
        with parts.telling(), self._waiting:
            job = board.submit(kind, request, secrets=self._workbench.connections.secrets())
            with ui.card().classes("shoal-card") as card:
                with ui.row().classes("items-center gap-3 full-width no-wrap"):
                    spinner = ui.spinner(size="22px")
                    text = ui.label(f"{job.title} …").style("flex: 1; overflow-wrap: anywhere")
                    button = ui.button("Cancel", on_click=lambda: board.cancel(job.run))
                    button.props("no-caps flat dense")

            def over() -> None:
                if job.state is State.DONE:
                    card.delete()
                    self._choose(job.summary["data"])
                    ui.notify(_arrived(job.summary), type="positive")
                    if job.summary.get("written"):
                        background_tasks.create(self._refresh_tables())
                    return
                spinner.set_visibility(False)
                button.set_visibility(False)
                text.set_text(job.message)
                card.classes("shoal-error")
                with card:
                    ui.button("Close", on_click=card.delete).props("no-caps flat dense")

            parts.when_over(
                job, over, lambda: text.set_text(f"{job.title} … {job.progress.get('phase') or ''}")
            )

    # --- databases ----------------------------------------------------------------------------------------------

    @ui.refreshable_method
    def _connection_form(self) -> None:
        current = self._workbench.connections.current
        with ui.column().classes("full-width gap-2"):
            if current is None:
                self._left_behind()
                self._connect_fields()
                return
            with ui.row().classes("items-center gap-2 full-width no-wrap"):
                ui.icon("link").classes("text-positive")
                ui.label(f"Connected: {current.shown}").style("flex: 1; overflow-wrap: anywhere")
            tables = ui.select(
                list(current.tables), label=f"Tables ({len(current.tables)})", multiple=True, value=[]
            )
            tables.props("outlined dense options-dense use-chips").classes("full-width")
            with ui.row().classes("gap-2"):
                load = ui.button(
                    "Load tables", icon="download", on_click=lambda: self._load_tables(tables.value)
                )
                load.props("no-caps unelevated").bind_enabled_from(tables, "value", lambda value: bool(value))
                parts.button("Disconnect", icon="link_off", on_click=self._disconnect)
                ui.button(icon="refresh", on_click=self._refresh_tables).props(
                    'flat round aria-label="List the tables again"'
                )
            if not current.tables:
                parts.note("This database has no tables.")

    def _connect_fields(self) -> None:
        kind = ui.select(KINDS, label="Kind", value="sqlite").props("outlined dense").classes("full-width")
        with ui.column().classes("full-width gap-2").bind_visibility_from(kind, "value", value="sqlite"):
            files = self._workbench.connections.sqlite_files()
            embedded = ui.select(files, label="Database file", value=files[0] if files else None)
            embedded.props("outlined dense").classes("full-width")
            words = (
                "Files of this workspace."
                if files
                else "No SQLite file yet: drop one (.db, .sqlite) under File, or start 'shoal serve --workspace' where it lies."
            )
            parts.quiet(words)
        with (
            ui.column()
            .classes("full-width gap-2")
            .bind_visibility_from(kind, "value", lambda value: value != "sqlite")
        ):
            with ui.row().classes("full-width no-wrap gap-2"):
                host = ui.input("Address", value="127.0.0.1").props("outlined dense").style("flex: 3")
                port = NumberField("Port", whole=True, least=1, most=65535, empty="usual")
                port.style("flex: 2")
            database = parts.text_field("Database")
            user = ui.input("User").props('outlined dense autocomplete="off"').classes("full-width")
            password = (
                ui.input("Password", password=True)
                .props('outlined dense autocomplete="off"')
                .classes("full-width")
            )

        async def connect() -> None:
            button.disable()
            try:
                await run.io_bound(
                    self._workbench.connections.connect,
                    kind.value,
                    database=(embedded.value if kind.value == "sqlite" else database.value) or "",
                    host=host.value or "",
                    port=None if kind.value == "sqlite" else port.whole,
                    user=user.value or "",
                    password=password.value or "",
                )
            except ShoalError as problem:
                parts.tell(problem)
                return
            finally:
                # The page keeps no password, whether it was right or wrong.
                password.set_value("")
                button.enable()
            self._connected()

        button = parts.main_button("Connect", icon="link", on_click=connect)

    def _load_tables(self, tables: list[str]) -> None:
        current = self._workbench.connections.current
        for table in tables:
            if current is not None:
                self._load({"connection": current.name, "table": table})

    def _connected(self) -> None:
        """Show what a connection opens or closes."""
        self._connection_form.refresh()
        self._to_database.refresh()
        self._shown.refresh()

    def _disconnect(self) -> None:
        self._workbench.connections.disconnect()
        self._connected()

    def _left_behind(self) -> None:
        """What was loaded from a database that is closed stays until it is removed; say so, and offer it."""
        names = [dataset.name for dataset in self._workbench.datasets.all() if dataset.connection is not None]
        if not names:
            return
        some = ", ".join(names[:4]) + (" …" if len(names) > 4 else "")
        with ui.column().classes("shoal-note full-width gap-1"):
            ui.label(f"Still in the workspace, loaded from a database that is closed: {some}")

            def forget() -> None:
                for name in names:
                    self._remove(name)
                self._connection_form.refresh()

            parts.small_button(f"Remove {'it' if len(names) == 1 else 'them'}", on_click=forget)

    async def _refresh_tables(self) -> None:
        current = self._workbench.connections.current
        with parts.telling():
            if current is not None:
                await run.io_bound(self._workbench.connections.refresh, current.name)
        self._connection_form.refresh()

    # --- what there is ------------------------------------------------------------------------------------------

    @ui.refreshable_method
    def _listing(self) -> None:
        found = self._workbench.datasets.all()
        with parts.card("In the workspace"):
            if not found:
                parts.empty("inbox", "Nothing yet. Drop a file, connect to a database, or take sample data:")
                with ui.row().classes("full-width justify-center gap-2"):
                    for name in SAMPLES:
                        parts.button(
                            f"Sample {name}", on_click=lambda name=name: self._load({"sample": name})
                        ).tooltip(SAMPLES[name])
                return
            with ui.column().classes("full-width gap-1 shoal-listing"):
                for dataset in found:
                    self._listed(dataset)

    def _listed(self, dataset: Dataset) -> None:
        row = ui.row().classes("shoal-run items-center no-wrap gap-3")
        row.classes("chosen" if dataset.name == self._chosen else "")
        attributes(row.props("tabindex=0 role=button"), data_dataset=dataset.name)
        row.on("click", lambda: self._choose(dataset.name))
        row.on("keydown.enter", lambda: self._choose(dataset.name))
        words = f"{counted(dataset.records, 'record')} · {counted(len(dataset.columns), 'column')} · {dataset.origin}"
        with row:
            ui.icon("table_chart", size="20px").classes("text-primary")
            with ui.column().classes("gap-0").style("flex: 1; min-width: 0"):
                ui.label(dataset.name).classes("ellipsis full-width").style("font-weight: 600")
                ui.label(words).classes("shoal-quiet ellipsis full-width").tooltip(words)
            remove = ui.button(icon="delete_outline").props("flat round dense color=grey-7")
            attributes(remove, aria_label=f"Remove {dataset.name}")
            remove.on("click.stop", lambda: self._remove(dataset.name))

    def _choose(self, name: str) -> None:
        self._chosen = name
        self._listing.refresh()
        self._shown.refresh()

    def _remove(self, name: str) -> None:
        with parts.telling():
            self._workbench.datasets.remove(name)
        names = self._workbench.datasets.names()
        self._choose(self._chosen if self._chosen in names else (names[0] if names else ""))

    @ui.refreshable_method
    def _shown(self) -> None:
        if self._chosen not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._chosen]
        with parts.card(
            f"Columns of {dataset.name}", quiet="What is each column to somebody who wants to find a person?"
        ):
            for remark in dataset.notes:
                parts.note(remark)
            self._roles(dataset)
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
            names = head.columns[:_WIDEST]
            kinds = dict(zip(dataset.columns, dataset.types, strict=True))
            numeric = [kinds[name] in ("number", "whole number", "decimal") for name in names]
            rows = [[_cell(value) for value in row] for row in head.select(names).iter_rows()]
            parts.table(names, rows, numeric=numeric)
            if len(names) < head.width:
                parts.note(f"The first {_WIDEST} of {head.width} columns.")

    def _roles(self, dataset: Dataset) -> None:
        with ui.element("div").classes("shoal-roles"):
            for name, kind in zip(dataset.columns, dataset.types, strict=True):
                ui.label(name).classes("ellipsis").style("font-weight: 600")
                parts.quiet(kind)
                role = ui.select(
                    list(ROLES),
                    value=dataset.roles.get(name, "other"),
                    on_change=lambda event, name=name: self._set_role(dataset.name, name, event.value),
                )
                attributes(role.props("dense options-dense outlined"), aria_label=f"Role of {name}")
                role.tooltip(_why(dataset, name))

    def _set_role(self, dataset: str, column: str, role: str) -> None:
        with parts.telling():
            self._workbench.datasets.set_role(dataset, column, role)


def _why(dataset: Dataset, name: str) -> str:
    """What the role of a column means, and why it has it."""
    role = dataset.roles.get(name, "other")
    reason = dataset.reasons.get(name)
    return f"{role}: {ROLES_IN_WORDS[role]}" + (f" (because {reason})" if reason else "")


def _arrived(summary: dict[str, Any]) -> str:
    tables = summary.get("tables", [summary["data"]])
    names = f"'{tables[0]}'" if len(tables) == 1 else f"{len(tables)} tables, '{tables[0]}' to '{tables[-1]}'"
    written = ", also in the database" if summary.get("written") else ""
    return f"{counted(summary['records'], 'record')} in {names}{written}"


def _cell(value: Any) -> Any:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
