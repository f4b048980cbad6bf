"""A part of a page drawn for nobody, to see that it can be drawn from a result, and what it would show."""

import json
from collections.abc import Callable
from typing import Any

from nicegui.client import Client
from nicegui.page import page

from shoal.web.jobs.job import Job, State
from shoal.web.jobs.worker import finite


def drawn(draw: Callable[[], Any]) -> str:
    """All that would be sent to the browser, as text."""
    client = Client(page("/nowhere"), request=None)
    try:
        with client:
            draw()
        sent = [
            json.dumps([element._props, element._text], default=str, ensure_ascii=False)
            for element in client.elements.values()
        ]
        return "\n".join(sent)
    finally:
        client.delete()


class Bench:
    """As much of a workbench as a result needs to be shown."""

    def __init__(self, context: Any) -> None:
        self.datasets = context.datasets
        self.workspace = context.workspace
        self.connections = self
        self.current = None


def job_of(kind: str, run: str, request: dict[str, Any], found: dict[str, Any], files: Any = ()) -> Job:
    """A finished run with these figures as they come out of a worker."""
    summary = json.loads(json.dumps(finite(found)))
    return Job(run, kind, "a run", request, State.DONE, summary=summary, files=list(files))
