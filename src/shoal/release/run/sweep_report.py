"""What a sweep found, as a table and as a map of risk and loss."""

from collections.abc import Sequence
from typing import Any

from shoal.release.plan.plan import Plan
from shoal.release.run.report import attackers
from shoal.release.run.sweep import Choice, Sweep, Variant
from shoal.report import charts
from shoal.report.page import Page
from shoal.report.provenance import Assurances, Provenance

_HEADER = ["lost, %", "linkage, %", "by", "K", "expected found", "gates"]


def rows(choices: Sequence[Choice], variants: Sequence[Variant]) -> tuple[list[str], list[list[Any]]]:
    """A header, and a line for each variant."""
    names = [choice.name for choice in choices]
    return [*names, *_HEADER], [[*[item.values[name] for name in names], *_row(item)] for item in variants]


def _row(item: Variant) -> list[Any]:
    if item.lost is None or item.worst_risk is None or item.reidentifications is None:
        return ["–", "–", "–", "–", "–", item.failed]
    passed = {True: "passed", False: "failed", None: "none"}[item.passed]
    risks = [f"{item.worst_risk:.2f}", item.attack, item.k, f"{item.reidentifications:.2f}"]
    return [f"{item.lost:.2f}", *risks, passed]


def page(plan: Plan, done: Sweep, *, by: str = "plan", words: str = "") -> Page:
    """The report: the map, and the table below it; ``by`` and ``words`` say what made it."""
    sheet = Page(
        f"Sweep over {plan.about.name}", "what every choice would lose and give away; nothing was published"
    )
    for text in done.failures:
        sheet.warning(f"Could not be run: {text}")
    header, body = rows(done.choices, done.variants)
    points = [
        (", ".join(f"{name} = {value}" for name, value in item.values.items()), item.lost, item.worst_risk)
        for item in done.variants
        if item.lost is not None and item.worst_risk is not None
    ]
    if points:
        sheet.section("Risk and loss")
        sheet.chart(
            charts.points(points, x="lost, percent", y="records found by the worst linkage, percent"),
            "Every point is one choice of settings. Lost: of numbers the share of their variance that is error, of categories "
            "of their entropy, mean over the columns.",
        )
    sheet.section("All choices")
    sheet.table(header, body)
    sheet.provenance(
        [("plan", plan.about.name), *[(choice.name, list(choice.values)) for choice in done.choices]],
        "every variant run in full, and measured like a release",
    )
    return sheet.complete(
        Provenance(by, words or plan.about.name, done.inputs), _assurances(plan, done.variants)
    )


def _assurances(plan: Plan, variants: Sequence[Variant]) -> Assurances:
    """The three answers, over all variants that were measured."""
    ks = [item.k for item in variants if item.k is not None]
    risks = [item.worst_risk for item in variants if item.worst_risk is not None]
    nothing = "not measured: no variant could be run."
    return Assurances(
        attacker=attackers(plan),
        singling_out=f"K is from {min(ks)} to {max(ks)} over the choices." if ks else nothing,
        linking=f"the worst linkage finds from {min(risks):.2f} to {max(risks):.2f} percent of the records over the choices."
        if risks
        else nothing,
        inference="not measured by a sweep; shoal compare measures what values can be inferred.",
    )
