"""How an audit is told: the verdict, and which cells fail for which reason."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.operation import Rows
from shoal.report.definitions import told
from shoal.report.page import Page
from shoal.tables.definitions import AUDIT
from shoal.tables.reports.assurances import audited

if TYPE_CHECKING:
    from shoal.tables.operations.audit import Audited
    from shoal.tables.settings import AuditSettings

_SHOWN = 5

#: What its figures mean.
DEFINITIONS = AUDIT
#: What it says of singling out, linking and inference.
assurances = audited


def figures(result: "Audited", settings: object) -> dict[str, Any]:
    """The verdict, with the names of the cells at fault."""
    found = result.found
    table = found.problem.table

    def named(cells: Any) -> list[dict[str, Any]]:
        if table.dimensions == ("cell",):
            return [{"cell": int(table.keys["cell"][cell])} for cell in cells]
        return [table.key(int(cell)) for cell in cells]

    notes = result.table.notes
    return {
        "safe": found.safe,
        "sensitive": int(found.problem.sensitive.size),
        "hidden": int(found.cells.size),
        "unsafe": named(found.unsafe),
        "published": named(found.published),
        "disclosed": named(found.disclosed),
        "insider": named(sorted({cell for cell, _ in found.insider})),
        "sums": len(found.sums),
        "integer": named(found.integer),
        **found.reached(),
        **(
            {"together": [_as_json(item, table.dimensions) for item in found.together]}
            if found.together
            else {}
        ),
        "warnings": list(result.table.warnings),
        **({"notes": notes} if notes else {}),
    }


def facts(result: "Audited", settings: object) -> list[tuple[str, Any]]:
    """The verdict for people, with the first cells of each kind."""
    found = figures(result, settings)
    pairs: list[tuple[str, Any]] = [*told(AUDIT, found, AUDIT), *result.found.reached_in_words()]
    for name in ("unsafe", "published", "disclosed", "insider", "integer"):
        cells = found[name]
        if cells:
            shown = "; ".join(", ".join(f"{k} {v}" for k, v in item.items()) for item in cells[:_SHOWN])
            more = f" … and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else ""
            pairs.append((f"{name}, by name", shown + more))
    return [*pairs, *_with_others(result, settings)]


def _with_others(result: "Audited", settings: object) -> list[tuple[str, str]]:
    """What other published tables add, one line each."""
    names = [*getattr(settings, "beside", ()), "all of them"]
    words = {True: "gives cells away: ", False: "gives nothing away: ", None: "cannot be judged: "}
    return [
        (f"together with {Path(name).name}", words[item.discloses] + item.detail)
        for name, item in zip(names, result.found.together, strict=False)
    ]


def _as_json(item: Any, dimensions: tuple[str, ...]) -> dict[str, Any]:
    cells = [dict(zip(dimensions, key, strict=True)) for key in item.cells]
    return {"discloses": item.discloses, "detail": item.detail, "cells": cells, **item.figures}


def tables(result: "Audited", settings: object) -> list[Rows]:
    """None: the intervals are in the file."""
    return []


def page(result: "Audited", settings: "AuditSettings") -> Page:
    """The report: the verdict in numbers; no cell is shown."""
    found = result.found
    sheet = Page("Audit of a table", "safe" if found.safe else "not safe: it must not be published")
    sheet.section("Verdict")
    sheet.facts(
        [
            *told(AUDIT, figures(result, settings), AUDIT),
            *found.reached_in_words(),
            *_with_others(result, settings),
        ]
    )
    if not found.safe:
        sheet.warning("This pattern does not protect the table.")
    for warning in result.table.warnings:
        sheet.warning(warning)
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
