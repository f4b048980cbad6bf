"""How anonymity is told: figures, facts, tables and the report."""

from math import isfinite
from typing import TYPE_CHECKING, Any

from shoal.microdata.anonymity.assurances import assurances as assurances
from shoal.microdata.anonymity.definitions import DEFINITIONS
from shoal.microdata.anonymity.settings import RANKED_BY_DEFAULT, AnonymitySettings
from shoal.microdata.columns.units import units_in_words
from shoal.numbers import counted
from shoal.operation import Rows
from shoal.remarks import remarks_in_json
from shoal.report import charts
from shoal.report.bins import Bin, merge_small
from shoal.report.definitions import in_words
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.anonymity.operation import Measured
    from shoal.microdata.anonymity.result import Anonymity
    from shoal.microdata.models.outcome import ModelOutcome

# Longer numbers are told by their length.
_DIGITS_READ = 18
_SIZES_SHOWN = 10
_MODEL_HEADER = ["model", "outcome", "limit", "worst class", "classes that fail"]
_WHAT_MODELS_SAY = (
    "A model is judged in every class of records with the same keys; a missing key is a value of its own. Missing confidential "
    "values say nothing for diversity, and are a value of their own for closeness and likeness."
)


def figures(measured: "Measured", settings: AnonymitySettings) -> dict[str, Any]:
    """The figures of the table; of several, those of each and K over all."""
    each = [_figures(result, settings) for _, result in measured]
    if len(each) == 1:
        return each[0]
    ks = [result.k for _, result in measured]
    return {
        "tables": [{"table": name, **item} for (name, _), item in zip(measured, each, strict=True)],
        "k_mean": sum(ks) / len(ks),
        "k_min": min(ks),
        "k_max": max(ks),
    }


def _figures(result: "Anonymity", settings: AnonymitySettings) -> dict[str, Any]:
    ranked = _ranked(result, settings)
    found: dict[str, Any] = {
        "records": result.records,
        "unit": result.unit,
        "units": result.units,
        "classes": result.classes,
        "k": result.k,
        "vector": {str(size): count for size, count in result.vector.to_dict().items()},
        "rank": str(result.rank) if ranked else None,
        "vectors": str(result.vectors) if ranked else None,
        "people": {str(size): count for size, count in result.people.items()},
        "below": {str(limit): result.below(limit) for limit in (3, 5, 10)},
        "mean_class": result.vector.weighted_mean_size,
        "maximum_risk": result.maximum_risk,
        "average_risk": result.average_risk,
        "null": result.null,
        "k_strict": result.k_strict,
        "accept_wildcard": settings.accept_wildcard,
    }
    if result.diversities:
        found["distinct_l"] = min(one.distinct for one in result.diversities)
        found["entropy_l"] = min(one.entropy for one in result.diversities)
        found["diversity"] = [
            {"column": one.column, "distinct_l": one.distinct, "entropy_l": one.entropy}
            for one in result.diversities
        ]
    if result.models:
        found["models"] = [_outcome(one) for one in result.models]
    return found | remarks_in_json(result.remarks)


def _outcome(one: "ModelOutcome") -> dict[str, Any]:
    return {
        "model": one.model,
        "column": one.column,
        # The ratio of a class with too few values has no end, for which JSON has no number.
        "worst": one.worst if isfinite(one.worst) else None,
        "limit": one.limit,
        "failing_classes": one.failing_classes,
        "failing_people": one.failing_people,
        "holds": one.holds,
        **({"reference": one.reference} if one.reference else {}),
    }


def _ranked(result: "Anonymity", settings: AnonymitySettings) -> bool:
    return (settings.rank or result.records <= RANKED_BY_DEFAULT) and not result.overlapping


def facts(measured: "Measured", settings: AnonymitySettings) -> list[tuple[str, Any]]:
    """What is to be known first; several tables are a table."""
    return _facts(measured[0][1], settings) if len(measured) == 1 else []


def _facts(result: "Anonymity", settings: AnonymitySettings) -> list[tuple[str, Any]]:
    found = _figures(result, settings)
    pairs: list[tuple[str, Any]] = in_words(DEFINITIONS, found, ("records",))
    if result.units != result.records:
        pairs += in_words(DEFINITIONS, found, ("units",))
    pairs += in_words(DEFINITIONS, found, ("classes", "k"))
    pairs.append(("anonymity vector", str(result.vector)))
    if _ranked(result, settings):
        pairs.append(("rank", _rank_in_words(result)))
    pairs += in_words(DEFINITIONS, found, ("below", "mean_class", "maximum_risk", "average_risk"))
    pairs.append(
        ("a missing value", "is a value of its own" if result.null == "own" else "matches any value")
    )
    if result.k_strict < result.k:
        pairs.append(("K where a missing value is one of its own", result.k_strict))
    pairs += [
        (
            f"diversity of {one.column}",
            f"at least {one.distinct} distinct values, entropy {one.entropy:.3g}",
        )
        for one in result.diversities
    ]
    pairs += [(one.named, _in_words(one, result.unit)) for one in result.models]
    return pairs


def _row(one: "ModelOutcome") -> list[str]:
    limit = " to ".join(f"{end:g}" for end in one.limit) if isinstance(one.limit, tuple) else f"{one.limit:g}"
    failing = (f"{one.failing_classes:,}", f"{one.failing_people:,}")
    return [one.named, "holds" if one.holds else "fails", limit, _number(one.worst), *failing]


def _in_words(one: "ModelOutcome", unit: str | None) -> str:
    worst = f"{one.where_worst} {_number(one.worst)}"
    worst += f"; compared with the shares in {one.reference}" if one.reference else ""
    if one.holds:
        return f"holds; {worst}"
    if not one.failing_classes:
        return f"does not hold; {worst}"
    where = f"{counted(one.failing_classes, 'class', 'classes')} with {counted(one.failing_people, *units_in_words(unit))}"
    return f"fails in {where}; {worst}"


def _number(value: float) -> str:
    return f"{value:.4g}" if isfinite(value) else "too few values for a ratio"


def _rank_in_words(result: "Anonymity") -> str:
    """The rank and how many vectors there are, short enough to read."""
    rank, vectors = str(result.rank), str(result.vectors)
    if len(vectors) <= _DIGITS_READ:
        return f"{int(rank):,} of 0 … {int(vectors) - 1:,} (higher is more anonymous)"
    text = f"a number of {len(rank)} digits, among about 10^{len(vectors) - 1} vectors"
    if len(vectors) >= 300:
        return text
    share = 100.0 * int(rank) / max(1, int(vectors) - 1)
    return text + (" (in the best 0.01 %)" if share > 99.99 else f" ({share:.4g} % of the way to the best)")


def tables(measured: "Measured", settings: AnonymitySettings) -> list[Rows]:
    """The sizes of the classes, or of several tables a line each."""
    if len(measured) > 1:
        every = figures(measured, settings)
        header = ["table", "records", "classes", "K", "in classes below 3", "below 5", "below 10"]
        body = [[name, r.records, r.classes, r.k, *map(r.below, (3, 5, 10))] for name, r in measured]
        if settings.models:
            header.append("models that fail")
            for row, (_, result) in zip(body, measured, strict=True):
                row.append(", ".join(one.named for one in result.models if not one.holds) or "none")
        overall = f"K: mean {every['k_mean']:g}, smallest {every['k_min']}, largest {every['k_max']}"
        return [Rows(header, body, rest=overall)]
    result = measured[0][1]
    sizes = list(result.people.items())
    more = len(sizes) - _SIZES_SHOWN
    found = [
        Rows(
            ["class size", "classes", units_in_words(result.unit)[1]],
            [(size, result.vector[size], people) for size, people in sizes[:_SIZES_SHOWN]],
            rest=f"… and {more} larger sizes" if more > 0 else "",
        )
    ]
    if settings.show_values:
        smallest = result.smallest(10)
        # Values as the data have them: a postcode or a year is no count.
        by_value = [
            [*("" if value is None else str(value) for value in values), size]
            for *values, size in smallest.iter_rows()
        ]
        found.append(Rows([*smallest.columns], by_value, title="the smallest classes"))
    return found


def page(measured: "Measured", settings: AnonymitySettings) -> Page:
    """The report: facts and a chart of each table; no record is shown, and no bar stands for fewer than 10."""
    which = measured[0][0] if len(measured) == 1 else f"{len(measured)} tables"
    sheet = Page(f"Anonymity of {which}", "quasi-identifiers: " + ", ".join(settings.quasi))
    if len(measured) > 1:
        sheet.section("All tables")
        for rows in tables(measured, settings):
            sheet.table(rows.header, rows.body)
    for name, result in measured:
        sheet.section(name)
        for warning in result.warnings:
            sheet.warning(warning)
        sheet.facts(_facts(result, settings))
        if result.models:
            sheet.table(
                [*_MODEL_HEADER, f"{units_in_words(result.unit)[1]} in them"],
                [_row(one) for one in result.models],
            )
            sheet.note(_WHAT_MODELS_SAY)
            for where in dict.fromkeys(one.reference for one in result.models if one.reference):
                sheet.note(f"Closeness and likeness hold the shares of a class against those in {where}.")
        bins = merge_small(_binned(result.people))
        if bins:
            names, counts = [b.name for b in bins], [b.count for b in bins]
            many = units_in_words(result.unit)[1]
            sheet.chart(
                charts.bars(names, counts, x="size of the class", y=many),
                f"How many {many} are in classes of which size. Bars stand for at least 10.",
            )
        else:
            sheet.note("There is too little for a chart.")
    sheet.provenance(
        [
            ("quasi-identifiers", ", ".join(settings.quasi)),
            ("counting", units_in_words(measured[0][1].unit)[1]),
            ("a missing value", settings.null),
        ],
        "sizes recounted from the class of each record",
    )
    return sheet


def _binned(people: dict[int, int]) -> list[Bin]:
    # Sizes 1 to 9 one by one, larger ones by powers of two, so that the chart stays readable.
    grouped: dict[int, int] = {}
    for size, count in people.items():
        key = size if size < 10 else 10 * 2 ** ((size // 10).bit_length() - 1)
        grouped[key] = grouped.get(key, 0) + count
    return [Bin(key, key if key < 10 else 2 * key - 1, count) for key, count in sorted(grouped.items())]
