"""The report of a microaggregation: what a release officer must see to sign, and nothing confidential."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import parameter
from shoal.microdata.microaggregation.assurances import assurances as assurances
from shoal.microdata.microaggregation.definitions import DEFINITIONS
from shoal.microdata.microaggregation.exposure import (
    LINKED_HOW,
    dominated_groups,
    groups_without_range,
)
from shoal.operation import Rows
from shoal.remarks import remarks_in_json
from shoal.report.definitions import in_words

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.categories import CategoryChanges
    from shoal.microdata.microaggregation.result import Microaggregation
    from shoal.report.page import Page
    from shoal.runtime import Progress

# A report of a hundred columns would not be read; the first ones are drawn, all are in the table.
_DRAWN = 12


def glimpse(progress: "Progress") -> str:
    """How far the search is."""
    rate = progress.work / progress.seconds if progress.seconds > 0 else 0.0
    value = "" if progress.value is None else f"loss {progress.value:.4f} %"
    return f"{value}  {progress.work:,} iterations, {rate:,.0f}/s"


def figures(result: "Microaggregation", settings: object) -> dict[str, Any]:
    """Everything that is known of a release in numbers."""
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
        "bound_share_percent": result.bound_share,
        "optimal": result.optimal,
        "iterations": int(sum(part.iterations for part in result.parts)),
        "stopped_by": str(result.stopped_by),
        "seconds": sum(part.seconds for part in result.parts),
        "verified": True,
        "quasi": list(result.quasi),
        "quasi_guessed": result.quasi_guessed,
        "null": result.anonymity.null,
        "below": {str(limit): result.anonymity.below(limit) for limit in (3, 5, 10)},
        "maximum_risk": result.anonymity.maximum_risk,
        "average_risk": result.anonymity.average_risk,
        **_categories(result),
        **_grouping(result),
        **remarks_in_json(result.remarks),
    }


def _categories(result: "Microaggregation") -> dict[str, Any]:
    """What categories lost, where some are nominal."""
    if result.categories is None:
        return {}
    return {
        "categories": [asdict(change) for change in result.categories.columns],
        "unchanged": result.categories.unchanged,
        "new_combinations": result.categories.new_combinations,
    }


def _grouping(result: "Microaggregation") -> dict[str, Any]:
    """The score by which the groups were chosen, and beside it that of what is released."""
    fields: dict[str, Any] = {}
    if result.grouping is not None:
        told = ("method", "score", "il", "id", "dld", "bound", "optimal")
        fields["grouping"] = {name: getattr(result.grouping, name) for name in told}
    if result.fitness is not None:
        own = result.fitness
        fields["release"] = {"score": own.value, "il": own.il, "id": own.id, "dld": own.dld}
    return fields


def facts(result: "Microaggregation", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    sizes = [size for part in result.parts for size in part.sizes.tolist()]
    iterations = sum(part.iterations for part in result.parts)
    aside = f" ({result.set_aside:,} set aside)" if result.set_aside else ""
    pairs: list[tuple[str, Any]] = [
        ("records", f"{result.records:,}{aside}"),
        ("groups", f"{len(sizes):,} of {min(sizes)} to {max(sizes)} records"),
        ("information loss", f"{result.loss:.4f} %{_quality(result)}"),
        *_k_in_words(result),
        ("search", f"{result.method}, {iterations:,} iterations, stopped by {result.stopped_by}"),
    ]
    if result.grouping is not None:
        pairs.append(("column groups", ";".join(",".join(part.columns) for part in result.parts)))
        pairs.append(("score when chosen", f"{result.grouping.score:.4f}, by {result.grouping.method}"))
    if result.fitness is not None:
        own = result.fitness
        score = f"{own.value:.4f} (IL {own.il:.2f}, ID {own.id:.2f}, DLD {own.dld:.2f} %)"
        pairs.append(("score of the release", score))
    return pairs


def tables(result: "Microaggregation", settings: object) -> list[Rows]:
    """Means and deviations before and after."""
    change = f"largest change of a correlation: {result.changes.largest_change_in_words()}"
    numbers = Rows(
        ["column", "mean before", "after", "deviation before", "after", "variance kept %"],
        [item.row() for item in result.changes.columns],
        rest=change if len(result.changes.columns) > 1 else "",
    )
    rows = [numbers] if result.changes.columns else []
    if result.categories is not None:
        rows.append(
            Rows(_OF_CATEGORIES, _category_rows(result.categories), rest=_of_records(result.categories))
        )
    return rows


_OF_CATEGORIES = [
    "column",
    "records changed %",
    "records in groups of one true value %",
    "values",
    "lost",
    "rarer",
]


def _category_rows(changes: "CategoryChanges") -> list[tuple[str, float, float, int, int, int]]:
    return [
        (item.column, 100.0 * item.changed, 100.0 * item.one_value, item.values, item.lost, item.rarer)
        for item in changes.columns
    ]


def _of_records(changes: "CategoryChanges") -> str:
    return (
        f"{100.0 * changes.unchanged:.1f} % of the records are released as they were; {100.0 * changes.new_combinations:.1f} % "
        "have values that nobody had together"
    )


def _k_in_words(result: "Microaggregation") -> list[tuple[str, str]]:
    """K over what could be known, and beside it K over the protected columns where that is another figure."""
    guessed = f", all that could be known ({parameter('quasi')} names others)" if result.quasi_guessed else ""
    over = f"{result.k_release} over {', '.join(result.quasi)}{guessed} (k asked for: {result.k})"
    alone = [(DEFINITIONS["k_protected"].name, f"{result.k_protected}")]
    return [("K of the release", over), *(alone if result.k_protected != result.k_release else [])]


def _quality(result: "Microaggregation") -> str:
    if result.optimal:
        return ", proved optimal"
    if result.bound is None:
        return ""
    return f"; no grouping can lose less than {result.bound:.4f} % ({result.bound_share:.0f} % of it)"


def page(result: "Microaggregation", settings: object = None) -> "Page":
    """The report of one release; all it needs to know of the settings the result knows itself."""
    # Most commands write no report, and need not load what draws it.
    from shoal.report import charts
    from shoal.report.bins import Bin, merge_small
    from shoal.report.page import Page

    out = Page("Microaggregated records", f"k = {result.k}, {len(result.columns)} protected columns")
    out.section("Result")
    sizes = np.concatenate([part.sizes for part in result.parts])
    found = figures(result, settings)
    chosen = "all that could be known, by the look of the columns" if result.quasi_guessed else "named"
    out.facts(
        [
            *in_words(DEFINITIONS, found, ("records", "set_aside")),
            (DEFINITIONS["k_release"].name, f"{result.k_release}, over {', '.join(result.quasi)} ({chosen})"),
            *in_words(DEFINITIONS, found, ("k_protected", "k", "below", "maximum_risk", "average_risk")),
            *in_words(
                DEFINITIONS, found, ("loss_percent", "bound_percent", "bound_share_percent", "optimal")
            ),
            ("groups", f"{sizes.size:,} of {sizes.min()} to {sizes.max()} records"),
            ("search stopped by", str(result.stopped_by)),
        ]
    )
    for warning in result.warnings:
        out.warning(warning)
    for note in result.notes:
        out.note(note)
    _exposure(out, result)
    _search(out, result)
    out.section("Groups")
    bins = merge_small(
        [Bin(size, size, int(count * size)) for size, count in enumerate(np.bincount(sizes)) if count]
    )
    if bins:
        names, counts = [b.name for b in bins], [b.count for b in bins]
        chart = charts.bars(names, counts, x="records in the group", y="records")
        out.chart(chart, "How many records are in groups of which size.")
    _columns(out, result)
    out.provenance(
        result.settings,
        "sizes, group values, loss and K recomputed from the released frame by a check that shares no code with the search",
    )
    return out


def _exposure(out: "Page", result: "Microaggregation") -> None:
    out.section("What remains at risk")
    columns = {attribute.name: attribute for attribute, _ in result.released_columns()}
    rows = []
    for part in result.parts:
        for name in part.columns:
            values, measured = columns[name].values, not columns[name].categorical
            single = int(groups_without_range(values, part.labels).sum())
            dominated = int(dominated_groups(values, part.labels).sum()) if measured else None
            rows.append((name, part.sizes.size, single, dominated))
    out.table(
        ["column", "groups", "groups with a single value", "groups a member dominates (p % = 10)"], rows
    )
    links = result.expected_links
    if links:
        out.table(
            ["an intruder who knows", "links to expect", "in percent of the records"],
            [(known, round(number, 1), 100.0 * number / result.records) for known, number in links],
        )
        out.note(f"Linked by distance to the released records; {LINKED_HOW}.")
    else:
        out.note("There are too many records to link them here; shoal compare does it.")


def _search(out: "Page", result: "Microaggregation") -> None:
    curves = {}
    for part in result.parts:
        for name, history in part.histories:
            if len(history) > 1:
                curves[name or "loss"] = [(p.work, p.value) for p in history if p.value is not None]
    if not curves:
        return
    from shoal.report import charts

    out.section("The search")
    first = dict(list(curves.items())[:6])
    some = "" if len(first) == len(curves) else f" (6 of {len(curves)} searches)"
    chart = charts.lines(first, x="iterations", y="information loss, %")
    out.chart(chart, f"The best loss found so far{some}.")


def _columns(out: "Page", result: "Microaggregation") -> None:
    out.section("Before and after")
    if result.changes.columns:
        out.table(
            ["column", "mean before", "mean after", "deviation before", "deviation after", "variance kept %"],
            [change.row() for change in result.changes.columns],
        )
    if result.categories is not None:
        out.table(_OF_CATEGORIES, _category_rows(result.categories))
        out.text(
            f"{_of_records(result.categories)}. Rarer are values that fewer than half of those have who had them."
        )
    _correlations(out, result)
    if result.anonymity.units < result.records:
        # A bin of ten records may stand for one person.
        out.note("Distributions are not drawn, because some units have several records.")
        return
    from shoal.report import charts
    from shoal.report.bins import histogram

    released = _released(result)
    for name, before, after in released[:_DRAWN]:
        shown = {"before": histogram(before), "after": histogram(after)}
        if all(len(bins) > 1 for bins in shown.values()):
            out.chart(
                charts.densities(shown, x=name),
                f"{name}: between the 1st and 99th percentile, bins of at least 10 records.",
            )
    if len(released) > _DRAWN:
        out.note(f"Distributions of the first {_DRAWN} of {len(released)} columns are drawn.")


def _correlations(out: "Page", result: "Microaggregation") -> None:
    names = [c.column for c in result.changes.columns]
    if len(names) < 2:
        return
    before, after = result.changes.correlations_before, result.changes.correlations_after
    pairs = [
        (names[i], names[j], float(before[i, j]), float(after[i, j]))
        for i in range(len(names))
        for j in range(i)
        if not (np.isnan(before[i, j]) or np.isnan(after[i, j]))
    ]
    pairs.sort(key=lambda row: -abs(row[3] - row[2]))
    out.text(f"Largest change of a correlation: {result.changes.largest_change_in_words()}.")
    out.table(["column", "column", "correlation before", "after"], pairs[:10])


def _released(result: "Microaggregation") -> list[tuple[str, np.ndarray, np.ndarray]]:
    import narwhals as nw

    from shoal.microdata.columns.attributes import read_attribute

    frame = nw.from_native(result.frame, eager_only=True)
    return [
        (attribute.name, attribute.values, read_attribute(frame, attribute.name).values)
        for attribute in result._check.attributes
        if attribute.kind in ("number", "integer")
    ]
