"""``shoal audit``: the interval an attacker can compute for every hidden cell, and whether it is wide enough."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.suppress import (
    Counts,
    High,
    Linked,
    Low,
    NoInsiders,
    Protection,
    Rounding,
    Sensitive,
    Sliding,
    TableFile,
    linked_together,
    remark_on_levels,
)

if TYPE_CHECKING:
    from shoal.tables.safety.audit import Audit


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit)


def audit(
    table: TableFile,
    pattern: Annotated[
        str | None,
        typer.Argument(
            metavar="PATTERN",
            help="All hidden cells, the sensitive ones too; a .jj table may mark them itself.",
            show_default=False,
        ),
    ] = None,
    sensitive: Sensitive = None,
    protection: Protection = None,
    output_to: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="INTERVALS", help="The intervals (internal).", show_default=False
        ),
    ] = None,
    linked: Linked = None,
    sliding: Sliding = 0.0,
    low: Low = 0.0,
    high: High = None,
    rounding: Rounding = None,
    counts: Counts = False,
    no_insiders: NoInsiders = False,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    header_row: options.HeaderRow = None,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Compute what an attacker can compute from a table with hidden cells, exactly; exit 3 if a cell is unsafe.

    Works for patterns made by any software. A sensitive cell that the pattern does not list is published, hence unsafe.
    Also finds hidden cells that are disclosed exactly though nobody called them sensitive.

    Example: shoal audit table.csv pattern.csv --sensitive cells.csv -o intervals.csv
    """
    from shoal import sources
    from shoal.cli import output
    from shoal.errors import InputError
    from shoal.sources import internal
    from shoal.tables.api import audit as attack
    from shoal.tables.files.loading import is_jj, load
    from shoal.tables.files.publishing import hidden_frame

    inputs = [table, pattern, sensitive, *(linked or ())]
    outputs = sources.Outputs(force=force, inputs=inputs, safe_csv=safe_csv)
    intervals = outputs.data("-o", output_to, internal=True)
    loaded = load(
        table,
        rounding=rounding,
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        header_row=header_row,
    )
    output.notes(loaded.notes, quiet=quiet or json)
    whole, warnings = linked_together(loaded, linked)
    output.warn(warnings)
    cells: Any
    if pattern is None or is_jj(pattern):
        marked = loaded if pattern is None else load(pattern)
        if marked.hidden is None:
            raise InputError("name the pattern: a file with the hidden cells")
        cells = _marked(whole, marked)
    else:
        cells = sources.read(pattern).as_written
    named_cells = None if sensitive is None else sources.read(sensitive).as_written
    remark_on_levels(whole, named_cells, quiet=quiet or json)
    found = attack(
        whole,
        cells,
        sensitive=named_cells,
        protection=protection,
        sliding=sliding,
        low=low,
        high=high,
        insiders=not no_insiders,
        counts=counts,
    )
    with outputs.together() as writing:
        if intervals is not None:
            writing.data(intervals, internal.marked(hidden_frame(found)))
    output.emit(payload(found) | {"warnings": warnings}, lambda: _print(found), as_json=json)
    if not found.safe:
        raise typer.Exit(3)


def _marked(table: Any, marked: Any) -> list[tuple[str, ...]]:
    """The cells a jj file marks as hidden, by the names the table has for them."""
    from shoal.errors import InputError
    from shoal.tables.model.table import Table

    base = table if isinstance(table, Table) else table.table
    theirs = marked.table.table
    if base.dimensions != theirs.dimensions and base.cells != theirs.cells:
        raise InputError(f"the pattern has {theirs.cells} cells and the table {base.cells}")
    # Written from a table with names, a jj file numbers the cells in their order there.
    names = theirs if base.dimensions == theirs.dimensions else base
    return [tuple(names.key(int(cell)).values()) for cell in marked.hidden]


def payload(found: "Audit") -> dict[str, Any]:
    """The verdict as the command line prints it."""
    table = found.problem.table

    def named(cells: Any) -> list[dict[str, Any]]:
        if table.dimensions == ("cell",):
            return [{"cell": int(table.keys["cell"][cell])} for cell in cells]
        return [table.key(int(cell)) for cell in cells]

    return {
        "safe": found.safe,
        "sensitive": int(found.problem.sensitive.size),
        "hidden": int(found.cells.size),
        "unsafe": named(found.unsafe),
        "published": named(found.published),
        "disclosed": named(found.disclosed),
        "insider": named(sorted({cell for cell, _ in found.insider})),
        "sums": len(found.sums),
        "integer": named(found.integer),
        **found.reached(),
    }


def _print(found: "Audit") -> None:
    from shoal.cli import output

    figures = payload(found)
    # A sensitive cell that is published is unsafe too, but has a line of its own.
    narrow = [cell for cell in figures["unsafe"] if cell not in figures["published"]]
    figures["unsafe"] = narrow
    facts = [
        ("safe", "yes" if figures["safe"] else "NO"),
        ("sensitive cells", figures["sensitive"]),
        ("hidden cells", figures["hidden"]),
        ("too narrow", len(narrow)),
        ("sensitive but published", len(figures["published"])),
        ("disclosed exactly, not sensitive", len(figures["disclosed"])),
        ("known to an insider", len(figures["insider"])),
        ("sensitive sums given away", figures["sums"]),
        ("given away by whole numbers", len(figures["integer"])),
        *found.reached_in_words(),
    ]
    for name in ("unsafe", "published", "disclosed", "insider", "integer"):
        if figures[name]:
            shown = "; ".join(", ".join(f"{k} {v}" for k, v in item.items()) for item in figures[name][:5])
            more = f" … and {len(figures[name]) - 5} more" if len(figures[name]) > 5 else ""
            facts.append((name, shown + more))
    output.facts(facts)
