"""The report of an attribute grouping: the groups, the search, and how each genetic operator served."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.microdata.grouping.assurances import assurances as assurances
from shoal.microdata.grouping.definitions import DEFINITIONS
from shoal.operation import Rows
from shoal.report import charts
from shoal.report.definitions import in_words
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.grouping.result import AttributeGrouping
    from shoal.runtime import Progress
    from shoal.runtime.evolution import OperatorStatistics


def glimpse(progress: "Progress") -> str:
    """How far the search is."""
    value = "" if progress.value is None else f"score {progress.value:.4f}"
    bound = "" if progress.bound is None else f"  at least {progress.bound:.4f}"
    return f"{value}{bound}"


def figures(result: "AttributeGrouping", settings: object) -> dict[str, Any]:
    """Everything that is known of the groups in numbers."""
    return result.to_dict()


def facts(result: "AttributeGrouping", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    found = result.solution
    least = "no bound is known" if result.bound is None else f"no grouping scores below {result.bound:.4f}"
    proof = ", proved optimal" if result.optimal else f"; {least}"
    alone = ", ".join(f"{name} {own.value:.4f}" for name, own in result.alone.items())
    return [
        ("score", f"{result.score:.4f}{proof}"),
        ("information loss", f"{result.il:.2f} %"),
        ("interval disclosure", f"{result.id:.2f} %"),
        ("linkage", f"{result.dld:.2f} % of {result.records:,} records"),
        (
            "search",
            f"{result.method}, {found.evaluations:,} groupings, {found.clustered:,} clusterings "
            f"({found.saved:,} saved), stopped by {found.stopped_by}",
        ),
        *([("score by one operator alone", alone)] if alone else []),
    ]


def tables(result: "AttributeGrouping", settings: object) -> list[Rows]:
    """The groups, and how to go on with them."""
    groups = ";".join(map(",".join, result.groups))
    return [
        Rows(
            ["group", "columns"],
            [(number, ", ".join(names)) for number, names in enumerate(result.groups, 1)],
            rest=f'release with: shoal microaggregate … --groups "{groups}" -k {result.k}',
        )
    ]


def page(result: "AttributeGrouping", settings: object = None) -> Page:
    """The report of one grouping; all it needs to know of the settings the result knows itself."""
    found = result.solution
    out = Page(
        "Attribute groups",
        f"k = {result.k}, {sum(map(len, result.groups))} columns, {result.records:,} records",
    )
    out.section("Result")
    out.facts(
        [
            *in_words(DEFINITIONS, result.to_dict(), DEFINITIONS),
            ("clusterings made", found.clustered),
            ("clusterings saved", found.saved),
            ("records left out", result.left_out),
            ("search stopped by", str(found.stopped_by)),
        ]
    )
    for warning in result.warnings:
        out.warning(warning)
    for note in result.notes:
        out.note(note)
    (groups,) = tables(result, settings)
    out.table(groups.header, groups.body)
    if len(found.runs) > 1:
        out.section("Runs")
        out.table(
            ["run", "score", "groups", "generations", "evaluations"],
            [
                (number, run.score.value, len(run.partition), run.generations, run.evaluations)
                for number, run in enumerate(found.runs, 1)
            ],
        )
    _course(out, result)
    if found.statistics is not None:
        _operators(out, found.statistics, "together")
    if result.alone:
        _alone(out, result)
    out.provenance(
        result.settings,
        "the table protected group by group and its score measured by code that shares nothing with the search",
    )
    return out


def _course(out: Page, result: "AttributeGrouping") -> None:
    course = result.solution.course
    if len(course.best) < 2:
        points = [(p.work, p.value) for p in result.history if p.value is not None]
        if len(points) > 1:
            out.section("The search")
            out.chart(charts.lines({"best score": points}, x="branches", y="score"), "The best score found.")
        return
    out.section("The search")
    out.chart(
        charts.lines(
            {"best": list(enumerate(course.best)), "mean of the population": list(enumerate(course.mean))},
            x="generation",
            y="score",
            steps=False,
        ),
        "Best and mean score by generation"
        + (
            "."
            if result.solution.sampled is None
            else f", on a sample of {result.solution.sampled:,} records."
        ),
    )
    out.chart(
        charts.lines({"groups": list(enumerate(course.groups))}, x="generation", y="groups", steps=False),
        "Mean number of groups in the population: first it adapts, then attributes are exchanged.",
    )


def _operators(out: Page, statistics: "OperatorStatistics", how: str) -> None:
    out.section(f"The genetic operators, {how}")
    made = statistics.made.sum(axis=1)
    survived, unused, improved, worse = (
        values.sum(axis=1).tolist()
        for values in (statistics.survived, statistics.unused, statistics.improved, statistics.worse)
    )
    lifetime = [_of_known(np.mean, values) for values in statistics.lifetime]
    highest = [_of_known(np.max, values) for values in statistics.highest]
    columns = (survived, unused, lifetime, improved, worse, highest)
    out.table(
        [
            "operator",
            "children",
            "survived",
            "never a parent",
            "lifetime",
            "improved",
            "worse",
            "best gain %",
        ],
        list(zip(statistics.operators, made.tolist(), *columns, strict=True)),
    )
    share = np.divide(
        100.0 * statistics.unused,
        statistics.made,
        out=np.full(statistics.made.shape, np.nan),
        where=statistics.made > 0,
    )
    for title, values, axis in (
        ("Utilisation: children that never became parents. Lower is better.", share, "unused, %"),
        ("Average lifetime of a child, in generations.", statistics.lifetime, "generations"),
        ("Efficacy: children better than their parents.", statistics.improved.astype(float), "children"),
        ("Efficacy: children worse than their parents.", statistics.worse.astype(float), "children"),
        ("Efficiency: mean gain of the children that improve.", statistics.gain, "gain, %"),
        ("Efficiency: mean loss of the children that are worse.", statistics.loss, "loss, %"),
    ):
        series = {
            name: [(g, float(v)) for g, v in enumerate(values[row]) if not np.isnan(v)]
            for row, name in enumerate(statistics.operators)
        }
        if any(series.values()):
            out.chart(charts.lines(series, x="generation", y=axis, steps=False), title)
    out.note(
        "In the last generations lifetimes are too short and too many children are unused: the search ends."
    )


def _alone(out: Page, result: "AttributeGrouping") -> None:
    out.section("Each operator alone")
    together = result.solution.course.best
    if together:
        curves: Mapping[str, list[tuple[float, float]]] = {
            name: [
                (g, own / both)
                for g, (own, both) in enumerate(zip(found.course.best, together, strict=False))
            ]
            for name, found in result.alone.items()
        }
        out.chart(
            charts.lines(curves, x="generation", y="best score / that of all", steps=False),
            "Best score of an operator alone, divided by that of all together.",
        )
    for name, found in result.alone.items():
        if found.statistics is not None:
            _operators(out, found.statistics, f"{name} alone (score {found.value:.4f})")


def _of_known(function: Callable[[np.ndarray], Any], values: np.ndarray) -> float | None:
    known = values[~np.isnan(values)]
    return float(function(known)) if known.size else None
