"""``shoal compare``: what protection cost and what it bought."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options

if TYPE_CHECKING:
    from shoal.microdata.measures.comparison import Comparison


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The data before protection.", show_default=False)
    ],
    protected: Annotated[
        list[str],
        typer.Argument(
            metavar="PROTECTED…", help="The data after it; several are compared.", show_default=False
        ),
    ],
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="a,b",
            help="Columns to compare ('*': every numeric one).",
            show_default="all that measure something; the choice is printed",
        ),
    ] = None,
    quasi: Annotated[
        str | None,
        typer.Option(
            "--quasi",
            metavar="a,b",
            help="Columns over which K is counted.",
            show_default="all in the protected data that could be known",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", metavar="COLUMN", help="Pair records by this column of both tables.", show_default=False
        ),
    ] = None,
    record_links: Annotated[
        list[Path] | None,
        typer.Option(
            "--record-links",
            metavar="FILE",
            help="Pair records by the links that protecting wrote; one file for each release.",
            show_default=False,
        ),
    ] = None,
    paired_by_position: Annotated[
        bool,
        typer.Option(
            "--paired-by-position",
            help="The tables hold the same records in the same order; this is checked.",
        ),
    ] = False,
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="COLUMN", help="Count distinct units in K.", show_default=False),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            "--known",
            metavar='"a,b;a,c"',
            help="Sets of columns an intruder may know.",
            show_default="all columns",
        ),
    ] = None,
    scaling: Annotated[
        str, typer.Option("--scaling", metavar="min-max|z-score|none", help="Scale before distances.")
    ] = "min-max",
    around: Annotated[
        str, typer.Option("--around", metavar="protected|original", help="What intervals lie around.")
    ] = "protected",
    widths: Annotated[
        str, typer.Option("--widths", metavar="PERCENT,…", help="Half widths of the intervals.")
    ] = "1,2,3,4,5,6,7,8,9,10",
    ties: Annotated[
        str,
        typer.Option("--ties", metavar="expected|strict", help="A tie counts by its chance, or as no link."),
    ] = "expected",
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            metavar="SD",
            help="Values agree within this many standard deviations.",
            show_default="in the same tenth",
        ),
    ] = None,
    max_risk: Annotated[
        float | None,
        typer.Option(
            "--max-risk",
            min=0,
            max=100,
            metavar="PERCENT",
            help="Exit with 3 if the worst risk is above.",
            show_default=False,
        ),
    ] = None,
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
    """Measure what protection cost and what it bought.

    Records are paired by --key, by --record-links, or by their place with --paired-by-position; one must be said.

    Prints information loss (IL1 to IL5, IL1s, SSE), disclosure risk (intervals, linkage by distance and by agreement), the
    scores made of them, and K; over all columns and for each.

    Example: shoal compare survey.csv safe.csv --record-links links.csv --columns income,age --report compare.html

    Example: shoal compare survey.csv mdav.csv ils.csv grouped.csv --key person --report map.html
    """
    from shoal import sources
    from shoal.cli import output
    from shoal.errors import Infeasible
    from shoal.microdata.measures.compare import compare as measure
    from shoal.microdata.measures.pairing import Pairing
    from shoal.report.compare import page

    outputs = sources.Outputs(force=force, inputs=[original, *protected, *(record_links or ())])
    sheet = outputs.file("--report", report, internal=True)
    Pairing.asked(key, record_links[0] if record_links else None, paired_by_position)
    _links(record_links, len(protected))
    using = _definitions(scaling, around, widths, ties, within)
    quieter = quiet or json
    before = sources.read(
        original, separator=separator, decimal=decimal, encoding=encoding, header_row=header_row
    )
    output.reading(before, quiet=quieter, name=str(before.address))
    found: list[Comparison] = []
    for address, links in zip(protected, _links(record_links, len(protected)), strict=True):
        after = sources.read(address, like=before, separator=separator, decimal=decimal, encoding=encoding)
        output.reading(after, quiet=quieter, name=str(after.address))
        found.append(
            measure(
                before.frame,
                after.frame,
                columns=None if columns is None else options.split_names(columns),
                quasi=options.split_names(quasi) or None,
                key=key,
                record_links=links,
                paired_by_position=paired_by_position,
                unit=unit,
                known=_scenarios(known),
                definitions=using,
                references=report is not None and not found,
                name=str(after.address),
                seed=seed,
                threads=options.cores(threads),
            )
        )
    with outputs.together() as writing:
        if sheet is not None:
            writing.text(sheet, page(found).html())
    output.warn(dict.fromkeys(warning for result in found for warning in result.warnings))
    output.notes(dict.fromkeys(note for result in found for note in result.notes), quiet=quieter)
    payloads = [result.to_dict() for result in found]
    output.emit(
        payloads[0] if len(found) == 1 else {"releases": payloads}, lambda: _print(found), as_json=json
    )
    worst = max(result.worst[1] for result in found)
    if max_risk is not None and worst > max_risk:
        if json:
            raise typer.Exit(3)
        raise Infeasible(f"the worst risk is {worst:.2f} %, above the {max_risk:g} % allowed")


def _links(paths: list[Path] | None, releases: int) -> "list[Path] | list[None]":
    """The file of record links of each release."""
    from shoal.errors import InputError

    if not paths:
        return [None] * releases
    if len(paths) != releases:
        raise InputError(
            f"there are {releases} releases and {len(paths)} files of record links; give --record-links once for each"
        )
    return paths


def _definitions(scaling: str, around: str, widths: str, ties: str, within: float | None) -> Any:
    from typing import get_args

    from shoal.errors import InputError
    from shoal.microdata.inputs import check_choice
    from shoal.microdata.measures.intervals import Around
    from shoal.microdata.measures.measured import Definitions, Ties
    from shoal.microdata.measures.scaling import Scaling

    check_choice("scaling", scaling, get_args(Scaling))
    check_choice("centre of intervals", around, get_args(Around))
    check_choice("meaning of ties", ties, get_args(Ties))
    try:
        shares = tuple(float(part) / 100 for part in options.split_names(widths))
    except ValueError:
        raise InputError(f"--widths needs percentages, like 1,5,10, not '{widths}'") from None
    return Definitions(shares, around, scaling, ties, within)  # type: ignore[arg-type]


def _scenarios(text: str | None) -> list[list[str]] | None:
    if text is None:
        return None
    found = [options.split_names(part) for part in text.split(";")]
    return [names for names in found if names] or None


def _print(found: "list[Comparison]") -> None:
    from shoal.cli import output
    from shoal.microdata.measures.comparison import RISKS

    if len(found) > 1:
        names = ["il", "dr", "score", "fitness", "sse %", "worst risk %", "K"]
        output.rows(
            ["release", *names],
            [(r.name, r.il, r.dr, r.score, r.fitness.value, r.sse_percent, r.worst[1], r.k) for r in found],
        )
        return
    result = found[0]
    name, risk = result.worst
    output.facts(
        [
            ("records compared", f"{result.records:,}, paired by {result.pairing.replace('-', ' ')}"),
            ("worst risk", f"{risk:.2f} % ({RISKS[name]})"),
            ("interval disclosure", f"{result.id:.2f} %, by standard deviation {result.id_sd:.2f} %"),
            (
                "linkage by distance",
                f"{result.dld:.2f} %: {result.links_expected:,.1f} records expected, "
                f"{result.links_strict:,} without a tie",
            ),
            ("linkage by agreement", f"{result.pld:.2f} %"),
            ("disclosure risk", f"{result.dr:.2f} (half intervals, a quarter of each linkage)"),
            ("information loss", f"{result.il:.2f}; 100·SSE/SST is {result.sse_percent:.4f}"),
            (
                "IL1, IL2, IL3, IL4, IL5",
                ", ".join(f"{v:.4f}" for v in (result.il1, result.il2, result.il3, result.il4, result.il5)),
            ),
            ("IL1s", f"{result.il1s:.4f}"),
            ("score", f"{result.score:.2f}"),
            (
                "fitness",
                f"{result.fitness.value:.2f} (IL {result.fitness.il:.2f}, ID {result.fitness.id:.2f}, "
                f"DLD {result.fitness.dld:.2f})",
            ),
            ("K", _k_in_words(result)),
        ]
    )
    output.rows(
        ["column", "IL1", "IL1s", "mean", "variance", "sse %", "interval %", "by sd %"],
        [(a.column, a.il1, a.il1s, a.il2, a.il4, a.sse_percent, a.id, a.id_sd) for a in result.attributes],
    )


def _k_in_words(result: "Comparison") -> str:
    guessed = ", all that could be known (--quasi names others)" if result.quasi_guessed else ""
    text = f"{result.k} over {', '.join(result.quasi)}{guessed}"
    if result.k_compared != result.k:
        text += f"; {result.k_compared} over the columns compared alone"
    return text
