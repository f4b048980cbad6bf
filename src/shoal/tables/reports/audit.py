"""How an audit is told: the verdict, and which cells fail for which reason."""

from typing import TYPE_CHECKING, Any

from shoal.operation import Rows
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.tables.operations.audit import Audited
    from shoal.tables.settings import AuditSettings

_SHOWN = 5


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
        "warnings": list(result.table.warnings),
        **({"notes": notes} if notes else {}),
    }


def facts(result: "Audited", settings: object) -> list[tuple[str, Any]]:
    """The verdict for people, with the first cells of each kind."""
    told = figures(result, settings)
    # A sensitive cell that is published is unsafe too, but has a line of its own.
    told["unsafe"] = [cell for cell in told["unsafe"] if cell not in told["published"]]
    pairs: list[tuple[str, Any]] = [
        ("safe", "yes" if told["safe"] else "NO"),
        ("sensitive cells", told["sensitive"]),
        ("hidden cells", told["hidden"]),
        ("too narrow", len(told["unsafe"])),
        ("sensitive but published", len(told["published"])),
        ("disclosed exactly, not sensitive", len(told["disclosed"])),
        ("known to an insider", len(told["insider"])),
        ("sensitive sums given away", told["sums"]),
        ("given away by whole numbers", len(told["integer"])),
        *result.found.reached_in_words(),
    ]
    for name in ("unsafe", "published", "disclosed", "insider", "integer"):
        cells = told[name]
        if cells:
            shown = "; ".join(", ".join(f"{k} {v}" for k, v in item.items()) for item in cells[:_SHOWN])
            more = f" … and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else ""
            pairs.append((name, shown + more))
    return pairs


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
            ("safe", found.safe),
            ("sensitive cells", int(found.problem.sensitive.size)),
            ("sensitive cells with too narrow an interval", int(found.unsafe.size)),
            (
                "sensitive cells that a sole contributor could work out",
                len({cell for cell, _ in found.insider}),
            ),
            ("relations that give away a sensitive sum", len(found.sums)),
            ("cells given away because counts are whole numbers", len(set(found.integer))),
            ("other hidden cells given away exactly", int(found.disclosed.size)),
            ("hidden cells", int(found.cells.size)),
            *found.reached_in_words(),
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
