"""Audit a pattern of anybody's: what an attacker can compute from the published table."""

from typing import Any

from pydantic import Field

from shoal.web.activities.activity import Activity
from shoal.web.activities.suppress import write
from shoal.web.activities.table import TableRequest, build, checking, drawing, verdict
from shoal.web.jobs.context import Context


class Audit(TableRequest):
    """The table and its hidden cells."""

    hidden: list[list[str]] = Field(
        min_length=1, max_length=100_000, description="coordinates of the hidden cells"
    )


def run(request: Audit, context: Context) -> dict[str, Any]:
    """Compute the intervals; write the table only if it is safe."""
    import shoal
    from shoal.tables.suppression import pattern_frame, published_frame

    context.say("building the table")
    table = build(request, context.datasets.frame(request.data))
    context.say("auditing")
    found = shoal.audit(table, [tuple(cell) for cell in request.hidden], **checking(request))
    problem = found.problem
    hidden = problem.hidden_mask(_complementary(found))
    if found.safe:
        from shoal.tables.suppression import interval_frame

        write(
            published_frame(problem.table, hidden, "x"),
            pattern_frame(problem, _complementary(found)),
            interval_frame(found),
            context,
        )
    context.report(_page(request, found))
    return {**verdict(found), "grid": drawing(problem, hidden), "cells": problem.table.cells}


def _complementary(found: Any) -> Any:
    import numpy as np

    return np.setdiff1d(found.cells, found.problem.sensitive)


def _page(request: Audit, found: Any) -> Any:
    from shoal.report.page import Page

    said = verdict(found)
    page = Page("Audit of a table", "safe" if found.safe else "not safe: it must not be published")
    page.section("Verdict")
    page.facts(
        [
            ("safe", found.safe),
            ("sensitive cells", int(found.problem.sensitive.size)),
            ("sensitive cells with too narrow an interval", said["unsafe"]),
            ("sensitive cells that a sole contributor could work out", said["insiders"]),
            ("relations that give away a sensitive sum", said["sums"]),
            ("other hidden cells given away exactly", said["disclosed"]),
            ("hidden cells", int(found.cells.size)),
        ]
    )
    if not found.safe:
        page.warning("This pattern does not protect the table.")
    page.provenance(
        [
            ("protection", f"{100 * request.protection:g} %"),
            ("rules", ", ".join(request.rules or ()) or "the usual ones"),
            ("sole contributors taken into account", request.insiders),
            ("upper bound known to an attacker", request.high),
        ],
        "exact intervals by flows or linear programmes, whoever made the pattern",
    )
    return page


ACTIVITY = Activity("audit", "Audit a table", Audit, run, lambda request: f"Audit of {request.data} by hand")
