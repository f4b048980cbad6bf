"""The two columns of an activity's page: its form with the runs below it, and the run that is looked at."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from shoal.errors import InputError, spelled
from shoal.web.jobs.job import Job
from shoal.web.pages import parts
from shoal.web.pages.runs import RunPanel, run_list
from shoal.web.spelling import field_names
from shoal.web.workbench import Workbench


class Desk:
    """What every activity has on its page; ``asked`` is the request of the run that the page was opened with."""

    def __init__(
        self,
        workbench: Workbench,
        address: str,
        *kinds: str,
        run: str,
        present: Callable[[Job], None],
        icon: str,
        hint: str,
        measure: str = "value",
    ) -> None:
        self._workbench = workbench
        self._address = address
        self._kinds = kinds
        self._present = present
        self._icon = icon
        self._hint = hint
        self._measure = measure
        self._latest: tuple[str, dict[str, Any], str] | None = None
        self.run = run if run in workbench.board else ""
        self.asked: dict[str, Any] = workbench.board[self.run].request if self.run else {}

    @contextmanager
    def form(self, heading: str) -> Iterator[None]:
        """Lay the page out; what the block makes is the form."""
        with ui.element("div").classes("shoal-two"):
            with ui.column().classes("full-width gap-3"):
                with parts.card(heading):
                    yield
                with parts.card("Runs"):
                    self._refresh = run_list(self._workbench, self._kinds, self.choose, lambda: self.run)
            self.result = ui.column().classes("full-width gap-3")
        self.show()

    def submit(self, kind: str, request: dict[str, Any]) -> None:
        """Start a run and look at it; an ``InputError`` if something is wrong with the request.

        Pressed twice, the same request is one run: as long as it is not over, it is shown instead of started again.
        """
        if self._latest is None or self._latest[:2] != (kind, request) or self._over(self._latest[2]):
            self._latest = (kind, request, self._submitted(kind, request))
        self.choose(self._latest[2])

    def _submitted(self, kind: str, request: dict[str, Any]) -> str:
        try:
            return self._workbench.board.submit(kind, request).run
        except InputError as problem:
            # What is wrong is called as the form calls it.
            raise InputError(spelled(problem, field_names(kind))) from None

    def _over(self, run: str) -> bool:
        return run not in self._workbench.board or self._workbench.board[run].state.over

    def choose(self, run: str) -> None:
        """Look at a run; the address of the page finds it again."""
        self.run = run
        ui.navigate.history.replace(f"{self._address}?run={run}")
        self._refresh()
        self.show()

    def show(self) -> None:
        """Show the run that is looked at, or what to do first."""
        self.result.clear()
        with self.result:
            if self.run:
                RunPanel(self._workbench, self.run, self._present, measure=self._measure)
            else:
                with parts.card():
                    parts.empty(self._icon, self._hint)
