"""Audit a pattern of anybody's: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.tables.operations.audit import OPERATION
from shoal.web.activities.drawing import draw
from shoal.web.activities.operation_activity import activity
from shoal.web.activities.verdict import verdict
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.tables.operations.audit import Audited
    from shoal.tables.settings import AuditSettings


def picture(result: "Audited", settings: "AuditSettings", context: Context) -> dict[str, Any]:
    """The verdict in numbers, and the table with its hidden cells."""
    found, table = result.outcome, result.table
    hidden = found.problem.hidden_mask(found.complementary)
    return {
        **verdict(found),
        # Cells are named by their place on the page; their labels stay in the files.
        "published": len(found.published),
        "insider": len({int(cell) for cell, _ in found.insider}),
        "integer": len(found.integer),
        "counts": table.is_counts(settings),
        "contributors_known": table.contributors_known,
        "drawn": draw(found.problem, hidden, table.trees, context, table.tabulation),
        "cells": table.base.cells,
        "dimensions": list(table.base.dimensions),
    }


ACTIVITY = activity(OPERATION, picture)
