"""``shoal demo``: a two-minute tour on data it makes itself."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options

# What the tour says, and the command it then runs; every command really runs.
TOUR: tuple[tuple[str, str], ...] = (
    (
        "A screening programme summons 2,000 people. Shoal invents them, with the ages and sexes of Spain.",
        "shoal generate people --population 2000 --distribution spain --postcodes 6 -o people.csv",
    ),
    (
        "Names are gone, but somebody may know a person's age, postcode and sex. How many people fit that?",
        "shoal anonymity people.csv --quasi AGE,CP,SEX",
    ),
    (
        "K = 1: somebody is unique. Ages are averaged in groups of at least 5 of one postcode and sex, with the least loss.",
        "shoal microaggregate people.csv -k 5 --columns AGE --by CP,SEX --quasi AGE,CP,SEX "
        "--drop ID,REC_RAND,REC_INTELLIGENT --order sorted -o safe.csv",
    ),
    (
        "Now nobody is in a crowd of fewer than 5:",
        "shoal anonymity safe.csv --quasi AGE,CP,SEX --require-k 5",
    ),
    (
        "They need appointments, and where somebody was seen must not single them out: slots with room for all of them.",
        "shoal generate slots --number 12 --persons 2000 --min-capacity 150 --max-capacity 220 -o slots.csv",
    ),
    ("", "shoal assign people.csv slots.csv --quasi CP,SEX -o appointments.csv"),
    (
        "A table with totals and eight sensitive cells: hiding those is not enough, since totals give them away.",
        "shoal generate table --rows 12 --columns 10 --sensitive 8 -o table.csv",
    ),
    (
        "Which further cells to hide, at what cost, and whether that is proved to be the least:",
        "shoal suppress table.csv --sensitive table.sensitive.csv -o pattern.csv --published published.csv",
    ),
    (
        "The same works on databases, several tables at once; SQLite needs nothing installed.",
        "shoal generate people -o sqlite:///clinic.db::tabla --tables 5 --population 400",
    ),
    ("", "shoal anonymity sqlite:///clinic.db::tabla --tables 5 --quasi CP,SEX"),
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            help="Keep the tour's files here.",
            show_default="a temporary folder, removed at the end",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Show what Shoal does, on data it makes itself.

    Example: shoal demo
    """
    import tempfile

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        _walk(folder)
        typer.echo(f"The tour's files are in {folder}.")
        return
    with tempfile.TemporaryDirectory(prefix="shoal-demo-") as temporary:
        _walk(Path(temporary))


def _walk(folder: Path) -> None:
    import os

    from shoal.cli.program import app

    command = typer.main.get_command(app)
    home = Path.cwd()
    os.chdir(folder)
    try:
        for number, (words, line) in enumerate(TOUR):
            if words:
                typer.secho(("\n" if number else "") + words, bold=True)
            typer.secho(f"$ {line}", fg="cyan")
            # A tour into a folder it was in before starts afresh.
            arguments = shlex.split(line)[1:] + (["--force"] if " -o " in line else [])
            command.main(args=arguments, prog_name="shoal", standalone_mode=False)
    finally:
        os.chdir(home)
    typer.secho("\nWhat next: shoal --help, or the manual in docs/.", bold=True)
