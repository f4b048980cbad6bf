"""The page: the form, the runs, and what came of one."""

from pathlib import Path
from typing import Any

from nicegui import run as background
from nicegui import ui

from shoal.operations import OPERATIONS
from shoal.report.definitions import in_words
from shoal.tables.definitions import AUDIT, PATTERN, TABULATION
from shoal.tables.methods import METHODS
from shoal.web.activities.drawing import FILE
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.data_field import DataField
from shoal.web.pages.desk import Desk
from shoal.web.pages.method_picker import MethodPicker
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.pages.tables.by_hand import ByHand
from shoal.web.pages.tables.comparison import comparison
from shoal.web.pages.tables.drawn import Drawn
from shoal.web.pages.tables.form import TableForm
from shoal.web.pages.tables.marking import Marking
from shoal.web.pages.tables.verdict import badge, intervals
from shoal.web.workbench import Workbench

_BESIDE = ("beside", "change", "within", "nested", "difference")
_SEARCH = ("iterations", "time_limit", "seed")
_STYLE = Path(__file__).with_name("tables.css").read_text(encoding="utf-8")


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/tables")
    def tables(data: str = "", run: str = "") -> None:
        with layout.page(
            workbench,
            "Protect a table",
            "A hidden cell can be computed back from the totals unless further cells are hidden with it.",
        ):
            nothing = "There is no data yet: records to tabulate, a table, or a jj file."
            if parts.has_data(workbench, "grid_on", nothing):
                TablesPage(workbench, data, run)


class TablesPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        ui.add_css(_STYLE)
        self._workbench = workbench
        self._by_hand: ByHand | None = None
        self._method: MethodPicker | None = None
        self._desk = Desk(
            workbench,
            "/tables",
            "suppress",
            "audit",
            "tabulate",
            run=run,
            present=self._present,
            icon="grid_on",
            hint="Choose records and rules, or a table and its sensitive cells, and suppress.",
            measure="cost",
        )
        asked = self._desk.asked
        with self._desk.form("Suppress"):
            self._table = TableForm(workbench, asked, data, self._mark, self._source_changed)
            self._methods()
            operation = OPERATIONS["suppress"]
            with ui.column().classes("full-width gap-3 shoal-hinted"):
                self._search = SettingsForm(
                    operation,
                    (),
                    asked,
                    suggested={} if asked else {"time_limit": 60},
                    without=[name for name in operation.settings.model_fields if name not in _SEARCH],
                )
            self._buttons()

    def _source_changed(self) -> None:
        self._methods.refresh()
        self._buttons.refresh()

    @ui.refreshable_method
    def _methods(self) -> None:
        """The methods for this kind of table; what was chosen before stays if it is among them."""
        asked = self._desk.asked
        method, options = asked.get("method", "auto"), asked.get("options")
        if self._method is not None:
            method, options = self._method.method, self._method.written
        names = [
            name
            for name, known in METHODS.items()
            if self._table.source == "matrix" or "two-dimensional" not in known.traits
        ]
        self._method = MethodPicker(METHODS, method, options, names=names)

    @ui.refreshable_method
    def _buttons(self) -> None:
        source = self._table.source
        with ui.row().classes("gap-2"):
            parts.main_button("Suppress", icon="play_arrow", on_click=self._suppress)
            if source in ("records", "cells"):
                button = ui.button("Tabulate", icon="grid_on", on_click=self._tabulate)
                button.props("no-caps outline").tooltip(
                    "Show the table and its sensitive cells, hide nothing yet"
                )
        with parts.folded("Audit a pattern instead"):
            with ui.column().classes("full-width gap-3"):
                self._pattern = DataField(
                    self._table.data_fields,
                    "Pattern",
                    self._desk.asked.get("pattern"),
                    hint="the hidden cells, whoever chose them"
                    + ("; without it those that the file marks as hidden (m)" if source == "jj" else ""),
                )
                operation = OPERATIONS["audit"]
                several = self._table.data_fields.several
                self._beside = SettingsForm(
                    operation,
                    (),
                    self._desk.asked,
                    without=[name for name in operation.settings.model_fields if name not in _BESIDE],
                    own={"beside": several, "nested": several},
                )
                parts.button("Audit", icon="policy", on_click=self._audit)

    def _suppress(self) -> None:
        method = self._method
        assert method is not None
        with parts.showing_errors():
            asked = {**self._table.request("suppress"), **self._search.values}
            asked |= {"method": method.method, "options": method.options}
            if asked["source"] == "matrix" and not asked["sensitive"] and not asked["sensitive_data"]:
                ui.notify("say which cells are sensitive: mark them, or choose a file", type="warning")
                return
            self._submit("suppress", asked)

    def _tabulate(self) -> None:
        with parts.showing_errors():
            self._submit("tabulate", self._table.request("tabulate"))

    def _audit(self) -> None:
        with parts.showing_errors():
            beside = self._beside.values
            asked = {**self._table.request("audit"), **beside, "pattern": self._pattern.value}
            if self._pattern.value is None and self._table.source != "jj":
                if not beside["beside"]:
                    ui.notify("choose the pattern to audit, or upload it", type="warning")
                    return
                # Without a pattern the table itself is one that was published.
                self._desk.submit("audit", {"data": self._table.data, **beside})
                return
            self._submit("audit", asked)

    def _submit(self, kind: str, request: dict[str, Any]) -> None:
        if request["source"] in (None, "aggregated") and not request["dimensions"]:
            ui.notify("choose at least one dimension", type="warning")
            return
        self._desk.submit(kind, request)

    def _mark(self, marking: Marking, data: str) -> None:
        self._desk.result.clear()
        with self._desk.result:
            marking.show(self._workbench, data)

    # --- the result -----------------------------------------------------------------------------------------------

    def _present(self, job: Job) -> None:
        self._figures = Figures(job)
        parts.remarks(job.summary)
        parts.note(
            "This page, the pattern and the intervals are for internal use; only the published table goes out."
        )
        if job.summary.get("drawn"):
            self._draw(job)
        else:
            parts.note(
                f"The table has {job.summary['cells']:,} cells and is not drawn; the files hold all of it."
            )
            if "safe" in job.summary:
                badge(job.summary)
                intervals(job.summary)
        if job.kind == "suppress":
            comparison(self._workbench, job)

    def _draw(self, job: Job) -> None:
        if self._by_hand is not None:
            self._by_hand.close()
        place = ui.column().classes("full-width gap-3")
        with place:
            ui.spinner(size="28px")

        async def fill() -> None:
            path = self._workbench.workspace.path("runs", job.run, FILE)
            try:
                drawn = await background.io_bound(Drawn.read, path)
            except OSError:
                drawn = None
            place.clear()
            with place:
                if drawn is None:
                    parts.note("The drawing of this table is gone; run it again to see it.")
                else:
                    self._by_hand = ByHand(self._workbench, self._desk, job, drawn, self._figures.follow)

        ui.timer(0.01, fill, once=True)


class Figures:
    """The figures of a run; they turn grey and say whose they are as soon as the pattern below is another one."""

    def __init__(self, job: Job) -> None:
        whose = "searched for" if job.kind == "suppress" else "that was audited"
        # What a table is before anything is hidden stays true whatever is hidden by hand.
        self._of_a_pattern = job.kind != "tabulate"
        self._remark = ui.label(
            f"You changed the pattern by hand: these figures are of the pattern {whose}. The verdict on yours is below "
            "the table."
        )
        self._remark.classes("shoal-warning full-width").props('role="alert"').set_visibility(False)
        self._box = ui.column().classes("full-width gap-3")
        with self._box:
            {"suppress": _suppressed, "audit": _audited, "tabulate": _tabulated}[job.kind](job.summary)

    def follow(self, changed: bool) -> None:
        """Take in whether the pattern differs from that of the run."""
        outdated = changed and self._of_a_pattern
        self._remark.set_visibility(outdated)
        self._box.classes(add="shoal-stale" if outdated else None, remove=None if outdated else "shoal-stale")


def _by_rule(figures: dict[str, Any]) -> None:
    if figures.get("by_rule"):
        rules = ", ".join(f"{rule}: {count}" for rule, count in figures["by_rule"].items())
        parts.note(f"Sensitive by rule: {rules}.")


def _reached(figures: dict[str, Any]) -> None:
    """How narrow the intervals are in the end."""
    for name, text in figures.get("reached", ()):
        parts.note(f"{name[:1].upper()}{name[1:]}: {text}.")


def pattern_facts(figures: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The figures of a pattern, in the words of its report: a bound that is not there is unknown, never 0."""
    safe, *others = in_words(
        PATTERN,
        figures,
        (
            *("safe", "primary", "complementary", "cost", "bound", "gap_percent"),
            *("value_hidden_percent", "smallest_margin_percent"),
        ),
    )
    return [(*safe, "good" if figures["safe"] else "bad"), *others]


def _suppressed(figures: dict[str, Any]) -> None:
    parts.facts(pattern_facts(figures))
    _by_rule(figures)
    _reached(figures)
    parts.note(f"Safe against {figures['attacker']}. The search was stopped by: {figures['stopped_by']}.")
    if figures["doubtful_if_bounded"]:
        parts.warning(
            f"{figures['doubtful_if_bounded']} sensitive cells would be unsafe for somebody who knows every cell to "
            "within twice its value."
        )


def _audited(figures: dict[str, Any]) -> None:
    # Some figures are told only where there is something to tell.
    safe, *others = in_words(AUDIT, figures, [name for name in AUDIT if name in figures])
    parts.facts(
        [
            (*safe, "good" if figures["safe"] else "bad"),
            *others,
        ]
    )
    _reached(figures)
    if not figures["safe"]:
        parts.warning("This pattern does not protect the table, so there is no published table to download.")


def _tabulated(figures: dict[str, Any]) -> None:
    told_cells, told_sensitive = in_words(TABULATION, figures, ("cells", "sensitive"))
    parts.facts(
        [
            told_cells,
            (*told_sensitive, "" if figures["sensitive"] else "good"),
            ("relations", figures["relations"]),
        ]
    )
    _by_rule(figures)
    if not figures["sensitive"]:
        parts.note("No rule fires: nothing has to be hidden.")
