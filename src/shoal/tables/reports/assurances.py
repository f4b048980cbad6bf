"""What a table says of singling out, linking and inference: built, with hidden cells, or audited."""

from typing import TYPE_CHECKING

import numpy as np

from shoal.numbers import counted
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.tables.model.tabulated import Tabulation
    from shoal.tables.operations.audit import Audited
    from shoal.tables.operations.suppress import Suppressed
    from shoal.tables.settings import AuditSettings
    from shoal.tables.suppression import Suppression

_NOT_LINKED = (
    "Not measured: what other tables of the same data, of other periods or by other codes give away together with this one. "
    "shoal suppress and shoal audit take tables that are given together (linked tables) as one system."
)


def tabulated(tabulation: "Tabulation", settings: object = None) -> Assurances:
    """Nothing is protected yet; the rules say which cells must be."""
    rules = ", ".join(str(rule) for rule in tabulation.rules) or "none"
    return Assurances(
        "none yet: all cells are there. The rules look at what the contributors of a cell could find out of each other.",
        _single(tabulation),
        _NOT_LINKED,
        f"{counted(int(tabulation.sensitive.size), 'cell')} of {tabulation.table.cells:,} would give away too much of a "
        f"contributor by the rules ({rules}) or as somebody named them. "
        "Nothing hides them yet: shoal suppress does, and shoal audit checks it.",
    )


def _single(tabulation: "Tabulation") -> str:
    alone, few = (
        int((tabulation.contributors == 1).sum()),
        int(((tabulation.contributors > 0) & (tabulation.contributors < 3)).sum()),
    )
    return (
        f"{counted(alone, 'cell has', 'cells have')} a single contributor and {counted(few, 'has', 'have')} fewer than three, "
        "totals included; a published cell of that kind singles them out."
    )


def suppressed(result: "Suppressed", settings: object = None) -> Assurances:
    """What the pattern was checked against."""
    return of_pattern(result.outcome)


def of_pattern(suppression: "Suppression") -> Assurances:
    """The same of a pattern alone."""
    audit = suppression.audit
    hidden = suppression.problem.hidden_mask(suppression.complementary)
    sums = (
        ""
        if suppression.problem.sums is None
        else " Sums of hidden cells that one relation gives away pass the rules."
    )
    return Assurances(
        f"{suppression.attacker}.",
        _still_shown(suppression.tabulation, hidden),
        _NOT_LINKED,
        f"Of {counted(int(suppression.problem.sensitive.size), 'sensitive cell')} none can be computed more closely than its "
        f"levels allow ({_reached(audit)}).{sums} {counted(int(audit.disclosed.size), 'other hidden cell')} can be computed "
        f"exactly. {counted(suppression.doubtful_if_bounded, 'sensitive cell')} would be unsafe for somebody who knows "
        "every cell to within twice its value.",
    )


def _still_shown(tabulation: "Tabulation | None", hidden: np.ndarray) -> str:
    """Cells of a single contributor that everybody can see."""
    if tabulation is None:
        return (
            "Not measured: contributors are unknown, so published cells may have a single one (shoal tabulate keeps who "
            "contributes to which cell)."
        )
    alone = int(((tabulation.contributors == 1) & ~hidden).sum())
    return (
        f"{counted(alone, 'published cell has', 'published cells have')} a single contributor, totals included"
        + ("; no rule calls them sensitive, or somebody said that they are not." if alone else ".")
    )


def audited(result: "Audited", settings: "AuditSettings | None" = None) -> Assurances:
    """What an attacker can compute, whoever chose the hidden cells."""
    from shoal.tables.safety.attackers_named import describe_attacker

    found = result.outcome
    insiders = len({cell for cell, _ in found.insider})
    failing = (
        f"{counted(int(found.unsafe.size), 'sensitive cell has', 'sensitive cells have')} too narrow an interval or "
        f"stand published, {insiders:,} can be worked out by a sole contributor, {len(found.sums):,} sensitive sums and "
        f"{len(set(found.integer)):,} whole numbers are given away"
    )
    verdict = (
        "Every sensitive cell stays as uncertain as its levels ask" if found.safe else f"Not safe: {failing}"
    )
    if not found.complete:
        missed = [counted(len(found.not_judged), "interval"), *found.not_looked_at]
        verdict = f"Not judged for want of time: {', '.join(missed)}. As far as it was: {failing}"
    counts = settings is not None and result.table.is_counts(settings)
    hidden = np.zeros(found.problem.table.cells, dtype=bool)
    hidden[found.cells] = True
    return Assurances(
        f"{describe_attacker(found.problem, counts=counts)}.",
        _still_shown(result.table.tabulation, hidden),
        _NOT_LINKED,
        f"{verdict} ({_reached(found)}). {counted(int(found.disclosed.size), 'other hidden cell')} can be computed exactly.",
    )


def _reached(audit: object) -> str:
    words = [f"{name}: {text}" for name, text in audit.reached_in_words()]  # type: ignore[attr-defined]
    return "; ".join(words) or "there is none"
