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
            help="A family (f1 … f8n, t1 … t3, m15 …), or partition, or equipartition.", show_default=False
        ),
    ],
    size: Annotated[int, typer.Option("--size", help="The number X of the family.")] = 100,
    numbers: Annotated[
        str | None,
        typer.Option(
            "--numbers", metavar="1,2,3,3,3", help="The multiset of a partition problem.", show_default=False
        ),
    ] = None,
    padding: Annotated[int, typer.Option("--padding", help="What partition adds to every number.")] = 1,
    output_to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.json", help="Where to write.", show_default=False),
    ] = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a seating problem of a published family, or one that is as hard as a partition problem.

    Example: shoal generate instance f4 --size 45

    Example: shoal generate instance partition --numbers 1,2,3,3,3 -o hard.json
    """
    import json as codec

    from shoal import sources
    from shoal.cli import output
    from shoal.errors import InputError
    from shoal.generate.families import family
    from shoal.generate.reductions import equipartition_to_seating, partition_to_seating
    from shoal.search import Seeds

    outputs = sources.Outputs(force=force)
    file = outputs.file("-o", output_to)
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
        made = {"name": name, "numbers": given, **_seating(question), "k_asked": question.k}
    else:
        found = family(name, size, seeds=Seeds(seed))
        made = {"name": found.name, **_seating(found), "k_best": found.best}
    with outputs.together() as writing:
        if file is not None:
            writing.text(file, codec.dumps(made) + "\n")
            made = {**made, "written": str(file)}

    def text() -> None:
        sizes, seats = (",".join(str(number) for number in made[key]) for key in ("groups", "capacities"))
        typer.echo(f"--group-sizes {sizes} --capacities {seats}")
        if made.get("k_asked"):
            typer.echo(f"a plan with K {made['k_asked']} exists exactly if the numbers can be parted")
        if made.get("k_best"):
            typer.echo(f"the best K is {made['k_best']}")

    output.emit(made, text, as_json=json)


def _seating(problem: Any) -> dict[str, list[int]]:
    return {"groups": list(problem.groups), "capacities": list(problem.capacities)}
