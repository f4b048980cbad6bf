"""Change figures: what is done, the table, how its figures may change; and what somebody can compute from the result."""

from typing import Any

from nicegui import ui

from shoal.operations import OPERATIONS
from shoal.report.definitions import in_words
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.desk import Desk
from shoal.web.pages.drawing_anew import draws_anew
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.pages.tables.form import SOURCES, TableForm
from shoal.web.pages.tables.marking import Marking
from shoal.web.workbench import Workbench

_WAYS = {
    "round": "Round to multiples of a base that add up",
    "adjust": "Adjust: move sensitive cells, totals add up",
    "perturb-table": "Perturb counts by the keys of their records",
}
# Where randomness comes from if the figures may be released, and if not.
_DRAWN = {"perturb-table": ("a secret, or keys of the records", "a seed, or uneven keys of the records")}
# Asked for by the form of the table, or nowhere.
_ELSEWHERE = ("data", "source", "value")
_OPENED = ("How to round", "What may change", "How counts change")


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/change")
    def change(data: str = "", run: str = "") -> None:
        with layout.page(
            workbench,
            "Change figures",
            "Nothing is hidden: figures change so that what is computed from them need not be true.",
        ):
            if parts.has_data(
                workbench, "exposure", "There is no data yet: records to tabulate, or a table."
            ):
                ChangePage(workbench, data, run)


class ChangePage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        self._workbench, self._first = workbench, data
        self._desk = Desk(
            workbench,
            "/change",
            *_WAYS,
            run=run,
            present=self._present,
            icon="exposure",
            hint="Choose what is done and a table. What can be computed from the result is checked before it is shown.",
            measure="cost",
        )
        kind = workbench.board[self._desk.run].kind if self._desk.run else "round"
        with self._desk.form("Change figures"):
            self._way = parts.choice(_WAYS, label="What is done", value=kind)
            draws_anew(self._way).on_value_change(lambda: self._table_form.refresh())
            self._table_form()
            parts.main_button("Change figures", icon="play_arrow", on_click=self._submit)

    @property
    def _kind(self) -> str:
        return str(self._way.value)

    @ui.refreshable_method
    def _table_form(self) -> None:
        """The table, and below it how its figures may change."""
        asked = self._desk.asked
        counts = self._kind == "perturb-table"
        self._table = TableForm(
            self._workbench,
            asked,
            self._first,
            self._mark,
            lambda: self._how.refresh(),
            operation=self._kind,
            sources=("records",) if counts else tuple(SOURCES),
        )
        with ui.column().classes("full-width gap-3 shoal-hinted"):
            self._how()

    @ui.refreshable_method
    def _how(self) -> None:
        data, operation = self._table.data, OPERATIONS[self._kind]
        if data not in self._workbench.datasets:
            return
        asked = self._desk.asked if self._desk.asked.get("data") == data else {}
        own = {item.name for item in operation.fields("workbench")}
        of_the_table = {item.name for item in OPERATIONS["suppress"].fields("workbench")}
        # What only other kinds of tables have is asked for nowhere; what every search has stands here.
        kept = {"method", "options", "iterations", "time_limit", "seed"}
        without = [name for name in own if name in of_the_table - kept or name in _ELSEWHERE]
        self._form = SettingsForm(
            operation,
            self._workbench.datasets[data].columns,
            asked,
            without=without,
            opened=_OPENED,
        )

    def _submit(self) -> None:
        with parts.showing_errors():
            asked = {**self._table.request(self._kind), **self._form.values}
            asked.pop("value", None) if self._kind == "perturb-table" else None
            if not asked.get("dimensions") and asked.get("source") in (None, "aggregated"):
                ui.notify("choose at least one dimension", type="warning")
                return
            self._desk.submit(self._kind, asked)

    def _mark(self, marking: Marking, data: str) -> None:
        self._desk.result.clear()
        with self._desk.result:
            marking.show(self._workbench, data)

    def _present(self, job: Job) -> None:
        found: dict[str, Any] = job.summary
        definitions = OPERATIONS[job.kind].reporter_module.DEFINITIONS
        parts.warnings(found["warnings"])
        parts.note(
            "This page, the intervals and the secret are for internal use; only the table with changed figures goes out."
        )
        # A verdict that hangs on what nobody may know is no plain yes.
        reserved = f", for the attacker below; {found['reservation']}" if found.get("reservation") else ""
        verdict = "good" if found["safe"] and not reserved else "bad"
        names = [name for name in definitions if name in found]
        parts.facts(
            [
                (title, text + reserved, verdict) if name == "safe" else (title, text)
                for name, (title, text) in zip(names, in_words(definitions, found, names), strict=True)
            ]
        )
        if found.get("by_rule"):
            rules = ", ".join(f"{rule}: {count}" for rule, count in found["by_rule"].items())
            parts.note(f"Sensitive by rule: {rules}.")
        parts.note(f"Protected against {found['attacker']}.")
        good, bad = _DRAWN.get(job.kind, ("a secret", "a seed"))
        parts.note(
            f"Randomness: {good}." if found["for_release"] else f"Randomness: {bad}, so not for release."
        )
