"""Build a table: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.tables.operations.tabulate import OPERATION
from shoal.web.activities.drawing import draw
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.tables.model.tabulated import Tabulation


def picture(tabulation: "Tabulation", settings: object, context: Context) -> dict[str, Any]:
    """The table, before anything is hidden."""
    problem = tabulation.problem(insiders=False)
    return {
        "relations": tabulation.table.relations,
        "counts": tabulation.counts,
        "dimensions": list(tabulation.table.dimensions),
        "drawn": draw(problem, problem.is_sensitive, tabulation.trees, context, tabulation),
    }


ACTIVITY = activity(OPERATION, picture)
