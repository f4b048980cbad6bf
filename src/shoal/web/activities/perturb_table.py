"""Perturb counts: its page draws nothing besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.tables.rounding.cell_keys.operation import OPERATION
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.tables.rounding.cell_keys.operation import PerturbedCounts


def picture(result: "PerturbedCounts", settings: object, context: Context) -> dict[str, Any]:
    """What the table is besides its figures."""
    made = result.changed.tabulation
    return {"dimensions": list(made.table.dimensions), "by_rule": dict(made.by_rule)}


ACTIVITY = activity(OPERATION, picture)
