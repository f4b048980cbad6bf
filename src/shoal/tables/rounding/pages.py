"""The report of a table with changed figures: figures, how large the changes are, and what can be computed."""

from typing import Any

import numpy as np

from shoal.report import charts
from shoal.report.page import Page

# Bins with fewer cells would show single ones.
_LEAST = 10


def changed_page(
    title: str, changed: Any, facts: list[tuple[str, Any]], settings: list[tuple[str, Any]], verified: str
) -> Page:
    """The page of any table whose figures were changed."""
    page = Page(title, "Internal edition: true figures, intervals and settings must not be published.")
    for text in changed.warnings:
        page.warning(text)
    page.section("What was done")
    page.facts(facts)
    change = changed.values - changed.audit.problem.table.values
    sizes = _sizes(change)
    if sizes:
        page.section("How much figures change")
        page.chart(
            charts.bars(
                [name for name, _ in sizes], [count for _, count in sizes], x="absolute change", y="cells"
            ),
            f"Cells by the size of their change; sizes of fewer than {_LEAST} cells are counted with the next larger ones.",
        )
    page.provenance(settings, verified=verified)
    return page


def _sizes(change: np.ndarray) -> list[tuple[str, int]]:
    """Cells by size of change in a few bins, each of at least ten cells."""
    away = np.abs(change)
    edges = np.unique(
        np.array([float(f"{edge:.2g}") for edge in np.quantile(away, np.linspace(0, 1, 7)[1:])])
    )
    found: list[tuple[str, int]] = []
    before, waiting = -1.0, 0
    for edge in edges.tolist():
        waiting += int(((away > before) & (away <= edge)).sum())
        before = edge
        if waiting >= _LEAST:
            found.append((f"up to {edge:g}", waiting))
            waiting = 0
    return found
