"""``shoal plan``: draft a plan for data, to be read and changed by a person."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from shoal.cli import options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    data: Annotated[str, typer.Argument(help="A file, or URL::table of a database.", metavar="DATA")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Where to write the plan.", metavar="PLAN", show_default="it is printed"
        ),
    ] = None,
    kind: Annotated[
        Literal["public", "scientific", "secure"], typer.Option("--type", help="Who will get the release.")
    ] = "scientific",
    name: Annotated[
        str | None, typer.Option("--name", help="What the release is called.", show_default="the data's name")
    ] = None,
    dimensions: Annotated[
        str | None,
        typer.Option(
            "--dimensions", help="Release a table over these columns.", metavar="a,b", show_default="records"
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            "--value", help="What the table adds up.", metavar="COLUMN", show_default="records are counted"
        ),
    ] = None,
    slots: Annotated[
        str | None,
        typer.Option(
            "--slots", help="Give the people appointments in these slots.", metavar="DATA", show_default=False
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help="Limits besides k: reidentifications, linkage, loss.",
            metavar="linkage=10,loss=15",
            show_default="left out",
        ),
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Draft a plan of a release: sources, roles of columns with the reason for each, steps, gates and outputs.

    Read it, change it, and run it with 'shoal release'.

    Example: shoal plan survey.csv -o plan.toml

    Example: shoal plan survey.csv --policy linkage=10,loss=15 -o plan.toml

    Example: shoal plan firms.csv --dimensions region,sector --value turnover -o plan.toml
    """
    from shoal import sources
    from shoal.cli import output as told
    from shoal.errors import InputError, parameter
    from shoal.release.plan.draft import Wanted, draft_plan
    from shoal.written_values import split_names, split_weights

    try:
        limits = split_weights(policy or "")
    except ValueError as problem:
        raise InputError(f"{parameter('policy')} {problem}") from None
    wanted = Wanted(kind, tuple(split_names(dimensions or "")), value, slots, limits)
    outputs = sources.Outputs(force=force, inputs=[data, slots])
    file = outputs.file("-o", output)
    text = draft_plan(data, wanted=wanted, name=name, folder=Path() if output is None else output.parent)
    figures = {"plan": text}
    if file is not None:
        with outputs.together() as writing:
            writing.text(file, text)
        figures["output"] = str(output)
    told.emit(
        figures,
        lambda: typer.echo(
            text if output is None else f"wrote {output}; read it, then: shoal release {output}"
        ),
        as_json=json,
    )
