"""The report of a comparison: the risk–utility map, loss by column, and how many records an intruder links."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal.errors import parameter
from shoal.microdata.measures.result import RISKS
from shoal.operation import Rows
from shoal.report import charts
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.measures.result import Comparison

# A chart of a hundred columns cannot be read; the table has all of them.
_DRAWN = 24
# Below this many links only a rounded share is shown: the report may be read by more people than the data.
_FEW = 10


def figures(found: "Sequence[Comparison]", settings: object) -> dict[str, Any]:
    """Every measure of the release; of several, those of each."""
    each = [result.to_dict() for result in found]
    return each[0] if len(each) == 1 else {"releases": each}


def facts(found: "Sequence[Comparison]", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first; several releases are a table."""
    if len(found) > 1:
        return []
    result = found[0]
    name, risk = result.worst
    losses = (result.il1, result.il2, result.il3, result.il4, result.il5)
    return [
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
        ("IL1, IL2, IL3, IL4, IL5", ", ".join(f"{value:.4f}" for value in losses)),
        ("IL1s", f"{result.il1s:.4f}"),
        ("score", f"{result.score:.2f}"),
        (
            "fitness",
            f"{result.fitness.value:.2f} (IL {result.fitness.il:.2f}, ID {result.fitness.id:.2f}, "
            f"DLD {result.fitness.dld:.2f})",
        ),
        ("K", _k_in_words(result)),
    ]


def tables(found: "Sequence[Comparison]", settings: object) -> list[Rows]:
    """The measures by column, or of several releases a line each."""
    if len(found) > 1:
        return [
            Rows(
                ["release", "il", "dr", "score", "fitness", "sse %", "worst risk %", "K"],
                [
                    (r.name, r.il, r.dr, r.score, r.fitness.value, r.sse_percent, r.worst[1], r.k)
                    for r in found
                ],
            )
        ]
    header = ["column", "IL1", "IL1s", "mean", "variance", "sse %", "interval %", "by sd %"]
    return [Rows(header, _by_column(found[0]))]


def _k_in_words(result: "Comparison") -> str:
    guessed = f", all that could be known ({parameter('quasi')} names others)" if result.quasi_guessed else ""
    text = f"{result.k} over {', '.join(result.quasi)}{guessed}"
    if result.k_compared != result.k:
        text += f"; {result.k_compared} over the columns compared alone"
    return text


def page(found: "Sequence[Comparison]", settings: object = None) -> Page:
    """The report of one or several releases of the same data; all it needs to know of the settings the results know."""
    first = found[0]
    out = Page(
        "What protection cost and what it bought",
        f"{len(found)} release{'s' if len(found) > 1 else ''}, {first.records:,} records, columns: "
        + ", ".join(first.columns),
    )
    out.section("Headline")
    for result in found:
        name, risk = result.worst
        out.facts(
            [
                ("release", result.name),
                ("records paired by", result.pairing.replace("-", " ")),
                ("worst risk", f"{risk:.2f} % ({RISKS[name]})"),
                ("information loss IL", f"{result.il:.2f}"),
                ("disclosure risk DR", f"{result.dr:.2f}"),
                ("score", f"{result.score:.2f}"),
                ("K of the release", f"{result.k}, over {', '.join(result.quasi)}"),
                ("K over the columns compared alone", result.k_compared),
            ]
        )
    out.note("The worst risk comes first: a mean of several measures can hide it.")
    for note in dict.fromkeys(note for result in found for note in (*result.warnings, *result.notes)):
        out.note(note)
    _map(out, found)
    _linked(out, found)
    for result in found:
        _measures(out, result)
        _columns(out, result)
    out.provenance(first.settings, "every measure computed again from the two tables alone")
    return out


def _map(out: Page, found: "Sequence[Comparison]") -> None:
    points = [(result.name.rsplit("/", 1)[-1], result.il, result.dr) for result in found]
    points += [(name, il, dr) for name, (il, dr) in found[0].references.items()]
    out.section("Risk and utility")
    out.chart(
        charts.points(points, x="information loss IL", y="disclosure risk DR"),
        "Each point is a release: to the left less is lost, further down less can be disclosed. "
        + ("MDAV points are plain microaggregation of the same columns." if found[0].references else ""),
    )


def _linked(out: Page, found: "Sequence[Comparison]") -> None:
    out.section("What an intruder links")
    rows = []
    for result in found:
        for known, percent in zip(result.scenarios, result.by_scenario, strict=True):
            everything = len(known) == len(result.columns)
            rows.append((result.name, "all columns" if everything else ", ".join(known), percent, "distance"))
        rows.append((result.name, "all columns", result.pld, "agreement"))
    out.table(["release", "known to the intruder", "links, %", "by"], rows)
    one = found[0]
    links = round(one.links_expected)
    out.text(
        f"Of {one.records:,} records "
        + (f"about {links:,}" if links >= _FEW else f"fewer than {_FEW}")
        + " would be linked to their own by somebody who knows every column exactly."
    )
    out.chart(
        charts.grouped_bars(
            [result.name.rsplit("/", 1)[-1] for result in found],
            {title: [_risk(result, key) for result in found] for key, title in RISKS.items()},
            x="release",
            y="percent",
        ),
        "The four risk measures.",
    )


def _risk(result: "Comparison", key: str) -> float:
    return result.dld_worst if key == "dld" else float(getattr(result, key))


def _measures(out: Page, result: "Comparison") -> None:
    out.section(f"Measures of {result.name}")
    out.table(
        ["measure", "value", "meaning"],
        [
            ("IL1", result.il1, "mean relative change of a value"),
            ("IL1s", result.il1s, "mean change of a value, in √2 standard deviations"),
            ("IL2", result.il2, "mean relative change of a mean"),
            ("IL3", result.il3, "mean relative change of a covariance"),
            ("IL4", result.il4, "mean relative change of a variance"),
            ("IL5", result.il5, "mean change of a correlation"),
            ("IL", result.il, "100 times the mean of IL1 to IL5"),
            ("SSE %", result.sse_percent, "100·SSE/SST on standardised columns"),
            ("ID", result.id, "values within ±1 % to ±10 % of the released one, %"),
            ("ID by sd", result.id_sd, "values within 0.01 to 0.1 standard deviations, %"),
            ("DLD", result.dld, "records linked by distance, ties by chance, %"),
            ("PLD", result.pld, "records linked by agreement, %"),
            ("DR", result.dr, "half ID, a quarter of DLD and of PLD"),
            ("score", result.score, "mean of IL and DR"),
            ("fitness", result.fitness.value, "the score by which attribute groupings are judged"),
        ],
    )


def _columns(out: Page, result: "Comparison") -> None:
    out.section(f"Loss by column of {result.name}")
    drawn = result.attributes[:_DRAWN]
    out.chart(
        charts.bars(
            [a.column for a in drawn], [a.sse_percent for a in drawn], x="column", y="variation lost, %"
        ),
        "The share of each column's variation that disappeared."
        + (f" The first {_DRAWN} columns." if len(result.attributes) > _DRAWN else ""),
    )
    out.table(
        ["column", "IL1", "IL1s", "mean", "variance", "SSE %", "ID %", "ID by sd %"],
        _by_column(result),
    )


def _by_column(result: "Comparison") -> list[tuple[Any, ...]]:
    return [(a.column, a.il1, a.il1s, a.il2, a.il4, a.sse_percent, a.id, a.id_sd) for a in result.attributes]
