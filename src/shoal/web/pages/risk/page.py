"""Risk: K and models of any table, or the risk of a sample; the form of one at a time, the runs of both."""

from nicegui import ui

from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.desk import Desk
from shoal.web.pages.drawing_anew import draws_anew
from shoal.web.pages.risk.anonymity import AnonymityForm, present_anonymity
from shoal.web.pages.risk.sample import SampleForm
from shoal.web.pages.risk.sample_result import present_sample
from shoal.web.workbench import Workbench

_WAYS = {"anonymity": "K and models", "risk": "A sample"}
_MEANING = {
    "anonymity": "Everybody is in the table: how many look the same?",
    "risk": "Each record stands for a part of a population: weights, households, estimates.",
}


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/risk")
    def risk(data: str = "", run: str = "", what: str = "") -> None:
        with layout.page(
            workbench, "Risk", "How many records look the same to somebody who knows the key variables?"
        ):
            if parts.has_data(workbench, "groups"):
                RiskPage(workbench, data, run, what)


class RiskPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str, what: str) -> None:
        self._workbench = workbench
        self._form: AnonymityForm | SampleForm | None = None
        self._data = data
        self._desk = Desk(
            workbench,
            "/risk",
            *_WAYS,
            run=run,
            present=self._present,
            icon="groups",
            hint="Choose the columns that an intruder may know, and measure.",
        )
        shown = workbench.board[self._desk.run].kind if self._desk.run else what
        with self._desk.form("Measure"):
            self._what = ui.toggle(
                _WAYS,
                value=shown if shown in _WAYS else "anonymity",
                on_change=lambda: self._fields.refresh(),
            )
            draws_anew(self._what).props("no-caps spread unelevated").classes("full-width")
            with ui.column().classes("full-width gap-3 shoal-hinted"):
                self._fields()
            parts.main_button("Measure risk", icon="play_arrow", on_click=self._submit)

    @ui.refreshable_method
    def _fields(self) -> None:
        parts.quiet(_MEANING[self._what.value])
        # The other form goes on with the data of this one.
        data = self._form.first if self._form is not None else self._data
        kind = AnonymityForm if self._what.value == "anonymity" else SampleForm
        self._form = kind(self._workbench, self._request(self._what.value), data)

    def _request(self, kind: str) -> dict[str, object]:
        run = self._desk.run
        return self._desk.asked if run and self._workbench.board[run].kind == kind else {}

    def _submit(self) -> None:
        assert self._form is not None
        with parts.showing_errors():
            self._desk.submit(self._what.value, self._form.request)

    def _present(self, job: Job) -> None:
        (present_anonymity if job.kind == "anonymity" else present_sample)(self._workbench, job)
