"""How an audit is told: the verdict, and which cells fail for which reason."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.numbers import counted
from shoal.operation import Rows
from shoal.remarks import Remark, remarks_in_json, warning
from shoal.report.definitions import in_words
from shoal.report.page import Page
from shoal.runtime.budget import StopReason
from shoal.tables.definitions import AUDIT
from shoal.tables.reports.assurances import audited
from shoal.tables.reports.gap import gap
from shoal.tables.safety.audit import INSIDERS, SUMS, WHOLE_NUMBERS

if TYPE_CHECKING:
    from shoal.runtime import Progress
    from shoal.tables.model.table import Table
    from shoal.tables.operations.audit import Audited
    from shoal.tables.settings import AuditSettings

_SHOWN = 5
# What is counted over intervals that were computed.
_OF_INTERVALS = ("unsafe", "disclosed")

#: What its figures mean.
DEFINITIONS = AUDIT
#: What it says of singling out, linking and inference.
assurances = audited


def glimpse(progress: "Progress") -> str:
    """How many intervals are computed."""
    return f"{progress.work:,} of {progress.total:,} intervals" if progress.total else progress.phase


def figures(result: "Audited", settings: object) -> dict[str, Any]:
    """The verdict, with the names of the cells at fault; what there was no time for is null."""
    found = result.outcome
    table = found.problem.table

    def named(cells: Any) -> list[dict[str, Any]]:
        if table.dimensions == ("cell",):
            return [{"cell": int(table.keys["cell"][cell])} for cell in cells]
        return [table.outside(table.key(int(cell))) for cell in cells]

    def unless(what: str, value: Any) -> Any:
        return None if what in found.not_looked_at else value

    return {
        "safe": found.safe,
        "sensitive": int(found.problem.sensitive.size),
        "hidden": int(found.cells.size),
        "unsafe": named(found.unsafe),
        "published": named(found.published),
        "disclosed": named(found.disclosed),
        "insider": unless(INSIDERS, named(sorted({cell for cell, _ in found.insider}))),
        "sums": unless(SUMS, len(found.sums)),
        "integer": unless(WHOLE_NUMBERS, named(found.integer)),
        # So many may be left that their names would take longer than the limit; the intervals in a file tell which.
        "not_judged": len(found.not_judged),
        "not_looked_at": list(found.not_looked_at),
        "stopped_by": found.stopped_by,
        **found.reached(),
        # Figures that fit what is shown stand in hidden cells of a published table: how far they are off says nothing.
        **({} if found.sensitive_unknown else gap(table)),
        **({"together": [_as_json(item, table) for item in found.together]} if found.together else {}),
        **remarks_in_json([*result.remarks, *_missed(result)]),
    }


def facts(result: "Audited", settings: object) -> list[tuple[str, Any]]:
    """The verdict for people, with the first cells of each kind."""
    found = figures(result, settings)
    pairs: list[tuple[str, Any]] = [*_verdict(result, found), *result.outcome.reached_in_words()]
    for name in ("unsafe", "published", "disclosed", "insider", "integer"):
        cells = found[name]
        if cells:
            shown = "; ".join(", ".join(f"{k} {v}" for k, v in item.items()) for item in cells[:_SHOWN])
            more = f" … and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else ""
            pairs.append((f"{name}, by name", shown + more))
    return [*pairs, *_with_others(result, settings)]


def _verdict(result: "Audited", figures: dict[str, Any]) -> list[tuple[str, str]]:
    """The verdict in numbers; there is something not judged only where there was no time."""
    judged = "not_judged" if result.outcome.complete else ""
    pairs = in_words(AUDIT, figures, [name for name in AUDIT if name in figures and name != judged])
    if not figures["not_judged"]:
        return pairs
    # None of those that nobody looked at is no verdict.
    partly = {AUDIT[name].name for name in _OF_INTERVALS}
    return [
        (name, f"{value} of those that were judged" if name in partly else value) for name, value in pairs
    ]


def _missed(result: "Audited") -> list[Remark]:
    """What there was no time for."""
    found = result.outcome
    why = "it was stopped before" if found.stopped_by == StopReason.INTERRUPT else "the time was over before"
    intervals = (
        [f"the intervals of {counted(len(found.not_judged), 'hidden cell')}"] if found.not_judged else []
    )
    return [
        warning("not-judged", f"not judged: {what}; {why}") for what in [*intervals, *found.not_looked_at]
    ]


def _with_others(result: "Audited", settings: object) -> list[tuple[str, str]]:
    """What other published tables add, one line each."""
    names = [*getattr(settings, "beside", ()), "all of them"]
    words = {True: "gives cells away: ", False: "gives nothing away: ", None: "cannot be judged: "}
    return [
        (f"together with {Path(name).name}", words[item.discloses] + item.detail)
        for name, item in zip(names, result.outcome.together, strict=False)
    ]


def _as_json(item: Any, table: "Table") -> dict[str, Any]:
    cells = [table.outside(dict(zip(table.dimensions, key, strict=True))) for key in item.cells]
    return {"discloses": item.discloses, "detail": item.detail, "cells": cells, **item.figures}


def tables(result: "Audited", settings: object) -> list[Rows]:
    """None: the intervals are in the file."""
    return []


def page(result: "Audited", settings: "AuditSettings") -> Page:
    """The report: the verdict in numbers; no cell is shown."""
    found = result.outcome
    sheet = Page("Audit of a table", "safe" if found.safe else "not safe: it must not be published")
    sheet.section("Verdict")
    sheet.facts(
        [
            *_verdict(result, figures(result, settings)),
            *found.reached_in_words(),
            *_with_others(result, settings),
        ]
    )
    if not found.safe:
        sheet.warning(
            "This pattern does not protect the table."
            if result.outcome.complete
            else "Nobody knows whether this pattern protects the table: there was no time to judge all of it."
        )
    for text in [*result.warnings, *(item.text for item in _missed(result))]:
        sheet.warning(text)
    made = result.table.tabulation
    sheet.provenance(
        [
            (
                "protection of cells without levels",
                "10 %" if settings.protection is None else f"{100 * settings.protection:g} %",
            ),
            ("rules", ", ".join(str(rule) for rule in made.rules) if made is not None else "none"),
            ("sole contributors taken into account", settings.insiders and result.table.contributors_known),
            ("lower bound known to an attacker", settings.low),
            ("upper bound known to an attacker", settings.high),
        ],
        "exact intervals by flows or linear programmes, whoever made the pattern",
    )
    return sheet
