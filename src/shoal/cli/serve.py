"""``shoal serve``: the workbench in the browser, on this machine only."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.workbench_terminal import Terminal


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve)


def serve(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1.", show_default="any free one")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, open nothing.")
    ] = False,
    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace",
            metavar="FOLDER",
            help="Keep data and results here.",
            show_default="a temporary folder, removed at the end unless you keep it",
        ),
    ] = None,
    max_upload: Annotated[
        int, typer.Option("--max-upload", min=1, metavar="MB", help="Largest file that is accepted.")
    ] = 2048,
    quiet: options.Quiet = False,
) -> None:
    """Open the workbench in the browser.

    Example: shoal serve --workspace ~/release-2026
    """
    import threading
    import webbrowser
    from importlib.util import find_spec

    from shoal.errors import InputError, needs_extra

    if find_spec("nicegui") is None:
        raise needs_extra("the workbench", "web")
    if workspace is not None and workspace.exists() and not workspace.is_dir():
        raise InputError(f"'{workspace}' is not a folder")

    from shoal.web.server import Address
    from shoal.web.server import serve as run

    terminal = Terminal(quiet=quiet)

    def announce(address: Address) -> None:
        sys.stdout.write(f"{address.fresh()}\n")
        sys.stdout.flush()
        again = " Enter prints another," if terminal.asks else ""
        terminal.say(
            f"The workbench is open. The address works once, within ten minutes;{again} Ctrl-C closes the workbench.\n"
            f"Data and results are {address.workbench.keeping.in_words()}.\n"
            f"Programs: curl --header @'{address.header}' (a key, readable by you alone)."
        )
        terminal.listen(address.fresh)
        if not no_browser:
            # The code stands in a file: everybody on this machine can read the browser's command line.
            threading.Thread(target=webbrowser.open, args=(address.door().as_uri(),), daemon=True).start()

    run(
        port=port,
        workspace=workspace,
        max_upload_mb=max_upload,
        announce=announce,
        farewell=terminal.farewell,
        gone=terminal.gone,
    )
