"""Files that are needed besides the data: chosen among those of the workspace, or uploaded in place."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import events, ui

from shoal.errors import InputError
from shoal.settings import SettingField
from shoal.web.jobs.job import Job, State
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes, picks_files
from shoal.web.pages.drawing_anew import draws_anew
from shoal.web.workbench import Workbench


class DataFields:
    """All such fields of a form: what is uploaded into one can be chosen in the others."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench
        self.fields: list[DataField] = []

    def refresh(self) -> None:
        """Offer what has come since."""
        self.fields = [field for field in self.fields if not field.gone]
        for field in self.fields:
            field.refresh()

    def field_of(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """The field for a setting that names data."""
        field = DataField(self, item.label, value, hint=item.sentence)
        return lambda: field.value

    def several(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """Fields for a setting that names several data: one for each, and an empty one below them."""
        box = ui.column().classes("full-width gap-3")
        drawn: list[DataField] = []

        def add(chosen: str = "") -> None:
            with box:
                drawn.append(DataField(self, item.label, chosen, hint=item.sentence, on_change=more))

        def more() -> None:
            if drawn[-1].value is not None:
                add()

        for chosen in value or []:
            add(chosen)
        add()
        return lambda: [field.value for field in drawn if field.value is not None]


class DataField:
    """A choice of data with an upload beside it; without ``needed`` it may stay empty, which ``nothing`` puts into words."""

    def __init__(
        self,
        fields: DataFields,
        label: str,
        chosen: str | None = "",
        *,
        hint: str = "",
        needed: bool = False,
        nothing: str = "none",
        among: Callable[[], Sequence[str]] | None = None,
        on_change: Callable[[], Any] | None = None,
    ) -> None:
        self._fields = fields
        self._needed = needed
        self._nothing = nothing
        self._among = among or fields.workbench.datasets.names
        names = self._names()
        start = chosen if chosen in names else next(iter(names), None) if needed else ""
        with ui.row().classes("full-width no-wrap items-start gap-1 shoal-hinted") as self._row:
            attributes(self._row, data_field=label)
            self._select = ui.select(names, label=label, value=start, on_change=on_change)
            draws_anew(self._select).props("outlined dense options-dense").classes("shoal-grow")
            attributes(self._select, hint=hint or None)
            upload = ui.upload(
                auto_upload=True,
                max_file_size=fields.workbench.largest_upload,
                on_upload=self._received,
                on_rejected=lambda: parts.tell(InputError("that file is larger than the workbench accepts")),
            ).classes("hidden")
            self._upload = upload
            button = ui.button(icon="upload_file").props("flat dense")
            attributes(button, aria_label=f"Upload: {label}")
            button.tooltip(f"Upload: {label}").classes("shoal-upload")
            picks_files(button, upload)
        fields.fields.append(self)

    @property
    def value(self) -> str | None:
        """The name of the chosen data, if there is any."""
        return self._select.value or None

    def choose(self, name: str | None) -> None:
        """Choose data that may have come since, or nothing."""
        self._fields.refresh()
        self._select.set_value(name or "")

    @property
    def gone(self) -> bool:
        """Whether the field is on the page no longer."""
        return self._select.is_deleted

    def refresh(self) -> None:
        """Offer what has come since, and keep what is chosen."""
        names = self._names()
        self._select.set_options(names, value=self._select.value if self._select.value in names else "")

    def _names(self) -> dict[str, str]:
        names = {name: name for name in self._among()}
        return names if self._needed else {"": self._nothing, **names}

    async def _received(self, event: events.UploadEventArguments) -> None:
        workbench = self._fields.workbench
        name = event.file.name
        place = workbench.workspace.incoming(name)
        await event.file.save(place)
        self._upload.reset()
        with parts.showing_errors(), self._row:
            job = workbench.board.submit("load", {"file": place.name, "title": name[:200]})
            self._select.props("loading")
            parts.when_over(job, lambda: self._loaded(name, job))

    def _loaded(self, name: str, job: Job) -> None:
        self._select.props(remove="loading")
        if job.state is not State.DONE:
            parts.tell(InputError(job.message))
            return
        self._fields.refresh()
        if job.summary["data"] in self._names():
            self._select.set_value(job.summary["data"])
        ui.notify(f"'{name}' was read as '{job.summary['data']}'", type="positive")
