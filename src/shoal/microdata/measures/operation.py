"""``compare`` as an operation: one or several releases measured against the data they come from."""

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.errors import InputError, parameter
from shoal.microdata.measures.settings import CompareSettings
from shoal.operation import DataName, Engine, Operation, Workplace, call
from shoal.operation_release import Written

if TYPE_CHECKING:
    from shoal.microdata.measures.classic import Definitions
    from shoal.microdata.measures.result import Comparison


def run(settings: CompareSettings, workplace: Workplace) -> "list[Comparison]":
    """Measure each release."""
    from shoal.microdata.measures.api import compare

    links: list[str | None] = [*settings.record_links] or [None] * len(settings.protected)
    using = _definitions(settings)
    budget, spent = workplace.budget(settings), 0.0
    workplace.say("reading")
    before = workplace.records(settings.original)
    found: list[Comparison] = []
    for name, linked in zip(settings.protected, links, strict=True):
        workplace.say(f"reading {name}")
        after = workplace.records(name, like=before)
        own = replace(budget, seconds=budget.seconds and max(1e-9, budget.seconds - spent))
        began = budget.clock()
        found.append(
            call(
                compare,
                settings,
                workplace,
                original=before.frame,
                protected=after.frame,
                roles=before.roles,
                record_links=None if linked is None else workplace.file(linked),
                definitions=using,
                references=workplace.reported and not found,
                name=after.name,
                budget=own,
            )
        )
        spent += budget.clock() - began
    return found


def _definitions(settings: CompareSettings) -> "Definitions":
    from shoal.microdata.measures.classic import Definitions

    widths = tuple(width / 100 for width in settings.widths)
    return Definitions(widths, settings.around, settings.scaling, settings.ties, settings.within)


def reads(settings: CompareSettings) -> list[DataName]:
    """Both sides, and what joins them."""
    return [settings.original, *settings.protected, *settings.record_links]


def check(settings: CompareSettings, written: frozenset[str]) -> None:
    """The records must be paired in one way, and there must be links for each release."""
    from shoal.microdata.measures.pairing import Pairing

    Pairing.check(settings.key, settings.record_links or None, settings.paired_by_position)
    from shoal.microdata.measures.attacks.all_attacks import ATTACKS, chosen
    from shoal.microdata.measures.utility.all_utility import UTILITY

    chosen(settings.utility, UTILITY, "measure")
    chosen(settings.attacks, list(ATTACKS), "attack")
    releases, links = len(settings.protected), len(settings.record_links)
    if links and links != releases:
        raise InputError(
            f"there are {releases} releases and {links} files of record links; give {parameter('record_links')} once "
            "for each"
        )


def gate(comparisons: "list[Comparison]", settings: CompareSettings) -> str | None:
    """The worst risk of any release has to be allowed."""
    if settings.max_risk is None:
        return None
    if not all(result.attacks or result.untried for result in comparisons):
        return (
            f"no attack was tried, so no risk can be judged; leave {parameter('attacks')} out, or name some"
        )
    most = max(comparisons, key=lambda result: result.worst_tried[1])
    by, worst = most.worst_tried
    if worst <= settings.max_risk:
        missed = dict.fromkeys(name for result in comparisons for name in result.untried)
        told = f"not measured in time: {', '.join(missed)}; so the worst risk is not known"
        return told if missed else None
    above = [result.name for result in comparisons if result.worst_tried[1] > settings.max_risk]
    which = f" ({', '.join(above)})" if len(comparisons) > 1 else ""
    return f"the worst risk is {worst:.2f} % ({most.titled(by)}), above the {settings.max_risk:g} % allowed{which}"


OPERATION = Operation(
    name="compare",
    title="Compare releases",
    summary="Measure what protection cost and what it bought.",
    description=f"Records are paired by {parameter('key')}, by {parameter('record_links')}, or by their place with "
    f"{parameter('paired_by_position')}; one must be said."
    "\n\nPrints information loss (IL1 to IL5, IL1s, SSE), disclosure risk (intervals, linkage by distance and by agreement), the "
    "scores made of them, and K; over all columns and for each. Categories, coarser labels and blanks are compared too: what "
    "the release is still good for (pMSE, marginals, regression, classification), and further attacks, of which the most "
    "successful counts."
    f"\n\nCtrl-C or {parameter('time_limit')} end it with what is measured by then.",
    doing="comparing",
    examples=(
        "shoal compare survey.csv safe.csv --record-links links.csv --columns income,age --report compare.html",
        "shoal compare survey.csv mdav.csv ils.csv grouped.csv --key id --report map.html",
    ),
    settings=CompareSettings,
    run=run,
    reads=reads,
    check=check,
    gate=gate,
    reporter="shoal.microdata.measures.report",
    function="shoal.microdata.measures.api:compare",
    measured=Written(first=("original", "protected"), ending="parquet", compares="protected"),
    apart=frozenset(
        {
            *("roles", "definitions", "references", "name", "max_risk"),
            *("scaling", "around", "widths", "ties", "within"),
        }
    ),
    engines={
        "spark": Engine(
            "shoal.spark.operations:run_compare",
            reporter="shoal.microdata.measures.large_comparison",
            takes=frozenset(
                {"columns", "quasi", "unit", "max_risk", "key", "engine", "master", "spark_conf"}
            ),
        )
    },
)
