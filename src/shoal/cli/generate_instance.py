"""``shoal generate instance``: hard and instructive seating problems."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command("instance")(instance)


def instance(
    name: Annotated[
        str,
        typer.Argument(
            help="A family (f1 … f8n, t1 … t3, m15 …), or random, partition, or equipartition.",
            show_default=False,
        ),
    ],
    size: Annotated[int, typer.Option("--size", help="The number X of the family.")] = 100,
    numbers: Annotated[
        str | None,
        typer.Option(
            "--numbers", metavar="1,2,3,3,3", help="The multiset of a partition problem.", show_default=False
        ),
    ] = None,
    population: Annotated[int, typer.Option("--population", help="People of a random instance.", min=1)] = 25,
    min_group: Annotated[
        int | None, typer.Option("--min-group", help="Smallest group drawn (minQ).", show_default="0")
    ] = None,
    max_group: Annotated[
        int | None,
        typer.Option("--max-group", help="Largest group drawn (maxQ).", show_default="population − 1"),
    ] = None,
    min_capacity: Annotated[
        int | None, typer.Option("--min-capacity", help="Smallest capacity drawn (minF).", show_default="0")
    ] = None,
    max_capacity: Annotated[
        int | None,
        typer.Option("--max-capacity", help="Largest capacity drawn (maxF).", show_default="population − 1"),
    ] = None,
    padding: Annotated[int, typer.Option("--padding", help="What partition adds to every number.")] = 1,
    output_to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.json", help="Where to write.", show_default=False),
    ] = None,
    minizinc: Annotated[
        Path | None,
        typer.Option(
            "--minizinc", metavar="FILE.mzn", help="Write it as a constraint model, too.", show_default=False
        ),
    ] = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a seating problem of a published family, or one that is as hard as a partition problem.

    A random instance is drawn as in the published experiments on appointments: groups until they make up the population,
    capacities until all have a seat. Empty ones are left out.

    Example: shoal generate instance f4 --size 45

    Example: shoal generate instance random --population 25 --min-group 3 --max-group 7 --min-capacity 3 --max-capacity 7

    Example: shoal generate instance partition --numbers 1,2,3,3,3 -o hard.json

    Example: shoal generate instance f4 --size 45 --minizinc f4.mzn
    """
    import json as codec

    from shoal import sources
    from shoal.appointments.reductions import equipartition_to_seating, partition_to_seating
    from shoal.cli import output
    from shoal.errors import InputError
    from shoal.generate.families import family
    from shoal.runtime import Seeds

    outputs = sources.Outputs(force=force)
    file = outputs.file("-o", output_to)
    model = outputs.file("--minizinc", minizinc)
    made: dict[str, Any]
    if name in ("partition", "equipartition"):
        if numbers is None:
            raise InputError(f"{name} needs --numbers")
        try:
            given = [int(part) for part in options.split_names(numbers)]
        except ValueError:
            raise InputError("--numbers must be whole numbers with commas between them") from None
        question = (
            partition_to_seating(given, padding) if name == "partition" else equipartition_to_seating(given)
        )
        more = {"padding": padding} if name == "partition" else {}
        made = {"name": name, "numbers": given, **more, **_seating(question), "k_asked": question.k}
    elif name == "random":
        made = _random(population, (min_group, max_group, min_capacity, max_capacity), seed)
    else:
        found = family(name, size, seeds=Seeds(seed))
        made = {"name": found.name, **_seating(found), "k_best": found.best}
    with outputs.together() as writing:
        if file is not None:
            writing.text(file, codec.dumps(made) + "\n")
            made = {**made, "written": str(file)}
        if model is not None:
            from shoal.generate.minizinc import model as as_model

            writing.text(model, as_model(made["groups"], made["capacities"]))
            made = {**made, "minizinc": str(model)}

    def text() -> None:
        sizes, seats = (",".join(str(number) for number in made[key]) for key in ("groups", "capacities"))
        typer.echo(f"--group-sizes {sizes} --capacities {seats}")
        if made.get("k_asked"):
            typer.echo(f"a plan with K {made['k_asked']} exists exactly if the numbers can be parted")
        if made.get("k_best"):
            typer.echo(f"the best K is {made['k_best']}")

    output.emit(made, text, as_json=json)


def _random(population: int, limits: tuple[int | None, ...], seed: int) -> dict[str, Any]:
    """An instance of the published experiments, without its empty groups and useless slots."""
    from dataclasses import astuple

    from shoal.generate.instances import Ranges
    from shoal.generate.instances import instance as drawn
    from shoal.runtime import Seeds

    usual = astuple(Ranges.unlimited(population))
    ranges = Ranges(*(own if given is None else given for given, own in zip(limits, usual, strict=True)))
    found = drawn(population, ranges, seeds=Seeds(seed))
    return {
        "name": "random",
        "groups": [size for size in found.groups if size],
        "capacities": [size for size in found.capacities if size],
    }


def _seating(problem: Any) -> dict[str, list[int]]:
    return {"groups": list(problem.groups), "capacities": list(problem.capacities)}
