"""Protect a table: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.tables.methods import fitting
from shoal.tables.operations.suppress import OPERATION
from shoal.web.activities.drawing import draw
from shoal.web.activities.operation_activity import activity
from shoal.web.activities.verdict import verdict
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.tables.operations.suppress import Suppressed
    from shoal.tables.settings import SuppressSettings


def picture(result: "Suppressed", settings: "SuppressSettings", context: Context) -> dict[str, Any]:
    """The verdict, the table with its hidden cells, and what other methods found."""
    found, table = result.outcome, result.table
    hidden = found.problem.hidden_mask(found.complementary)
    return {
        **verdict(found.audit),
        **found.to_dict(),
        "counts": table.is_counts(settings),
        "by_rule": dict(table.by_rule),
        "contributors_known": table.contributors_known,
        "cells": table.base.cells,
        "dimensions": list(table.base.dimensions),
        "fitting": fitting(found.problem),
        "drawn": draw(found.problem, hidden, table.trees, context, table.tabulation),
        "compared": {
            other.method: {"cost": other.cost, "complementary": int(other.complementary.size)}
            for other in result.others
        },
    }


ACTIVITY = activity(OPERATION, picture)
