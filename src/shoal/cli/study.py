"""``shoal study``: repeat a published experiment and print published beside measured."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("study")(study)


def study(
    name: Annotated[
        str | None, typer.Argument(help="Which study; none lists them.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few runs instead of all.")] = False,
    results: Annotated[Path, typer.Option("--results", help="Where results are kept.")] = Path("results"),
    again: Annotated[bool, typer.Option("--again", help="Run steps again that are done already.")] = False,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Repeat a published experiment.

    Published and measured figures are printed side by side.

    An interrupted study goes on where it stopped. The results folder gets rows.csv, table.md and charts.

    Example: shoal study anonymity-vectors
    """
    from dataclasses import asdict

    from shoal import studies
    from shoal.cli import output
    from shoal.cli.interrupts import interrupts

    if name is None:
        found = [(key, studies.load(key)) for key in studies.STUDIES]
        output.emit(
            {"studies": [{"name": key, "title": item.title, "source": item.source} for key, item in found]},
            lambda: output.rows(["study", "what it repeats"], [(key, item.title) for key, item in found]),
            as_json=json,
        )
        return
    chosen = studies.load(name)
    scope = studies.Scope(quick=quick, seed=seed, threads=options.cores(threads))
    folder = results / (f"{name}-quick" if quick else name)

    def tell(done: int, total: int, title: str) -> None:
        output.remark(f"[{done}/{total}] {title}", quiet=quiet)

    try:
        rows = studies.run(chosen, scope, folder, tell=tell, again=again)
    except KeyboardInterrupt:
        kept = (
            f"interrupted; steps that were done are kept in {folder}, and the same command goes on from there"
        )
        interrupts.said = True
        output.emit({"error": kept, "kind": "interrupt"}, lambda: output.remark(kept), as_json=json)
        raise typer.Exit(130) from None

    def text() -> None:
        for table in dict.fromkeys(row.table for row in rows):
            output.rows(
                ["case", "measure", "published", "measured", "note"],
                [
                    (row.case, row.measure, row.published, row.measured, row.note)
                    for row in rows
                    if row.table == table
                ],
                title=table,
            )
        typer.echo(output.harmless(f"kept in {folder}"))

    told = {"study": name, "source": chosen.source, "rows": [asdict(row) for row in rows]}
    output.emit({**told, "folder": str(folder)}, text, as_json=json)
