"""``shoal study``: repeat a published experiment and print published beside measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options

if TYPE_CHECKING:
    from shoal.studies import Study


def _own(flag: str, words: str, *, least: int = 0) -> Any:
    """An option of an experiment of one's own."""
    return typer.Option(
        flag,
        help=words,
        min=least,
        max=1_000_000,
        rich_help_panel="An experiment of one's own (anonymity-vectors)",
        show_default=False,
    )


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
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            min=1.0,
            metavar="SECONDS",
            help="Begin no step after this long; the next run goes on.",
            show_default=False,
        ),
    ] = None,
    n: Annotated[int | None, _own("--n", "People of each random instance.", least=1)] = None,
    runs: Annotated[int | None, _own("--runs", "How many instances; 100 without it.", least=1)] = None,
    min_q: Annotated[int | None, _own("--min-q", "Smallest number of people with the same keys.")] = None,
    max_q: Annotated[int | None, _own("--max-q", "Largest number of people with the same keys.")] = None,
    min_f: Annotated[int | None, _own("--min-f", "Fewest seats of a slot.")] = None,
    max_f: Annotated[int | None, _own("--max-f", "Most seats of a slot.")] = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Repeat a published experiment.

    Published and measured figures are printed side by side.

    An interrupted study goes on where it stopped, and says how much is left. The results folder gets rows.csv, table.md,
    charts, and study.html, a page with all of it.

    Example: shoal study anonymity-vectors

    Example: shoal study gomm --quick --time-limit 600

    Example: shoal study anonymity-vectors --n 25 --runs 100 --min-q 3 --max-q 7 --min-f 3 --max-f 7
    """
    import time
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
    sizes = {"n": n, "runs": runs, "min_q": min_q, "max_q": max_q, "min_f": min_f, "max_f": max_f}
    own = [size for size, value in sizes.items() if value is not None]
    if own:
        chosen = _own_experiment(name, own[0], n, runs or 100, (min_q, max_q), (min_f, max_f))
    scope = studies.Scope(quick=quick, seed=seed, threads=options.cores(threads))
    folder = results / (f"{name}-own" if own else f"{name}-quick" if quick else name)

    def tell(standing: studies.Standing) -> None:
        output.remark(str(standing), quiet=quiet)

    began = time.monotonic()

    def late() -> bool:
        return time_limit is not None and time.monotonic() - began >= time_limit

    try:
        rows = studies.run(chosen, scope, folder, tell=tell, again=again, stop=late)
    except KeyboardInterrupt:
        kept = (
            f"interrupted; steps that were done are kept in {folder}, and the same command goes on from there"
        )
        interrupts.announced = True
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
        if now.done < now.total:
            typer.echo(f"{now.done} of {now.total} steps are done; the same command goes on")

    now = studies.standing(chosen, scope, folder)
    told = {"study": name, "source": chosen.source, "rows": [asdict(row) for row in rows]}
    steps = {"steps_done": now.done, "steps": now.total}
    output.emit({**told, **steps, "folder": str(folder)}, text, as_json=json)


def _own_experiment(
    name: str,
    first: str,
    n: int | None,
    runs: int,
    groups: tuple[int | None, int | None],
    capacities: tuple[int | None, int | None],
) -> "Study":
    """The study that the sizes make; ``first`` is one of those that were named."""
    from shoal.errors import InputError, parameter
    from shoal.studies.own_experiment import own_experiment

    if name != "anonymity-vectors":
        raise InputError(
            f"{parameter(first)} is for an experiment of one's own: shoal study anonymity-vectors"
        )
    if n is None:
        raise InputError(f"say how many people each instance has: {parameter('n')}")
    return own_experiment(n, runs, groups=groups, capacities=capacities)
