"""A pattern changed by hand: pressing a cell hides or shows it, and the audit follows."""

import asyncio
from collections.abc import Callable
from typing import Any

from nicegui import run as background
from nicegui import ui

from shoal.errors import ShoalError, spelled
from shoal.runtime.observer import Progress
from shoal.web.activities import ACTIVITIES
from shoal.web.jobs.auditor import Auditor
from shoal.web.jobs.job import Job
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.desk import Desk
from shoal.web.pages.tables.drawn import Drawn
from shoal.web.pages.tables.slicer import Slicer
from shoal.web.pages.tables.verdict import badge, by_code, intervals
from shoal.web.spelling import field_names
from shoal.web.workbench import Workbench

# Several presses in a row are answered together.
_PAUSE = 0.12


class ByHand:
    """The cells of a run's table with the verdict below them."""

    def __init__(
        self, workbench: Workbench, desk: Desk, job: Job, drawn: Drawn, on_change: Callable[[bool], None]
    ) -> None:
        self._on_change = on_change
        self._desk = desk
        self._job = job
        self._drawn = drawn
        self._first = list(drawn.kinds)
        self._auditor = Auditor(workbench.workspace, job.kind, job.request, len(drawn.values))
        ui.context.client.on_delete(self._auditor.close)
        ui.timer(0.3, lambda: background.io_bound(self._auditor.prepare), once=True)
        self._asked = 0
        self._busy = False
        self._far: Progress | None = None
        self._slicer = Slicer(drawn, self._press)
        parts.quiet(
            "Press a cell that is not sensitive to hide or show it; arrows move from cell to cell, Enter presses."
        )
        self._about = parts.quiet().props('role="status" data-test="about"')
        self._verdict = ui.column().classes("gap-2 full-width").props('data-test="verdict"')
        self._listing = ui.column().classes("full-width")
        if "safe" in job.summary:
            self._tell(job.summary)
        else:
            with self._verdict:
                parts.note(
                    "Nothing is hidden yet but the sensitive cells. Press cells to hide them, or suppress."
                )

    def close(self) -> None:
        """Nobody looks at this table any more."""
        self._auditor.close()

    async def _press(self, cell: int) -> None:
        self._about.set_text(self._slicer.cells.about(cell))
        kind = self._drawn.kinds[cell]
        if kind in ("p", "z"):
            words = "a sensitive cell stays hidden" if kind == "p" else "this cell is always published"
            ui.notify(words, type="info")
            return
        self._drawn.kinds[cell] = "" if kind else "c"
        await self._changed()

    async def _changed(self) -> None:
        self._on_change(self._drawn.kinds != self._first)
        self._slicer.cells.refresh()
        self._asked += 1
        if self._busy:
            return
        self._busy = True
        self._wait()
        try:
            while True:
                await asyncio.sleep(_PAUSE)
                mine = self._asked
                said = await background.io_bound(self._auditor.ask, self._drawn.hidden, self._observe)
                if mine == self._asked:
                    break
            if said:
                self._tell(said)
        except ShoalError as problem:
            self._verdict.clear()
            with self._verdict:
                parts.error(spelled(problem, field_names("audit")))
        finally:
            self._busy = False

    def _observe(self, progress: Progress) -> None:
        # Called from the thread of the audit: what it says is drawn by the page when it looks next.
        self._far = progress

    def _wait(self) -> None:
        self._far = None
        self._verdict.clear()
        with self._verdict:
            with ui.row().classes("items-center gap-3"):
                ui.spinner(size="24px")
                words = parts.strong("Auditing …").props('data-test="auditing"')
            bar = ui.linear_progress(value=0, show_value=False, size="7px").props("rounded")
            attributes(bar, aria_label="Progress of the audit")

        def look() -> None:
            if self._far is not None and not words.is_deleted:
                words.set_text(f"Auditing … {self._far.work:,} of {self._far.total:,} intervals")
                bar.set_value(self._far.share or 0)

        with self._verdict:
            ui.timer(0.2, look)

    def _tell(self, verdict: dict[str, Any]) -> None:
        self._slicer.cells.judge(verdict.get("bounds", {}), verdict.get("failing_cells", ()))
        changed = self._drawn.kinds != self._first
        self._verdict.clear()
        with self._verdict:
            badge(verdict)
            if verdict["disclosed"]:
                parts.note(
                    f"{verdict['disclosed']} hidden cells that are not sensitive can be computed exactly; "
                    "they are hidden in vain."
                )
            if changed:
                self._difference(verdict)
        self._listing.clear()
        with self._listing:
            intervals(verdict)
            by_code(self._drawn)

    def _difference(self, verdict: dict[str, Any]) -> None:
        pairs = list(zip(self._first, self._drawn.kinds, strict=True))
        more = sum(before == "" and now == "c" for before, now in pairs)
        fewer = sum(before == "c" and now == "" for before, now in pairs)
        words = f"Changed by hand: {more} more hidden, {fewer} shown"
        was = self._job.summary.get("cost")
        if was is not None:
            words += f"; cost {verdict['cost']:,.6g} instead of {was:,.6g}"
        parts.quiet(f"{words}.")
        with ui.row().classes("gap-2"):
            for text, icon, act in (
                ("Audit and keep this pattern", "save", self._keep),
                ("Undo all changes", "undo", self._undo),
            ):
                ui.button(text, icon=icon, on_click=act).props("no-caps outline dense padding='4px 12px'")

    async def _undo(self) -> None:
        self._drawn.kinds[:] = self._first
        await self._changed()

    def _keep(self) -> None:
        fields = ACTIVITIES["audit"].request_model.model_fields
        request = {key: value for key, value in self._job.request.items() if key in fields}
        hidden = [self._drawn.key(cell) for cell in self._drawn.hidden]
        with parts.showing_errors():
            self._desk.submit("audit", {**request, "hidden": hidden})
