"""``shoal suppress``: which further cells of a table must be hidden, and the proof that it is enough."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options

if TYPE_CHECKING:
    from shoal.search import Progress
    from shoal.tables.api import Suppression
    from shoal.tables.files.loading import Loaded

TableFile = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A CSV matrix, a list of cells from tabulate, or a .jj file.",
        show_default=False,
    ),
]
Sensitive = Annotated[
    str | None,
    typer.Option(
        "--sensitive",
        metavar="CELLS",
        help="File row,column[,lower,upper] of sensitive cells.",
        show_default=False,
    ),
]
Protection = Annotated[
    float | None,
    typer.Option(
        "--protection",
        help="How far off a sensitive cell without levels must stay, as a share of its value.",
        show_default="0.10",
    ),
]
Sliding = Annotated[
    float,
    typer.Option("--sliding", help="Width the interval must have in addition, as a share of the value."),
]
Low = Annotated[float, typer.Option("--low", help="The least an attacker holds possible for any cell.")]
High = Annotated[
    float | None,
    typer.Option("--high", help="The most an attacker holds possible for any cell.", show_default="none"),
]
Rounding = Annotated[
    float | None,
    typer.Option(
        "--rounding", metavar="BASE", help="Totals may be off by rounding to this base.", show_default=False
    ),
]
Counts = Annotated[bool, typer.Option("--counts", help="The cells are counts: check whole numbers too.")]
Linked = Annotated[
    list[str] | None,
    typer.Option(
        "--linked",
        metavar="TABLE",
        help="A further list of cells of the same records; may be repeated.",
        show_default=False,
    ),
]
NoInsiders = Annotated[
    bool, typer.Option("--no-insiders", help="Do not protect against sole contributors and known sums.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("suppress")(suppress)


def suppress(
    table: TableFile = "",
    sensitive: Sensitive = None,
    protection: Protection = None,
    output_to: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATTERN",
            help="The hidden cells and their kinds (internal).",
            show_default=False,
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(
            "--published", metavar="FILE", help="The table as it may be published.", show_default=False
        ),
    ] = None,
    symbol: Annotated[
        str | None,
        typer.Option(
            "--symbol", help="What stands in a hidden cell of the published table.", show_default="blank"
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="How to search; 'list' shows all methods.")
    ] = "auto",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="An option of the method; may be repeated.",
            show_default=False,
        ),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare", metavar="M1,M2", help="Also run these methods, for the report.", show_default=False
        ),
    ] = None,
    cost: Annotated[
        str,
        typer.Option(
            "--cost",
            metavar="value|unity|contributors|log|FILE",
            help="What hiding a cell costs; lists of cells and .jj files bring their own, which 'value' keeps.",
        ),
    ] = "value",
    linked: Linked = None,
    previous: Annotated[
        str | None,
        typer.Option(
            "--previous",
            metavar="PATTERN",
            help="Last period's pattern: its cells cost a tenth.",
            show_default=False,
        ),
    ] = None,
    sliding: Sliding = 0.0,
    low: Low = 0.0,
    high: High = None,
    rounding: Rounding = None,
    zeros: Annotated[
        str,
        typer.Option(
            "--zeros", metavar="published|suppressible", help="Whether empty cells of a matrix may be hidden."
        ),
    ] = "published",
    counts: Counts = False,
    no_insiders: NoInsiders = False,
    iterations: options.Iterations = None,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    report: options.Report = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    header_row: options.HeaderRow = None,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Hide as few further cells as possible so that no sensitive cell can be computed from the totals.

    Prints the cost, a bound no safe pattern can be below, and the gap; every result is checked by linear programmes.
    Ctrl-C or --time-limit end the search with the best found so far.

    Example: shoal suppress table.csv --sensitive cells.csv --protection 0.10 -o pattern.csv --published public.csv

    Example: shoal suppress table.jj --method exact --time-limit 60 -o pattern.csv
    """
    from dataclasses import replace
    from functools import partial

    from shoal import sources
    from shoal.cli import output
    from shoal.cli.progress import watched
    from shoal.errors import Infeasible, InputError
    from shoal.search import Budget
    from shoal.settings import split_options as read_settings
    from shoal.sources.internal import marked
    from shoal.tables.api import suppress as protect
    from shoal.tables.files.loading import is_jj, load
    from shoal.tables.files.publishing import check_pattern, check_published
    from shoal.tables.methods import METHODS
    from shoal.tables.model.tabulation import Tabulation

    if method == "list":
        rows = [(name, item.summary) for name, item in METHODS.items()]
        output.emit(
            {"methods": dict(rows)}, lambda: output.rows(["method", "what it does"], rows), as_json=json
        )
        return
    options.given(table, "TABLE")
    for name in [method, *options.split_names(compare)]:
        METHODS[name].configure(read_settings(option or []) if name == method else None)
    cost_file = cost if Path(cost).suffix or "::" in cost else None
    read = [table, sensitive, previous, cost_file, *(linked or ())]
    outputs = sources.Outputs(force=force, inputs=read, safe_csv=safe_csv)
    as_jj = output_to is not None and is_jj(output_to)
    pattern = (
        outputs.file("-o", output_to, internal=True)
        if as_jj
        else outputs.data("-o", output_to, internal=True)
    )
    public = outputs.data("--published", published)
    page = outputs.file("--report", report, internal=True)
    quieter = quiet or json
    loaded = load(
        table,
        rounding=rounding,
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        header_row=header_row,
    )
    output.notes(loaded.notes, quiet=quieter)
    whole, warnings = linked_together(loaded, linked)
    output.warn(warnings)
    problem = _problem(
        whole,
        sensitive,
        protection,
        cost,
        previous,
        sliding,
        low,
        high,
        zeros,
        insiders=not no_insiders,
        quiet=quieter,
    )
    made = whole if isinstance(whole, Tabulation) else None
    unwritten = output.unwritten(outputs, "the pattern") if public is None else None

    def search(name: str) -> "Suppression":
        budget = Budget(iterations=iterations, seconds=time_limit)
        with watched("suppressing", budget, quiet=quieter, show=_glimpse, announce=unwritten) as observer:
            found = protect(
                problem,
                method=name,
                options=read_settings(option or []) if name == method else None,
                counts=counts or (made is not None and made.counts),
                budget=budget,
                seed=seed,
                threads=options.cores(threads),
                observer=observer,
            )
        return replace(found, tabulation=made)

    result = search(method)
    others = []
    for name in options.split_names(compare):
        try:
            others += [search(name)] if name != method else []
        except (InputError, Infeasible) as error:
            output.remark(f"{name} is left out of the comparison: {error}", quiet=quieter)
    payload = result.to_dict() | {"warnings": warnings}
    if others:
        payload["compared"] = {other.method: other.cost for other in others}
    with outputs.together() as writing:
        if pattern is not None and as_jj:
            writing.content(pattern, _jj(str(pattern), result))
        elif pattern is not None:
            writing.data(
                pattern,
                marked(result.pattern),
                verify=partial(check_pattern, result.problem, result.complementary),
            )
        if public is not None:
            frame = result.published(symbol)
            writing.data(public, frame, verify=partial(check_published, frame, symbol))
        if page is not None:
            writing.text(page, result.report(others).html())
    payload |= {
        name: str(place)
        for name, place in (("output", pattern), ("published", public), ("report", page))
        if place is not None
    }
    output.emit(payload, lambda: _print(result, payload), as_json=json)
    if unwritten is not None and not quieter:
        typer.echo("the pattern was not written; -o names a place for it")
    if str(result.solution.stopped_by) == "interrupt":
        raise typer.Exit(130)


def _problem(
    table: Any,
    sensitive: str | None,
    protection: float | None,
    cost: str,
    previous: str | None,
    sliding: float,
    low: float,
    high: float | None,
    zeros: str,
    *,
    insiders: bool,
    quiet: bool,
) -> Any:
    from shoal import sources
    from shoal.errors import InputError, unknown
    from shoal.tables.api import as_problem, share_of
    from shoal.tables.model.table import Table
    from shoal.tables.model.tabulation import COSTS
    from shoal.tables.problem import Problem

    if isinstance(table, Problem) and sensitive is not None:
        raise InputError("a .jj file carries its own sensitive cells; leave out --sensitive")
    if isinstance(table, Table) and sensitive is None:
        raise InputError("say which cells are sensitive with --sensitive CELLS")
    if zeros not in ("published", "suppressible"):
        raise InputError(f"--zeros must be 'published' or 'suppressible', not '{zeros}'")
    named = cost in COSTS
    if not named and not Path(cost).suffix and "::" not in cost:
        raise unknown("cost", cost, COSTS, where="a cost or a file")
    named_cells = None if sensitive is None else sources.read(sensitive).as_written
    remark_on_levels(table, named_cells, quiet=quiet)
    problem = as_problem(
        table,
        sensitive=named_cells,
        protection=share_of(table, named_cells, protection),
        cost=cost if named else sources.read(cost).as_written,
        sliding=sliding,
        low=low,
        high=high,
        insiders=insiders,
        zeros=zeros,  # type: ignore[arg-type]
    )
    return problem if previous is None else _cheaper(problem, sources.read(previous).as_written, quiet=quiet)


def remark_on_levels(table: Any, sensitive: Any, *, quiet: bool) -> None:
    """Say which levels hold for cells that are named as sensitive and are so already."""
    from shoal.cli import output
    from shoal.tables.api import already_sensitive

    again = 0 if sensitive is None else already_sensitive(table, sensitive)
    if again:
        output.remark(
            f"{again} of the cells named as sensitive are so already: the larger levels hold", quiet=quiet
        )


def _cheaper(problem: Any, previous: Any, *, quiet: bool) -> Any:
    """The problem with the cells of last period's pattern at a tenth of their cost."""
    from shoal.cli import output
    from shoal.tables.api import keep_stable

    cheaper, gone = keep_stable(problem, previous)
    if gone:
        output.remark(f"{gone} cells of the previous pattern are not in this table", quiet=quiet)
    return cheaper


def linked_together(loaded: "Loaded", others: list[str] | None) -> tuple[Any, list[str]]:
    """The table, as one system with further ones if there are any; and what is to be warned of in any of them."""
    from shoal.errors import InputError
    from shoal.tables.files.loading import load
    from shoal.tables.model.linked import link
    from shoal.tables.model.tabulation import Tabulation

    every = [loaded, *(load(path) for path in others or ())]
    tables = [item.table for item in every]
    warnings = [warning for item in every for warning in item.warnings]
    if len(tables) == 1:
        return tables[0], warnings
    if not all(isinstance(item, Tabulation) for item in tables):
        raise InputError("--linked is for lists of cells made by shoal tabulate")
    return link(tables), warnings  # type: ignore[arg-type]


def _jj(path: str, result: "Suppression") -> bytes:
    import gzip

    from shoal.sources.internal import marked_text
    from shoal.tables.files import jj

    # Readers stop after the relations that the file announces, so a last line is theirs to skip.
    text = marked_text(jj.write(result.problem, result.complementary)).encode("utf-8")
    return gzip.compress(text, mtime=0) if path.endswith(".gz") else text


def _glimpse(progress: "Progress") -> str:
    if progress.value is None:
        return ""
    if progress.bound is None:
        return f"cost {progress.value:,.6g}"
    return f"cost {progress.value:,.6g}, bound {progress.bound:,.6g}"


def _print(result: "Suppression", payload: dict[str, Any]) -> None:
    from shoal.cli import output

    figures = result.to_dict()
    gap = "unknown" if figures["gap_percent"] is None else f"{figures['gap_percent']:.2f} %"
    facts = [
        ("method", figures["method"]),
        ("primary cells", figures["primary"]),
        ("complementary cells", figures["complementary"]),
        ("cost", f"{figures['cost']:,.6g}"),
        ("bound", "unknown" if figures["bound"] is None else f"{figures['bound']:,.6g}"),
        ("gap", "0 %, proven optimal" if figures["optimal"] else gap),
        ("value hidden besides", f"{figures['value_hidden_percent']:.3f} % (without totals)"),
        ("safe", "yes" if figures["safe"] else "no"),
        *result.audit.reached_in_words(),
        ("protected against", figures["attacker"]),
        ("stopped by", figures["stopped_by"]),
        ("seconds", figures["seconds"]),
    ]
    if figures["disclosed"]:
        facts.append(("disclosed exactly", f"{figures['disclosed']} hidden cells that are not sensitive"))
    names = {"output": "pattern (internal)", "published": "published", "report": "report (internal)"}
    facts += [(title, payload[name]) for name, title in names.items() if name in payload]
    output.facts(facts)
