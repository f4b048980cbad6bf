"""``shoal microaggregate``: make every record equal to at least k−1 others, losing as little as possible."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options

if TYPE_CHECKING:
    from shoal.microdata.microaggregation import Microaggregation
    from shoal.microdata.orders import Orders
    from shoal.search import Progress
    from shoal.sources import Labels


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("microaggregate")(microaggregate)


def microaggregate(
    data: options.Data = "",
    k: Annotated[int, typer.Option("-k", "--k", help="Smallest number of equal records.")] = 5,
    output_to: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DATA", help="Where to write.", show_default=False)
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="a,b",
            help="Columns to protect ('*': every numeric one).",
            show_default="all that measure something; the choice is printed",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="How to find the groups; 'list' shows all methods.")
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
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            metavar='"a,b;c,d"|auto',
            help="Protect these columns group by group; auto finds the groups.",
            show_default=False,
        ),
    ] = None,
    aggregate: Annotated[
        str, typer.Option("--aggregate", metavar="mean|median|rounded-mean", help="What stands for a group.")
    ] = "mean",
    ordinal: Annotated[
        str | None,
        typer.Option(
            "--ordinal",
            metavar='"a,b=low<high"',
            help="Columns whose order counts, not their values; texts need their order.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="a,b", help="Strata no group may cross.", show_default=False)
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            metavar="refuse|aside|impute",
            help="Records with gaps: refuse, do not release, or fill in.",
        ),
    ] = "refuse",
    attribute_weights: Annotated[
        str | None,
        typer.Option(
            "--attribute-weights", metavar="a=2,b=1", help="Importance in the distance.", show_default=False
        ),
    ] = None,
    sample_weights: Annotated[
        str | None,
        typer.Option(
            "--sample-weights", metavar="COLUMN", help="People a record stands for.", show_default=False
        ),
    ] = None,
    largest: Annotated[
        int | None, typer.Option("--largest", help="Most records in a group.", show_default=False)
    ] = None,
    drop: Annotated[
        str | None, typer.Option("--drop", metavar="a,b", help="Identifiers to remove.", show_default=False)
    ] = None,
    order: Annotated[
        str, typer.Option("--order", metavar="keep|sorted", help="Order of the released records.")
    ] = "keep",
    quasi: Annotated[
        str | None,
        typer.Option(
            "--quasi",
            metavar="a,b",
            help="Columns over which K of the release is counted.",
            show_default="all released ones that could be known; the choice is printed",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="COLUMN", help="Count distinct units in K.", show_default=False),
    ] = None,
    require_k: Annotated[
        int | None,
        typer.Option(
            "--require-k",
            min=1,
            help="Write nothing and exit with 3 if K of the release is below this.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option("--start", metavar="LABELS", help="Begin from these groups.", show_default=False),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="LABELS", help="Write the groups here.", show_default=False),
    ] = None,
    record_links: Annotated[
        Path | None,
        typer.Option(
            "--record-links",
            metavar="FILE",
            help="Write which released record is which, for 'shoal compare'; internal.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option("--target", metavar="PERCENT", help="Stop at this loss.", show_default=False),
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
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Make every record equal to at least k−1 others.

    Records are replaced by the means of groups of at least k, with the least loss found and a bound on the least
    possible.

    Ctrl-C or --time-limit end the search with the best found so far, checked like any other result.

    Example: shoal microaggregate survey.csv -k 5 -o safe.csv --report safe.html

    Example: shoal microaggregate firms.csv -k 3 --columns turnover,staff --by region --time-limit 60 -o safe.csv
    """
    from shoal import sources
    from shoal.cli import output
    from shoal.cli.progress import watched
    from shoal.errors import Infeasible, InputError
    from shoal.microdata.methods import METHODS
    from shoal.microdata.microaggregate import microaggregate as protect
    from shoal.microdata.orders import parse_orders
    from shoal.search import Budget
    from shoal.sources.internal import marked_text

    if method == "list":
        rows = [(name, item.summary) for name, item in METHODS.items()]
        output.emit(
            {"methods": dict(rows)}, lambda: output.rows(["method", "what it does"], rows), as_json=json
        )
        return
    options.given(data, "DATA")
    METHODS[method]
    orders = parse_orders(ordinal)
    outputs = sources.Outputs(force=force, inputs=[data, start], safe_csv=safe_csv)
    release = outputs.data("-o", output_to)
    groups_file = outputs.file("--labels", labels, internal=True)
    links_file = outputs.file("--record-links", record_links, internal=True)
    page = outputs.file("--report", report, internal=True)
    if labels is not None and (groups == "auto" or len(read_groups(groups) or ()) > 1):
        raise InputError("--labels holds one partition; it cannot be used with several --groups")
    if require_k is not None and output_to is None:
        raise InputError("--require-k is a gate before writing; name an output with -o")
    source = sources.read(
        data, separator=separator, decimal=decimal, encoding=encoding, header_row=header_row
    )
    quieter = quiet or json
    output.reading(source, quiet=quieter)
    unwritten = output.unwritten(outputs, "the protected records")
    budget = Budget(iterations=iterations, seconds=time_limit, target=target)
    with watched("microaggregating", budget, quiet=quieter, show=_glimpse, announce=unwritten) as observer:
        result = protect(
            source.frame,
            k,
            columns=None if columns is None else options.split_names(columns),
            method=method,
            options=read_settings(option),
            groups="auto" if groups == "auto" else read_groups(groups),
            aggregate=aggregate,  # type: ignore[arg-type]
            ordinal=orders if source.labels is None else _labelled(orders, source.labels),
            by=options.split_names(by),
            missing=missing,  # type: ignore[arg-type]
            attribute_weights=_weights(attribute_weights),
            sample_weights=sample_weights,
            largest=largest,
            drop=options.split_names(drop),
            order=order,  # type: ignore[arg-type]
            quasi=options.split_names(quasi) or None,
            unit=unit,
            start=None if start is None else _read_labels(start),
            budget=budget,
            seed=seed,
            threads=options.cores(threads),
            observer=observer,
        )
    payload = _payload(result)
    too_low = require_k is not None and result.k_release < require_k
    with outputs.together() as writing:
        if release is not None and not too_low:
            writing.data(
                release,
                result.frame,
                like=source,
                separator=separator,
                decimal=decimal,
                encoding=encoding,
                verify=result.verify,
            )
            payload["output"] = str(release)
        if groups_file is not None and not too_low:
            lines = "\n".join(str(label) for label in result.labels.tolist())
            writing.text(groups_file, marked_text(lines))
        if links_file is not None and not too_low:
            writing.text(links_file, result.record_links.csv())
        if page is not None:
            writing.text(page, result.report().html())
    output.warn(result.warnings)
    output.notes(result.notes, quiet=quieter)
    output.emit(payload, lambda: _print(result, payload.get("output")), as_json=json)
    if unwritten is not None and not quieter:
        typer.echo("the protected records were not written; -o names a place for them")
    if too_low:
        if json:
            raise typer.Exit(3)
        raise Infeasible(
            f"K of the release over {', '.join(result.quasi)} is {result.k_release}, below the required {require_k}; "
            "nothing was written" + (" but the report" if report is not None else "")
        )
    if result.stopped_by == "interrupt":
        raise typer.Exit(130)


def read_settings(pairs: list[str] | None) -> dict[str, Any]:
    """Options of a method from NAME=VALUE texts; values are read as JSON where they can be.

    >>> read_settings(["samples=5", "acceptance=static"])
    {'samples': 5, 'acceptance': 'static'}
    """
    import json

    from shoal.errors import InputError

    settings: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--option needs NAME=VALUE, not '{pair}'")
        try:
            settings[name.strip().replace("-", "_")] = json.loads(value)
        except ValueError:
            settings[name.strip().replace("-", "_")] = value
    return settings


def read_groups(text: str | None) -> list[list[str]] | None:
    """Groups of columns from a text like "a,b;c,d"."""
    from shoal.errors import InputError

    if text is None:
        return None
    found = [options.split_names(part) for part in text.split(";")]
    found = [group for group in found if group]
    if not found:
        raise InputError('--groups needs columns, like "a,b;c,d"')
    return found


def _labelled(orders: "Orders", labels: "Labels") -> "Orders":
    """Orders with what the value labels of a file of SPSS or Stata say."""
    from shoal.microdata.orders import value_label_orders

    return value_label_orders(orders, labels.values, labels.measures)


def _weights(text: str | None) -> dict[str, float] | None:
    from shoal.errors import InputError

    if text is None:
        return None
    weights = {}
    for pair in options.split_names(text):
        name, _, value = pair.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError:
            raise InputError(f"--attribute-weights needs name=number, not '{pair}'") from None
    return weights


def _read_labels(path: Path) -> Any:
    import numpy as np

    from shoal.errors import InputError

    try:
        text = path.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        return np.array([int(word) for word in " ".join(lines).split()], dtype=np.int64)
    except OSError:
        raise InputError(f"the file of labels '{path}' cannot be read") from None
    except (ValueError, OverflowError):
        raise InputError(f"the file of labels '{path}' must hold one whole number per record") from None


def _glimpse(progress: "Progress") -> str:
    rate = progress.work / progress.seconds if progress.seconds > 0 else 0.0
    value = "" if progress.value is None else f"loss {progress.value:.4f} %"
    return f"{value}  {progress.work:,} iterations, {rate:,.0f}/s"


def _payload(result: "Microaggregation") -> dict[str, Any]:
    return {
        "method": result.method,
        "k": result.k,
        "k_release": result.k_release,
        "k_protected": result.k_protected,
        "records": result.records,
        "set_aside": result.set_aside,
        "columns": list(result.columns),
        "groups": [list(part.columns) for part in result.parts],
        "clusters": int(sum(part.sizes.size for part in result.parts)),
        "min_cluster": int(min(part.sizes.min() for part in result.parts)),
        "max_cluster": int(max(part.sizes.max() for part in result.parts)),
        "sse": result.sse,
        "sst": result.sst,
        "loss_percent": result.loss,
        "bound_percent": result.bound,
        "optimal": result.optimal,
        "iterations": int(sum(part.iterations for part in result.parts)),
        "stopped_by": str(result.stopped_by),
        "seconds": sum(part.seconds for part in result.parts),
        "verified": True,
        "quasi": list(result.quasi),
        "quasi_guessed": result.quasi_guessed,
        "null": result.anonymity.null,
        **_grouping(result),
        "notes": list(result.notes),
        "warnings": list(result.warnings),
    }


def _grouping(result: "Microaggregation") -> dict[str, Any]:
    """The score by which the groups were chosen, and beside it that of what is released."""
    fields: dict[str, Any] = {}
    if result.grouping is not None:
        found = result.grouping
        fields["grouping"] = {
            "method": found.method,
            "score": found.score,
            "il": found.il,
            "id": found.id,
            "dld": found.dld,
            "bound": found.bound,
            "optimal": found.optimal,
        }
    if result.fitness is not None:
        own = result.fitness
        fields["release"] = {"score": own.value, "il": own.il, "id": own.id, "dld": own.dld}
    return fields


def _print(result: "Microaggregation", written: str | None) -> None:
    from shoal.cli import output

    sizes = [size for part in result.parts for size in part.sizes.tolist()]
    pairs: list[tuple[str, Any]] = [
        (
            "records",
            f"{result.records:,}" + (f" ({result.set_aside:,} set aside)" if result.set_aside else ""),
        ),
        ("groups", f"{len(sizes):,} of {min(sizes)} to {max(sizes)} records"),
        ("information loss", f"{result.loss:.4f} %{_quality(result)}"),
        *_k_in_words(result),
        (
            "search",
            f"{result.method}, {sum(part.iterations for part in result.parts):,} iterations, stopped by {result.stopped_by}",
        ),
    ]
    if result.grouping is not None:
        pairs.append(("column groups", ";".join(",".join(part.columns) for part in result.parts)))
        pairs.append(("score when chosen", f"{result.grouping.score:.4f}, by {result.grouping.method}"))
    if result.fitness is not None:
        own = result.fitness
        pairs.append(
            (
                "score of the release",
                f"{own.value:.4f} (IL {own.il:.2f}, ID {own.id:.2f}, DLD {own.dld:.2f} %)",
            )
        )
    if written is not None:
        pairs.append(("written to", f"{written}, read back and checked"))
    output.facts(pairs)
    output.rows(
        ["column", "mean before", "after", "deviation before", "after", "variance kept %"],
        [change.row() for change in result.changes.columns],
    )
    if len(result.changes.columns) > 1:
        typer.echo(f"largest change of a correlation: {result.changes.largest_correlation_change:.4f}")


def _k_in_words(result: "Microaggregation") -> list[tuple[str, str]]:
    """K over what could be known, and beside it K over the protected columns where that is another figure."""
    guessed = ", all that could be known (--quasi names others)" if result.quasi_guessed else ""
    over = f"{result.k_release} over {', '.join(result.quasi)}{guessed} (k asked for: {result.k})"
    alone = [("K of the protected", f"{result.k_protected} over the protected columns alone")]
    return [("K of the release", over), *(alone if result.k_protected != result.k_release else [])]


def _quality(result: "Microaggregation") -> str:
    if result.optimal:
        return ", proved optimal"
    if result.bound is None:
        return ""
    return f"; no grouping can lose less than {result.bound:.4f} %"
