"""A run on a page: its progress, its switches, its curve, and its result when it is there."""

import time
from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.operations import OPERATIONS
from shoal.report.blocks import shown
from shoal.report.definitions import defined
from shoal.web.activities import ACTIVITIES
from shoal.web.jobs.job import Job, State
from shoal.web.jobs.shortfall import shortfall
from shoal.web.jobs.stages import in_words as stages_in_words
from shoal.web.pages import parts, removal
from shoal.web.pages.attributes import attributes, look_at
from shoal.web.workbench import Workbench

COLOURS = {
    State.WAITING: "grey-7",
    State.RUNNING: "primary",
    State.PAUSED: "warning",
    State.DONE: "positive",
    State.FAILED: "negative",
    State.CANCELLED: "grey-7",
}


def standing(job: Job) -> tuple[str, str]:
    """Where a run stands and its colour; an audit that found a table unsafe is done, but nothing to be green about."""
    if job.state is State.DONE and job.summary.get("safe") is False:
        return "not safe", COLOURS[State.FAILED]
    if job.state is State.FAILED and job.summary:
        return "not passed", COLOURS[State.FAILED]
    if job.held_back:
        return "below k", COLOURS[State.FAILED]
    words = "stopping" if job.stopping and not job.state.over else str(job.state)
    return words, COLOURS[job.state]


class RunPanel:
    """One run, kept up to date; the run itself goes on whether or not anybody looks."""

    def __init__(
        self, workbench: Workbench, run: str, show: Callable[[Job], None], *, measure: str = "value"
    ) -> None:
        self._workbench = workbench
        self._job = workbench.board[run]
        self._show = show
        self._measure = measure
        self._drawn = -1
        self._build()
        if self._job.state.over:
            self._finish()
        else:
            self._timer = ui.timer(0.3, self._refresh)

    def _build(self) -> None:
        job = self._job
        with parts.card() as self._card:
            self._card.classes("shoal-panel")
            # Whoever presses a button at the end of a long form wants to see what comes of it.
            look_at(self._card)
            with ui.row().classes("items-center justify-between full-width no-wrap"):
                parts.title(job.title)
                with ui.row().classes("gap-1 no-wrap"):
                    self._danger = ui.badge("K below k", color="negative").props('data-test="danger"')
                    self._state = ui.badge().props('data-test="state"')
            self._bar = ui.linear_progress(value=0, show_value=False, size="7px").props("rounded")
            attributes(self._bar, aria_label="Progress of the run")
            self._phase = parts.quiet().props('data-test="progress"')
            self._stages = parts.quiet().props('data-test="stages"')
            with ui.row().classes("gap-2") as self._switches:
                search = ACTIVITIES[job.kind].search
                if search:
                    self._pause = ui.button("Pause", icon="pause", on_click=self._pause_or_resume)
                    self._pause.props("no-caps outline dense padding='4px 12px'")
                    self._stop = ui.button(
                        "Stop and keep the best",
                        icon="stop",
                        on_click=lambda: self._workbench.board.stop(job.run),
                    )
                    self._stop.props("no-caps outline dense padding='4px 12px'")
                self._cancel = ui.button("Cancel", icon="close", on_click=self._cancel_run)
                self._cancel.props("no-caps flat dense color=negative padding='4px 12px'")
            self._curve = ui.column().classes("full-width")
            self._chart: ui.echart | None = None
            self._outcome = ui.column().classes("full-width gap-3")
        self._paint()

    def _pause_or_resume(self) -> None:
        board, run = self._workbench.board, self._job.run
        if self._job.state is State.PAUSED:
            board.resume(run)
        else:
            board.pause(run)
        self._paint()

    async def _cancel_run(self) -> None:
        from nicegui import run as background

        await background.io_bound(self._workbench.board.cancel, self._job.run)
        self._refresh()

    def _refresh(self) -> None:
        if self._job.state.over and self._job.over.is_set():
            self._timer.deactivate()
            self._finish()
        else:
            self._paint()

    def _paint(self) -> None:
        job = self._job
        words, colour = standing(job)
        # A badge of its own says what a release lacks.
        self._state.set_text(str(job.state) if job.held_back else words)
        attributes(self._state, color=colour)
        self._danger.set_visibility(bool(job.held_back))
        share = job.progress.get("share")
        self._bar.set_value(share or 0)
        unknown = share is None and job.state is State.RUNNING
        attributes(self._bar, indeterminate=True if unknown else None)
        words = _in_words(job, self._measure)
        self._phase.set_text(words)
        self._phase.set_visibility(bool(words))
        self._stages.set_text(stages_in_words(job.stages))
        self._stages.set_visibility(bool(job.stages))
        if ACTIVITIES[job.kind].search:
            self._pause.set_text("Resume" if job.state is State.PAUSED else "Pause")
            self._pause.props("icon=play_arrow" if job.state is State.PAUSED else "icon=pause")
            self._pause.set_enabled(job.state in (State.RUNNING, State.PAUSED) and not job.stopping)
            self._stop.set_enabled(not job.stopping and not job.state.over)
        self._draw()

    def _draw(self) -> None:
        job = self._job
        points = [point for point in job.points if isinstance(point["value"], int | float)]
        # One moment is no curve: a search that ends where it began has nothing to draw.
        if len({point["work"] for point in points}) < 2 or len(job.points) == self._drawn:
            return
        self._drawn = len(job.points)
        options = curve(points, self._measure, job.summary.get("bound_percent"))
        if self._chart is None:
            with self._curve:
                self._chart = parts.chart(options, 230, f"{self._measure} over the search")
        else:
            self._chart.options.update(parts.chart_options(options))
            self._chart.update()

    def _finish(self) -> None:
        job = self._job
        self._drawn = -1
        self._paint()
        self._bar.set_visibility(False)
        self._switches.set_visibility(False)
        self._outcome.clear()
        with self._outcome:
            if job.state is State.FAILED:
                parts.error(job.message)
            elif job.state is not State.DONE:
                parts.note(job.message)
            # What only measures tells its figures also where something that was required does not hold.
            if job.state is State.DONE or (job.state is State.FAILED and job.summary):
                self._hold_back()
                try:
                    self._show(job)
                except KeyError:
                    parts.error("This run was made by another version of Shoal; its files are below.")
                meanings(job)
                if not job.held_back:
                    files(job)

    def _hold_back(self) -> None:
        """A release that is less than was asked for: its files are not there before somebody says that they know."""
        job = self._job
        if job.confirmed is not None:
            when = time.strftime("%d %b %Y, %H:%M", time.localtime(job.confirmed))
            parts.warning(f"{shortfall(job)}. Somebody confirmed on {when} that they know.")
        if not job.held_back:
            return
        with ui.column().classes("shoal-danger full-width gap-2").props('role="alert"'):
            parts.strong(f"{job.held_back}.")
            ui.label(
                "Records can be singled out in it. Protect more columns, remove some, or ask for less; the report says who is at "
                "risk. Its files can be downloaded and written only after you confirm that you know."
            )
            with ui.row().classes("gap-2"):
                report_button(job)
                parts.button("I know, offer the files", icon="lock_open", on_click=self._ask)

    def _ask(self) -> None:
        job = self._job
        removal.ask(
            "Give out a release that is less safe than asked for?",
            f"{job.held_back}. That you confirmed it is kept with the run.",
            self._confirm,
            yes="Yes, I know",
        )

    def _confirm(self) -> None:
        with parts.showing_errors():
            self._workbench.board.confirm(self._job.run)
        self._finish()


def curve(points: list[dict[str, Any]], measure: str, bound: float | None = None) -> dict[str, Any]:
    """The options of a chart of the best value, and of the bound where it is known."""
    steps = {"type": "line", "step": "end", "showSymbol": False}
    values = [[point["work"], point["value"]] for point in points]
    series: list[dict[str, Any]] = [{**steps, "name": "best found", "data": values}]
    bounds = [[point["work"], point["bound"]] for point in points if isinstance(point["bound"], int | float)]
    if not bounds and bound is not None:
        bounds = [[points[0]["work"], bound], [points[-1]["work"], bound]]
    if bounds:
        series.append({**steps, "name": "bound", "data": bounds, "lineStyle": {"type": "dashed"}})
    return {
        "xAxis": parts.axis("iterations", across=True),
        "yAxis": parts.axis(measure, scale=True),
        "series": series,
        "legend": parts.LEGEND,
        "tooltip": {"trigger": "axis"},
    }


def meanings(job: Job) -> None:
    """What the figures of a run mean, in the words of its report."""
    rows = (
        defined(getattr(OPERATIONS[job.kind].reporter_module, "DEFINITIONS", {}), job.summary)
        if job.kind in OPERATIONS
        else []
    )
    if rows:
        with parts.folded("What the figures mean"):
            parts.table(["figure", "definition"], [(name, meaning) for name, _, meaning in rows])


# A table can be changed by hand on its page; its files do not follow.
_PATTERNS = {
    "suppress": "These files hold the pattern searched for, without changes by hand; to get files of those, audit and "
    "keep your pattern.",
    "audit": "These files hold the pattern that was audited, without later changes by hand.",
}


def files(job: Job) -> None:
    """Links to what a run made: the report first; what is internal stands apart."""
    order = sorted(job.files, key=lambda item: item["name"] != "report.html")
    if job.kind in _PATTERNS:
        parts.note(_PATTERNS[job.kind])
    inside = [item for item in order if "internal" in item["title"]]
    _links(job, [item for item in order if item not in inside])
    if inside:
        parts.quiet("Internal, not for publication:")
        _links(job, inside)


def _links(job: Job, items: list[dict[str, str]]) -> None:
    with ui.row().classes("gap-2 items-center"):
        for item in items:
            if item["name"] == "report.html":
                report_button(job)
                continue
            button = ui.button(item["title"], icon="download")
            attributes(button.props("no-caps outline"), data_file=item["name"])
            attributes(button, href=f"/runs/{job.run}/{item['name']}")


def report_button(job: Job) -> None:
    """The report of a run, which may always be read."""
    if "report.html" in job.file_names:
        button = ui.button("Open report", icon="description").props("no-caps unelevated target=_blank")
        attributes(button, href=f"/runs/{job.run}/report.html")


def run_list(
    workbench: Workbench, kinds: tuple[str, ...], choose: Callable[[str], None], chosen: Callable[[], str]
) -> Callable[[], None]:
    """The runs of an activity, the latest first; gives back the function that brings it up to date."""

    @ui.refreshable
    def listed() -> None:
        jobs = workbench.board.all(*kinds)
        if not jobs:
            parts.quiet("No runs yet.")
        for job in jobs[:30]:
            row = ui.row().classes(
                "shoal-run items-center no-wrap gap-2" + (" chosen" if job.run == chosen() else "")
            )
            attributes(row.props("tabindex=0 role=button"), data_run=job.run)
            row.on("click", lambda run=job.run: choose(run))
            row.on("keydown.enter", lambda run=job.run: choose(run))
            row.on("keydown.space.prevent", lambda run=job.run: choose(run))
            with row:
                words, colour = standing(job)
                attributes(ui.badge(words), color=colour).style("flex: none")
                ui.label(job.title).classes("ellipsis").style("min-width: 0; flex: 1").tooltip(job.title)
                parts.quiet(time.strftime("%H:%M", time.localtime(job.submitted)))

    seen: list[Any] = []

    def refresh_if_changed() -> None:
        now = [(job.run, job.state) for job in workbench.board.all(*kinds)]
        if now != seen:
            seen[:] = now
            listed.refresh()

    listed()
    ui.timer(0.7, refresh_if_changed)

    def refresh() -> None:
        listed.refresh()

    return refresh


def _in_words(job: Job, measure: str) -> str:
    progress = job.progress
    if job.state is State.WAITING:
        return "waiting for its turn"
    words = []
    if progress.get("phase") and not job.state.over:
        words.append(str(progress["phase"]))
    if progress.get("work"):
        total = progress.get("total")
        done = f"{progress['work']:,}" + (f" of {total:,}" if total else "")
        words.append(f"{done} {'iteration' if done == '1' else 'iterations'}")
    name, _, unit = measure.partition(", ")
    # A result has figures of its own; the last glimpse of its search need not be those.
    for what, key in ((name, "value"), ("bound", "bound")):
        if progress.get(key) is not None and job.state is not State.DONE:
            words.append(f"{what} {shown(progress[key])}{f' {unit}' if unit else ''}")
    if progress.get("seconds") is not None:
        words.append(f"{progress['seconds']:.1f} s")
    return " · ".join(words) or ("starting" if job.state is State.RUNNING else "")
