"""Bring data in: files, samples, and tables that are invented."""

from collections.abc import Callable
from typing import Any

from nicegui import events, ui

from shoal.errors import InputError
from shoal.web.activities.load import SAMPLES
from shoal.web.jobs.job import State
from shoal.web.pages import parts
from shoal.web.pages.drop_field import data_field
from shoal.web.pages.fields import NumberField
from shoal.web.workbench import Workbench
from shoal.web.workspace import plain_name


class Adding:
    """The forms that bring data in; ``arrived`` is told the summary of what came, ``received_database`` of a new file of one."""

    def __init__(
        self,
        workbench: Workbench,
        arrived: Callable[[dict[str, Any]], None],
        received_database: Callable[[], object],
    ) -> None:
        self._workbench = workbench
        self._arrived = arrived
        self._received_database = received_database
        self._waiting: ui.column | None = None

    def waiting(self) -> None:
        """Lay out where it is shown that something is coming."""
        self._waiting = ui.column().classes("full-width gap-2")

    def file_form(self) -> None:
        """Files, and how they are written."""
        limit = self._workbench.largest_upload
        with ui.column().classes("full-width gap-2"):
            self._upload = data_field(
                multiple=True,
                max_file_size=limit,
                on_upload=self._received,
                on_rejected=lambda: parts.tell(
                    InputError(
                        f"that file is larger than the limit of {limit // 2**20:,} MB; 'shoal serve --max-upload' raises it"
                    )
                ),
            )
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
            await event.file.save(workspace.path("databases", f"{plain_name(name, taken)}.db"))
            self._upload.reset()
            ui.notify(f"'{name}' is a database: connect to it under Database", type="info")
            self._received_database()
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
        self.load(
            {
                "file": place.name,
                "title": name[:200],
                **chosen_signs(options),
            }
        )

    def sample_form(self) -> None:
        """Data that come with Shoal."""
        with ui.column().classes("full-width gap-2"):
            for name, words in SAMPLES.items():
                with ui.row().classes("items-center full-width no-wrap gap-3"):
                    parts.button(
                        f"Load {name}", on_click=lambda name=name: self.load({"sample": name})
                    ).style("min-width: 118px; white-space: nowrap")
                    parts.quiet(words)

    def generate_form(self) -> None:
        """Tables that are invented."""
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
            self.to_database()

            def submit() -> None:
                own = {
                    "people": {"min_age": youngest, "max_age": oldest, "postcodes": postcodes},
                    "slots": {"slots": slots, "min_capacity": smallest, "max_capacity": largest},
                }
                # Only what can be seen counts: the fields of people are none of the slots' business.
                fields = {"tables": tables, "population": population, "seed": seed, **own[what.value]}
                with parts.showing_errors():
                    request: dict[str, Any] = {key: field.whole for key, field in fields.items()}
                    if what.value == "people":
                        request |= {"distribution": distribution.value, "sex": sex.value or None}
                    request |= {"what": what.value, "name": name.value or ""}
                    self.load({**request, **self._destination()}, "generate")

            parts.main_button("Generate", icon="auto_awesome", on_click=submit)

    @ui.refreshable_method
    def to_database(self) -> None:
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

    def load(self, request: dict[str, Any], kind: str = "load") -> None:
        """Start to bring something in, and show that it is coming."""
        board = self._workbench.board
        assert self._waiting is not None
        with parts.showing_errors(), self._waiting:
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
                    self._arrived(job.summary)
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


def chosen_signs(options: dict[str, Any]) -> dict[str, Any]:
    """What somebody has said of how a file is written; a header row of 0 is said, too: there is none.

    >>> chosen_signs({"separator": "", "sheet": None, "header_row": 0, "decimal": ","})
    {'header_row': 0, 'decimal': ','}
    """
    return {name: value for name, value in options.items() if value is not None and value != ""}
