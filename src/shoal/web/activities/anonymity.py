"""Risk: how well the people of one or several tables are hidden among each other."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    import polars as pl

    from shoal.anonymity.measure import Anonymity

# Above this, the exact rank of a vector takes longer than everything else.
RANKED_UP_TO = 20_000
ROWS_SHOWN = 50


class Measure(Request):
    """Which tables, and which columns somebody may know."""

    data: list[str] = Field(min_length=1, max_length=100)
    quasi: list[str] = Field(min_length=1, description="the quasi-identifiers")
    unit: str | None = Field(None, description="count distinct values of this column, not records")
    null: Literal["own", "wildcard"] = Field("own", description="what a missing value means")
    confidential: str | None = Field(None, description="a column whose diversity is measured")


def run(request: Measure, context: Context) -> dict[str, Any]:
    """Measure each table; keep the size of the crowd of its first records for the page."""
    import shoal

    tables = []
    results = []
    for place, name in enumerate(request.data):
        context.say(f"measuring {name}")
        wanted = [*request.quasi, *([request.unit] if request.unit else [])]
        wanted += [request.confidential] if request.confidential else []
        frame = context.datasets.frame(name, list(dict.fromkeys(wanted)))
        result = shoal.anonymity(
            frame, request.quasi, unit=request.unit, null=request.null, confidential=request.confidential
        )
        results.append((name, result))
        tables.append({"data": name, **figures(result)})
        if result.records:
            _crowds(frame, request).write_parquet(context.keep(crowds_name(place)))
    ks = [table["k"] for table in tables]
    context.say("writing the report")
    context.report(_page(request, results, tables))
    return {"tables": tables, "k_mean": sum(ks) / len(ks), "k_min": min(ks), "k_max": max(ks)}


def crowds_name(place: int) -> str:
    """The file with the crowd of the first records of one of the tables.

    >>> crowds_name(0)
    'crowds-0.parquet'
    """
    return f"crowds-{place}.parquet"


def figures(result: "Anonymity") -> dict[str, Any]:
    """The figures of one table, as the command line names them."""
    ranked = result.records <= RANKED_UP_TO and not result.overlapping
    payload: dict[str, Any] = {
        "records": result.records,
        "units": result.units,
        "classes": result.classes,
        "k": result.k,
        "vector": {str(size): count for size, count in result.vector.to_dict().items()},
        "people": {str(size): count for size, count in result.people.items()},
        "rank": str(result.rank) if ranked else None,
        "vectors": str(result.vectors) if ranked else None,
        "below": {str(limit): result.below(limit) for limit in (2, 3, 5, 10)},
        "maximum_risk": result.maximum_risk,
        "average_risk": result.average_risk,
    }
    if result.diversity is not None:
        payload["distinct_l"] = result.diversity.distinct
        payload["entropy_l"] = result.diversity.entropy
    return payload


def _crowds(frame: "pl.DataFrame", request: Measure) -> "pl.DataFrame":
    """The crowd of each of the first records: how many are like it, a missing value being a value of its own."""
    import polars as pl

    size = pl.col(request.unit).n_unique() if request.unit else pl.len()
    counted = frame.with_columns(size.over(request.quasi).alias("crowd"))
    return counted.select("crowd").head(ROWS_SHOWN)


def _page(request: Measure, results: "list[tuple[str, Anonymity]]", tables: list[dict[str, Any]]) -> Any:
    from shoal.report import charts
    from shoal.report.bins import Bin, merge_small
    from shoal.report.page import Page

    title = f"Anonymity of {results[0][0]}" if len(results) == 1 else f"Anonymity of {len(results)} tables"
    page = Page(title, "quasi-identifiers: " + ", ".join(request.quasi))
    if len(results) > 1:
        page.section("All tables")
        page.table(
            ["table", "records", "K", "people in classes below 3", "below 5"],
            [
                (table["data"], table["records"], table["k"], table["below"]["3"], table["below"]["5"])
                for table in tables
            ],
        )
    for (name, result), table in zip(results, tables, strict=True):
        page.section(name)
        page.facts(
            [
                ("records", result.records),
                ("people counted", result.units),
                ("classes", result.classes),
                ("K", result.k),
                ("people in classes below 3, 5, 10", ", ".join(f"{result.below(n):,}" for n in (3, 5, 10))),
                ("largest risk of a person", f"{result.maximum_risk:.3g}"),
                ("average risk of a person", f"{result.average_risk:.3g}"),
                *([("rank among all vectors", _ranked(table))] if table["rank"] is not None else []),
                *(
                    [("least distinct values in a class", result.diversity.distinct)]
                    if result.diversity is not None
                    else []
                ),
            ]
        )
        bins = merge_small([Bin(size, size, people) for size, people in sorted(result.people.items())])
        if 0 < len(bins) <= 60:
            page.chart(
                charts.bars(
                    [b.name for b in bins], [b.count for b in bins], x="size of the class", y="people"
                ),
                "How many people are in classes of which size. Bars stand for at least 10 people.",
            )
    page.provenance(
        [
            ("quasi-identifiers", ", ".join(request.quasi)),
            ("counting", f"distinct {request.unit}" if request.unit else "records"),
            ("a missing value", "is a value of its own" if request.null == "own" else "matches any value"),
        ],
        "sizes counted from the class of each record",
    )
    return page


def _ranked(table: dict[str, Any]) -> str:
    rank, vectors = table["rank"], table["vectors"]
    if len(vectors) > 18:
        return f"a number of {len(rank)} digits among about 10^{len(vectors) - 1}"
    return f"{int(rank):,} of 0 … {int(vectors) - 1:,} (higher is more anonymous)"


def _title(request: Measure) -> str:
    if not request.data:
        raise InputError("choose data first")
    which = request.data[0] if len(request.data) == 1 else f"{len(request.data)} tables"
    return f"Risk of {which} by {', '.join(request.quasi)}"


ACTIVITY = Activity("anonymity", "Measure risk", Measure, run, _title)
