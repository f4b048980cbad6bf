"""How drafts of hierarchies are told: rules, reasons and numbers of labels, never a value."""

from typing import TYPE_CHECKING, Any

from shoal.operation import Rows
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.columns.hierarchies.api import Hierarchies
    from shoal.microdata.columns.hierarchies.settings import HierarchySettings


def figures(hierarchies: "Hierarchies", settings: "HierarchySettings") -> dict[str, Any]:
    """Everything as JSON."""
    return hierarchies.to_dict()


def facts(hierarchies: "Hierarchies", settings: "HierarchySettings") -> list[tuple[str, Any]]:
    """The rules, each whole, to be copied and changed."""
    return [
        ("records", f"{hierarchies.records:,}"),
        *((item.column, item.rule) for item in hierarchies.proposals),
    ]


def tables(hierarchies: "Hierarchies", settings: "HierarchySettings | None" = None) -> list[Rows]:
    """A line for each column."""
    return [
        Rows(
            ["column", "labels, level by level", "why"],
            [
                (item.column, " → ".join(f"{size:,}" for size in item.sizes), item.reason)
                for item in hierarchies.proposals
            ],
        )
    ]


def page(hierarchies: "Hierarchies", settings: "HierarchySettings | None" = None) -> Page:
    """The report."""
    sheet = Page("Hierarchies" if settings is None else f"Hierarchies of {settings.data}")
    sheet.facts([(item.column, item.rule) for item in hierarchies.proposals])
    sheet.section("What the values of each column become")
    for rows in tables(hierarchies):
        sheet.table(rows.header, rows.body)
    sheet.note(
        "Labels are counted from the values themselves to the root. Whole numbers that nobody has may belong to a hierarchy, "
        "so that what a level loses does not depend on who answered."
    )
    sheet.provenance(
        [("records", hierarchies.records), ("columns", ", ".join(hierarchies))],
        "every label has one parent, and every value its labels",
    )
    return sheet
