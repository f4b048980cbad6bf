"""``shoal sweep``: a plan with other settings, side by side."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sweep")(sweep)


def sweep(
    plan: Annotated[Path, typer.Argument(help="The plan, as 'shoal plan' drafts it.", metavar="PLAN")],
    choices: Annotated[
        list[str],
        typer.Option(
            "--set",
            help="A setting of a step and the values to try; may be repeated.",
            metavar="STEP.SETTING=V,V",
        ),
    ],
    again: Annotated[bool, typer.Option("--again", help="Measure again what was measured before.")] = False,
    report: options.Report = None,
    threads: options.Threads = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Try other settings of a plan, and see what each would lose and give away.

    Nothing is published. Every combination is measured, two at a time on two cores; a sweep that is broken off goes on where it
    stopped. --report draws the map of risk and loss. A combination that cannot be run is told (exit 3) and tried again by the
    next sweep; one that its gates refuse is a result.

    Example: shoal sweep plan.toml --set microaggregate.k=3,5,10,25 --report map.html
    """
    from shoal import sources
    from shoal.cli import output as told
    from shoal.release.plan.reader import read_plan
    from shoal.release.run.inputs import every_location
    from shoal.release.run.sweep import read_choice
    from shoal.release.run.sweep import sweep as run
    from shoal.release.run.sweep_report import page, rows
    from shoal.report.provenance import as_typed

    asked = read_plan(plan)
    wanted = [read_choice(text) for text in choices]
    outputs = sources.Outputs(force=force, inputs=[plan, *every_location(asked)])
    sheet = outputs.file("--report", report, internal=True)
    done = run(
        asked, wanted, threads=threads, again=again, say=lambda text: told.remark(text, quiet=quiet or json)
    )
    figures = {"variants": [item.as_json() for item in done.variants], "verified": not done.failures}
    if sheet is not None:
        typed = ["shoal", "sweep", plan.name, *[part for text in choices for part in ("--set", text)]]
        with outputs.together() as writing:
            writing.text(sheet, page(asked, done, by="command", words=as_typed(typed)).html())
        figures["report"] = str(report)
    told.emit(figures, lambda: told.rows(*rows(done.choices, done.variants)), as_json=json)
    if report is not None:
        told.remark(f"report written to {report}", quiet=quiet or json)
    if done.failures:
        told.warn([f"{len(done.failures)} of {len(done.variants)} combinations could not be run"])
        raise typer.Exit(3)
