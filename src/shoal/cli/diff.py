"""``shoal diff``: what changed between two releases, and what both together give away."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.shares import read_share
from shoal.settings import SHARE


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("diff")(diff)


def diff(
    first: Annotated[Path, typer.Argument(help="A release.", metavar="A", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Another one.", metavar="B", show_default=False)],
    change: Annotated[
        str | None,
        typer.Option(
            "--change",
            help="Tables of two periods: share by which a figure changes at most, as an intruder knows.",
            metavar=SHARE,
            show_default="cells that one shows and the other hides are counted",
        ),
    ] = None,
    require_safe: Annotated[
        bool,
        typer.Option(
            "--require-safe", help="Exit with 3 unless both together are known to give nothing away."
        ),
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Show what changed between two releases, and what both together give away.

    Of records K of those seen in both, of tables what can be computed of hidden cells when all that either shows is known.

    Example: shoal diff survey-2025 survey-2026 --require-safe
    """
    from shoal.cli import output as told
    from shoal.release.register.diff import diff_releases

    share = None if change is None else read_share("--change", change)
    found = diff_releases(first, second, change=share)
    told.notes(found.notes, quiet=quiet or json)

    def show() -> None:
        if found.changes:
            rows = [
                (item.part, item.name, _worded(item.before), _worded(item.after)) for item in found.changes
            ]
            told.rows(["what", "", "before", "after"], rows)
        else:
            typer.echo("nothing changed")
        words = {True: "DISCLOSES", False: "safe", None: "not measured"}
        seen = [(" and ".join(item.files), words[item.discloses], item.detail) for item in found.together]
        if seen:
            told.rows(["together", "", "what was seen"], seen)

    told.emit(found.to_dict(), show, as_json=json)
    # What could not be measured is not known to be safe.
    if require_safe and (found.discloses or not found.measured):
        raise typer.Exit(3)


def _worded(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, dict):
        return "; ".join(f"{name} {_worded(item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(_worded(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
