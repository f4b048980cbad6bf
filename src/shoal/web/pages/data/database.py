"""The connected database: its tables come in, and the workspace's copy of a file goes out."""

from collections.abc import Callable

from nicegui import run, ui

from shoal.errors import ShoalError
from shoal.web.connections import KINDS
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.data.adding import Adding
from shoal.web.pages.fields import NumberField
from shoal.web.workbench import Workbench


class DatabaseForm:
    """Connect, load tables, disconnect; ``changed`` is told when a connection opens or closes, ``remove`` asks to remove data."""

    def __init__(
        self,
        workbench: Workbench,
        adding: Adding,
        changed: Callable[[], object],
        remove: Callable[[list[str]], None],
    ) -> None:
        self._workbench = workbench
        self._adding = adding
        self._changed = changed
        self._remove = remove

    @ui.refreshable_method
    def form(self) -> None:
        """The connection, or the fields to make one."""
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
                ui.button(icon="refresh", on_click=self.refresh_tables).props(
                    'flat round aria-label="List the tables again"'
                )
            if current.kind == "sqlite":
                copy = ui.button("Download the database", icon="download").props("no-caps outline")
                attributes(copy, href="/database", data_test="database")
                parts.quiet("The file in this workspace, with all that was written to it.")
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
                self._adding.load({"connection": current.name, "table": table})

    def _connected(self) -> None:
        """Show what a connection opens or closes."""
        self.form.refresh()
        self._adding.to_database.refresh()
        self._changed()

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
            words = f"Remove {'it' if len(names) == 1 else 'them'}"
            parts.small_button(words, on_click=lambda: self._remove(names))

    async def refresh_tables(self) -> None:
        """List the tables again."""
        current = self._workbench.connections.current
        with parts.showing_errors():
            if current is not None:
                await run.io_bound(self._workbench.connections.refresh, current.name)
        self.form.refresh()
