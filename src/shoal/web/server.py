"""The server: this machine only, one token, one workspace."""

import secrets
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.web.guard import Guard
from shoal.web.workbench import LARGEST_UPLOAD_MB, Workbench


def serve(
    *,
    port: int = 0,
    workspace: Path | None = None,
    max_upload_mb: int = LARGEST_UPLOAD_MB,
    announce: Callable[[str], None],
) -> None:
    """Run the workbench until it is interrupted; ``announce`` is told the address when it can be opened.

    Without a workspace, everything is kept in a temporary folder and removed at the end.
    """
    listening = _listen(port)
    port = listening.getsockname()[1]
    folder = workspace or Path(tempfile.mkdtemp(prefix="shoal-workbench-"))
    workbench = Workbench.at(
        folder, token=secrets.token_urlsafe(24), port=port, largest_upload=max_upload_mb * 2**20
    )
    # What is being received is confidential, too: it waits in the workspace, not in a folder all users share.
    tempfile.tempdir = str(workbench.workspace.shelf("incoming"))
    try:
        workbench.board.prepare()
        _run(workbench, listening, lambda: announce(f"http://127.0.0.1:{port}/?token={workbench.token}"))
    finally:
        workbench.board.close()
        workbench.connections.disconnect()
        listening.close()
        if workspace is None:
            workbench.workspace.remove()


def application(workbench: Workbench) -> Guard:
    """The whole application behind its guard."""
    from nicegui import ui

    from shoal.web import api, downloads, pages

    app = api.application(workbench)
    downloads.register(app, workbench)
    pages.register(workbench, app.openapi)
    ui.run_with(
        app, title="Shoal", favicon=_ICON, dark=None, show_welcome_message=False, reconnect_timeout=10
    )
    return Guard(app, token=workbench.token, port=workbench.port, largest=workbench.largest_upload + 2**20)


_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f6f8b"/>'
    '<g fill="#fff"><path d="M5 11q5-5 10 0l3-2v5l-3-2q-5 4-10-1z"/><path d="M13 20q5-5 10 0l3-2v5l-3-2q-5 4-10-1z"/></g></svg>'
)


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        raise InputError(
            f"port {port} cannot be used ({(error.strerror or 'refused').lower()}); try another --port"
        ) from None
    return listening


def _run(workbench: Workbench, listening: socket.socket, ready: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    # No access log: an address can carry the token.
    config = uvicorn.Config(
        application(workbench),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    Server(config).run(sockets=[listening])
