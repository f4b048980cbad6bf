"""``shoal anonymity``: how well the people in a table are hidden among each other."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options

if TYPE_CHECKING:
    from shoal.anonymity.measure import Anonymity
    from shoal.report.bins import Bin
    from shoal.sources import Data

# Beyond this many records the exact rank takes noticeable time and has thousands of digits.
RANKED_BY_DEFAULT = 20_000


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("anonymity")(anonymity)


def anonymity(
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA…", help="Files, or URL::table of a database.", show_default=False),
    ],
    quasi: Annotated[
        str,
        typer.Option(
            "--quasi", metavar="a,b,c", help="The columns somebody may know of a person.", show_default=False
        ),
    ],
    tables: Annotated[
        int,
        typer.Option("--tables", help="Number of tables: DATA0, DATA1, … (1: DATA itself)."),
    ] = 1,
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="COLUMN",
            help="Whose records these are: K counts distinct units.",
            show_default=False,
        ),
    ] = None,
    null: Annotated[
        str,
        typer.Option(
            "--null", metavar="own|wildcard", help="A missing value is a value of its own, or matches any."
        ),
    ] = "own",
    confidential: Annotated[
        str | None,
        typer.Option(
            "--confidential",
            metavar="COLUMN",
            help="Also measure the diversity of this column.",
            show_default=False,
        ),
    ] = None,
    rank: Annotated[
        bool, typer.Option("--rank", help=f"Compute the exact rank above {RANKED_BY_DEFAULT:,} records too.")
    ] = False,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show the smallest classes by value (confidential!).")
    ] = False,
    require_k: Annotated[
        int | None,
        typer.Option("--require-k", min=1, help="Exit with 3 if K is below this.", show_default=False),
    ] = None,
    report: options.Report = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    header_row: options.HeaderRow = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Measure how well people are hidden: K and the vector.

    Prints classes, K, the anonymity vector and its exact rank, and how many people are in crowds of which size.

    Example: shoal anonymity people.csv --quasi zip,age,sex

    Example: shoal anonymity sqlite:///clinic.db::tabla --tables 5 --quasi AGE,CP,SEX
    """
    from shoal import sources
    from shoal.anonymity.measure import anonymity as measure
    from shoal.cli import output
    from shoal.errors import Infeasible, InputError

    if tables < 1:
        raise InputError(f"--tables must be at least 1, not {tables}")
    if tables > 1 and len(data) > 1:
        raise InputError("give several DATA, or one DATA with --tables, not both")
    addresses = sources.numbered(data[0], tables) if tables > 1 else data
    outputs = sources.Outputs(force=force, inputs=addresses)
    sheet = outputs.file("--report", report, internal=True)
    found: list[tuple[Data, Anonymity]] = []
    names = options.split_names(quasi)
    for address in addresses:
        source = sources.read(
            address, separator=separator, decimal=decimal, encoding=encoding, header_row=header_row
        )
        output.reading(source, quiet=quiet or json, name=str(source.address) if len(addresses) > 1 else None)
        if source.frame.is_empty():
            raise InputError(f"there are no records in '{source.address}'")
        result = measure(
            source.as_written,
            names,
            unit=unit,
            null=null,  # type: ignore[arg-type]
            confidential=confidential,
        )
        found.append((source, result))
    payloads = [_payload(result, rank=rank) for _, result in found]
    if len(found) == 1:
        payload = payloads[0]
    else:
        ks = [result.k for _, result in found]
        payload = {
            "tables": [
                {"table": str(source.address), **item}
                for (source, _), item in zip(found, payloads, strict=True)
            ],
            "k_mean": sum(ks) / len(ks),
            "k_min": min(ks),
            "k_max": max(ks),
        }
    with outputs.together() as writing:
        if sheet is not None:
            writing.text(sheet, _page(found, payloads, names).html())
    if sheet is not None:
        output.remark(f"report written to {report}", quiet=quiet or json)

    def text() -> None:
        if len(found) == 1:
            _print(found[0][1], payload, show_values)
            return
        output.rows(
            ["table", "records", "classes", "K", "people below 3", "below 5", "below 10"],
            [
                (str(source.address), r.records, r.classes, r.k, r.below(3), r.below(5), r.below(10))
                for source, r in found
            ],
        )
        typer.echo(f"K: mean {payload['k_mean']:g}, smallest {payload['k_min']}, largest {payload['k_max']}")

    output.emit(payload, text, as_json=json)
    worst = min(result.k for _, result in found)
    if require_k is not None and worst < require_k:
        if json:
            raise typer.Exit(3)
        raise Infeasible(f"K is {worst}, below the required {require_k}")


def _payload(result: "Anonymity", *, rank: bool) -> dict[str, Any]:
    ranked = (rank or result.records <= RANKED_BY_DEFAULT) and not result.overlapping
    payload: dict[str, Any] = {
        "records": result.records,
        "units": result.units,
        "classes": result.classes,
        "k": result.k,
        "vector": {str(size): count for size, count in result.vector.to_dict().items()},
        "rank": str(result.rank) if ranked else None,
        "vectors": str(result.vectors) if ranked else None,
        "people": {str(size): count for size, count in result.people.items()},
        "below": {str(limit): result.below(limit) for limit in (3, 5, 10)},
        "maximum_risk": result.maximum_risk,
        "average_risk": result.average_risk,
        "null": result.null,
    }
    if result.diversity is not None:
        payload["distinct_l"] = result.diversity.distinct
        payload["entropy_l"] = result.diversity.entropy
    return payload


def _facts(result: "Anonymity", payload: dict[str, Any]) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = [("records", f"{result.records:,}")]
    if result.units != result.records:
        pairs.append(("distinct units", f"{result.units:,}"))
    pairs += [
        ("classes", f"{result.classes:,}"),
        ("K", result.k),
        ("anonymity vector", str(result.vector)),
    ]
    if payload["rank"] is not None:
        pairs.append(("rank", _ranked(result)))
    pairs += [
        ("people in classes below 3, 5, 10", ", ".join(f"{result.below(limit):,}" for limit in (3, 5, 10))),
        ("risk of a person", f"at most {result.maximum_risk:.3g}, on average {result.average_risk:.3g}"),
        ("a missing value", "is a value of its own" if result.null == "own" else "matches any value"),
    ]
    if result.diversity is not None:
        pairs.append(
            (
                "diversity",
                f"at least {result.diversity.distinct} distinct values, entropy {result.diversity.entropy:.3g}",
            )
        )
    return pairs


def _ranked(result: "Anonymity") -> str:
    """The rank and how many vectors there are, short enough to read."""
    rank, vectors = str(result.rank), str(result.vectors)
    if len(vectors) > 18:
        share = 100.0 * int(rank) / max(1, int(vectors) - 1) if len(vectors) < 300 else None
        text = f"a number of {len(rank)} digits, among about 10^{len(vectors) - 1} vectors"
        if share is None:
            return text
        return text + (
            " (in the best 0.01 %)" if share > 99.99 else f" ({share:.4g} % of the way to the best)"
        )
    return f"{int(rank):,} of 0 … {int(vectors) - 1:,} (higher is more anonymous)"


def _print(result: "Anonymity", payload: dict[str, Any], show_values: bool) -> None:
    from shoal.cli import output

    output.facts(_facts(result, payload))
    sizes = list(result.people.items())
    shown = sizes[:10]
    output.rows(
        ["class size", "classes", "people"],
        [(size, result.vector[size], people) for size, people in shown],
    )
    if len(sizes) > len(shown):
        typer.echo(f"… and {len(sizes) - len(shown)} larger sizes")
    if show_values:
        smallest = result.smallest(10)
        output.rows(
            [*smallest.columns],
            # Values as the data have them: a postcode or a year is no count.
            [
                [*("" if value is None else str(value) for value in values), size]
                for *values, size in smallest.iter_rows()
            ],
            title="the smallest classes",
        )


def _page(found: "list[tuple[Data, Anonymity]]", payloads: list[dict[str, Any]], quasi: list[str]) -> Any:
    from shoal.report import charts
    from shoal.report.bins import merge_small
    from shoal.report.page import Page

    title = "Anonymity of " + (str(found[0][0].address) if len(found) == 1 else f"{len(found)} tables")
    page = Page(title, "quasi-identifiers: " + ", ".join(quasi))
    for (source, result), payload in zip(found, payloads, strict=True):
        page.section(str(source.address))
        page.facts(_facts(result, payload))
        bins = merge_small(_binned(result.people))
        if bins:
            page.chart(
                charts.bars(
                    [b.name for b in bins], [b.count for b in bins], x="size of the class", y="people"
                ),
                "How many people are in classes of which size. Bars stand for at least 10 people.",
            )
        else:
            page.note("There are too few people for a chart.")
    page.provenance(
        [("a missing value", payloads[0]["null"])], "sizes recounted from the class of each record"
    )
    return page


def _binned(people: dict[int, int]) -> "list[Bin]":
    from shoal.report.bins import Bin

    # Sizes 1 to 9 one by one, larger ones by powers of two, so that the chart stays readable.
    grouped: dict[int, int] = {}
    for size, count in people.items():
        key = size if size < 10 else 10 * 2 ** ((size // 10).bit_length() - 1)
        grouped[key] = grouped.get(key, 0) + count
    return [Bin(key, key if key < 10 else 2 * key - 1, count) for key, count in sorted(grouped.items())]
