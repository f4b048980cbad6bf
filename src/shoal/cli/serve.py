"""``shoal serve``: the workbench in the browser, on this machine only."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options


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
            show_default="a temporary folder, removed at the end",
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
    import sys
    import threading
    import webbrowser
    from importlib.util import find_spec

    from shoal.errors import InputError

    if find_spec("nicegui") is None:
        raise InputError('the workbench needs NiceGUI: pip install "shoal[web]"')
    if workspace is not None and workspace.exists() and not workspace.is_dir():
        raise InputError(f"'{workspace}' is not a folder")

    from shoal.web.server import serve as run

    def announce(address: str) -> None:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        if not quiet:
            sys.stderr.write(
                "The workbench is open; Ctrl-C closes it. The address is a key: do not pass it on.\n"
            )
            sys.stderr.flush()
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    run(port=port, workspace=workspace, max_upload_mb=max_upload, announce=announce)
