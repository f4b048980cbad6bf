"""``shoal generate``: people, slots and other data to try things on."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import generate_instance, generate_table, options

if TYPE_CHECKING:
    import polars as pl

    from shoal.sources import Address, Outputs

group = typer.Typer(
    help="Make data to try things on: people, appointment slots, tables.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Out = Annotated[
    str, typer.Option("--output", "-o", metavar="DATA", help="A file, or URL::table.", show_default=False)
]
Tables = Annotated[
    int, typer.Option("--tables", help="How many tables to make: NAME0, NAME1, … (1: NAME itself).")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.add_typer(group, name="generate")


generate_instance.register(group)
generate_table.register(group)


@group.command("people")
def people(
    output_to: Out,
    population: Annotated[int, typer.Option("--population", help="How many people.")] = 100,
    distribution: Annotated[
        str,
        typer.Option(
            "--distribution",
            metavar="uniform|spain",
            help="Ages and sexes drawn evenly, or as in Spain 2015.",
        ),
    ] = "uniform",
    sex: Annotated[
        str | None, typer.Option("--sex", metavar="man|woman", help="Only one sex.", show_default="both")
    ] = None,
    min_age: Annotated[int, typer.Option("--min-age", help="Youngest age.")] = 0,
    max_age: Annotated[int, typer.Option("--max-age", help="Oldest age.")] = 100,
    postcodes: Annotated[int, typer.Option("--postcodes", help="How many different postcodes.")] = 3,
    tables: Tables = 1,
    seed: options.Seed = 0,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Invent people with ID, AGE, CP (postcode) and SEX, and two columns for appointments not given yet.

    Example: shoal generate people --population 500 --distribution spain -o people.csv

    Example: shoal generate people -o sqlite:///clinic.db::tabla --tables 5
    """
    from shoal.generate.people import people as make
    from shoal.runtime import Seeds
    from shoal.sources import Outputs

    _generate(
        Outputs(force=force, safe_csv=safe_csv),
        _places(output_to, tables),
        lambda index: make(
            population,
            distribution=distribution,
            sex=sex,
            min_age=min_age,
            max_age=max_age,
            postcodes=postcodes,
            seeds=Seeds(seed).child("people", index),
        ),
        lambda frame: {"records": frame.height},
        as_json=json,
    )


@group.command("slots")
def slots(
    output_to: Out,
    number: Annotated[int, typer.Option("--number", help="How many slots.")] = 5,
    persons: Annotated[int, typer.Option("--persons", help="How many people they must hold.")] = 100,
    min_capacity: Annotated[int, typer.Option("--min-capacity", help="Smallest capacity.")] = 10,
    max_capacity: Annotated[int, typer.Option("--max-capacity", help="Largest capacity.")] = 25,
    tables: Tables = 1,
    seed: options.Seed = 0,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Invent appointment slots with enough room: RESOURCE and CAPACITY.

    In a database the tables are named after the people's: NAME_resource, or NAME0_resource, NAME1_resource, …

    Example: shoal generate slots --number 5 --persons 100 -o slots.csv

    Example: shoal generate slots --persons 100 -o sqlite:///clinic.db::tabla --tables 5
    """
    from shoal.generate.slots import slots as make
    from shoal.runtime import Seeds
    from shoal.sources import Outputs

    _generate(
        Outputs(force=force, safe_csv=safe_csv),
        [_of_slots(address) for address in _places(output_to, tables)],
        lambda index: make(
            number,
            persons,
            min_capacity=min_capacity,
            max_capacity=max_capacity,
            seeds=Seeds(seed).child("slots", index),
        ),
        lambda frame: {"slots": frame.height, "capacity": int(frame["CAPACITY"].sum())},
        as_json=json,
    )


def _places(output_to: str, tables: int) -> "Sequence[Address]":
    from shoal.errors import InputError
    from shoal.sources import numbered

    if tables < 1:
        raise InputError(f"--tables must be at least 1, not {tables}")
    return numbered(output_to, tables)


def _generate(
    outputs: "Outputs",
    addresses: "Sequence[Address]",
    make: "Callable[[int], pl.DataFrame]",
    figures: "Callable[[pl.DataFrame], dict[str, int]]",
    *,
    as_json: bool,
) -> None:
    """Make the tables, write all of them or none, and tell what was written."""
    from shoal.cli import output

    for address in addresses:
        outputs.data("-o", address)
    frames = [make(place) for place in range(len(addresses))]
    with outputs.together() as writing:
        for target, frame in zip(outputs, frames, strict=True):
            writing.data(target, frame)
    written: list[dict[str, object]] = [
        {"table": str(address), **figures(frame), "columns": frame.columns}
        for address, frame in zip(addresses, frames, strict=True)
    ]
    output.emit({"written": written}, lambda: _tell(written), as_json=as_json)


def _of_slots(address: "Address") -> "Address":
    """A table of slots is named after the table of the people it belongs to; a file is named by the user."""
    from dataclasses import replace

    from shoal.sources import TableAddress

    if isinstance(address, TableAddress) and not address.table.endswith("_resource"):
        return replace(address, table=f"{address.table}_resource")
    return address


def _tell(written: list[dict[str, object]]) -> None:
    from shoal.cli.output import harmless

    for item in written:
        figures = ", ".join(f"{value} {name}" for name, value in item.items() if isinstance(value, int))
        typer.echo(harmless(f"wrote {item['table']}: {figures}"))
