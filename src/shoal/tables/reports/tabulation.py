"""How a table that was built is told: its cells, and which of them are sensitive by which rule."""

from typing import TYPE_CHECKING, Any

from shoal.operation import Rows
from shoal.remarks import remarks_in_json
from shoal.report.definitions import in_words
from shoal.report.page import Page
from shoal.tables.definitions import TABULATION
from shoal.tables.reports.assurances import tabulated
from shoal.tables.reports.gap import gap, gap_in_words
from shoal.tables.reports.nothing_left import nothing_left

if TYPE_CHECKING:
    from shoal.tables.model.tabulated import Tabulation
    from shoal.tables.settings import TabulateSettings

#: What its figures mean.
DEFINITIONS = TABULATION
#: What it says of singling out, linking and inference.
assurances = tabulated


def figures(tabulation: "Tabulation", settings: object) -> dict[str, Any]:
    """Cells, sensitive ones, and how many each rule calls so."""
    from shoal.tables.model.tabulated import NO_RULE

    # That no rule can be applied is warned of already.
    remarks = [item for item in tabulation.remarks if item.kind != NO_RULE]
    return {
        "cells": tabulation.table.cells,
        "sensitive": int(tabulation.sensitive.size),
        "by_rule": dict(tabulation.by_rule),
        **gap(tabulation.table),
        **remarks_in_json([*nothing_left(tabulation.table, tabulation.sensitive), *remarks]),
    }


def facts(tabulation: "Tabulation", settings: object) -> list[tuple[str, Any]]:
    """The same for people."""
    return [
        *in_words(TABULATION, figures(tabulation, settings), ("cells", "sensitive")),
        *((f"by {rule}", f"{count:,}") for rule, count in tabulation.by_rule.items()),
        *gap_in_words(tabulation.table),
    ]


def tables(tabulation: "Tabulation", settings: object) -> list[Rows]:
    """None: the cells themselves are confidential."""
    return []


def page(tabulation: "Tabulation", settings: "TabulateSettings") -> Page:
    """The report: what the table is, and why cells are sensitive; no cell is shown."""
    sheet = Page("A table with its sensitive cells", " × ".join(tabulation.table.dimensions))
    sheet.section("Result")
    sheet.facts(facts(tabulation, settings))
    for item in nothing_left(tabulation.table, tabulation.sensitive):
        sheet.warning(item.text)
    sheet.provenance(
        [
            ("dimensions", ", ".join(tabulation.table.dimensions)),
            ("sum of", settings.value or "records are counted"),
            ("contributor", settings.contributor or "every record is one"),
            ("rules", ", ".join(str(rule) for rule in tabulation.rules)),
            ("cost of hiding a cell", settings.cost),
        ],
        "nothing yet: all cells are there, and nothing is hidden",
    )
    return sheet
