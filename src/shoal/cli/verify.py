"""``shoal verify``: check a release independently of how it was made."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.numbers import counted


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify)


def verify(
    folder: Annotated[
        Path,
        typer.Argument(help="A release, or its public part alone.", metavar="FOLDER", show_default=False),
    ],
    originals: Annotated[
        Path | None,
        typer.Option(
            "--originals",
            help="The data it was made of: a plan whose sources are read, or the folder they are in.",
            metavar="PLAN|FOLDER",
            show_default="not looked at",
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Check a release by its files, independently of how it was made; exit 3 if something is not as it should be.

    From public/ alone: hashes, files, K and sums. With internal/: gates, hidden cells, leaks. With --originals: losses, record
    links and every gate.

    Example: shoal verify survey-2026 --originals plan.toml
    """
    from shoal.cli import output as told
    from shoal.release.verify.api import verify_release

    found = verify_release(folder, originals=originals)

    def show() -> None:
        if not quiet:
            words = {True: "holds", False: "FAILS", None: "noted"}
            told.rows(
                ["check", "", "what was seen"], [(c.name, words[c.passed], c.detail) for c in found.checks]
            )
            rows = [
                (g.step, g.name, g.limit, g.value, "passed" if g.passed else "FAILED", g.meaning)
                for g in found.gates
            ]
            if rows:
                told.rows(["step", "gate", "limit", "measured", "", "what it is"], rows)
        for line in found.failures:
            typer.echo(told.harmless(f"not verified: {line}"), err=True)
        if found.verified:
            left = counted(found.unchecked, "statement")
            typer.echo(
                f"verified, except {left} that could not be checked" if found.unchecked else "verified"
            )

    told.emit(found.to_dict(), show, as_json=json)
    if not found.verified:
        raise typer.Exit(3)
