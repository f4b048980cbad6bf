"""``shoal release``: run a plan behind its gates."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("release")(release)


def release(
    plan: Annotated[Path, typer.Argument(help="The plan, as 'shoal plan' drafts it.", metavar="PLAN")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The folder of the release.",
            metavar="FOLDER",
            show_default="the release's name",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the plan and show what would happen.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was broken off.")] = False,
    repeat: Annotated[
        Path | None,
        typer.Option(
            "--repeat",
            help="Repeat an earlier release with its secret.",
            metavar="FOLDER",
            show_default=False,
        ),
    ] = None,
    accept_changed_input: Annotated[
        bool,
        typer.Option("--accept-changed-input", help="Repeat a release although an input is not what it was."),
    ] = False,
    another: Annotated[
        bool,
        typer.Option(
            "--another",
            help="Release records that were released before with other settings or another secret.",
        ),
    ] = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Run a plan, and release what passes its gates.

    Writes one folder with two parts: public/ (the released files and a manifest) and internal/ (plan, report to sign, secret,
    mappings, record links), which only its owner can read. A gate that fails leaves nothing but a report (exit 3).

    Example: shoal release plan.toml -o survey-2026
    """
    from shoal.cli import output as told
    from shoal.cli.progress import shown
    from shoal.errors import as_option, spelled
    from shoal.release.api import release as run
    from shoal.release.plan.outline import outline
    from shoal.release.plan.reader import read_plan

    asked = read_plan(plan)
    if dry_run:
        seen = outline(asked, output)
        told.warn(seen.notes)
        told.emit(
            {
                "release": asked.about.name,
                "outline": [{"what": what, "how": how} for what, how in seen.rows],
                "warnings": list(seen.notes),
            },
            lambda: told.rows(["", "what would happen"], seen.rows),
            as_json=json,
        )
        return

    def say(text: str) -> None:
        told.remark(spelled(text, as_option), quiet=quiet or json)

    try:
        with shown(asked.about.name, quiet=quiet or json) as observe:
            done = run(
                asked,
                output,
                resume=resume,
                repeat=repeat,
                accept_changed_input=accept_changed_input,
                another=another,
                force=force,
                say=say,
                observer=observe,
            )
    except KeyboardInterrupt:
        say("what was finished is kept for its owner alone: --resume goes on with it, --force begins again")
        raise
    told.warn(done.warnings)
    figures = {
        "release": done.name,
        "folder": str(done.folder),
        "gates": [gate.as_json() for gate in done.gates],
        "outputs": [{"path": str(done.folder / "public" / item["file"]), **item} for item in done.outputs],
        "verified": True,
        "warnings": list(done.warnings),
    }

    def show() -> None:
        if done.gates:
            rows = [
                (gate.step, gate.name, gate.limit, gate.value, "passed", gate.meaning) for gate in done.gates
            ]
            told.rows(["step", "gate", "limit", "measured", "", "what it is"], rows)
        for item in done.outputs:
            typer.echo(told.harmless(f"wrote {done.folder / 'public' / item['file']}, read back and checked"))
        typer.echo(
            told.harmless(
                f"wrote {done.folder / 'internal'}, internal: report to sign, secret, links, mappings"
            )
        )

    told.emit(figures, show, as_json=json)
