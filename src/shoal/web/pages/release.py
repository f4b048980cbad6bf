"""Write a release back to the connected database."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.numbers import counted
from shoal.web.jobs.job import Job, State
from shoal.web.pages import parts
from shoal.web.workbench import Workbench


def write_back(workbench: Workbench, job: Job, table: str = "", release: str = "release.parquet") -> None:
    """A line with the table's name; without a connection it says where to connect."""
    if job.held_back or job.state is not State.DONE:
        return
    suggested = table or f"{job.request.get('data', 'release')}_release"
    write_line(workbench, {"run": job.run, "release": release}, suggested)


def write_line(workbench: Workbench, what: dict[str, Any], suggested: str) -> None:
    """The line that writes a run's release or data of the workspace to a table."""
    if workbench.connections.current is None:
        with ui.row().classes("items-center gap-1 shoal-quiet shoal-links"):
            ui.label("To write this to a database,")
            ui.link("connect to one", "/data?tab=database")
            ui.label("first.")
        return
    with ui.row().classes("items-center gap-3 full-width"):
        table = ui.input("Table", value=suggested.replace("-", "_")).props("outlined dense")
        replace = ui.checkbox("replace")
        _button(
            workbench,
            "Write to database",
            "write",
            lambda connection: {
                **what,
                "connection": connection,
                "table": table.value or "",
                "force": replace.value,
            },
        )


def update_back(workbench: Workbench, job: Job, people: list[str]) -> None:
    """The line that sets REC_RAND and REC_INTELLIGENT in the tables the people came from."""
    if workbench.connections.current is None or job.held_back or job.state is not State.DONE:
        return
    known = [
        (workbench.datasets[name].table if name in workbench.datasets else None) or name for name in people
    ]
    several = len(people) > 1
    with ui.row().classes("items-center gap-3 full-width"):
        tables = ui.input("Tables of people" if several else "Table of people", value=", ".join(known))
        tables.props("outlined dense").style("flex: 1 1 260px" if several else "")
        _button(
            workbench,
            "Write back REC_RAND and REC_INTELLIGENT",
            "update",
            lambda connection: {
                "run": job.run,
                "connection": connection,
                "tables": [name.strip() for name in (tables.value or "").split(",") if name.strip()],
            },
        )


def _written(summary: dict[str, Any]) -> str:
    tables = summary.get("tables") or [summary["table"]]
    names = ", ".join(f"'{name}'" for name in tables)
    return f"{counted(summary['records'], 'record')} written to table{'s' if len(tables) > 1 else ''} {names}"


def _button(workbench: Workbench, words: str, kind: str, request: Callable[[str], dict[str, Any]]) -> None:
    button = parts.button(words, icon="save")
    outcome = parts.quiet().props('data-test="written"')

    def submit() -> None:
        open_now = workbench.connections.current
        if open_now is None:
            ui.notify("the connection was closed; connect again", type="warning")
            return
        with parts.showing_errors():
            secrets = workbench.connections.secrets()
            job = workbench.board.submit(kind, request(open_now.name), secrets=secrets)
            button.disable()
            parts.when_over(
                job, lambda: over(job), lambda: outcome.set_text(job.progress.get("phase") or "writing …")
            )

    def over(job: Job) -> None:
        button.enable()
        done = job.state is State.DONE
        outcome.set_text(_written(job.summary) if done else "")
        if not done:
            parts.tell(InputError(job.message))

    button.on_click(lambda: submit())
