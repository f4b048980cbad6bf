"""Write a release back to the connected database."""

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.jobs.job import Job, State
from shoal.web.pages import parts
from shoal.web.workbench import Workbench


def write_back(workbench: Workbench, job: Job) -> None:
    """A line with the table's name; without a connection it says where to connect."""
    current = workbench.connections.current
    if current is None:
        with ui.row().classes("items-center gap-1 shoal-quiet shoal-links"):
            ui.label("To write the release to a database,")
            ui.link("connect to one", "/data")
            ui.label("first.")
        return
    with ui.row().classes("items-center gap-3 full-width"):
        table = ui.input("Table", value=f"{job.request.get('data', 'release')}_release").props(
            "outlined dense"
        )
        replace = ui.checkbox("replace")
        button = ui.button("Write to database", icon="save", on_click=lambda: submit())
        button.props("no-caps outline")
        outcome = ui.label().classes("shoal-quiet").props('data-test="written"')

    def submit() -> None:
        open_now = workbench.connections.current
        if open_now is None:
            ui.notify("the connection was closed; connect again", type="warning")
            return
        request = {
            "run": job.run,
            "connection": open_now.name,
            "table": table.value or "",
            "force": replace.value,
        }
        try:
            writing = workbench.board.submit("write", request, secrets=workbench.connections.secrets())
        except ShoalError as problem:
            parts.tell(problem)
            return
        button.disable()

        def look() -> None:
            if not (writing.state.over and writing.over.is_set()):
                outcome.set_text(writing.progress.get("phase") or "writing …")
                return
            timer.deactivate()
            button.enable()
            if writing.state is State.DONE:
                outcome.set_text(
                    f"{writing.summary['records']:,} records written to table '{writing.summary['table']}'"
                )
            else:
                outcome.set_text("")
                ui.notify(
                    writing.message, type="negative", multi_line=True, close_button="Close", timeout=9000
                )

        timer = ui.timer(0.25, look)
