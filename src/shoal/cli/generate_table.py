"""``shoal generate table``: a random table with sensitive cells."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.shares import read_share
from shoal.settings import SHARE


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command("table")(table)


def table(
    output_to: Annotated[
        str,
        typer.Option("--output", "-o", metavar="TABLE", help="The table, with totals.", show_default=False),
    ],
    sensitive_to: Annotated[
        str | None,
        typer.Option(
            "--sensitive-to", metavar="CELLS", help="The sensitive cells.", show_default="NAME.sensitive.csv"
        ),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", help="How many rows.")] = 100,
    columns: Annotated[int, typer.Option("--columns", help="How many columns.")] = 100,
    sensitive: Annotated[int, typer.Option("--sensitive", help="How many sensitive cells.")] = 50,
    protection: Annotated[
        str, typer.Option("--protection", help="Protection as a share of the value.", metavar=SHARE)
    ] = "0.10",
    seed: options.Seed = 0,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Invent a two-dimensional table of uniform values, and sensitive cells in it.

    Example: shoal generate table --rows 100 --columns 100 --sensitive 50 -o table.csv
    """
    import numpy as np
    import polars as pl

    from shoal import sources
    from shoal.cli import output
    from shoal.generate.table import table as make
    from shoal.runtime import Seeds
    from shoal.tables.files.publishing import published_frame

    outputs = sources.Outputs(force=force, safe_csv=safe_csv)
    matrix = outputs.data("-o", output_to)
    place = Path(output_to)
    cells_to = sensitive_to or str(place.with_name(f"{place.stem}.sensitive.csv"))
    marked = outputs.data("--sensitive-to", cells_to)
    problem = make(
        rows,
        columns,
        sensitive,
        Seeds(seed).child("table"),
        protection=read_share("--protection", protection),
    )
    keys = problem.table.keys
    frame = published_frame(problem.table, np.zeros(problem.table.cells, dtype=bool), None)
    cells = pl.DataFrame(
        {
            "row": [str(keys["row"][cell]) for cell in problem.sensitive],
            "column": [str(keys["column"][cell]) for cell in problem.sensitive],
            "lower": problem.lower,
            "upper": problem.upper,
        }
    )
    with outputs.together() as writing:
        if matrix is not None and marked is not None:
            writing.data(matrix, frame)
            writing.data(marked, cells)
    size = {"rows": rows, "columns": columns, "cells": sensitive}
    told = [("table", output_to), ("sensitive cells", cells_to)]
    output.emit({"table": output_to, "sensitive": cells_to, **size}, lambda: output.facts(told), as_json=json)
