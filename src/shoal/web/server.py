"""The server: this machine only, one token, one workspace."""

import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.web.ending import ended_by_signals, ending_politely, undisturbed, whole
from shoal.web.entry import Entry, forget, write_door, write_header
from shoal.web.guard import Guard
from shoal.web.keeping import Keeping
from shoal.web.occupancy import occupy, remove_left_behind, temporary
from shoal.web.workbench import LARGEST_UPLOAD_MB, Workbench

# So many seconds a page may take to answer whether it is there.
_PATIENCE = 600


@dataclass(frozen=True)
class Address:
    """How the workbench can be opened: ``fresh`` is an address that works once, ``door`` a page that leads to one."""

    workbench: Workbench
    header: Path

    def fresh(self) -> str:
        """An address with a new code in it."""
        return self.workbench.address()

    def door(self) -> Path:
        """A file for this user's browser to open, so that the code is on no command line."""
        return write_door(self.workbench.workspace.folder, self.fresh())


def serve(
    *,
    port: int = 0,
    workspace: Path | None = None,
    max_upload_mb: int = LARGEST_UPLOAD_MB,
    announce: Callable[[Address], None],
    farewell: Callable[["Farewell"], None] = lambda leaving: None,
    gone: Callable[[Path | None], None] = lambda folder: None,
) -> None:
    """Run the workbench until it is interrupted; ``announce`` is told the address when it can be opened.

    Without a workspace, everything is kept in a temporary folder, which is removed at the end: on Ctrl-C, when the process
    is asked to end, when its terminal is closed, and after kill -9 by the next workbench of the same user. On Ctrl-C
    ``farewell`` may say that it is to be kept, and may let the searches that run end with their best. ``gone`` is told where
    the workspace can be found afterwards.
    """
    listening = _listen(port)
    port = listening.getsockname()[1]
    with ended_by_signals():
        remove_left_behind()
        keeping = workbench = None
        try:
            # A signal counts between these steps: within one it could leave a folder that nobody knows of, or get lost
            # in a module that is just being loaded.
            with whole():
                held = temporary() if workspace is None else occupy(workspace.resolve())
                keeping = Keeping(held, temporary=workspace is None)
            with whole():
                workbench = Workbench.at(
                    keeping, entry=Entry(), port=port, largest_upload=max_upload_mb * 2**20
                )
                address = Address(workbench, write_header(held.folder, workbench.entry.token))
                # What is being received is confidential, too: it waits in the workspace, not in a folder all users share.
                tempfile.tempdir = str(workbench.workspace.shelf("incoming"))
                workbench.board.prepare()
            with whole():
                app = application(workbench)
            _run(app, listening, lambda: announce(address))
        except KeyboardInterrupt:
            # A second one, or the end of the terminal, ends what this waits for.
            if workbench is not None:
                farewell(Farewell(workbench))
            raise
        finally:
            with undisturbed():
                if workbench is not None:
                    workbench.board.close()
                    workbench.workspace.empty_removed()
                    workbench.connections.disconnect()
                listening.close()
                if keeping is not None:
                    forget(keeping.folder)
                    place = keeping.leave()
                    if workbench is not None:
                        gone(place)


@dataclass(frozen=True)
class Farewell:
    """What is left to decide when Ctrl-C was pressed."""

    _workbench: Workbench

    @property
    def keeping(self) -> Keeping:
        """What becomes of the workspace."""
        return self._workbench.keeping

    @property
    def used(self) -> bool:
        """Whether there is anything in the workspace."""
        return bool(self._workbench.datasets.names() or self._workbench.board.all())

    @property
    def searches(self) -> int:
        """How many runs are not over."""
        return len(self._workbench.board.active)

    def save_searches(self) -> int:
        """Let searches end with the best they have; how many did."""
        return len(self._workbench.board.settle())


def _be_patient() -> None:
    """Give a page minutes to answer whether it is there.

    A page that is busy for some seconds was taken for gone, and what somebody wrote into it before it was connected again
    reached nobody. On this machine a page that is really gone closes its connection.
    """
    from nicegui import core

    core.sio.eio.ping_timeout = _PATIENCE


def application(workbench: Workbench) -> Guard:
    """The whole application behind its guard."""
    from nicegui import app as nicegui
    from nicegui import ui

    from shoal.web import api, downloads, pages

    # A bar at every request tells nobody anything: runs have bars of their own, with names.
    nicegui.config.quasar_config["loadingBar"]["skipHijack"] = True
    nicegui.on_startup(_be_patient)
    app = api.application(workbench)
    downloads.register(app, workbench)
    pages.register(workbench, app.openapi)
    ui.run_with(
        app,
        title="Shoal",
        favicon=_ICON,
        dark=None,
        language="en-US",
        show_welcome_message=False,
        reconnect_timeout=10,
        # Nothing is saved by packing for this machine, and the guard reads pages (policy.py).
        gzip_middleware_factory=None,
        # Its compiler took half a second in every page for a few rules; they are written down (pages/ground.css).
        tailwind=False,
    )
    return Guard(app, entry=workbench.entry, port=workbench.port, largest=workbench.largest_upload + 2**20)


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


def _run(app: Guard, listening: socket.socket, ready: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started and not self.should_exit:
                ready()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # Uvicorn would have the signal kill the process as soon as it has stopped serving, before anything is removed.
            yield

    # No access log: an address can carry a code.
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    server = Server(config)
    with ending_politely(server):
        server.run(sockets=[listening])
