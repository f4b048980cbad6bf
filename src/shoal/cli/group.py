"""``shoal group``: which columns to microaggregate together."""

from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options

if TYPE_CHECKING:
    from shoal.microdata.grouping.attribute_grouping import AttributeGrouping
    from shoal.search import Progress


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("group")(group)


def group(
    data: options.Data = "",
    k: Annotated[int, typer.Option("-k", "--k", help="Smallest number of records in a cluster.")] = 25,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="a,b",
            help="Columns to group ('*': every numeric one).",
            show_default="all that measure something; the choice is printed",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups", metavar='"a,b;c,d"', help="Score these groups, search nothing.", show_default=False
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="How to find the groups; 'list' shows all methods.")
    ] = "d-gomm",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="An option of the method; may be repeated.",
            show_default=False,
        ),
    ] = None,
    variant: Annotated[
        str,
        typer.Option(
            "--variant", metavar="compatible|literal", help="Score as in the published tables or their text."
        ),
    ] = "compatible",
    bounds: Annotated[
        str,
        typer.Option(
            "--bounds", metavar="compatible|strict", help="May the last cluster be below k when scoring."
        ),
    ] = "compatible",
    missing: Annotated[
        str, typer.Option("--missing", metavar="aside|refuse", help="Records with missing values.")
    ] = "aside",
    alone: Annotated[
        bool, typer.Option("--alone", help="Also search with each genetic operator alone, for the report.")
    ] = False,
    target: Annotated[
        float | None,
        typer.Option("--target", metavar="SCORE", help="Stop at this score.", show_default=False),
    ] = None,
    iterations: options.Iterations = None,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    report: options.Report = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    header_row: options.HeaderRow = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Find which columns to microaggregate together.

    Groupings are compared by really microaggregating: half of the score is information loss, half disclosure risk.

    Ctrl-C or --time-limit end the search with the best found so far.

    Example: shoal group survey.csv -k 25 --report groups.html

    Example: shoal group firms.csv -k 10 --columns turnover,staff,profit,assets --method exact
    """
    from shoal import sources
    from shoal.cli import output
    from shoal.cli.microaggregate import read_groups, read_settings
    from shoal.cli.progress import watched
    from shoal.microdata.grouping.group_attributes import group_attributes
    from shoal.microdata.grouping.methods import METHODS
    from shoal.search import Budget

    if method == "list":
        rows = [(name, item.summary) for name, item in METHODS.items()]
        output.emit(
            {"methods": dict(rows)}, lambda: output.rows(["method", "what it does"], rows), as_json=json
        )
        return
    options.given(data, "DATA")
    METHODS[method]
    outputs = sources.Outputs(force=force, inputs=[data])
    page = outputs.file("--report", report, internal=True)
    source = sources.read(
        data, separator=separator, decimal=decimal, encoding=encoding, header_row=header_row
    )
    quieter = quiet or json
    output.reading(source, quiet=quieter)
    budget = Budget(iterations=iterations, seconds=time_limit, target=target)
    with watched("grouping", budget, quiet=quieter, show=_glimpse) as observer:
        result = group_attributes(
            source.frame,
            k,
            columns=None if columns is None else options.split_names(columns),
            groups=read_groups(groups),
            method=method,
            options=read_settings(option),
            variant=variant,  # type: ignore[arg-type]
            bounds=bounds,  # type: ignore[arg-type]
            missing=missing,  # type: ignore[arg-type]
            alone=alone,
            budget=budget,
            seed=seed,
            threads=options.cores(threads),
            observer=observer,
        )
    with outputs.together() as writing:
        if page is not None:
            writing.text(page, result.report().html())
    output.warn(result.warnings)
    output.notes(result.notes, quiet=quieter)
    output.emit(result.to_dict(), lambda: _print(result), as_json=json)
    if result.solution.stopped_by == "interrupt":
        raise typer.Exit(130)


def _glimpse(progress: "Progress") -> str:
    value = "" if progress.value is None else f"score {progress.value:.4f}"
    bound = "" if progress.bound is None else f"  at least {progress.bound:.4f}"
    return f"{value}{bound}"


def _print(result: "AttributeGrouping") -> None:
    from shoal.cli import output

    found = result.solution
    least = "no bound is known" if result.bound is None else f"no grouping scores below {result.bound:.4f}"
    proof = ", proved optimal" if result.optimal else f"; {least}"
    output.facts(
        [
            ("score", f"{result.score:.4f}{proof}"),
            ("information loss", f"{result.il:.2f} %"),
            ("interval disclosure", f"{result.id:.2f} %"),
            ("linkage", f"{result.dld:.2f} % of {result.records:,} records"),
            (
                "search",
                f"{result.method}, {found.evaluations:,} groupings, {found.clustered:,} clusterings "
                f"({found.saved:,} saved), stopped by {found.stopped_by}",
            ),
        ]
    )
    output.rows(
        ["group", "columns"], [(number, ", ".join(names)) for number, names in enumerate(result.groups, 1)]
    )
    groups = ";".join(map(",".join, result.groups))
    typer.echo(output.harmless(f'release with: shoal microaggregate … --groups "{groups}"'))
