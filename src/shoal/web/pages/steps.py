"""Steps: what was run, in order, to be named, taken out, put right, repeated, and written down for others."""

from collections.abc import Callable

from nicegui import events, ui

from shoal.web.activities import ACTIVITIES
from shoal.web.archive import NAME
from shoal.web.data_files import open_project
from shoal.web.pages import layout, parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.drop_field import project_field
from shoal.web.pages.reports import page_of
from shoal.web.pages.runs import standing
from shoal.web.pages.workspace_note import temporary_workspace
from shoal.web.project import ProjectStep
from shoal.web.workbench import Workbench
from shoal.web.written_steps import Form

_FORMS: tuple[tuple[Form, str, str], ...] = (
    ("plan.toml", "Plan", "to be read, changed, and run by 'shoal release' behind gates"),
    ("script.py", "Python script", "the same steps as calls of functions"),
    ("commands.sh", "Shell commands", "the same steps as commands"),
)


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/steps")
    def steps() -> None:
        lead = "Everything that was run here, in order. Put it right, and take it along as a plan, a script or commands."
        with layout.page(workbench, "Steps", lead):
            temporary_workspace(workbench)
            StepsPage(workbench)


class StepsPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._project = workbench.project
        self._listed()

    @ui.refreshable_method
    def _listed(self) -> None:
        steps = self._project.steps()
        with ui.row().classes("items-center gap-2"):
            self._button("Undo", "undo", self._project.undo, possible=self._project.can_undo)
            self._button("Redo", "redo", self._project.redo, possible=self._project.can_redo)
        if not steps:
            with parts.card():
                parts.empty("route", "No steps yet. Every run that is done becomes one.", "Data", "/data")
        for number, step in enumerate(steps):
            self._step(number, step, last=number == len(steps) - 1)
        if steps:
            self._along()
        self._whole()

    def _along(self) -> None:
        with parts.card("Take it along"):
            for form, title, what in _FORMS:
                with ui.row().classes("items-center full-width gap-3"):
                    parts.button(title, icon="download").on_click(lambda form=form: self._download(form))
                    parts.quiet(what)
            fetched = self._project.writing().to_fetch
            if fetched:
                parts.quiet(
                    "They read files that you have, and these, which came in no file or in one of another form:"
                )
                with ui.row().classes("gap-2"):
                    for name in fetched:
                        button = ui.button(f"{name}.parquet", icon="download").props("no-caps outline")
                        attributes(button, href=f"/records-of/{name}")

    def _whole(self) -> None:
        """All of the workspace as one file, and the way back."""
        with parts.card("The whole project"):
            parts.quiet(
                "Data, runs and steps as one file, to go on elsewhere or later. It holds the data: keep it where they are kept."
            )
            if self._workbench.board.all() or self._workbench.datasets.names():
                button = ui.button("Save the project", icon="save").props("no-caps outline")
                attributes(button, href="/project")
                parts.quiet(
                    "A project is opened where nothing is yet: start 'shoal serve' with an empty --workspace."
                )
            else:
                project_field(on_upload=self._open).props('accept=".shoal"')

    async def _open(self, event: events.UploadEventArguments) -> None:
        from nicegui import run

        place = self._workbench.workspace.incoming(NAME)
        await event.file.save(place)
        with parts.showing_errors():
            await run.io_bound(open_project, self._workbench, place)
        self._listed.refresh()

    def _button(self, words: str, icon: str, do: Callable[[], None], *, possible: bool) -> None:
        button = ui.button(words, icon=icon, on_click=lambda: self._do(do)).props("no-caps flat")
        button.set_enabled(possible)

    def _do(self, change: Callable[[], None]) -> None:
        with parts.showing_errors():
            change()
        self._listed.refresh()

    def _step(self, number: int, step: ProjectStep, *, last: bool) -> None:
        run, project = step.job.run, self._project
        with ui.card().classes("shoal-card full-width").style("padding: 10px 14px"):
            with ui.row().classes("items-center full-width gap-3"):
                ui.label(f"{number + 1}").classes("shoal-quiet").style("min-width: 2ch; text-align: right")
                name = ui.input(value=step.name).props('dense outlined aria-label="Name of the step"')
                name.on("change", lambda _: self._do(lambda: project.rename(run, name.value or "")))
                with ui.column().classes("gap-0").style("flex: 1; min-width: 180px"):
                    ui.label(step.job.title).style("overflow-wrap: anywhere")
                    parts.quiet(ACTIVITIES[step.job.kind].name)
                words, colour = standing(step.job)
                if colour == "negative":
                    attributes(ui.badge(words), color=colour)
                with ui.row().classes("items-center gap-1"):
                    again = ui.button("Repeat with these settings", icon="replay").props(
                        "no-caps no-wrap flat dense"
                    )
                    attributes(again, href=f"{page_of(step.job.kind)}?run={run}")
                    self._icon("arrow_upward", "Earlier", lambda: project.move(run, -1), possible=number > 0)
                    self._icon("arrow_downward", "Later", lambda: project.move(run, 1), possible=not last)
                    self._icon("remove_circle_outline", "Take this step out", lambda: project.remove(run))

    def _icon(self, icon: str, words: str, do: Callable[[], None], *, possible: bool = True) -> None:
        button = ui.button(icon=icon, on_click=lambda: self._do(do)).props("flat round dense")
        attributes(button, aria_label=words)
        button.tooltip(words)
        button.set_enabled(possible)

    def _download(self, form: Form) -> None:
        with parts.showing_errors():
            ui.download(self._project.written(form).encode(), form)
