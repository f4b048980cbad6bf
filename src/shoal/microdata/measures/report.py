"""The report of a comparison: the risk–utility map, loss by column, and how many records an intruder links."""

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from shoal.errors import parameter
from shoal.microdata.measures.assurances import assurances as assurances
from shoal.microdata.measures.definitions import DEFINITIONS
from shoal.microdata.measures.report_utility import draw_attacks, draw_utility
from shoal.microdata.measures.result import RISKS
from shoal.operation import Rows
from shoal.report import charts
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.measures.attacks.attack import Attack
    from shoal.microdata.measures.result import Comparison
    from shoal.runtime import Progress

# A chart of a hundred columns cannot be read; the table has all of them.
_DRAWN = 24
# Below this many links only a rounded share is shown: the report may be read by more people than the data.
_FEW = 10
_OF_CATEGORIES = ["column", "changed %", "blank %", "information kept %", "new labels", "total variation"]


_MISSED, _COMPARED = "not measured", "all numbers compared"


def glimpse(progress: "Progress") -> str:
    """What is being measured."""
    return progress.phase


def figures(comparisons: "Sequence[Comparison]", settings: object) -> dict[str, Any]:
    """Every measure of the release; of several, those of each."""
    each = [result.to_dict() for result in comparisons]
    return each[0] if len(each) == 1 else {"releases": each}


def facts(comparisons: "Sequence[Comparison]", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first; several releases are a table."""
    if len(comparisons) > 1:
        return []
    result = comparisons[0]
    return [
        ("records compared", f"{result.records:,}, paired by {result.pairing.replace('-', ' ')}"),
        ("worst risk", result.worst_in_words()),
        *_further(result),
        *(_classic(result) if result.numbers else []),
        *_usefulness(result),
        ("K", _k_in_words(result)),
    ]


def _classic(result: "Comparison") -> list[tuple[str, Any]]:
    losses = (result.il1, result.il2, result.il3, result.il4, result.il5)
    return [
        (
            "interval disclosure",
            f"{result.id:.2f} % (worst column {result.id_worst:.2f} %), by standard deviation {result.id_sd:.2f} % "
            f"(worst column {result.id_sd_worst:.2f} %)",
        ),
        (
            "linkage by distance",
            _MISSED
            if isnan(result.dld)
            else f"{result.dld:.2f} %: {result.links_expected:,.1f} records expected, "
            f"{result.links_strict:,} without a tie",
        ),
        ("linkage by agreement", _MISSED if isnan(result.pld) else f"{result.pld:.2f} %"),
        (
            "disclosure risk",
            _MISSED if isnan(result.dr) else f"{result.dr:.2f} (half intervals, a quarter of each linkage)",
        ),
        ("information loss", f"{result.il:.2f}; 100·SSE/SST is {result.sse_percent:.4f}"),
        ("IL1, IL2, IL3, IL4, IL5", ", ".join(f"{value:.4f}" for value in losses)),
        ("IL1s", f"{result.il1s:.4f}"),
        ("score", _in_words(result.score)),
        (
            "fitness",
            _MISSED
            if isnan(result.fitness.value)
            else f"{result.fitness.value:.2f} (IL {result.fitness.il:.2f}, ID {result.fitness.id:.2f}, "
            f"DLD {result.fitness.dld:.2f})",
        ),
    ]


def _in_words(value: float) -> str:
    return _MISSED if isnan(value) else f"{value:.2f}"


def _further(result: "Comparison") -> list[tuple[str, str]]:
    """The attacks beside the classic ones in one line, the most successful first."""
    tried = sorted(result.tried, key=lambda attack: -attack.percent)
    told = [f"{attack.title} {attack.percent:.2f} %{_more(attack)}" for attack in tried]
    return [("further attacks", "; ".join(told))] if told else []


def _more(attack: "Attack") -> str:
    """What is to be said of an attack beside its success."""
    details = dict(attack.details)
    told = []
    if details.get("window_percent") is not None:
        told.append(f"±{details['window_percent']:.3g} % of the ranks")
    if "worst_column" in details:
        told.append(f"{details['worst_column']}; mean {100 * details['mean']:.2f} %")
    if "auc" in details:
        told.append(f"AUC {details['auc']:.3f}")
    return f" ({', '.join(told)})" if told else ""


def _usefulness(result: "Comparison") -> list[tuple[str, str]]:
    """One line for each measure of utility, the worst case named."""
    useful, found = result.utility, []
    if useful.pmse is not None:
        models = [
            f"{one.model} {one.pmse:.4g}"
            + ("" if one.ratio is None else f" ({one.ratio:.2f} of what is expected)")
            for one in useful.pmse.models
        ]
        found.append(("pMSE", ", ".join([*models, f"AUC of a tree {useful.pmse.tree_auc:.3f}"])))
    if useful.marginals:
        last = useful.marginals[-1]
        found.append(
            (
                f"tables of {last.ways} columns" if last.ways > 1 else "tables of one column",
                f"total variation {last.mean:.4f} on average, worst {last.worst.total_variation:.4f} "
                f"({' × '.join(last.worst.columns)})",
            )
        )
    if useful.coefficients is not None:
        worst = useful.coefficients.worst
        found.append(
            (
                "regression",
                f"intervals overlap by {useful.coefficients.mean:.3f} on average, least {worst.minimum:.3f} "
                f"({worst.worst} in that of {worst.response})",
            )
        )
    if useful.eigenvalues is not None:
        found.append(("eigenvalues", f"changed by {useful.eigenvalues.mean_change:.4f} on average"))
    if useful.classification is not None:
        worst_one, mean = useful.classification.predictions[0], useful.classification.mean_lost
        found.append(
            (
                "classification",
                f"AUC {worst_one.original:.3f} → {worst_one.release:.3f} for {worst_one.column}, the worst; "
                f"{abs(mean):.4f} {'gained' if round(mean, 4) < 0 else 'lost'} on average",
            )
        )
    return found


def tables(comparisons: "Sequence[Comparison]", settings: object) -> list[Rows]:
    """The measures by column, or of several releases a line each."""
    if len(comparisons) > 1:
        return [
            Rows(
                ["release", "il", "dr", "score", "fitness", "sse %", "worst risk %", "K"],
                [
                    (
                        r.name,
                        *_shown(r.il, r.dr, r.score, r.fitness.value, r.sse_percent),
                        r.worst_risk["percent"],
                        r.k,
                    )
                    for r in comparisons
                ],
            )
        ]
    found_tables = []
    if comparisons[0].categories:
        found_tables.append(Rows(_OF_CATEGORIES, _by_category(comparisons[0])))
    header = ["column", "IL1", "IL1s", "mean", "variance", "sse %", "interval %", "by sd %"]
    if comparisons[0].attributes:
        found_tables.append(Rows(header, _by_column(comparisons[0])))
    return found_tables


def _shown(*values: float) -> tuple[float | None, ...]:
    """Figures as a table shows them: nothing where there was nothing to measure."""
    return tuple(None if isnan(value) else value for value in values)


def _k_in_words(result: "Comparison") -> str:
    guessed = f", all that could be known ({parameter('quasi')} names others)" if result.quasi_guessed else ""
    text = f"{result.k} over {', '.join(result.quasi)}{guessed}"
    if result.k_compared != result.k:
        text += f"; {result.k_compared} over the columns compared alone"
    return text


def page(comparisons: "Sequence[Comparison]", settings: object = None) -> Page:
    """The report of one or several releases of the same data; all it needs to know of the settings the results know."""
    first = comparisons[0]
    out = Page(
        "What protection cost and what it bought",
        f"{len(comparisons)} release{'s' if len(comparisons) > 1 else ''}, {first.records:,} records, columns: "
        + ", ".join(first.columns),
    )
    out.section("Headline")
    for result in comparisons:
        out.facts(
            [
                ("release", result.name),
                ("records paired by", result.pairing.replace("-", " ")),
                ("worst risk", result.worst_in_words()),
                *(
                    [
                        ("information loss IL", f"{result.il:.2f}"),
                        ("disclosure risk DR", _in_words(result.dr)),
                        ("score", _in_words(result.score)),
                    ]
                    if result.numbers
                    else []
                ),
                ("K of the release", f"{result.k}, over {', '.join(result.quasi)}"),
                ("K over the columns compared alone", result.k_compared),
            ]
        )
    out.note("The worst risk comes first: a mean of several measures can hide it.")
    for warning in dict.fromkeys(text for result in comparisons for text in result.warnings):
        out.warning(warning)
    for note in dict.fromkeys(text for result in comparisons for text in result.notes):
        out.note(note)
    with_numbers = [result for result in comparisons if result.numbers and not isnan(result.dr)]
    if with_numbers:
        _map(out, with_numbers)
        _linked(out, with_numbers)
    for result in comparisons:
        draw_attacks(out, result)
        draw_utility(out, result)
        if result.categories:
            out.section(f"Categories of {result.name}")
            out.table(_OF_CATEGORIES, _by_category(result))
        if result.numbers:
            _measures(out, result)
            _columns(out, result)
    how = [("records paired by", first.pairing.replace("-", " ")), *first.definitions.in_words()]
    out.provenance(how, "every measure computed again from the two tables alone")
    return out


def _map(out: Page, comparisons: "Sequence[Comparison]") -> None:
    points = [(result.name.rsplit("/", 1)[-1], result.il, result.dr) for result in comparisons]
    points += [(name, il, dr) for name, (il, dr) in comparisons[0].references.items()]
    out.section("Risk and utility")
    out.chart(
        charts.points(points, x="information loss IL", y="disclosure risk DR"),
        "Each point is a release: to the left less is lost, further down less can be disclosed. "
        + (
            "MDAV points are plain microaggregation of the same columns." if comparisons[0].references else ""
        ),
    )


def _linked(out: Page, comparisons: "Sequence[Comparison]") -> None:
    out.section("What an intruder links")
    rows = []
    for result in comparisons:
        for known, percent in zip(result.scenarios, result.by_scenario, strict=True):
            everything = set(known) >= set(result.columns)
            rows.append((result.name, _COMPARED if everything else ", ".join(known), percent, "distance"))
        rows.append((result.name, _COMPARED, result.pld, "agreement"))
    out.table(["release", "known to the intruder", "links, %", "by"], rows)
    one = comparisons[0]
    links = round(one.links_expected)
    out.text(
        f"Of {one.records:,} records "
        + (f"about {links:,}" if links >= _FEW else f"fewer than {_FEW}")
        + " would be linked to their own by distance by somebody who knows every number compared exactly: columns are scaled by "
        f"{one.definitions.scaling}, and a tie of t records counts 1/t."
    )
    out.chart(
        charts.grouped_bars(
            [result.name.rsplit("/", 1)[-1] for result in comparisons],
            {title: [_risk(result, key) for result in comparisons] for key, title in RISKS.items()},
            x="release",
            y="percent",
        ),
        "The four risk measures; interval disclosure of the worst column, linkage by distance of the worst scenario.",
    )


def _risk(result: "Comparison", key: str) -> float:
    return float(getattr(result, key if key == "pld" else f"{key}_worst"))


def _measures(out: Page, result: "Comparison") -> None:
    out.section(f"Measures of {result.name}")
    found = result.to_dict()
    out.table(
        ["measure", "value", "meaning"],
        [
            (
                item.name,
                _MISSED if result.not_measured and found[key] is None else item.text(found[key]),
                item.meaning,
            )
            for key, item in DEFINITIONS.items()
            if key not in ("records", "k", "k_compared")
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


def _by_category(result: "Comparison") -> list[tuple[Any, ...]]:
    return [
        (
            c.column,
            c.changed_percent,
            c.blanked_percent,
            c.kept_percent,
            "yes" if c.recoded else "no",
            c.total_variation,
        )
        for c in result.categories
    ]
