"""All runs and their reports."""

import time

from nicegui import ui

from shoal.web.activities import ACTIVITIES
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts, removal
from shoal.web.pages.attributes import attributes
from shoal.web.pages.runs import standing
from shoal.web.workbench import Workbench


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/reports")
    def reports() -> None:
        with layout.page(
            workbench,
            "Reports",
            "Everything that was run in this workspace; each finished run has a report to sign.",
        ):
            listing(workbench)

    def listing(workbench: Workbench) -> None:
        @ui.refreshable
        def listed() -> None:
            jobs = [job for job in workbench.board.all() if not ACTIVITIES[job.kind].internal]
            if not jobs:
                with parts.card():
                    parts.empty(
                        "description", "No runs yet. Reports appear here when a run is done.", "Data", "/data"
                    )
            for job in jobs:
                with ui.card().classes("shoal-card").style("padding: 10px 14px"):
                    with ui.row().classes("items-center full-width gap-3"):
                        words, colour = standing(job)
                        attributes(ui.badge(words), color=colour)
                        with ui.column().classes("gap-0").style("flex: 1; min-width: 200px"):
                            ui.label(job.title).style("font-weight: 600; overflow-wrap: anywhere")
                            when = time.strftime("%d %b %Y, %H:%M", time.localtime(job.submitted))
                            name = ACTIVITIES[job.kind].name
                            parts.quiet(f"{name} · {when}" + (f" · {job.message}" if job.message else ""))
                        address = f"{page_of(job.kind)}?run={job.run}"
                        ui.button("Show", on_click=lambda address=address: ui.navigate.to(address)).props(
                            "no-caps flat"
                        )
                        if "report.html" in job.file_names:
                            report = f"/runs/{job.run}/report.html"
                            look = ui.button("Open report", icon="description")
                            attributes(look.props("no-caps unelevated target=_blank"), href=report)
                            save = ui.button(icon="download").props("no-caps flat round")
                            attributes(save, href=f"{report}?download=1", aria_label="Download the report")
                        if job.state.over:
                            ui.button(icon="delete_outline", on_click=lambda job=job: ask(job)).props(
                                'flat round color=grey-7 aria-label="Remove this run"'
                            ).tooltip("Remove this run with its files")

        def ask(job: Job) -> None:
            removal.ask(
                f"Remove the run '{job.title}'?",
                "Its report and files are deleted when the workbench ends, and can be brought back until then.",
                lambda: remove(job),
            )

        def remove(job: Job) -> None:
            with parts.showing_errors():
                workbench.board.set_aside(job.run)
                removal.offer_undo(f"'{job.title}' was removed", lambda: restore(job))
            listed.refresh()

        def restore(job: Job) -> None:
            with parts.showing_errors():
                workbench.board.restore(job.run)
            listed.refresh()

        listed()
        seen: list[object] = []

        def look() -> None:
            now = [(job.run, job.state) for job in workbench.board.all()]
            if seen and now != seen[0]:
                listed.refresh()
            seen[:] = [now]

        ui.timer(1.0, look)


def page_of(kind: str) -> str:
    """The page that shows runs of a kind."""
    pages = {
        "anonymity": "/risk",
        "risk": "/risk",
        "recode": "/recode",
        "microaggregate": "/records",
        "perturb": "/perturb",
        "group": "/grouping",
        "study": "/studies",
        "compare": "/compare",
        "suppress": "/tables",
        "audit": "/tables",
        "tabulate": "/tables",
        "round": "/change",
        "adjust": "/change",
        "perturb-table": "/change",
        "assign": "/appointments",
    }
    return pages.get(kind, "/reports")
