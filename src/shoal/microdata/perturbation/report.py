"""The report of a perturbation: what changed, what holds, and what is still true of what one sees."""

from typing import TYPE_CHECKING, Any

from shoal.microdata.perturbation.assurances import assurances as assurances
from shoal.operation import Rows
from shoal.remarks import remarks_in_json
from shoal.report import charts
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.perturbation.result import Perturbed

# A category of fewer records would be shown itself.
_SHOWN_FROM = 10
_DRAWN = 12


def figures(result: "Perturbed", settings: object) -> dict[str, Any]:
    """Everything that is known of a release in numbers."""
    return {
        "method": result.method,
        "records": result.records,
        "columns": list(result.columns),
        "changed": dict(result.changed),
        "changed_share": {name: count / result.records for name, count in result.changed.items()},
        "promises": [
            {"text": promise.text, "measured": outcome.measured, "kept": bool(outcome.kept)}
            for promise, outcome in zip(result.promises, result.outcomes, strict=True)
        ],
        "verified": True,
        "for_release": result.for_release,
        "facts": {name: str(value) for name, value in result.facts},
        "strata": len(result.strata),
        **remarks_in_json(result.remarks),
    }


def facts(result: "Perturbed", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    changed = ", ".join(
        f"{name} {count:,} ({100 * count / result.records:.3g} %)" for name, count in result.changed.items()
    )
    strata = [("strata", f"{len(result.strata):,}")] if len(result.strata) > 1 else []
    return [
        ("records", f"{result.records:,}"),
        *strata,
        ("values that differ now", changed),
        *[(name, f"{value:,}" if isinstance(value, int) else value) for name, value in result.facts],
        ("randomness", "a secret" if result.for_release else "a seed: not for release"),
    ]


def tables(result: "Perturbed", settings: object) -> list[Rows]:
    """What is promised, and what was measured of it."""
    return [Rows(["promised", "measured on the release"], _promises(result))]


def _promises(result: "Perturbed") -> list[tuple[str, str]]:
    pairs = zip(result.promises, result.outcomes, strict=True)
    return [(promise.text, outcome.measured) for promise, outcome in pairs]


def page(result: "Perturbed", settings: object) -> Page:
    """The report. It is internal; categories of fewer than 10 records are not named."""
    sheet = Page(f"Perturbation by {result.method}", "columns: " + ", ".join(result.columns))
    for text in result.warnings:
        sheet.warning(text)
    sheet.section("What was done")
    sheet.facts(facts(result, settings))
    sheet.text(
        "Perturbation promises no k: who is unique may stay so. What it buys is measured by comparing the release with the "
        "original (shoal compare), over all the attacks there are."
    )
    sheet.section("What holds")
    sheet.table(["promised", "measured on the release"], _promises(result))
    sheet.section("Values that differ now")
    shares = [100 * count / result.records for count in result.changed.values()][:_DRAWN]
    sheet.chart(
        charts.bars(list(result.changed)[:_DRAWN], shares, x="column", y="percent of the records"),
        "How many values of each column differ from the original.",
    )
    if result.method == "pram":
        _truths(sheet, result)
    for text in result.notes:
        sheet.note(text)
    sheet.provenance(
        [("randomness", "secret" if result.for_release else "seed, not for release")],
        "every promise recomputed from the original and the released records, by checks that share nothing with the method",
    )
    return sheet


def _truths(sheet: Page, result: "Perturbed") -> None:
    """Of each category the chance that it is true where it is seen."""
    sheet.section("What a seen value tells")
    sheet.text(
        "The chance that a value is the true one where it is seen, and the largest such chance in one stratum or group. "
        "Categories of fewer than 10 records are not listed."
    )
    for item in result.details:
        counts, highest = item.counts, item.highest_truth
        rows = [
            (item.values[code], f"{int(counts[code]):,}", f"{chance:.3f}", f"{highest[code]:.3f}")
            for code, chance in item.truth.items()
            if counts[code] >= _SHOWN_FROM
        ]
        if rows:
            header = [item.column, "records before", "chance that it is true", "at most, in one stratum"]
            sheet.table(header, rows)
