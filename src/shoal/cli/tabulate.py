"""``shoal tabulate``: from records to a table with totals and its sensitive cells."""

from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options

if TYPE_CHECKING:
    from shoal.tables.model.tabulation import Tabulation


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tabulate")(tabulate)


def tabulate(
    data: options.Data,
    dimensions: Annotated[
        str, typer.Option("--dimensions", metavar="a,b", help="Columns that span the table.")
    ],
    output_to: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="TABLE", help="The list of cells (internal).", show_default=False
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option("--value", metavar="COLUMN", help="What is summed.", show_default="records are counted"),
    ] = None,
    contributor: Annotated[
        str | None,
        typer.Option(
            "--contributor", metavar="COLUMN", help="Who contributes.", show_default="each record by itself"
        ),
    ] = None,
    holding: Annotated[
        str | None,
        typer.Option(
            "--holding",
            metavar="COLUMN",
            help="Groups of contributors that count as one.",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option("--weight", metavar="COLUMN", help="Sampling weights.", show_default=False)
    ] = None,
    weights_public: Annotated[
        bool, typer.Option("--weights-public", help="Attackers know the weights.")
    ] = False,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            metavar="a=FILE",
            help="Subtotals of a dimension (code,parent or .hrc).",
            show_default=False,
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="RULE",
            help="frequency(3), dominance(1,75), p-percent(10), p-percent(10,2), pq(10,80); may be repeated.",
            show_default="frequency(3) and p-percent(10)",
        ),
    ] = None,
    apriori: Annotated[
        str | None,
        typer.Option(
            "--apriori",
            metavar="FILE",
            help="Cells declared safe or sensitive, costs, levels.",
            show_default=False,
        ),
    ] = None,
    zeros: Annotated[
        str,
        typer.Option("--zeros", metavar="published|suppressible", help="Whether empty cells may be hidden."),
    ] = "published",
    cost: Annotated[
        str,
        typer.Option(
            "--cost",
            metavar="value|unity|contributors|log|COLUMN",
            help="What hiding a cell costs: a figure of the cell, or the sum of a column.",
        ),
    ] = "value",
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    header_row: options.HeaderRow = None,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Build a table with all totals from records and find its sensitive cells by rule.

    Beside TABLE go NAME.structure.json (hierarchies, rules) and NAME.contributions.csv (who contributes how much, under
    numbers), which suppress and audit read. All three are internal.

    Example: shoal tabulate firms.csv --dimensions region,sector --value turnover --contributor firm -o cells.csv
    """
    from shoal import sources
    from shoal.cli import output
    from shoal.errors import InputError
    from shoal.sources.internal import marked
    from shoal.tables.files.loading import beside, contributions_frame, read_hierarchy, structure
    from shoal.tables.model.tabulation import tabulate as build

    trees = [text.partition("=")[2].strip() for text in hierarchy or ()]
    outputs = sources.Outputs(force=force, inputs=[data, apriori, *trees], safe_csv=safe_csv)
    cells = outputs.data("-o", output_to, internal=True)
    plan = contributions = None
    if output_to is not None:
        plan = outputs.file("the structure beside -o", beside(output_to, "structure.json"), internal=True)
        contributions = outputs.data(
            "the contributions beside -o", beside(output_to, "contributions.csv"), internal=True
        )
    hierarchies = {}
    for text in hierarchy or ():
        name, equals, path = text.partition("=")
        if not equals:
            raise InputError(f"--hierarchy needs DIMENSION=FILE, not '{text}'")
        hierarchies[name.strip()] = read_hierarchy(path.strip())
    source = sources.read(
        data, separator=separator, decimal=decimal, encoding=encoding, header_row=header_row
    )
    output.reading(source, quiet=quiet or json)
    made = build(
        source.as_written,
        options.split_names(dimensions),
        value=value,
        contributor=contributor,
        holding=holding,
        weight=weight,
        weights_public=weights_public,
        hierarchies=hierarchies,
        rules=rule,
        apriori=None if apriori is None else sources.read(apriori).as_written,
        zeros=zeros,  # type: ignore[arg-type]
        cost=cost,
    )
    with outputs.together() as writing:
        if cells is not None and plan is not None and contributions is not None:
            writing.data(cells, marked(made.frame))
            writing.text(plan, structure(made))
            writing.data(contributions, marked(contributions_frame(made)))
    sensitive = int(made.sensitive.size)
    payload = {"cells": made.table.cells, "sensitive": sensitive, "by_rule": dict(made.by_rule)}
    output.emit(payload, lambda: _print(made, output_to), as_json=json)
    if cells is None and not (quiet or json):
        typer.echo("the list of cells was not written; -o names a place for it")


def _print(made: "Tabulation", written: str | None) -> None:
    from shoal.cli import output

    facts = [("cells", f"{made.table.cells:,}"), ("sensitive", f"{made.sensitive.size:,}")]
    facts += [(f"by {rule}", f"{count:,}") for rule, count in made.by_rule.items()]
    if written is not None:
        facts.append(("written (internal)", written))
    output.facts(facts)
